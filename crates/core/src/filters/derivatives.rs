//! Derivatives by differences of neighbours: with the signs of OpenCV, so that a ramp which rises to the right or down
//! has a positive one.

use crate::{Error, Formula, Mask, Named, Result, Taps};

pub(super) fn wrong<T>(
    operation: &'static str,
    parameter: &'static str,
    value: impl ToString,
    limit: &str,
) -> Result<T> {
    Err(Error::parameter(operation, parameter, value, limit))
}

fn check_scale(operation: &'static str, scale: f64, delta: f64) -> Result<()> {
    for (what, value) in [("scale", scale), ("delta", delta)] {
        if !value.is_finite() {
            return wrong(operation, what, value, "finite");
        }
    }
    Ok(())
}

/// The factors of `(z + 1)^(length - 1 - order) * (z - 1)^order`, the lowest power first: a difference of this order,
/// smoothed by a binomial. OpenCV's `getDerivKernels`.
fn difference(order: u32, length: u32) -> Vec<f32> {
    let mut taps = vec![1i32];
    for n in 0..length - 1 {
        let sign = if n < order { -1 } else { 1 };
        let shifted = std::iter::once(0).chain(taps.iter().copied());
        taps = taps.iter().map(|tap| tap * sign).chain([0]).zip(shifted).map(|(tap, before)| tap + before).collect();
    }
    taps.iter().map(|&tap| tap as f32).collect()
}

/// The taps of a Sobel filter for one axis; a side of 1 smooths nothing, and differs over 3.
fn sobel_axis(order: u32, ksize: u32) -> Result<Taps> {
    Taps::new(difference(order, if ksize == 1 && order > 0 { 3 } else { ksize }))
}

fn check_ksize(operation: &'static str, ksize: u32) -> Result<()> {
    if matches!(ksize, 1 | 3 | 5 | 7) { Ok(()) } else { wrong(operation, "ksize", ksize, "1, 3, 5 or 7") }
}

/// Sobel's derivative, of order `dx` along the rows and `dy` along the columns, times `scale` plus `delta`: a difference
/// smoothed by a binomial over `ksize` pixels, and by one across; not normalised. OpenCV's `Sobel`, with its masks and
/// signs. SciPy's `sobel` is that of order 1 with a side of 3.
///
/// ```
/// use apron_core::{Formula, Named, filters::Sobel};
///
/// let Formula::Separable(x, y) = Sobel::new(1, 0).formula()? else { unreachable!() };
/// assert_eq!((x.taps(), y.taps()), (&[-1.0, 0.0, 1.0][..], &[1.0, 2.0, 1.0][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// The formula's errors: a `ksize` other than 1, 3, 5 and 7, orders that are both 0 or not below `ksize` (below 3 where
/// that is 1), and a scale or delta that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sobel {
    /// Order along the rows.
    pub dx: u32,
    /// Order along the columns.
    pub dy: u32,
    /// Side of the mask, in pixels; 1 for a difference over 3 without smoothing.
    pub ksize: u32,
    /// By what the sums are multiplied.
    pub scale: f64,
    /// What is added then.
    pub delta: f64,
}

impl Sobel {
    /// Of these orders, over 3 pixels, as it is.
    pub fn new(dx: u32, dy: u32) -> Sobel {
        Sobel { dx, dy, ksize: 3, scale: 1.0, delta: 0.0 }
    }

    fn taps(&self) -> Result<(Taps, Taps)> {
        check_ksize("sobel", self.ksize)?;
        if self.dx == 0 && self.dy == 0 {
            return wrong("sobel", "dx and dy", "0 and 0", "orders of which one is above 0");
        }
        let most = self.ksize.max(3);
        for (what, order) in [("dx", self.dx), ("dy", self.dy)] {
            if order >= most {
                return wrong("sobel", what, order, &format!("below {most} with a ksize of {}", self.ksize));
            }
        }
        Ok((sobel_axis(self.dx, self.ksize)?, sobel_axis(self.dy, self.ksize)?))
    }
}

impl Named for Sobel {
    fn formula(&self) -> Result<Formula> {
        check_scale("sobel", self.scale, self.delta)?;
        let (x, y) = self.taps()?;
        Ok(Formula::Separable(x, y).scaled(self.scale, self.delta))
    }
}

/// A difference along one axis, smoothed along the other by three taps.
fn along(operation: &'static str, (dx, dy): (u32, u32), smooth: [f32; 3]) -> Result<Formula> {
    let (difference, smooth) = (Taps::new([-1.0, 0.0, 1.0])?, Taps::new(smooth)?);
    match (dx, dy) {
        (1, 0) => Ok(Formula::Separable(difference, smooth)),
        (0, 1) => Ok(Formula::Separable(smooth, difference)),
        _ => wrong(operation, "dx and dy", format!("{dx} and {dy}"), "1 and 0, or 0 and 1"),
    }
}

/// Scharr's first derivative, times `scale` plus `delta`: a difference over 3 pixels, smoothed across by 3, 10 and 3; not
/// normalised. OpenCV's `Scharr`. SciPy has none.
///
/// The formula's errors: orders other than 1 and 0 or 0 and 1, and a scale or delta that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scharr {
    /// Order along the rows: 1, and the other 0; or 0.
    pub dx: u32,
    /// Order along the columns.
    pub dy: u32,
    /// By what the sums are multiplied.
    pub scale: f64,
    /// What is added then.
    pub delta: f64,
}

