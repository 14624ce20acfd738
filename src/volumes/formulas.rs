//! The named filters of volumes, as SciPy's `ndimage` computes them.

use super::{VolumeFormula, VolumeMask, wrong_axis};
use crate::filters;
use crate::{PointOp, Result, Taps};

/// A Gaussian blur with a standard deviation for each axis, in voxels, or its derivative of order 0 to 3 along each;
/// the bell is cut off at `truncate` standard deviations: SciPy's `gaussian_filter`.
///
/// ```
/// use apron::{Device, volumes::{self, Volume}};
///
/// let spot = Volume::from_fn(5, 5, 5, 1, |x, y, z, _| if [x, y, z] == [2; 3] { 100u8 } else { 0 })?;
/// let blurred = Device::cpu().filter_volume(&spot, volumes::gaussian([0.0, 0.0, 1.0], [0; 3], 4.0)?).run()?;
/// let found = blurred.download::<u8>()?;
/// assert_eq!([0, 1, 2].map(|z| found.get(2, 2, z, 0)), [Some(11), Some(25), Some(40)]);
/// # Ok::<(), apron::Error>(())
/// ```
///
/// # Errors
/// As [`filters::gaussian_derivative`], for each axis.
pub fn gaussian(sigma: [f64; 3], order: [u32; 3], truncate: f64) -> Result<VolumeFormula> {
    let axis = |axis: usize| filters::gaussian_derivative(sigma[axis], order[axis], truncate);
    Ok(VolumeFormula::separable([axis(0)?, axis(1)?, axis(2)?]))
}

/// The sum of the second derivatives of a Gaussian blur: SciPy's `gaussian_laplace`.
///
/// # Errors
/// As [`gaussian`], also for a sigma of 0.
pub fn laplacian_of_gaussian(sigma: [f64; 3], truncate: f64) -> Result<VolumeFormula> {
    Ok(VolumeFormula::sum(along_each(|order| gaussian(sigma, order.map(|one| 2 * one), truncate))?))
}

/// The magnitude of the gradient of a Gaussian blur: SciPy's `gaussian_gradient_magnitude`.
///
/// # Errors
/// As [`gaussian`], also for a sigma of 0.
pub fn gaussian_gradient(sigma: [f64; 3], truncate: f64) -> Result<VolumeFormula> {
    Ok(VolumeFormula::magnitude(along_each(|order| gaussian(sigma, order, truncate))?))
}

/// The difference of two Gaussian blurs, the narrow one less the wide one: scikit-image's `difference_of_gaussians`.
///
/// # Errors
/// As [`gaussian`], and [`Error::Parameter`](crate::Error::Parameter) for a wide blur that is narrower along an axis.
pub fn dog(sigma_low: [f64; 3], sigma_high: [f64; 3], truncate: f64) -> Result<VolumeFormula> {
    let (low, high) = (gaussian(sigma_low, [0; 3], truncate)?, gaussian(sigma_high, [0; 3], truncate)?);
    for (low, high) in sigma_low.into_iter().zip(sigma_high) {
        filters::check_wide(low, high)?;
    }
    Ok(VolumeFormula::of(PointOp::weighted(1.0, -1.0, 0.0), low, Some(high)))
}

/// Makes a formula for each axis from a triple that is 1 for the axis and else 0.
fn along_each(mut make: impl FnMut([u32; 3]) -> Result<VolumeFormula>) -> Result<[VolumeFormula; 3]> {
    Ok([make([1, 0, 0])?, make([0, 1, 0])?, make([0, 0, 1])?])
}

/// Makes a difference over 3 voxels along an axis, smoothed along the others.
fn difference(operation: &'static str, axis: usize, smooth: [f64; 3]) -> Result<VolumeFormula> {
    if axis > 2 {
        return Err(wrong_axis(operation, axis));
    }
    let along = |other| Taps::from_f64(if other == axis { [-1.0, 0.0, 1.0] } else { smooth });
    Ok(VolumeFormula::separable([along(0)?, along(1)?, along(2)?]))
}

/// Sobel's first derivative along axis 0 for x, 1 for y or 2 for z, smoothed along the others by 1
/// 2 1: SciPy's `sobel`.
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) for another axis.
pub fn sobel(axis: usize) -> Result<VolumeFormula> {
    difference("sobel", axis, [1.0, 2.0, 1.0])
}

/// Prewitt's first derivative along axis 0 for x, 1 for y or 2 for z, summed along the others over
/// 3: SciPy's `prewitt`.
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) for another axis.
pub fn prewitt(axis: usize) -> Result<VolumeFormula> {
    difference("prewitt", axis, [1.0; 3])
}

/// The magnitude of the gradient by [`sobel`]: SciPy's `generic_gradient_magnitude` with `sobel`.
///
/// # Errors
/// None.
pub fn gradient() -> Result<VolumeFormula> {
    Ok(VolumeFormula::magnitude([sobel(0)?, sobel(1)?, sobel(2)?]))
}

/// The sum of the second differences along the axes, of the voxel and its six neighbours, as one
/// mask: SciPy's `laplace`.
///
/// # Errors
/// None.
pub fn laplacian() -> Result<VolumeFormula> {
    let mut taps = vec![0.0; 27];
    // The middle, and its neighbours along x, y and z.
    for (beside, tap) in [(0, -6.0), (1, 1.0), (3, 1.0), (9, 1.0)] {
        (taps[13 - beside], taps[13 + beside]) = (tap, tap);
    }
    VolumeMask::new(3, 3, 3, taps).map(VolumeFormula::dense)
}

/// The mean over windows of this width, height and depth; of integers the exact quotient, rounded:
/// SciPy's `uniform_filter`.
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) for sides of 0 or above [`MAX_MASK_SIDE`](crate::MAX_MASK_SIDE).
pub fn mean(size: [u32; 3]) -> Result<VolumeFormula> {
    VolumeFormula::mean(size)
}

/// The standard deviation of the population in windows of this width, height and depth:
/// `sqrt(n * sum(x^2) - sum(x)^2) / n`, with sums in f64, which are exact for integers while they are below 2^53.
///
/// # Errors
/// As [`mean`].
pub fn deviation(size: [u32; 3]) -> Result<VolumeFormula> {
    // Checks the sides.
    VolumeFormula::mean(size)?;
    Ok(VolumeFormula::Deviation(size))
}

/// Unsharp masking: volume + amount * (volume - blurred), where they differ by `threshold` or more.
///
/// # Errors
/// As [`gaussian`], and [`Error::Parameter`](crate::Error::Parameter) for an amount that is not finite and
/// a negative threshold.
pub fn unsharp(sigma: [f64; 3], amount: f64, threshold: f64) -> Result<VolumeFormula> {
    let op = PointOp::Weighted { a: 1.0 + amount, b: -amount, c: 0.0, threshold };
    Ok(VolumeFormula::of(op, VolumeFormula::Volume, Some(gaussian(sigma, [0; 3], 4.0)?)))
}
