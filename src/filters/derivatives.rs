//! Derivatives by differences of neighbours, with the signs of OpenCV: positive for a ramp that rises to the right or
//! down.

use super::{Allowed::*, Value};
use crate::volumes;
use crate::{Error, Formula, Mask, Result, Taps};

filters! {
    /// Sobel's derivative, of any order and side.
    ///
    /// A difference smoothed across by a binomial, with OpenCV's masks: a rise to the right or down is positive, and
    /// sums are not normalised. Derivatives of u8 are cut off at 0 and 255 unless another type is asked for.
    ///
    /// # Errors
    /// Orders that are both 0, or not below `ksize` (below 3 where that is 1).
    ///
    /// ```
    /// use apron::{Device, Image, PixelType};
    ///
    /// let ramp = Image::new(4, 1, 1, vec![0u8, 1, 2, 3])?;
    /// let derivative = Device::cpu().sobel(&ramp, 1, 0).ksize(3).out_type(PixelType::I16).run()?;
    /// assert_eq!(derivative.download::<i16>()?.row(0), [0, 8, 8, 0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    sobel(
        /// Order of the derivative along the rows.
        dx: u32 = 0, Any;
        /// Order of the derivative along the columns.
        dy: u32 = 0, Any;
    ) -> Sobel {
        /// Side of the mask; 1 for a difference over 3 without smoothing.
        ksize: u32 = 3, OneOf(&[1, 3, 5, 7]), "pixels";
        /// Multiply the sums by this.
        scale: f64 = 1.0, Finite;
        /// Add this to the scaled sums.
        delta: f64 = 0.0, Finite;
    }
    source "OpenCV's `Sobel`; SciPy's `sobel` is that of order 1 with a side of 3"
    examples [
        "photo.png edges.npy --dx 1 --ksize 5 --out-type i16",
        "photo.png edges.npy --dx 2 --dy 1 --ksize 7 --scale 0.1 --delta 3 --border wrap",
    ]
    volume Some(|of| volumes::sobel(of.axis()?));

    /// Scharr's first derivative.
    ///
    /// A difference over 3 pixels, smoothed across by 3, 10 and 3, not normalised. SciPy has none.
    ///
    /// # Errors
    /// Orders other than 1 and 0 or 0 and 1.
    scharr(
        /// 1 for the derivative along the rows.
        dx: u32 = 0, Any;
        /// 1 for the derivative along the columns.
        dy: u32 = 0, Any;
    ) -> Scharr {
        /// Multiply the sums by this.
        scale: f64 = 1.0, Finite;
        /// Add this to the scaled sums.
        delta: f64 = 0.0, Finite;
    }
    source "OpenCV's `Scharr`"
    examples ["photo.png edges.npy --dy 1 --out-type f32", "photo.png edges.png --dx 1 --scale 0.5 --delta 128"]
    volume None;

    /// Prewitt's first derivative.
    ///
    /// A difference over 3 pixels, summed across over 3, not normalised. OpenCV has none;
    /// scikit-image's is a sixth of it.
    ///
    /// # Errors
    /// Orders other than 1 and 0 or 0 and 1.
    prewitt(
        /// 1 for the derivative along the rows.
        dx: u32 = 0, Any;
        /// 1 for the derivative along the columns.
        dy: u32 = 0, Any;
    ) -> Prewitt {}
    source "SciPy's `prewitt`"
    examples ["photo.png edges.npy --dx 1 --out-type i16"]
    volume Some(|of| volumes::prewitt(of.axis()?));

    /// Roberts' difference along a diagonal.
    ///
    /// Of 2x2 pixels, the upper left one is the output's (anchor 0,0). With dx of 1 it is image(x+1, y+1) - image(x,
    /// y), with dy of 1 image(x, y+1) - image(x+1, y). SciPy and OpenCV have none.
    ///
    /// # Errors
    /// Orders other than 1 and 0 or 0 and 1.
    roberts(
        /// 1 for the diagonal that goes down to the right.
        dx: u32 = 0, Any;
        /// 1 for the diagonal that goes down to the left.
        dy: u32 = 0, Any;
    ) -> Roberts {}
    source "scikit-image's `roberts_pos_diag` (dx) and `roberts_neg_diag` (dy)"
    examples ["photo.png edges.npy --dx 1 --out-type i16", "photo.png edges.npy --dy 1 --border constant:4"]
    volume None;

    /// Farid's and Simoncelli's first derivative.
    ///
    /// A difference over 5 pixels, smoothed across over 5, with taps that make the gradient's direction least
    /// dependent on how the image is turned. Of a ramp it is 0.992 times the rise, so that derivatives of u8 want f32.
    /// OpenCV and SciPy have none.
    ///
    /// # Errors
    /// Orders other than 1 and 0 or 0 and 1.
    farid(
        /// 1 for the derivative along the rows.
        dx: u32 = 0, Any;
        /// 1 for the derivative along the columns.
        dy: u32 = 0, Any;
    ) -> Farid {}
    source "scikit-image's `farid_v` (dx) and `farid_h` (dy)"
    examples ["photo.png edges.npy --dx 1 --out-type f32"]
    volume None;

    /// The sum of the second derivatives.
    ///
    /// Not normalised. The mask is 0 1 0; 1 -4 1; 0 1 0 for a side of 1, else the sum of Sobel's second
    /// derivatives, for 3 pixels 2 0 2; 0 -8 0; 2 0 2. With eight neighbours it is 1 1 1; 1 -8 1; 1 1 1, which
    /// OpenCV and SciPy do not have.
    ///
    /// # Errors
    /// Eight neighbours with a side above 1.
    laplacian() -> Laplacian {
        /// Side of the mask; 1 for the neighbours alone.
        ksize: u32 = 1, OneOf(&[1, 3, 5, 7]), "pixels";
        /// Neighbours that count where the side is 1.
        neighbours: u32 = 4, OneOf(&[4, 8]);
        /// Multiply the sums by this.
        scale: f64 = 1.0, Finite;
        /// Add this to the scaled sums.
        delta: f64 = 0.0, Finite;
    }
    source "OpenCV's `Laplacian`; SciPy's `laplace` is that with a side of 1"
    examples ["photo.png edges.npy --ksize 3 --out-type i16", "photo.png edges.png --neighbours 8 --delta 100"]
    volume Some(|_| volumes::laplacian());
}

