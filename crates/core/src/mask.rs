//! Masks: the taps of a correlation, and their anchor.

use crate::number::digits;
use crate::{Accumulator, Error, PixelType, Result, number};
use std::sync::Arc;

/// Largest side of a mask, in taps.
pub const MAX_MASK_SIDE: u32 = 1 << 16;

/// A dense mask: taps in rows, and the anchor, which is the tap over the output pixel.
///
/// ```
/// use apron_core::Mask;
///
/// let mask: Mask = "1 2 1; 2 4 2; 1 2 1".parse()?;
/// assert_eq!((mask.width(), mask.height(), mask.anchor()), (3, 3, (1, 1)));
/// assert_eq!(mask.normalized()?.taps()[4], 0.25);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    width: u32,
    height: u32,
    /// Shared by clones: plans make many.
    taps: Arc<Numbers>,
    anchor: (u32, u32),
}

fn invalid(parameter: &'static str, value: impl ToString, limit: impl Into<String>) -> Error {
    Error::parameter("mask", parameter, value, limit)
}

/// Finite taps: as they were given, and rounded to f32 for images of other types than f64.
#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    single: Vec<f32>,
    double: Vec<f64>,
}

impl Numbers {
    fn of_f32(single: Vec<f32>) -> Result<Numbers> {
        let double = single.iter().map(|&tap| tap as f64).collect();
        Numbers { single, double }.checked("finite")
    }

    fn of_f64(double: Vec<f64>) -> Result<Numbers> {
        let single = double.iter().map(|&tap| tap as f32).collect();
        Numbers { single, double }.checked("finite in f32: at most 3.4028235e38")
    }

    fn checked(self, limit: &str) -> Result<Numbers> {
        match self.single.iter().zip(&self.double).find(|(single, _)| !single.is_finite()) {
            Some((_, tap)) => Err(invalid("tap", tap, limit)),
            None => Ok(self),
        }
    }

    fn for_image<A: Accumulator>(&self, pixel: PixelType) -> Vec<A> {
        match pixel {
            PixelType::F64 => self.double.iter().map(|&tap| A::from_f64(tap)).collect(),
            _ => self.single.iter().map(|&tap| A::of(tap)).collect(),
        }
    }

    /// Divides the taps by their sum, which is taken in f64: the rounded ones by the sum of the rounded ones.
    fn normalized(&self) -> Result<Numbers> {
        let of_single: f64 = self.single.iter().map(|&tap| tap as f64).sum();
        let of_double: f64 = self.double.iter().sum();
        let single = self.single.iter().map(|&tap| (tap as f64 / of_single) as f32).collect();
        let double: Vec<f64> = self.double.iter().map(|&tap| tap / of_double).collect();
        let is_finite = double.iter().all(|tap| tap.is_finite());
        let found = Numbers { single, double }.checked("");
        match found {
            Ok(found) if of_single != 0.0 && is_finite => Ok(found),
            _ => Err(invalid("sum of taps", of_single, "far enough from 0 to divide by")),
        }
    }
}

fn check_side(what: &'static str, side: u32) -> Result<()> {
    if side == 0 || side > MAX_MASK_SIDE {
        return Err(invalid(what, side, format!("1 to {MAX_MASK_SIDE}")));
    }
    Ok(())
}

impl Mask {
    /// Creates a mask of `width * height` finite taps, row by row, anchored at `(width / 2, height / 2)`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side outside 1 to [`MAX_MASK_SIDE`], a wrong number of taps, or
    /// taps that are not finite.
    pub fn new(width: u32, height: u32, taps: impl Into<Vec<f32>>) -> Result<Mask> {
        Mask::of(width, height, Numbers::of_f32(taps.into()))
    }

