//! Sharpening, blurring along a line, and other effects.

use super::{Allowed::*, Value, gaussian, named_mask};
use crate::volumes;
use crate::{Error, Formula, Mask, PointOp, Result};

filters! {
    /// Sharpen by the four neighbours.
    ///
    /// The image plus the amount times four times its difference from the mean of the four neighbours. The mask is
    /// 0 -a 0; -a 1+4a -a; 0 -a 0.
    ///
    /// # Errors
    /// An amount that is not finite in f32, or four times which is not.
    sharpen() -> Sharpen {
        /// How much of the difference is added.
        amount: f64 = 1.0, Finite;
    }
    source "no common library's; with an amount of 1 the mask `sharpen`"
    examples ["photo.png sharp.png --amount 0.5"]
    volume None;

    /// Sharpen by adding back the difference from a blurred copy.
    ///
    /// Unsharp masking: image + amount * (image - blurred), blurred by a Gaussian that is cut off at 4 sigma. Samples
    /// that differ from the blurred ones by less than the threshold stay as they are. The blur is computed to f32,
    /// within the bound of a separable filter, and the sum is rounded once.
    ///
    /// # Errors
    /// As [`gaussian`](super::gaussian).
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![10u8, 20, 10])?;
    /// let sharp = Device::cpu().unsharp(&image, 0.5).amount(2.0).run()?;
    /// assert_eq!(sharp.download::<u8>()?.row(0), [6, 24, 6]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    unsharp(
        /// Standard deviation of the blur.
        sigma: f64, NotNegative, "pixels";
    ) -> Unsharp {
        /// How much of the difference is added.
        amount: f64 = 1.0, Finite;
        /// The least difference that counts, in the samples' units.
        threshold: f64 = 0.0, NotNegative;
    }
    source "scikit-image's `unsharp_mask`, which has no threshold"
    examples [
        "photo.jpg sharp.png --sigma 2 --amount 0.8 --threshold 3",
        "photo.jpg sharp.npy --sigma 1.5 --out-type f32",
    ]
    volume Some(|of| volumes::unsharp(of.each("sigma")?, of.one("amount")?, of.one("threshold")?));

    /// A relief lit from the upper left.
    ///
    /// The mask is -2 -1 0; -1 1 1; 0 1 2.
    emboss() -> Emboss {}
    source "the mask `emboss`"
    examples ["photo.png relief.png"]
    volume None;

    /// Mean over a line.
    ///
    /// The mean of points a pixel apart on a line whose middle lies on the output pixel; a point between pixels counts
    /// for the four around it, bilinearly. Points are rounded to 1e-9 of a pixel along each axis, so that at 0 and 90
    /// degrees lines of odd length are a window of 1 row or column. MATLAB's fspecial('motion') weighs pixels by their
    /// distance from the line instead.
    ///
    /// ```
    /// use apron::{Formula, Mask, Named, filters::MotionBlur};
    ///
    /// let formula = MotionBlur::new(2, 90.0).formula()?;
    /// assert_eq!(formula, Formula::Dense(Mask::new(1, 3, [0.25, 0.5, 0.25])?));
    /// # Ok::<(), apron::Error>(())
    /// ```
    motion_blur(
        /// Length of the line.
        length: u32, Between(1, MAX_MOTION), "pixels";
        /// Angle by which the line rises to the right.
        angle: f64 = 0.0, Finite, "degrees";
    ) -> MotionBlur {}
    source "no common library's; points of a line, bilinearly"
    examples ["photo.jpg moved.png --length 21 --angle 30", "photo.jpg moved.png --length 9"]
    volume None;
}

/// Longest line of a motion blur, in pixels.
pub const MAX_MOTION: u32 = 1023;

impl Sharpen {
    fn build(self) -> Result<Formula> {
        let (beside, middle) = (-self.amount, 1.0 + 4.0 * self.amount);
        if !(middle as f32).is_finite() {
            return Err(Error::parameter("sharpen", "amount", self.amount, "finite, also four times in f32"));
        }
        let taps = [0.0, beside, 0.0, beside, middle, beside, 0.0, beside, 0.0];
        Ok(Formula::Dense(Mask::from_f64(3, 3, taps)?))
    }
}

impl Unsharp {
    fn build(self) -> Result<Formula> {
        let Unsharp { sigma, amount, threshold } = self;
        let taps = gaussian(sigma, 4.0)?;
        let op = PointOp::Weighted { a: 1.0 + amount, b: -amount, c: 0.0, threshold };
        Ok(Formula::of(op, Formula::Image, Some(Formula::Separable(taps.clone(), taps))))
    }
}

impl Emboss {
    fn build(self) -> Result<Formula> {
        Ok(Formula::Dense(named_mask("emboss").expect("in the table")))
    }
}

impl MotionBlur {
    fn build(self) -> Result<Formula> {
        let MotionBlur { length, angle } = self;
        let (sin, cos) = (angle % 360.0).to_radians().sin_cos();
        let half = (length - 1) as f64 / 2.0;
        // Rounded, so that points on an axis do not leak into the next pixels by about 1e-16 of a pixel.
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
        Ok(Formula::Dense(Mask::from_f64(width as u32, height as u32, taps)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Named};

    fn motion(length: u32, angle: f64) -> Mask {
        match (MotionBlur { length, angle }).formula().unwrap() {
            Formula::Dense(mask) => mask,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_along_the_axes_and_the_diagonals() {
        for angle in [0.0, 180.0, -360.0, 720.0] {
            assert_eq!(motion(3, angle), Mask::from_f64(3, 1, [1.0 / 3.0; 3]).unwrap(), "{angle}");
        }
        assert_eq!(motion(3, 90.0), Mask::from_f64(1, 3, [1.0 / 3.0; 3]).unwrap());
        assert_eq!(motion(4, 0.0).taps(), [0.125, 0.25, 0.25, 0.25, 0.125]);
        assert_eq!(motion(1, 33.0).taps(), [1.0]);
        // The line rises to the right: the top row's last tap is positive, not its first.
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
        assert_eq!(mask, crate::filters::named_mask("sharpen").unwrap());
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
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