fn wrong<T>(operation: &'static str, parameter: &'static str, value: impl ToString, limit: &str) -> Result<T> {
    Err(Error::parameter(operation, parameter, value, limit))
}

/// Returns the coefficients of `(z + 1)^(length - 1 - order) * (z - 1)^order`, the lowest power first: a difference of
/// this order, smoothed by a binomial. OpenCV's `getDerivKernels`.
fn difference(order: u32, length: u32) -> Vec<f32> {
    let mut taps = vec![1i32];
    for n in 0..length - 1 {
        let sign = if n < order { -1 } else { 1 };
        let shifted = std::iter::once(0).chain(taps.iter().copied());
        taps = taps.iter().map(|tap| tap * sign).chain([0]).zip(shifted).map(|(tap, before)| tap + before).collect();
    }
    taps.iter().map(|&tap| tap as f32).collect()
}

/// Returns the taps of a Sobel filter for one axis; a side of 1 means no smoothing, and a difference over 3 pixels.
fn sobel_axis(order: u32, ksize: u32) -> Result<Taps> {
    Taps::new(difference(order, if ksize == 1 && order > 0 { 3 } else { ksize }))
}

impl Sobel {
    fn build(self) -> Result<Formula> {
        if self.dx == 0 && self.dy == 0 {
            return wrong("sobel", "dx and dy", "0 and 0", "two orders, at least one of them above 0");
        }
        let most = self.ksize.max(3);
        for (what, order) in [("dx", self.dx), ("dy", self.dy)] {
            if order >= most {
                return wrong("sobel", what, order, &format!("below {most} with a ksize of {}", self.ksize));
            }
        }
        let (x, y) = (sobel_axis(self.dx, self.ksize)?, sobel_axis(self.dy, self.ksize)?);
        Ok(Formula::Separable(x, y).scaled(self.scale, self.delta))
    }
}