    /// As [`new`](Mask::new), with taps of f64. Images of f64 are weighted with them as they are, images of other types
    /// with the nearest f32.
    ///
    /// ```
    /// use apron_core::Mask;
    ///
    /// let mask = Mask::from_f64(1, 1, [0.1])?;
    /// assert_eq!((mask.taps_f64(), mask.taps()), (&[0.1][..], &[0.1f32][..]));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Mask::new), and for taps that are too large for f32.
    pub fn from_f64(width: u32, height: u32, taps: impl Into<Vec<f64>>) -> Result<Mask> {
        Mask::of(width, height, Numbers::of_f64(taps.into()))
    }

    fn of(width: u32, height: u32, taps: Result<Numbers>) -> Result<Mask> {
        check_side("width", width)?;
        check_side("height", height)?;
        let taps = Arc::new(taps?);
        if taps.single.len() as u64 != width as u64 * height as u64 {
            return Err(invalid("number of taps", taps.single.len(), format!("{width} x {height}")));
        }
        Ok(Mask { width, height, taps, anchor: (width / 2, height / 2) })
    }

    /// Creates a mask of these rows of taps, the first at the top, anchored at `(W / 2, H / 2)`.
    ///
    /// ```
    /// use apron_core::Mask;
    ///
    /// let sobel = Mask::from_rows([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])?;
    /// assert_eq!(sobel, "-1 0 1; -2 0 2; -1 0 1".parse()?);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Mask::new).
    pub fn from_rows<const W: usize, const H: usize>(rows: [[f32; W]; H]) -> Result<Mask> {
        let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
        Mask::new(side(W), side(H), rows.as_flattened())
    }

    /// Returns the mask with the tap `(x, y)` over the output pixel.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an anchor outside the mask.
    pub fn with_anchor(mut self, x: u32, y: u32) -> Result<Mask> {
        if x >= self.width || y >= self.height {
            let limit = format!("inside the mask: 0,0 to {},{}", self.width - 1, self.height - 1);
            return Err(invalid("anchor", format!("{x},{y}"), limit));
        }
        self.anchor = (x, y);
        Ok(self)
    }

    /// Returns the mask divided by the sum of its taps.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the sum is 0, or so small that the quotients overflow.
    pub fn normalized(mut self) -> Result<Mask> {
        self.taps = Arc::new(self.taps.normalized()?);
        Ok(self)
    }

    /// Returns the mask rotated by 180 degrees, with its anchor: correlation with it is convolution with `self`.
    ///
    /// For even masks the anchor moves from `size / 2` to `size / 2 - 1`, as in SciPy's `convolve`.
    pub fn flipped(mut self) -> Mask {
        let taps = Arc::make_mut(&mut self.taps);
        taps.single.reverse();
        taps.double.reverse();
        self.anchor = (self.width - 1 - self.anchor.0, self.height - 1 - self.anchor.1);
        self
    }

    /// Returns the width, in taps.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height, in taps.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the taps as f32, row by row.
    pub fn taps(&self) -> &[f32] {
        &self.taps.single
    }

    /// Returns the taps for images of f64, row by row.
    pub fn taps_f64(&self) -> &[f64] {
        &self.taps.double
    }

    /// Returns the taps for images of type `pixel`, row by row, in the type `A` of the sums.
    pub fn taps_for<A: Accumulator>(&self, pixel: PixelType) -> Vec<A> {
        self.taps.for_image(pixel)
    }

    /// Returns the column and row of the tap over the output pixel.
    pub fn anchor(&self) -> (u32, u32) {
        self.anchor
    }
}

/// As [`Mask::from_rows`].
impl<const W: usize, const H: usize> TryFrom<[[f32; W]; H]> for Mask {
    type Error = Error;

    fn try_from(rows: [[f32; W]; H]) -> Result<Mask> {
        Mask::from_rows(rows)
    }
}

