//! The Python module `apron._apron`: Apron's filters and histograms over arrays of any number of axes.
//!
//! The names and the semantics of SciPy's, OpenCV's and NumPy's arguments are in `python/apron`. This module has few
//! functions, whose arguments are what these reduce to: arrays, taps, borders and types.

mod array;
mod chain;
mod device;
mod error;
mod filter;
mod given;
mod gpu_array;
mod histogram;
mod image;
mod mask;
mod operand;
mod options;
mod planar;

use pyo3::pymodule;

#[pymodule]
mod _apron {
    #[pymodule_export]
    use super::chain::Chain;
    #[pymodule_export]
    use super::device::Device;
    #[pymodule_export]
    use super::filter::{Passes, separable};
    #[pymodule_export]
    use super::gpu_array::GpuArray;
    #[pymodule_export]
    use super::histogram::{count_values, extremes, has_percentiles, histogram, histogramdd, percentiles, places};
    #[pymodule_export]
    use super::image::{Image, named_filters};
    #[pymodule_export]
    use super::mask::correlate;
    #[pymodule_export]
    use super::planar::{equalized, equalized_by_tiles, lookup, matched, otsu, padded, planar};

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        super::device::loaded();
        Ok(())
    }
}
