//! The verbs of named filters: their options, as the library's filters.

mod derivatives;
mod effects;
mod local;
mod waves;

pub(crate) use derivatives::{GradientArgs, LaplacianArgs, OrderArgs, ScharrArgs, SobelArgs};
pub(crate) use effects::{EmbossArgs, MotionBlurArgs, SharpenArgs, UnsharpArgs};
pub(crate) use local::{LocalMeanArgs, LocalStdArgs};
pub(crate) use waves::{DogArgs, LogArgs};

use super::Verb;
use crate::args::{Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use apron::{Formula, Named, filters};

/// Options of a verb that stand for a named filter.
pub(crate) trait NamedArgs {
    /// Those that all filters have.
    fn filter(&self) -> &FilterArgs;
    /// The filter.
    fn named(&self) -> Box<dyn Named + '_>;
}

/// The name and the options of a verb that is a named filter.
pub(super) fn of(verb: &Verb) -> Option<(&'static str, Box<dyn NamedArgs + '_>)> {
    Some(match verb {
        Verb::Sobel(args) => ("sobel", Box::new(args)),
        Verb::Scharr(args) => ("scharr", Box::new(args)),
        Verb::Prewitt(args) => ("prewitt", Box::new(derivatives::Prewitt(args))),
        Verb::Roberts(args) => ("roberts", Box::new(derivatives::Roberts(args))),
        Verb::Laplacian(args) => ("laplacian", Box::new(args)),
        Verb::Gradient(args) => ("gradient", Box::new(args)),
        Verb::Log(args) => ("log", Box::new(args)),
        Verb::Dog(args) => ("dog", Box::new(args)),
        Verb::Sharpen(args) => ("sharpen", Box::new(args)),
        Verb::Unsharp(args) => ("unsharp", Box::new(args)),
        Verb::Emboss(args) => ("emboss", Box::new(args)),
        Verb::MotionBlur(args) => ("motion-blur", Box::new(args)),
        Verb::LocalMean(args) => ("local-mean", Box::new(args)),
        Verb::LocalStd(args) => ("local-std", Box::new(args)),
        _ => return None,
    })
}

impl<A: NamedArgs> NamedArgs for &A {
    fn filter(&self) -> &FilterArgs {
        (*self).filter()
    }

    fn named(&self) -> Box<dyn Named + '_> {
        (*self).named()
    }
}

/// Runs a named filter. Parameters that can never be right are found before the input is read.
pub(super) fn run(verb: &'static str, args: &dyn NamedArgs, devices: &mut Devices) -> Result<Report> {
    let (named, filter) = (args.named(), args.filter());
    let formula = named.formula()?;
    if let Formula::Mean(width, height) | Formula::LocalStd(width, height) = formula {
        filters::mean(width).and(filters::mean(height))?;
    }
    let out_type = |src| filter.out_type.unwrap_or(named.out_type(src));
    super::filter::run_to(verb, filter, out_type, devices, |device, image, out_type| {
        crate::limits::filter(verb, image.shape(), (formula.window(), formula.taps()), filter)?;
        let ready = device.apply(image, formula).border(filter.border).extent(filter.extent()).out_type(out_type);
        let ready = ready.keep_alpha(filter.keep_alpha);
        ready.method(filter.method.0).variant(filter.common.variant.as_deref()).run()
    })
}