/// Makes a first derivative: a difference along one axis, smoothed along the other.
fn along(
    operation: &'static str,
    (dx, dy): (u32, u32),
    difference: &'static [f64],
    smooth: &'static [f64],
) -> Result<Formula> {
    let (difference, smooth) = (Taps::from_f64(difference)?, Taps::from_f64(smooth)?);
    match (dx, dy) {
        (1, 0) => Ok(Formula::Separable(difference, smooth)),
        (0, 1) => Ok(Formula::Separable(smooth, difference)),
        _ => wrong(operation, "dx and dy", format!("{dx} and {dy}"), "1 and 0, or 0 and 1"),
    }
}

impl Scharr {
    fn build(self) -> Result<Formula> {
        Ok(along("scharr", (self.dx, self.dy), &[-1.0, 0.0, 1.0], &[3.0, 10.0, 3.0])?.scaled(self.scale, self.delta))
    }
}

/// The taps of Farid and Simoncelli, "Differentiation of discrete multidimensional signals" (2004), table I.
const FARID: ([f64; 5], [f64; 5]) = (
    [-0.109603762960254, -0.276690988455557, 0.0, 0.276690988455557, 0.109603762960254],
    [0.0376593171958126, 0.249153396177344, 0.426374573253687, 0.249153396177344, 0.0376593171958126],
);

impl Farid {
    fn build(self) -> Result<Formula> {
        along("farid", (self.dx, self.dy), &FARID.0, &FARID.1)
    }
}

impl Prewitt {
    fn build(self) -> Result<Formula> {
        along("prewitt", (self.dx, self.dy), &[-1.0, 0.0, 1.0], &[1.0; 3])
    }
}

impl Roberts {
    fn build(self) -> Result<Formula> {
        let taps = match (self.dx, self.dy) {
            (1, 0) => [-1.0, 0.0, 0.0, 1.0],
            (0, 1) => [0.0, -1.0, 1.0, 0.0],
            (dx, dy) => return wrong("roberts", "dx and dy", format!("{dx} and {dy}"), "1 and 0, or 0 and 1"),
        };
        Ok(Formula::Dense(Mask::new(2, 2, taps)?.with_anchor(0, 0)?))
    }
}

impl Laplacian {
    fn build(self) -> Result<Formula> {
        Ok(Formula::Dense(self.mask()?).scaled(self.scale, self.delta))
    }

