//! Sharpening, blurring along a line, and other effects.

use super::gaussian;
use crate::{Error, Formula, Mask, Named, PointOp, Result};

/// The image and `amount` times what it has more than the mean of its four neighbours, times four:
/// `0 -a 0; -a 1+4a -a; 0 -a 0`.
///
/// The formula's errors: an amount that is not finite in f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharpen {
    /// How much: 1 for the [mask](super::named_mask) `sharpen`.
    pub amount: f64,
}

impl Named for Sharpen {
    fn formula(&self) -> Result<Formula> {
        let (beside, middle) = (-self.amount as f32, (1.0 + 4.0 * self.amount) as f32);
        if !middle.is_finite() {
            return Err(Error::parameter("sharpen", "amount", self.amount, "finite, also four times in f32"));
        }
        let taps = [0.0, beside, 0.0, beside, middle, beside, 0.0, beside, 0.0];
        Ok(Formula::Dense(Mask::new(3, 3, taps)?))
    }
}

/// Unsharp masking: `image + amount * (image - blurred)`, blurred by a Gaussian cut off at 4 sigma; samples that differ from
/// the blurred ones by less than the threshold stay as they are. scikit-image's `unsharp_mask` without a threshold.
///
/// The blur is computed to f32, within the bound of a separable filter, and the sum is rounded once.
///
/// The formula's errors are those of [`gaussian`], an amount that is not finite, and a threshold that is negative or no
/// number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsharp {
    /// Standard deviation of the blur, in pixels.
    pub sigma: f64,
    /// How much of the difference is added.
    pub amount: f64,
    /// The least difference that counts, in the samples' units.
    pub threshold: f64,
}

impl Unsharp {
    /// The whole difference to a blur of this standard deviation, however small.
    pub fn new(sigma: f64) -> Unsharp {
        Unsharp { sigma, amount: 1.0, threshold: 0.0 }
    }
}

impl Named for Unsharp {
    fn formula(&self) -> Result<Formula> {
        let Unsharp { sigma, amount, threshold } = *self;
        let taps = gaussian(sigma, 4.0)?;
        if !amount.is_finite() {
            return Err(Error::parameter("unsharp", "amount", amount, "finite"));
        }
        if threshold.is_nan() || threshold < 0.0 {
            return Err(Error::parameter("unsharp", "threshold", threshold, "0 or more"));
        }
        let op = PointOp::Weighted { a: 1.0 + amount, b: -amount, c: 0.0, threshold };
        Ok(Formula::of(op, Formula::Image, Some(Formula::Separable(taps.clone(), taps))))
    }
}

/// A relief lit from the upper left: the [mask](super::named_mask) `emboss`, `-2 -1 0; -1 1 1; 0 1 2`.
pub fn emboss() -> Formula {
    Formula::Dense(super::named_mask("emboss").expect("in the table"))
}

/// Longest line of a motion blur, in pixels.
pub const MAX_MOTION: u32 = 1023;

/// The mean over a line of `length` points a pixel apart, whose middle lies on the output pixel and which rises by `angle`
/// degrees to the right. A point between pixels counts for the four around it, bilinearly.
///
/// At 0 and 90 degrees lines of odd length are a window of 1 row or column. No library that is common has the same mask;
/// MATLAB's `fspecial('motion')` weighs pixels by their distance from the line.
///
/// ```
/// use apron_core::{Formula, Named, filters::MotionBlur};
///
/// let Formula::Dense(mask) = (MotionBlur { length: 2, angle: 90.0 }).formula()? else { unreachable!() };
/// assert_eq!((mask.width(), mask.height(), mask.taps()), (1, 3, &[0.25, 0.5, 0.25][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// The formula's errors: a length outside 1 to [`MAX_MOTION`], and an angle that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionBlur {
    /// Points of the line.
    pub length: u32,
    /// By how many degrees it rises to the right.
    pub angle: f64,
}

