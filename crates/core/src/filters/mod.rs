//! Taps by formulas, and a table of named masks.

use crate::{Error, Mask, Result, Taps};

/// Returns the taps of a sampled Gaussian, `exp(-i^2 / (2 sigma^2))` divided by their sum, of radius `int(truncate *
/// sigma + 0.5)`, as SciPy's `gaussian_filter1d` uses them.
///
/// ```
/// use apron_core::filters::gaussian;
///
/// assert_eq!(gaussian(1.0, 4.0)?.len(), 9);
/// assert_eq!(gaussian(0.0, 4.0)?.taps(), [1.0]); // no blur at all
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for a sigma or truncate that is negative or not finite, or a radius above 32767.
pub fn gaussian(sigma: f64, truncate: f64) -> Result<Taps> {
    let bell = bell(sigma, truncate)?;
    if sigma <= NO_SIGMA { Ok(Taps::unit()) } else { Taps::from_f64(bell) }
}

/// Largest sigma of an axis that SciPy's `gaussian_filter` leaves out.
const NO_SIGMA: f64 = 1e-15;

/// Returns the taps in f64.
fn bell(sigma: f64, truncate: f64) -> Result<Vec<f64>> {
    let wrong = |parameter, value: f64, limit: &str| Err(Error::parameter("gaussian", parameter, value, limit));
    if !(sigma.is_finite() && sigma >= 0.0) {
        return wrong("sigma", sigma, "0 or more, and finite");
    }
    if !(truncate.is_finite() && truncate >= 0.0) {
        return wrong("truncate", truncate, "0 or more, and finite");
    }
    let radius = (truncate * sigma + 0.5) as u64;
    if radius > 32767 {
        return wrong("radius, truncate * sigma + 0.5,", truncate * sigma + 0.5, "below 32768");
    }
    let radius = radius as i64;
    // A sigma near 0 gives exp(-inf) = 0 off the centre: no blur; the centre avoids 0 / 0.
    let weight = |i: i64| if i == 0 { 1.0 } else { (-0.5 * (i as f64 / sigma).powi(2)).exp() };
    let weights: Vec<f64> = (-radius..=radius).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.iter().map(|weight| weight / sum).collect())
}

/// Returns the taps of a sampled Gaussian's derivative of order 0 to 3, as SciPy's `gaussian_filter1d` has them with
/// `order`: the f64 taps of [`gaussian`] times the derivative's polynomial `x / sigma^2`, `(x^2 - sigma^2) / sigma^4`
/// or `(x^3 - 3 sigma^2 x) / sigma^6`. On a rising ramp, the first derivative is positive.
///
/// ```
/// use apron_core::filters::gaussian_derivative;
///
/// let taps = gaussian_derivative(1.0, 1, 1.0)?;
/// assert_eq!((taps.taps()[0], taps.taps()[1]), (-taps.taps()[2], 0.0));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`gaussian`]; [`Error::Parameter`] for an order above 3, for a sigma of 0 with an order above 0, and for a sigma
/// so small that taps overflow.
pub fn gaussian_derivative(sigma: f64, order: u32, truncate: f64) -> Result<Taps> {
    if order > 3 {
        return Err(Error::parameter("gaussian", "order", order, "0, 1, 2 or 3"));
    }
    if order > 0 && sigma == 0.0 {
        return Err(Error::parameter("gaussian", "sigma", sigma, format!("above 0 with order {order}")));
    }
    if order == 0 {
        return gaussian(sigma, truncate);
    }
    let (bell, square) = (bell(sigma, truncate)?, sigma * sigma);
    let radius = bell.len() as i64 / 2;
    let derivative = |x: f64| match order {
        1 => x / square,
        2 => (x * x - square) / (square * square),
        _ => (x * x - 3.0 * square) * x / (square * square * square),
    };
    let taps = bell.iter().zip(-radius..).map(|(tap, x)| tap * derivative(x as f64));
    Taps::from_f64(taps.collect::<Vec<_>>())
}

/// Returns the taps of a mean over `size` samples: each `1 / size`.
///
/// # Errors
/// [`Error::Parameter`] for a size of 0 or above [`MAX_MASK_SIDE`](crate::MAX_MASK_SIDE).
pub fn mean(size: u32) -> Result<Taps> {
    if size == 0 || size > crate::MAX_MASK_SIDE {
        return Err(Error::parameter("box", "size", size, format!("1 to {}", crate::MAX_MASK_SIDE)));
    }
    if size == 1 { Ok(Taps::unit()) } else { Taps::from_f64(vec![1.0 / size as f64; size as usize]) }
}

