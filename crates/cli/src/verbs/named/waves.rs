//! `apron log` and `apron dog`: what is neither flat nor fine.

use super::NamedArgs;
use crate::args::{self, FilterArgs};
use apron::{Named, filters};

#[derive(clap::Args)]
#[command(after_help = "\
The Laplacian of a Gaussian, SciPy's gaussian_laplace: negative on bright spots.

Example:
  apron log photo.png spots.npy --sigma 2 --out-type f32")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Standard deviation in pixels, for both axes or for x and y
    #[arg(long, value_name = "S[,SY]", value_parser = args::sigma, allow_hyphen_values = true)]
    sigma: (f64, f64),
    /// Cut the bell off at this many standard deviations
    #[arg(long, value_name = "T", default_value_t = 4.0, allow_hyphen_values = true)]
    truncate: f64,
}

impl NamedArgs for LogArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::Log { sigma: self.sigma, truncate: self.truncate })
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The difference of two Gaussian blurs, the narrow one less the wide one.

Example:
  apron dog photo.png bands.npy --sigma-low 1 --sigma-high 1.6 --out-type f32")]
pub(crate) struct DogArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Standard deviation of the narrow blur, in pixels
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sigma_low: f64,
    /// Standard deviation of the wide blur, in pixels
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sigma_high: f64,
    /// Cut the bells off at this many standard deviations
    #[arg(long, value_name = "T", default_value_t = 4.0, allow_hyphen_values = true)]
    truncate: f64,
}

impl NamedArgs for DogArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::Dog { low: self.sigma_low, high: self.sigma_high, truncate: self.truncate })
    }
}
