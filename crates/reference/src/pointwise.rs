//! Pointwise operations.

use apron_core::{
    Accumulator, AnyImage, Cast, Error, Image, Pixel, PointOp, Pointwise, Result, Sample, deviation, direction,
    each_type,
};

/// Applies a pointwise operation in plain loops, as [`PointOp`] defines it: in f64, rounded once.
///
/// ```
/// use apron_core::{AnyImage, Image, PixelType, PointOp, Pointwise};
///
/// let x = AnyImage::F32(Image::new(2, 1, 1, vec![3.0f32, -5.0])?);
/// let y = AnyImage::F32(Image::new(2, 1, 1, vec![4.0f32, 12.0])?);
/// let (shape, src, dst) = (x.shape(), PixelType::F32, PixelType::U8);
/// let problem = Pointwise { shape, src, second: Some(src), dst, op: PointOp::Magnitude };
/// let out: Image<u8> = apron_reference::pointwise(&x, Some(&y), &problem)?;
/// assert_eq!(out.row(0), [5, 13]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Pointwise::check_images`].
pub fn pointwise<O: Pixel>(
    x: &AnyImage<'_>,
    y: Option<&AnyImage<'_>>,
    problem: &Pointwise,
) -> Result<Image<'static, O>> {
    problem.check_images((x.shape(), x.pixel_type()), y.map(|y| (y.shape(), y.pixel_type())))?;
    if let (PointOp::Alpha, Some(y)) = (problem.op, y) {
        return with_alpha(&typed::<O>(x)?, &typed(y)?);
    }
    let values = values(x, y, problem.op)?.into_iter();
    let out: Vec<O> = match problem.op {
        PointOp::Cast(cast) => values.map(|value| O::cast(value, cast)).collect(),
        // Exact: the output is f64.
        PointOp::Below { .. } => values.map(|value| O::cast(value, Cast::default())).collect(),
        _ => values.map(|value| O::from_sum(O::Sum::from_f64(value))).collect(),
    };
    let shape = problem.shape;
    Image::new(shape.width, shape.height, shape.channels, out)
}

/// Returns the values of the operation, before they are rounded.
fn values(x: &AnyImage<'_>, y: Option<&AnyImage<'_>>, op: PointOp) -> Result<Vec<f64>> {
    if let PointOp::Below { last } = op {
        return Ok(each_type!(x, x => x.rows().flatten().map(|sample| sample.to_f64_below(last)).collect()));
    }
    let (xs, ys) = (numbers(x), y.map(numbers));
    let value = |i: usize| {
        let (x, y) = (xs[i], ys.as_ref().map(|ys| ys[i]));
        Ok(match (op, y) {
            (PointOp::Cast(_), _) => x,
            (PointOp::Weighted { threshold, .. }, Some(y)) if (x - y).abs() < threshold => x,
            (PointOp::Weighted { a, b, c, .. }, Some(y)) => a.mul_add(x, b.mul_add(y, c)),
            (PointOp::Weighted { a, c, .. }, None) => a.mul_add(x, c),
            (PointOp::Magnitude, Some(y)) => (x * x + y * y).sqrt(),
            (PointOp::Direction, Some(y)) => direction(y, x, f64::mul_add),
            (PointOp::Product, Some(y)) => x * y,
            (PointOp::Deviation { n }, Some(y)) => deviation(n, x, y),
            _ => return Err(Pointwise::needs_second()),
        })
    };
    (0..xs.len()).map(value).collect()
}

/// Returns all samples as f64.
fn numbers(image: &AnyImage<'_>) -> Vec<f64> {
    each_type!(image, image => image.rows().flatten().map(|&sample| sample.to_f64()).collect())
}

/// Borrows the image as one of this sample type.
fn typed<'a, T: Pixel>(image: &'a AnyImage<'_>) -> Result<Image<'a, T>> {
    let (found, expected) = (image.pixel_type(), T::PIXEL.to_string());
    T::from_any(image.view()).ok_or(Error::PixelType { operation: "alpha", found, expected })
}