/// Named masks: name, width, height, divisor, taps.
const MASKS: &[(&str, u32, u32, f64, &[f64])] = &[
    ("identity", 1, 1, 1.0, &[1.0]),
    ("box3", 3, 3, 9.0, &[1.0; 9]),
    ("box5", 5, 5, 25.0, &[1.0; 25]),
    ("gaussian3", 3, 3, 16.0, &[1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]),
    ("sharpen", 3, 3, 1.0, &[0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0]),
    ("edge", 3, 3, 1.0, &[-1.0, -1.0, -1.0, -1.0, 8.0, -1.0, -1.0, -1.0, -1.0]),
    ("laplacian", 3, 3, 1.0, &[0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0]),
    ("sobel-x", 3, 3, 1.0, &[-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0]),
    ("sobel-y", 3, 3, 1.0, &[-1.0, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0]),
    ("emboss", 3, 3, 1.0, &[-2.0, -1.0, 0.0, -1.0, 1.0, 1.0, 0.0, 1.0, 2.0]),
];

/// Returns the mask of this name, if there is one.
pub fn named_mask(name: &str) -> Option<Mask> {
    let &(_, width, height, divisor, taps) = MASKS.iter().find(|mask| mask.0 == name)?;
    Mask::from_f64(width, height, taps.iter().map(|tap| tap / divisor).collect::<Vec<_>>()).ok()
}

/// Returns the names of all masks.
pub fn mask_names() -> impl Iterator<Item = &'static str> {
    MASKS.iter().map(|mask| mask.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_taps_are_scipys() {
        // scipy.ndimage._filters._gaussian_kernel1d(1.0, 0, 4)[:5]
        let expected = [1.33830625e-04, 4.43186162e-03, 5.39911274e-02, 2.41971446e-01, 3.98943469e-01];
        let taps = gaussian(1.0, 4.0).unwrap();
        for (tap, expected) in taps.taps().iter().zip(expected) {
            assert!((tap - expected as f32).abs() <= 1e-8, "{tap} {expected}");
        }
        for sigma in [0.1, 0.2, 0.5, 3.0, 250.0] {
            let taps = gaussian(sigma, 4.0).unwrap();
            assert_eq!(taps.len(), 2 * (4.0 * sigma + 0.5) as u32 + 1);
            let sum: f64 = taps.taps().iter().map(|&tap| tap as f64).sum();
            assert!((sum - 1.0).abs() < 1e-5, "sigma {sigma}: {sum}");
        }
        for (sigma, truncate) in [(-1.0, 4.0), (f64::NAN, 4.0), (1.0, -1.0), (1e9, 4.0), (f64::INFINITY, 4.0)] {
            assert!(gaussian(sigma, truncate).is_err());
        }
    }

    #[test]
    fn derivatives_are_scipys() {
        // scipy.ndimage._filters._gaussian_kernel1d(1.5, order, 3)[::-1]
        let first = [-0.048843794, -0.09891623, -0.096331254, 0.0, 0.096331254, 0.09891623, 0.048843794];
        let second = [0.048843794, 0.038467423, -0.053517363, -0.120303178, -0.053517363, 0.038467423, 0.048843794];
        for (order, expected) in [(1, first), (2, second)] {
            let taps = gaussian_derivative(1.5, order, 2.0).unwrap();
            assert_eq!(taps.len(), 7);
            for (tap, expected) in taps.taps().iter().zip(expected) {
                assert!((tap - expected as f32).abs() < 1e-7, "{order}: {tap} {expected}");
            }
        }
        assert_eq!(gaussian_derivative(1.5, 0, 2.0).unwrap(), gaussian(1.5, 2.0).unwrap());
        assert_eq!(gaussian_derivative(0.0, 0, 2.0).unwrap().taps(), [1.0]);
    }

    #[test]
    fn every_named_mask_is_valid() {
        for name in mask_names() {
            assert!(named_mask(name).is_some(), "{name}");
        }
        assert!(named_mask("no-such").is_none());
        assert_eq!(named_mask("box3").unwrap().taps(), [1.0 / 9.0; 9]);
    }
}
