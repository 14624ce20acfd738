//! `apron sharpen`, `unsharp`, `emboss` and `motion-blur`.

use super::NamedArgs;
use crate::args::FilterArgs;
use apron::{Named, filters};

#[derive(clap::Args)]
#[command(after_help = "\
The mask 0 -a 0; -a 1+4a -a; 0 -a 0.

Example:
  apron sharpen photo.png sharp.png --amount 0.5")]
pub(crate) struct SharpenArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How much
    #[arg(long, value_name = "A", default_value_t = 1.0, allow_hyphen_values = true)]
    amount: f64,
}

impl NamedArgs for SharpenArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::Sharpen { amount: self.amount })
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The image plus the amount times what it has more than its Gaussian blur.

Example:
  apron unsharp photo.jpg sharp.png --sigma 2 --amount 0.8 --threshold 3")]
pub(crate) struct UnsharpArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Standard deviation of the blur, in pixels
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sigma: f64,
    /// How much of the difference is added
    #[arg(long, value_name = "A", default_value_t = 1.0, allow_hyphen_values = true)]
    amount: f64,
    /// The least difference that counts, in the samples' units
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_hyphen_values = true)]
    threshold: f64,
}

impl NamedArgs for UnsharpArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        let UnsharpArgs { sigma, amount, threshold, .. } = *self;
        Box::new(filters::Unsharp { sigma, amount, threshold })
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The mask -2 -1 0; -1 1 1; 0 1 2.

Example:
  apron emboss photo.png relief.png")]
pub(crate) struct EmbossArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

impl NamedArgs for EmbossArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::emboss())
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The mean over a line, of points a pixel apart; one between pixels counts for the four around it, bilinearly.

Example:
  apron motion-blur photo.jpg moved.png --length 21 --angle 30")]
pub(crate) struct MotionBlurArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Length of the line in pixels, 1 to 1023
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    length: u32,
    /// By how many degrees it rises to the right
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true)]
    angle: f64,
}

impl NamedArgs for MotionBlurArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::MotionBlur { length: self.length, angle: self.angle })
    }
}
