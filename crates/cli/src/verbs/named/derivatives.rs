//! `apron sobel`, `scharr`, `prewitt`, `roberts`, `laplacian` and `gradient`.

use super::NamedArgs;
use crate::args::FilterArgs;
use apron::{Named, filters};

#[derive(clap::Args)]
#[command(after_help = "\
OpenCV's Sobel: a rise to the right or down is positive, and sums are not normalised. Derivatives of u8 are cut
off at 0 and 255 unless another type is asked for.

Example:
  apron sobel photo.png edges.npy --dx 1 --ksize 5 --out-type i16")]
pub(crate) struct SobelArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Order of the derivative along the rows
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dx: u32,
    /// Order of the derivative along the columns
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dy: u32,
    /// Side of the mask: 1, 3, 5 or 7 pixels
    #[arg(long, value_name = "N", default_value_t = 3, allow_hyphen_values = true)]
    ksize: u32,
    /// Multiply the sums by this
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_hyphen_values = true)]
    scale: f64,
    /// Add this to what comes of it
    #[arg(long, value_name = "F", default_value_t = 0.0, allow_hyphen_values = true)]
    delta: f64,
}

impl NamedArgs for SobelArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        let SobelArgs { dx, dy, ksize, scale, delta, .. } = *self;
        Box::new(filters::Sobel { dx, dy, ksize, scale, delta })
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
OpenCV's Scharr: a difference smoothed across by 3, 10 and 3, not normalised.

Example:
  apron scharr photo.png edges.npy --dy 1 --out-type f32")]
pub(crate) struct ScharrArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// 1 for the derivative along the rows
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dx: u32,
    /// 1 for the derivative along the columns
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dy: u32,
    /// Multiply the sums by this
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_hyphen_values = true)]
    scale: f64,
    /// Add this to what comes of it
    #[arg(long, value_name = "F", default_value_t = 0.0, allow_hyphen_values = true)]
    delta: f64,
}

impl NamedArgs for ScharrArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        let ScharrArgs { dx, dy, scale, delta, .. } = *self;
        Box::new(filters::Scharr { dx, dy, scale, delta })
    }
}

/// Options of the derivatives that have an order and nothing else.
#[derive(clap::Args)]
#[command(after_help = "\
SciPy's prewitt is a difference summed across; scikit-image's roberts_pos_diag (--dx) and roberts_neg_diag (--dy)
are differences along the diagonals of 2x2 pixels, of which the upper left one is the output's.

Examples:
  apron prewitt photo.png edges.npy --dx 1 --out-type i16
  apron roberts photo.png edges.npy --dx 1 --out-type i16")]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// 1 for the derivative along the rows; of roberts, down to the right
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dx: u32,
    /// 1 for the derivative along the columns; of roberts, down to the left
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    dy: u32,
}

/// These of `prewitt`.
pub(super) struct Prewitt<'a>(pub(super) &'a OrderArgs);

/// These of `roberts`.
pub(super) struct Roberts<'a>(pub(super) &'a OrderArgs);

impl NamedArgs for Prewitt<'_> {
    fn filter(&self) -> &FilterArgs {
        &self.0.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::Prewitt { dx: self.0.dx, dy: self.0.dy })
    }
}

impl NamedArgs for Roberts<'_> {
    fn filter(&self) -> &FilterArgs {
        &self.0.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        Box::new(filters::Roberts { dx: self.0.dx, dy: self.0.dy })
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
OpenCV's Laplacian, with its masks: 0 1 0; 1 -4 1; 0 1 0 for a side of 1, else the sum of Sobel's second
derivatives, for 3 pixels 2 0 2; 0 -8 0; 2 0 2.

Example:
  apron laplacian photo.png edges.npy --ksize 3 --out-type i16")]
pub(crate) struct LaplacianArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Side of the mask: 1, 3, 5 or 7 pixels
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true)]
    ksize: u32,
    /// Neighbours that count where the side is 1: 4 or 8
    #[arg(long, value_name = "N", default_value_t = 4, allow_hyphen_values = true)]
    neighbours: u32,
    /// Multiply the sums by this
    #[arg(long, value_name = "F", default_value_t = 1.0, allow_hyphen_values = true)]
    scale: f64,
    /// Add this to what comes of it
    #[arg(long, value_name = "F", default_value_t = 0.0, allow_hyphen_values = true)]
    delta: f64,
}

impl NamedArgs for LaplacianArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        let LaplacianArgs { ksize, neighbours, scale, delta, .. } = *self;
        Box::new(filters::Laplacian { ksize, neighbours, scale, delta })
    }
}

/// The derivative of a gradient.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Operator {
    Sobel,
    Scharr,
}

#[derive(clap::Args)]
#[command(after_help = "\
The magnitude is sqrt(gx^2 + gy^2) of the two derivatives, which are not normalised; the direction is
atan2(gy, gx), in radians, as f32.

Example:
  apron gradient photo.png edges.png --operator scharr")]
pub(crate) struct GradientArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The derivative of which it is made
    #[arg(long, value_name = "NAME", value_enum, default_value = "sobel")]
    operator: Operator,
    /// Side of Sobel's masks: 1, 3, 5 or 7 pixels
    #[arg(long, value_name = "N", default_value_t = 3, allow_hyphen_values = true)]
    ksize: u32,
    /// The direction instead of the magnitude
    #[arg(long)]
    direction: bool,
}

impl NamedArgs for GradientArgs {
    fn filter(&self) -> &FilterArgs {
        &self.filter
    }

    fn named(&self) -> Box<dyn Named + '_> {
        let operator = match self.operator {
            Operator::Sobel => filters::Operator::Sobel,
            Operator::Scharr => filters::Operator::Scharr,
        };
        Box::new(filters::Gradient { operator, ksize: self.ksize, direction: self.direction })
    }
}
