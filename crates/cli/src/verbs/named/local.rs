//! `apron local-mean` and `apron local-std`.

use super::NamedArgs;
use crate::args::{self, FilterArgs};
use apron::{Formula, Named};

#[derive(clap::Args)]
#[command(after_help = "\
The same as `apron box`.

Example:
  apron local-mean photo.png mean.png --size 15")]
pub(crate) struct LocalMeanArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Width and height of the window in pixels, or one number for both
    #[arg(long, value_name = "WxH", value_parser = args::size, allow_hyphen_values = true)]
    size: (u32, u32),
}

impl NamedArgs for LocalMeanArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(Formula::Mean(self.size.0, self.size.1))
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The standard deviation of the population: the root of the mean square less the square of the mean.

Example:
  apron local-std photo.png texture.npy --size 7x5 --out-type f32")]
pub(crate) struct LocalStdArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Width and height of the window in pixels, or one number for both
    #[arg(long, value_name = "WxH", value_parser = args::size, allow_hyphen_values = true)]
    size: (u32, u32),
}

impl NamedArgs for LocalStdArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(Formula::LocalStd(self.size.0, self.size.1))
    }
}
