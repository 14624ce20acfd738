//! Runs filters on the current image.

use super::image::Target;
use super::strips::Job;
use crate::args::{self, Devices, FilterArgs};
use crate::complex;
use crate::error::Result;
use crate::limits;
use crate::report::Report;
use apron::{Device, Error, Extent, FilterBuilder, Method, PixelType, ReadRows, Source};

/// Runs the linear filter that `make` builds; its parameters are checked before. The output has the input's type, if
/// no other is asked for.
pub(super) fn run(
    verb: &'static str,
    args: &FilterArgs,
    clamp: bool,
    devices: &mut Devices,
    make: impl for<'a> Fn(&'a Device, Source<'a>) -> FilterBuilder<'a>,
) -> Result<Report> {
    let asked = args.out_type.or(clamp.then_some(PixelType::F32));
    if let (true, Some(pixel)) = (clamp, asked.filter(|pixel| *pixel != PixelType::F32)) {
        return Err(Error::parameter(verb, "clamp", format!("asked for with {pixel} output"), "used with f32").into());
    }
    run_to(verb, args, (clamp, true, &|src| asked.unwrap_or(src)), devices, make)
}

/// Sets the options of a filter, whose image has this many channels with parts of complex numbers, or 0.
fn built<'a>(
    args: &'a FilterArgs,
    clamp: bool,
    (out_type, parts): (PixelType, u32),
    filter: FilterBuilder<'a>,
) -> Result<FilterBuilder<'a>> {
    let borders = args.border.flat()?;
    let borders = if parts > 0 { complex::borders(borders, parts)? } else { borders };
    let filter = filter.border(borders).extent(args.extent()?).out_type(out_type).clamp(clamp);
    let filter = filter
        .keep_alpha(args.keep_alpha)
        .method(args.method.0)
        .tolerance(args.tolerance)
        .variant(args.common.variant.as_deref());
    Ok(args.stored(filter))
}

/// Runs a filter, perhaps a linear one, whose output type is derived from the input's.
pub(super) fn run_to(
    verb: &'static str,
    args: &FilterArgs,
    how: (bool, bool, &dyn Fn(PixelType) -> PixelType),
    devices: &mut Devices,
    make: impl for<'a> Fn(&'a Device, Source<'a>) -> FilterBuilder<'a>,
) -> Result<Report> {
    let ran = run_with(verb, args, how, devices, make);
    ran.map_err(|error| error.for_filter(args.out_type, args.output.rescale.is_some()))
}

fn run_with(
    verb: &'static str,
    args: &FilterArgs,
    (clamp, linear, out_type): (bool, bool, &dyn Fn(PixelType) -> PixelType),
    devices: &mut Devices,
    make: impl for<'a> Fn(&'a Device, Source<'a>) -> FilterBuilder<'a>,
) -> Result<Report> {
    if let Extent::Region(region) = args.extent()? {
        args::check_region(verb, region, &args.common)?;
    }
    args.border.flat()?;
    let scales = args.output.rescale.is_some();
    let types = PixelType::ALL.map(out_type);
    // The output type, if it does not depend on the input. Results that are rescaled are not rounded before.
    let always = types.iter().all(|pixel| *pixel == types[0]).then_some(types[0]);
    let always = if scales { args.out_type } else { always };
    let complex = linear && !clamp && !scales && !args.keep_alpha;
    let target = Target { args: &args.output, out_type: always, keep_alpha: args.keep_alpha, complex };
    if let Some((input, output)) = devices.files()
        && let Some(job) = Job::asked(verb, &args.common, &target, (&input, &output), devices)?
    {
        let device = devices.get(args.common.device)?;
        let out_type = out_type(job.input.pixel_type());
        let parts = if job.input.is_complex() { job.input.shape().channels } else { 0 };
        let filter = built(args, clamp, (out_type, parts), make(&device, (&job.input as &dyn ReadRows).into()))?;
        limits::filter(verb, (job.input.shape(), 1), filter.formula(), args)?;
        if filter.has_strips()? {
            devices.place()?;
            let what = format!("{:?} {:?} {clamp} {out_type}", filter.formula(), args.asked());
            return job.run(verb, &what, filter.result()?, devices, |out, memory| filter.run_rows(out, memory));
        }
        let transformed = args.method.0 == Some(Method::Fft) || args.tolerance.is_some();
        let what = if transformed { "--method fft" } else { "a result of another size" };
        job.whole(what)?;
    }
    super::image::run(verb, &args.common, &target, devices, |device, image, known| {
        let (shape, src) = (image.shape(), image.pixel_type());
        let out_type = if scales { PixelType::F32 } else { out_type(src) };
        let parts = if known.complex { shape.channels } else { 0 };
        let filter = built(args, clamp, (out_type, parts), make(device, image))?;
        limits::filter(verb, (shape, known.images), filter.formula(), args)?;
        Ok(filter.run()?)
    })
}