impl Scharr {
    /// Of these orders, as it is.
    pub fn new(dx: u32, dy: u32) -> Scharr {
        Scharr { dx, dy, scale: 1.0, delta: 0.0 }
    }
}

impl Named for Scharr {
    fn formula(&self) -> Result<Formula> {
        check_scale("scharr", self.scale, self.delta)?;
        Ok(along("scharr", (self.dx, self.dy), [3.0, 10.0, 3.0])?.scaled(self.scale, self.delta))
    }
}

/// Prewitt's first derivative: a difference over 3 pixels, summed across over 3; not normalised. SciPy's `prewitt`.
/// OpenCV has none; scikit-image's is a sixth of it.
///
/// The formula's errors: orders other than 1 and 0 or 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prewitt {
    /// Order along the rows: 1, and the other 0; or 0.
    pub dx: u32,
    /// Order along the columns.
    pub dy: u32,
}

impl Named for Prewitt {
    fn formula(&self) -> Result<Formula> {
        along("prewitt", (self.dx, self.dy), [1.0; 3])
    }
}

/// Roberts' differences along the diagonals of 2x2 pixels, of which the first is the output's (anchor 0,0): with `dx` of
/// 1 `image(x+1, y+1) - image(x, y)`, with `dy` of 1 `image(x, y+1) - image(x+1, y)`. scikit-image's
/// `roberts_pos_diag` and `roberts_neg_diag`. SciPy and OpenCV have none.
///
/// The formula's errors: orders other than 1 and 0 or 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roberts {
    /// 1 for the diagonal that goes down to the right, and the other 0; or 0.
    pub dx: u32,
    /// 1 for the diagonal that goes down to the left.
    pub dy: u32,
}

impl Named for Roberts {
    fn formula(&self) -> Result<Formula> {
        let taps = match (self.dx, self.dy) {
            (1, 0) => [-1.0, 0.0, 0.0, 1.0],
            (0, 1) => [0.0, -1.0, 1.0, 0.0],
            (dx, dy) => return wrong("roberts", "dx and dy", format!("{dx} and {dy}"), "1 and 0, or 0 and 1"),
        };
        Ok(Formula::Dense(Mask::new(2, 2, taps)?.with_anchor(0, 0)?))
    }
}

/// The sum of the second derivatives, times `scale` plus `delta`; not normalised. OpenCV's `Laplacian`, with its masks:
/// `0 1 0; 1 -4 1; 0 1 0` for a side of 1, which is SciPy's `laplace`, and else the sum of Sobel's, for 3 pixels
/// `2 0 2; 0 -8 0; 2 0 2`. Or with all eight neighbours `1 1 1; 1 -8 1; 1 1 1`, which neither has.
///
/// The formula's errors: a `ksize` other than 1, 3, 5 and 7 (with eight neighbours other than 1), a number of
/// neighbours other than 4 and 8, and a scale or delta that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplacian {
    /// Side of the mask, in pixels; 1 for the neighbours alone.
    pub ksize: u32,
    /// The neighbours that count where the side is 1: 4 or 8.
    pub neighbours: u32,
    /// By what the sums are multiplied.
    pub scale: f64,
    /// What is added then.
    pub delta: f64,
}

impl Default for Laplacian {
    /// Of the four neighbours, as it is.
    fn default() -> Laplacian {
        Laplacian { ksize: 1, neighbours: 4, scale: 1.0, delta: 0.0 }
    }
}

impl Laplacian {
    fn mask(&self) -> Result<Mask> {
        check_ksize("laplacian", self.ksize)?;
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
            (8, ksize) => wrong("laplacian", "ksize", ksize, "1 with 8 neighbours"),
            (neighbours, _) => wrong("laplacian", "neighbours", neighbours, "4 or 8"),
        }
    }
}

impl Named for Laplacian {
    fn formula(&self) -> Result<Formula> {
        check_scale("laplacian", self.scale, self.delta)?;
        Ok(Formula::Dense(self.mask()?).scaled(self.scale, self.delta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let taps = |ksize, neighbours| Laplacian { ksize, neighbours, ..Laplacian::default() }.mask().unwrap();
        assert_eq!(taps(1, 4), super::super::named_mask("laplacian").unwrap());
        assert_eq!(taps(1, 8).taps(), [1.0, 1.0, 1.0, 1.0, -8.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(taps(3, 4).taps(), [2.0, 0.0, 2.0, 0.0, -8.0, 0.0, 2.0, 0.0, 2.0]);
        let five: Mask = "2 4 4 4 2; 4 0 -8 0 4; 4 -8 -24 -8 4; 4 0 -8 0 4; 2 4 4 4 2".parse().unwrap();
        assert_eq!(taps(5, 4), five);
        assert_eq!(taps(7, 4).taps().iter().sum::<f32>(), 0.0);
    }

    #[test]
    fn roberts_differ_along_the_diagonals() {
        let mask = |dx, dy| match (Roberts { dx, dy }).formula().unwrap() {
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
        let laplacian = Laplacian::default();
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
            (Prewitt { dx: 0, dy: 0 }.formula(), "prewitt"),
            (Roberts { dx: 1, dy: 1 }.formula(), "roberts"),
            (Laplacian { ksize: 2, ..laplacian }.formula(), "ksize is 2"),
            (Laplacian { neighbours: 6, ..laplacian }.formula(), "4 or 8"),
            (Laplacian { neighbours: 8, ksize: 3, ..laplacian }.formula(), "1 with 8 neighbours"),
            (Laplacian { delta: f64::NAN, ..laplacian }.formula(), "delta"),
        ] {
            let error = formula.unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