    fn mask(self) -> Result<Mask> {
        match (self.neighbours, self.ksize) {
            (4, 1) => Mask::new(3, 3, [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0]),
            (8, 1) => Mask::new(3, 3, [1.0, 1.0, 1.0, 1.0, -8.0, 1.0, 1.0, 1.0, 1.0]),
            (4, ksize) => {
                let (second, smooth) = (difference(2, ksize), difference(0, ksize));
                let taps = second.iter().zip(&smooth).flat_map(|(second_y, smooth_y)| {
                    second
                        .iter()
                        .zip(&smooth)
                        .map(move |(second_x, smooth_x)| second_x * smooth_y + second_y * smooth_x)
                });
                Mask::new(ksize, ksize, taps.collect::<Vec<_>>())
            }
            (_, ksize) => wrong("laplacian", "ksize", ksize, "1 with 8 neighbours"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Named};

    /// `cv2.getDerivKernels(order, 0, ksize)[0]`.
    #[test]
    fn differences_are_opencvs() {
        for (order, length, taps) in [
            (0, 1, &[1.0][..]),
            (1, 3, &[-1.0, 0.0, 1.0]),
            (2, 3, &[1.0, -2.0, 1.0]),
            (0, 5, &[1.0, 4.0, 6.0, 4.0, 1.0]),
            (1, 5, &[-1.0, -2.0, 0.0, 2.0, 1.0]),
            (2, 5, &[1.0, 0.0, -2.0, 0.0, 1.0]),
            (3, 5, &[-1.0, 2.0, 0.0, -2.0, 1.0]),
            (4, 5, &[1.0, -4.0, 6.0, -4.0, 1.0]),
            (0, 7, &[1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0]),
            (1, 7, &[-1.0, -4.0, -5.0, 0.0, 5.0, 4.0, 1.0]),
            (2, 7, &[1.0, 2.0, -1.0, -4.0, -1.0, 2.0, 1.0]),
        ] {
            assert_eq!(difference(order, length), taps, "{order} {length}");
        }
    }

    #[test]
    fn a_side_of_one_smooths_nothing() {
        let Formula::Separable(x, y) = (Sobel { ksize: 1, ..Sobel::new(0, 2) }).formula().unwrap() else { panic!() };
        assert_eq!((x.taps(), y.taps()), (&[1.0][..], &[1.0, -2.0, 1.0][..]));
    }

    #[test]
    fn laplacians_are_opencvs() {
        let taps = |ksize, neighbours| Laplacian { ksize, neighbours, ..Laplacian::new() }.mask().unwrap();
        assert_eq!(taps(1, 4), crate::filters::named_mask("laplacian").unwrap());
        assert_eq!(taps(1, 8).taps(), [1.0, 1.0, 1.0, 1.0, -8.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(taps(3, 4).taps(), [2.0, 0.0, 2.0, 0.0, -8.0, 0.0, 2.0, 0.0, 2.0]);
        let five: Mask = "2 4 4 4 2; 4 0 -8 0 4; 4 -8 -24 -8 4; 4 0 -8 0 4; 2 4 4 4 2".parse().unwrap();
        assert_eq!(taps(5, 4), five);
        assert_eq!(taps(7, 4).taps().iter().sum::<f32>(), 0.0);
    }

    #[test]
    fn farids_taps_smooth_to_the_same_and_differ_by_nearly_one() {
        let Formula::Separable(y, x) = Farid::new(0, 1).formula().unwrap() else { panic!() };
        let (smooth, difference) = (y.taps(), x.taps());
        assert!((smooth.iter().sum::<f32>() - 1.0).abs() < 2e-6, "{smooth:?}");
        let rise: f32 = difference.iter().zip(-2i8..).map(|(tap, x)| tap * f32::from(x)).sum();
        // skimage.filters.farid of a ramp.
        assert!((rise - 0.991_797).abs() < 1e-6, "{rise}");
    }

    #[test]
    fn roberts_differ_along_the_diagonals() {
        let mask = |dx, dy| match Roberts::new(dx, dy).formula().unwrap() {
            Formula::Dense(mask) => mask,
            other => panic!("{other:?}"),
        };
        assert_eq!((mask(1, 0).taps(), mask(1, 0).anchor()), (&[-1.0, 0.0, 0.0, 1.0][..], (0, 0)));
        assert_eq!(mask(0, 1).taps(), [0.0, -1.0, 1.0, 0.0]);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let sobel = Sobel::new(1, 0);
        let scharr = |dx, dy| Scharr::new(dx, dy).formula();
        let laplacian = Laplacian::new();
        for (formula, part) in [
            (Sobel::new(0, 0).formula(), "0 and 0"),
            (Sobel { ksize: 4, ..sobel }.formula(), "ksize is 4, but must be 1, 3, 5 or 7"),
            (Sobel { dx: 3, ..sobel }.formula(), "dx is 3, but must be below 3"),
            (Sobel { dy: 3, ksize: 1, ..sobel }.formula(), "dy is 3"),
            (Sobel { scale: f64::NAN, ..sobel }.formula(), "scale is NaN"),
            (Sobel { delta: f64::INFINITY, ..sobel }.formula(), "delta is inf"),
            (scharr(1, 1), "1 and 1, but must be 1 and 0, or 0 and 1"),
            (scharr(2, 0), "2 and 0"),
            (Scharr { scale: f64::INFINITY, ..Scharr::new(1, 0) }.formula(), "scale"),
            (Prewitt::new(0, 0).formula(), "prewitt"),
            (Roberts::new(1, 1).formula(), "roberts"),
            (Farid::new(2, 0).formula(), "farid: dx and dy is 2 and 0"),
            (Laplacian { ksize: 2, ..laplacian }.formula(), "ksize is 2"),
            (Laplacian { neighbours: 6, ..laplacian }.formula(), "4 or 8"),
            (Laplacian { neighbours: 8, ksize: 3, ..laplacian }.formula(), "1 with 8 neighbours"),
            (Laplacian { delta: f64::NAN, ..laplacian }.formula(), "delta"),
        ] {
            let error = formula.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