/// Combines one image with the last channel of another.
fn with_alpha<T: Pixel>(x: &Image<'_, T>, y: &Image<'_, T>) -> Result<Image<'static, T>> {
    let (shape, last) = (x.shape(), x.channels() - 1);
    let pixels = (0..shape.height).flat_map(|row| (0..shape.width).map(move |column| (column, row)));
    let sample = |(column, row): (u32, u32), channel: u32| {
        let image = if channel == last { y } else { x };
        image.sample(column, row, channel)
    };
    let out: Vec<T> = pixels.flat_map(|at| (0..=last).map(move |channel| sample(at, channel))).collect();
    Image::new(shape.width, shape.height, shape.channels, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{PixelType, Shape};

    fn floats(samples: &[f32]) -> AnyImage<'static> {
        AnyImage::F32(Image::new(samples.len() as u32, 1, 1, samples.to_vec()).unwrap())
    }

    fn of(op: PointOp, second: Option<PixelType>, src: PixelType, dst: PixelType, width: u32) -> Pointwise {
        Pointwise { shape: Shape::new(width, 1, 1).unwrap(), src, second, dst, op }
    }

    #[test]
    fn sums_by_hand() {
        let x = AnyImage::U8(Image::new(4, 1, 1, vec![0u8, 10, 200, 255]).unwrap());
        let y = floats(&[1.0, 9.5, 100.25, 1e9]);
        let (bytes, second) = (PixelType::U8, Some(PixelType::F32));
        // 2 x - y, with halves rounded to the even neighbour.
        let sum = of(PointOp::weighted(2.0, -1.0, 0.0), second, bytes, bytes, 4);
        let out: Image<u8> = pointwise(&x, Some(&y), &sum).unwrap();
        assert_eq!(out.row(0), [0, 10, 255, 0]);
        let sum = Pointwise { dst: PixelType::F32, ..sum };
        let out: Image<f32> = pointwise(&x, Some(&y), &sum).unwrap();
        assert_eq!(out.row(0), [-1.0, 10.5, 299.75, 510.0 - 1e9]);
        // Samples that differ by less than 1 stay.
        let op = PointOp::Weighted { a: 0.0, b: 0.0, c: 7.0, threshold: 1.0 };
        let out: Image<u8> = pointwise(&x, Some(&y), &of(op, second, bytes, bytes, 4)).unwrap();
        assert_eq!(out.row(0), [7, 10, 7, 7]);
        // A single image, whose infinities stay.
        let scaled = of(PointOp::weighted(0.5, 0.0, -3.0), None, PixelType::F32, PixelType::F32, 3);
        let out: Image<f32> = pointwise(&floats(&[1.0, f32::INFINITY, -2.0]), None, &scaled).unwrap();
        assert_eq!(out.row(0), [-2.5, f32::INFINITY, -4.0]);
    }

    #[test]
    fn lengths_and_angles_by_hand() {
        let large = 2f32.powi(120);
        let (x, y) = (floats(&[3.0, -3.0 * large, 0.0, -1.0]), floats(&[-4.0, 4.0 * large, 2.0, 0.0]));
        let vectors = |op| of(op, Some(PixelType::F32), PixelType::F32, PixelType::F32, 4);
        let out: Image<f32> = pointwise(&x, Some(&y), &vectors(PointOp::Magnitude)).unwrap();
        assert_eq!(out.row(0), [5.0, 5.0 * large, 2.0, 1.0]);
        let out: Image<f32> = pointwise(&x, Some(&y), &vectors(PointOp::Direction)).unwrap();
        let expected = [(-4f64).atan2(3.0), 4f64.atan2(-3.0), 2f64.atan2(0.0), 0f64.atan2(-1.0)];
        assert_eq!(out.row(0), expected.map(|angle| angle as f32));
    }

    #[test]
    fn alpha_is_the_second_images() {
        let of = |samples: [i16; 8]| AnyImage::I16(Image::new(2, 1, 4, samples.to_vec()).unwrap());
        let (x, y) = (of([1, 2, 3, 4, 5, 6, 7, 8]), of([-1, -2, -3, -4, -5, -6, -7, -8]));
        let (shape, src) = (x.shape(), PixelType::I16);
        let alpha = Pointwise { shape, src, second: Some(src), dst: src, op: PointOp::Alpha };
        let out: Image<i16> = pointwise(&x, Some(&y), &alpha).unwrap();
        assert_eq!(out.row(0), [1, 2, 3, -4, 5, 6, 7, -8]);
        assert!(pointwise::<f32>(&x, Some(&y), &alpha).is_err());
    }

    #[test]
    fn images_of_two_shapes_are_refused() {
        let sum = of(PointOp::weighted(1.0, 1.0, 0.0), Some(PixelType::F32), PixelType::F32, PixelType::F32, 2);
        let error = pointwise::<f32>(&floats(&[1.0, 2.0]), Some(&floats(&[1.0])), &sum).unwrap_err();
        assert!(error.to_string().contains("1x1x1, but must be 2x1x1"), "{error}");
    }
}
