//! Apron's types: [`Image`], [`Mask`], [`Taps`], [`Border`], [`Bins`], [`Histogram`], the [`Problem`] that states an
//! operation with them, and the one [`Error`].
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod any_image;
mod binning;
mod border;
mod box_filter;
mod by_method;
mod clahe;
mod correlate;
mod counts;
mod device;
mod error;
mod fft;
pub mod filters;
mod formula;
mod histogram;
mod image;
mod image_mut;
mod information;
mod interop;
mod joint;
mod limit;
mod local_std;
mod lookup;
mod low_rank;
mod mask;
mod matching;
mod memory;
mod method;
mod number;
mod otsu;
mod pad;
mod padding;
mod paired;
mod percentile;
mod pixel;
mod planar;
mod pointwise;
mod problem;
mod rank;
mod restate;
mod scaled;
mod statistics;
mod strips;
mod volume;
mod weighted;
mod wide;
mod window;

pub use half::f16;

pub use any_image::AnyImage;
pub use apron_abi::{
    Accumulator, BOX_CHUNK, Bool, Cast, Complex, FromSum, IntegerTotals, Ordered, Overflow, Rounding, Sample,
    between_tiles, bilinear, direction,
};
pub use apron_abi::{FFT_MOST_TAPS, FFT_ROOTS, fft_join, fft_product, fft_split};
pub use apron_abi::{f64_of_order, order_of, order_of_f64, sample_of_order};
pub use binning::Binning;
pub use border::{AxisBorder, Border, Borders, Constants};
pub use box_filter::{BoxFilter, Scale};
pub use by_method::ByMethod;
pub use clahe::Clahe;
pub use correlate::{Correlate, Separable};
pub use counts::{ByteHistogram, CellHistogram, EdgeHistogram, check_roi};
pub use device::DeviceInfo;
pub use error::{Error, ErrorKind, Result};
pub use fft::{Fft, Tiling};
pub use formula::{Formula, Named};
pub use histogram::{Bins, Edges, Histogram, join_extremes};
pub use image::{Image, MAX_SIDE, Shape};
pub use image_mut::{AnyImageMut, ImageMut, check_room};
pub use information::Information;
pub use joint::{
    Amount, Columns, HistogramDd, JointHistogram, MAX_COLUMNS, SparseHistogram, check_sparse_cells, dense_cells,
    find_bins,
};
pub use limit::Limit;
pub use local_std::LocalStd;
pub use lookup::{Equalize, Lookup, equalizing};
pub use low_rank::LowRank;
pub use mask::{MAX_MASK_SIDE, Mask, Taps};
pub use matching::matching;
pub use memory::{asks_for_memory, check_memory};
pub use method::Method;
pub use number::number;
pub use otsu::{multi_otsu, otsu};
pub use pad::Pad;
pub use padding::Padded;
pub use paired::{Paired, Part};
pub use percentile::{Percentile, cell_of_rank, check_percentiles};
pub use pixel::{Pixel, PixelType};
pub use pointwise::{PointOp, Pointwise, deviation};
pub use problem::{
    CountProblem, FilterProblem, Kind, MapProblem, MeasureProblem, Problem, check_beside, check_computed, check_pixels,
    no_doubles, not_computed,
};
pub use scaled::{Scaled, Weights};
pub use statistics::{FloatStatistics, Statistics};
pub use strips::Strip;
pub use volume::{
    AnyVolume, Pass, Slice, Volume, VolumeBorders, VolumeExtent, VolumeFilter, VolumeFormula, VolumeMask, VolumeRegion,
    VolumeShape, VolumeWeights, VolumeWindow, sums_of, unstacked, voxels,
};
pub use weighted::{
    Histogram2d, WEIGHTED_BLOCK, WeightedBins, WeightedHistogram, channel_of, check_channel, check_weights,
};
pub use window::{Extent, Region, Window};