impl std::fmt::Display for Mask {
    /// Formats the taps, as f64, in the form that is parsed: `1 2 1; 2 4 2; 1 2 1`. The anchor is not included.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (y, row) in self.taps.double.chunks(self.width as usize).enumerate() {
            f.write_str(if y > 0 { "; " } else { "" })?;
            for (x, tap) in row.iter().enumerate() {
                f.write_str(if x > 0 { " " } else { "" })?;
                f.write_str(&digits(*tap))?;
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Mask {
    type Err = Error;

    /// Parses rows separated by `;`, of taps separated by blanks or commas: `"1 2 1; 2 4 2; 1 2 1"`. Integers that f64
    /// does not hold are refused.
    fn from_str(text: &str) -> Result<Mask> {
        let mut taps = Numbers { single: Vec::new(), double: Vec::new() };
        let (mut width, mut height) = (0, 0);
        for row in text.split(';') {
            let before = taps.single.len();
            for tap in row.split([' ', ',', '\t', '\n']).filter(|tap| !tap.is_empty()) {
                let double = number(tap, "a number").map_err(|limit| invalid("tap", format!("'{tap}'"), limit))?;
                // As `from_f64`: the text of the f64 tap parses to the same f32 tap.
                let single = double as f32;
                if !single.is_finite() {
                    return Err(invalid("tap", format!("'{tap}'"), "a finite number of f32, at most 3.4028235e38"));
                }
                taps.single.push(single);
                taps.double.push(double);
            }
            let found = taps.single.len() - before;
            if found == 0 {
                return Err(invalid("row", format!("number {height} of '{text}', which is empty"), "one tap or more"));
            }
            if height > 0 && found != width {
                let taps = |count| if count == 1 { "1 tap".to_string() } else { format!("{count} taps") };
                let limit = format!("{} long, as the first", taps(width));
                return Err(invalid("row", format!("number {height} of '{text}' ({})", taps(found)), limit));
            }
            (width, height) = (found, height + 1);
        }
        Mask::of(width.try_into().unwrap_or(u32::MAX), height, Ok(taps))
    }
}

/// The taps of one axis of a separable filter, and their anchor: the index of the tap over the output pixel.
///
/// ```
/// use apron_core::Taps;
///
/// let taps = Taps::new([1.0, 2.0, 1.0])?.normalized()?;
/// assert_eq!((taps.taps(), taps.anchor()), (&[0.25, 0.5, 0.25][..], 1));
/// assert_eq!(taps.with_anchor(3).unwrap_err().to_string(), "mask: anchor is 3, but must be 0 to 2");
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Taps {
    taps: Arc<Numbers>,
    anchor: u32,
    /// Whether nothing is filtered along the axis.
    is_unit: bool,
}

impl Taps {
    /// Creates one or more finite taps, anchored at `len / 2`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no taps, more than [`MAX_MASK_SIDE`], or taps that are not finite.
    pub fn new(taps: impl Into<Vec<f32>>) -> Result<Taps> {
        Taps::of(Numbers::of_f32(taps.into()))
    }

    /// As [`new`](Taps::new), with taps of f64. Images of f64 are weighted with them as they are, images of other types
    /// with the nearest f32.
    ///
    /// # Errors
    /// As [`new`](Taps::new), and for taps that are too large for f32.
    pub fn from_f64(taps: impl Into<Vec<f64>>) -> Result<Taps> {
        Taps::of(Numbers::of_f64(taps.into()))
    }

    fn of(taps: Result<Numbers>) -> Result<Taps> {
        let taps = Arc::new(taps?);
        check_side("number of taps", taps.single.len().try_into().unwrap_or(u32::MAX))?;
        let anchor = taps.single.len() as u32 / 2;
        Ok(Taps { taps, anchor, is_unit: false })
    }

    /// Creates the single tap 1 of an axis that is not filtered. Its sums are those of any tap 1; but where sums are
    /// stored between passes, the axis has no pass, as in SciPy's `gaussian_filter` without a sigma.
    pub fn unit() -> Taps {
        let one = Numbers { single: vec![1.0], double: vec![1.0] };
        Taps { taps: Arc::new(one), anchor: 0, is_unit: true }
    }

    /// Returns whether the taps are [`unit`](Taps::unit).
    pub fn is_unit(&self) -> bool {
        self.is_unit
    }

    /// Returns the taps with tap `anchor` over the output pixel.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an anchor outside the taps.
    pub fn with_anchor(mut self, anchor: u32) -> Result<Taps> {
        if anchor >= self.len() {
            return Err(invalid("anchor", anchor, format!("0 to {}", self.len() - 1)));
        }
        self.anchor = anchor;
        Ok(self)
    }

    /// Returns the taps divided by their sum.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the sum is 0, or so small that the quotients overflow.
    pub fn normalized(mut self) -> Result<Taps> {
        self.taps = Arc::new(self.taps.normalized()?);
        Ok(self)
    }

    /// Returns the taps as f32.
    pub fn taps(&self) -> &[f32] {
        &self.taps.single
    }

    /// Returns the taps for images of f64.
    pub fn taps_f64(&self) -> &[f64] {
        &self.taps.double
    }

    /// Returns the taps for images of type `pixel`, in the type `A` of the sums.
    pub fn taps_for<A: Accumulator>(&self, pixel: PixelType) -> Vec<A> {
        self.taps.for_image(pixel)
    }

    /// Returns the number of taps.
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> u32 {
        self.taps.single.len() as u32
    }

    /// Returns the index of the tap over the output pixel.
    pub fn anchor(&self) -> u32 {
        self.anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        let mask: Mask = "1,2\t3 ; 4 5 -6e-1".parse().unwrap();
        assert_eq!((mask.width(), mask.height()), (3, 2));
        assert_eq!(mask.taps(), [1.0, 2.0, 3.0, 4.0, 5.0, -0.6]);
        for wrong in ["", ";", "1 2; 3", "1;;2", "1 x", "nan", "1 inf", "1 2;"] {
            let error = wrong.parse::<Mask>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage, "{wrong}");
        }
    }

    #[test]
    fn integers_that_f64_does_not_hold_are_refused() {
        let error = "1 9007199254740993".parse::<Mask>().unwrap_err().to_string();
        assert!(error.contains("tap is '9007199254740993', but must be an integer that f64 holds"), "{error}");
        let mask = Mask::from_f64(2, 1, [1_888_888_888_888_888_832.0, -0.1]).unwrap();
        assert_eq!(mask.to_string().parse::<Mask>().unwrap(), mask);
    }

    #[test]
    fn rows_of_taps() {
        let mask = Mask::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
        assert_eq!((mask.width(), mask.height(), mask.anchor()), (3, 2, (1, 1)));
        assert_eq!(mask, Mask::new(3, 2, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap());
        assert_eq!(Mask::try_from([[0.5], [0.25]]).unwrap(), "0.5; 0.25".parse().unwrap());
        for (mask, part) in [
            (Mask::from_rows([[0.0; 0]; 2]), "width is 0"),
            (Mask::from_rows([[0.0; 2]; 0]), "height is 0"),
            (Mask::from_rows([[1.0, f32::NAN]]), "tap is NaN"),
        ] {
            assert!(mask.as_ref().unwrap_err().to_string().contains(part), "{mask:?}");
        }
    }

    #[test]
    fn flipping_moves_the_anchor_as_scipy_does() {
        let mask = Mask::new(4, 3, (0..12).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        assert_eq!(mask.anchor(), (2, 1));
        let flipped = mask.clone().flipped();
        assert_eq!(flipped.anchor(), (1, 1));
        assert_eq!(flipped.taps()[0], 11.0);
        assert_eq!(flipped.flipped(), mask);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        assert!(Mask::new(0, 3, []).is_err());
        assert!(Mask::new(2, 2, [1.0; 3]).is_err());
        assert!(Mask::new(1, 1, [f32::NAN]).is_err());
        assert!(Mask::new(2, 2, [1.0; 4]).unwrap().with_anchor(2, 0).is_err());
        assert!(Mask::new(2, 1, [1.0, -1.0]).unwrap().normalized().is_err());
        assert!(Taps::new([]).is_err());
        assert!(Taps::new([1.0, 2.0]).unwrap().with_anchor(2).is_err());
    }
}
