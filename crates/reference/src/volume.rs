//! Filters of volumes: six loops for each pass, and one over the channels.

use crate::Fma;
use apron_core::{
    Accumulator, AnyImage, Error, Image, Pass, Pixel, PixelType, Result, VolumeFilter, VolumeShape, each_type,
};

/// Filters a volume, which is stacked: its planes lie one below the other.
///
/// Each pass is a correlation with a mask: output sample (x, y, z, c) is the sum over the mask of
/// `tap(i, j, k) * volume(x + i, y + j, z + k, c)`, relative to the origin, planes from the front, rows from the top,
/// columns from the left. Samples outside follow the border along z, else along y, else along x.
///
/// ```
/// use apron_core::{AnyImage, Border, Cast, Image, PixelType, VolumeExtent, VolumeFilter, VolumeMask, VolumeWeights};
///
/// let planes = Image::new(1, 3, 1, vec![1.0f32, 2.0, 4.0])?; // three planes of one voxel
/// let (shape, src, dst) = (planes.shape(), PixelType::F32, PixelType::F32);
/// let weights = VolumeWeights::Dense(VolumeMask::new(1, 1, 3, [1.0, 10.0, 100.0])?);
/// let (cast, borders, extent) = (Cast::default(), Border::Replicate.into(), VolumeExtent::Same);
/// let (divisor, stored) = (1.0, false);
/// let problem = VolumeFilter { shape, depth: 3, src, dst, weights, divisor, cast, stored, borders, extent };
/// let out: Image<f32> = apron_reference::volume(&AnyImage::F32(planes), &problem)?;
/// assert_eq!(out.packed()[..], [1.0 + 10.0 + 200.0, 1.0 + 20.0 + 400.0, 2.0 + 40.0 + 400.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`VolumeFilter::window`]; [`Error::PixelType`] and [`Error::Shape`] if the volume or the output does
/// not match the problem.
pub fn volume<O: Pixel>(stack: &AnyImage<'_>, problem: &VolumeFilter) -> Result<Image<'static, O>> {
    let operation = "volume";
    for (found, expected) in [(stack.pixel_type(), problem.src), (O::PIXEL, problem.dst)] {
        if found != expected {
            return Err(Error::PixelType { operation, found, expected: expected.to_string() });
        }
    }
    if stack.shape() != problem.shape {
        let (value, limit) = (stack.shape().to_string(), problem.shape.to_string());
        return Err(Error::Shape { what: "shape", value, limit });
    }
    let (stages, last) = problem.stages()?;
    let mut between = None;
    for stage in stages {
        between = Some(crate::any::filter(&stage.into(), between.as_ref().unwrap_or(stack), None)?);
    }
    once(between.as_ref().unwrap_or(stack), &last)
}

/// Filters a volume by sums that are converted once.
fn once<O: Pixel>(stack: &AnyImage<'_>, problem: &VolumeFilter) -> Result<Image<'static, O>> {
    let sums = match problem.sums() {
        PixelType::F64 => sums::<f64>(stack, problem)?,
        _ => sums::<f32>(stack, problem)?.into_iter().map(f64::from).collect(),
    };
    let out = problem.window()?.out.stacked();
    let converted = |sum: f64| match O::PIXEL.is_float() {
        true => O::from_sum(O::Sum::from_f64(sum)),
        false => O::cast(sum, problem.cast),
    };
    let samples = sums.into_iter().map(converted);
    Image::new(out.width, out.height, out.channels, samples.collect::<Vec<O>>())
}

/// Returns the sums of the last pass.
fn sums<S: Fma + std::ops::Div<Output = S>>(stack: &AnyImage<'_>, problem: &VolumeFilter) -> Result<Vec<S>> {
    let mut samples = samples_of::<S>(stack);
    for pass in &problem.passes()? {
        samples = filtered(&samples, pass);
    }
    Ok(samples)
}

/// Returns all samples in the type of sums.
fn samples_of<S: Fma>(stack: &AnyImage<'_>) -> Vec<S> {
    each_type!(stack, stack => stack.rows().flatten().map(|&sample| S::of(sample)).collect())
}

fn filtered<S: Fma + std::ops::Div<Output = S>>(samples: &[S], pass: &Pass) -> Vec<S> {
    let VolumeShape { width, height, depth, channels } = pass.input;
    let at = |x: i32, y: i32, z: i32, c: u32| {
        let constant = |axis: usize| S::from_f64(pass.constants[axis]);
        let Some(z) = pass.modes[2].map(z, depth as i32) else { return constant(2) };
        let Some(y) = pass.modes[1].map(y, height as i32) else { return constant(1) };
        let Some(x) = pass.modes[0].map(x, width as i32) else { return constant(0) };
        let pixel = (z as usize * height as usize + y as usize) * width as usize + x as usize;
        samples[pixel * channels as usize + c as usize]
    };
    let mut out = Vec::with_capacity(pass.out.samples() as usize);
    for z in 0..pass.out.depth as i32 {
        for y in 0..pass.out.height as i32 {
            for x in 0..pass.out.width as i32 {
                for c in 0..channels {
                    let ([left, top, front], mut taps) = (pass.origin, pass.taps.iter());
                    let mut sum = S::ZERO;
                    for k in 0..pass.size[2] as i32 {
                        for j in 0..pass.size[1] as i32 {
                            for (i, &tap) in (0..).zip(taps.by_ref().take(pass.size[0] as usize)) {
                                sum = S::from_f64(tap).fma(at(x + left + i, y + top + j, z + front + k, c), sum);
                            }
                        }
                    }
                    out.push(if pass.divisor == 1.0 { sum } else { sum / S::from_f64(pass.divisor) });
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Cast, Shape, Taps, VolumeBorders, VolumeExtent, VolumeWeights};

    /// `scipy.ndimage.correlate1d` along each axis, of `arange(8).reshape(2, 2, 2)`.
    #[test]
    fn axes_one_after_the_other() {
        let stack = AnyImage::U8(Image::new(2, 4, 1, (0..8u8).collect::<Vec<_>>()).unwrap());
        let (shape, src, dst) = (Shape::new(2, 4, 1).unwrap(), PixelType::U8, PixelType::F32);
        let taps = |taps: &[f64]| Taps::from_f64(taps).unwrap();
        let weights = VolumeWeights::Separable([taps(&[1.0, 2.0, 3.0]), taps(&[1.0]), taps(&[0.5, 0.0, 1.0])]);
        let borders = VolumeBorders::by_axis(Border::Constant(1.0), Border::Wrap, Border::Replicate);
        let (divisor, extent) = (2.0, VolumeExtent::Same);
        let (cast, stored) = (Cast::default(), false);
        let problem = VolumeFilter { shape, depth: 2, src, dst, weights, divisor, cast, stored, borders, extent };
        let out: Image<f32> = volume(&stack, &problem).unwrap();
        // Along x: 1 + 0 + 3, 0 + 2 + 3, ... then half of the plane before and the plane behind.
        let x = [4.0, 5.0, 14.0, 11.0, 24.0, 17.0, 34.0, 23.0];
        let expected: Vec<f32> = (0..8).map(|i| (0.5 * x[i % 4] + x[4 + i % 4]) / 2.0).collect();
        assert_eq!(out.packed()[..], expected);
    }
}