impl Named for MotionBlur {
    fn formula(&self) -> Result<Formula> {
        let MotionBlur { length, angle } = *self;
        if length == 0 || length > MAX_MOTION {
            return Err(Error::parameter("motion-blur", "length", length, format!("1 to {MAX_MOTION}")));
        }
        if !angle.is_finite() {
            return Err(Error::parameter("motion-blur", "angle", angle, "finite"));
        }
        let (sin, cos) = (angle % 360.0).to_radians().sin_cos();
        let half = (length - 1) as f64 / 2.0;
        // Rounded, lest a line along an axis lies in the pixels beside it by a 10^-16 of a pixel.
        let rounded = |place: f64| (place * 1e9).round() / 1e9;
        let points = (0..length).map(|k| k as f64 - half).map(|t| (rounded(t * cos), rounded(-t * sin)));
        let reach = |place: f64| rounded(place.abs()).ceil() as usize;
        let (across, down) = (reach(half * cos), reach(half * sin));
        let (width, height) = (2 * across + 1, 2 * down + 1);
        let mut taps = vec![0.0f64; width * height];
        for (x, y) in points {
            let (left, top) = (x.floor(), y.floor());
            let (part_x, part_y) = (x - left, y - top);
            let (column, row) = ((left + across as f64) as usize, (top + down as f64) as usize);
            for (j, weight_y) in [(0, 1.0 - part_y), (1, part_y)] {
                for (i, weight_x) in [(0, 1.0 - part_x), (1, part_x)] {
                    let weight = weight_x * weight_y / length as f64;
                    if weight > 0.0 {
                        taps[(row + j) * width + column + i] += weight;
                    }
                }
            }
        }
        let taps = taps.iter().map(|&tap| tap as f32).collect::<Vec<_>>();
        Ok(Formula::Dense(Mask::new(width as u32, height as u32, taps)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(length: u32, angle: f64) -> Mask {
        match (MotionBlur { length, angle }).formula().unwrap() {
            Formula::Dense(mask) => mask,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_along_the_axes_and_the_diagonals() {
        for angle in [0.0, 180.0, -360.0, 720.0] {
            assert_eq!(motion(3, angle), Mask::new(3, 1, [1.0 / 3.0; 3]).unwrap(), "{angle}");
        }
        assert_eq!(motion(3, 90.0), Mask::new(1, 3, [1.0 / 3.0; 3]).unwrap());
        assert_eq!(motion(4, 0.0).taps(), [0.125, 0.25, 0.25, 0.25, 0.125]);
        assert_eq!(motion(1, 33.0).taps(), [1.0]);
        // Rises to the right: the top row's last tap, not its first.
        let rising = motion(3, 45.0);
        assert_eq!((rising.width(), rising.height()), (3, 3));
        assert!(rising.taps()[2] > 0.1 && rising.taps()[0] == 0.0 && rising.taps()[6] == rising.taps()[2]);
        for (length, angle) in [(2, 10.0), (15, 30.0), (40, 91.0), (1023, 45.0), (7, 269.5)] {
            let mask = motion(length, angle);
            let sum: f64 = mask.taps().iter().map(|&tap| tap as f64).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{length} {angle}: {sum}");
            let mut turned = mask.taps().to_vec();
            turned.reverse();
            assert!(turned.iter().zip(mask.taps()).all(|(a, b)| (a - b).abs() < 1e-7), "{length} {angle}");
        }
    }

    #[test]
    fn sharpening_keeps_what_is_constant() {
        let Formula::Dense(mask) = (Sharpen { amount: 1.0 }).formula().unwrap() else { panic!() };
        assert_eq!(mask, super::super::named_mask("sharpen").unwrap());
        let Formula::Dense(mask) = (Sharpen { amount: 0.25 }).formula().unwrap() else { panic!() };
        assert_eq!(mask.taps(), [0.0, -0.25, 0.0, -0.25, 2.0, -0.25, 0.0, -0.25, 0.0]);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let unsharp = Unsharp::new(1.0);
        for (formula, part) in [
            (Sharpen { amount: f64::NAN }.formula(), "amount is NaN"),
            (Sharpen { amount: 1e38 }.formula(), "amount is 1"),
            (Unsharp { sigma: -1.0, ..unsharp }.formula(), "sigma is -1"),
            (Unsharp { amount: f64::INFINITY, ..unsharp }.formula(), "amount is inf"),
            (Unsharp { threshold: -0.5, ..unsharp }.formula(), "threshold is -0.5"),
            (MotionBlur { length: 0, angle: 0.0 }.formula(), "1 to 1023"),
            (MotionBlur { length: 1024, angle: 0.0 }.formula(), "length is 1024"),
            (MotionBlur { length: 3, angle: f64::NAN }.formula(), "angle is NaN"),
        ] {
            let error = formula.unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
