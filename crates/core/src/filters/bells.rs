//! Filters made of Gaussians.

use super::gaussian;
use crate::{Error, Formula, Named, PointOp, Result, Taps};

/// Taps of a sampled Gaussian's derivative of order 0, 1 or 2, as SciPy's `gaussian_filter1d` has them with `order`: the
/// taps of [`gaussian`], before they are rounded, times the derivative's polynomial `x / sigma^2` or
/// `(x^2 - sigma^2) / sigma^4`. Of a ramp that rises, the first is positive.
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
/// As [`gaussian`]; [`Error::Parameter`] for an order above 2, for a sigma of 0 with one above 0, and for one so small that
/// taps overflow.
pub fn gaussian_derivative(sigma: f64, order: u32, truncate: f64) -> Result<Taps> {
    if order > 2 {
        return Err(Error::parameter("gaussian", "order", order, "0, 1 or 2"));
    }
    if order > 0 && sigma == 0.0 {
        return Err(Error::parameter("gaussian", "sigma", sigma, format!("above 0 with order {order}")));
    }
    let (bell, square) = (super::bell(sigma, truncate)?, sigma * sigma);
    let radius = bell.len() as i64 / 2;
    let derivative = |x: f64| match order {
        0 => 1.0,
        1 => x / square,
        _ => (x * x - square) / (square * square),
    };
    let taps = bell.iter().zip(-radius..).map(|(tap, x)| (tap * derivative(x as f64)) as f32);
    Taps::new(taps.collect::<Vec<_>>())
}

/// A Gaussian blur or its derivatives, with a standard deviation and an order for each axis: SciPy's `gaussian_filter` with
/// `sigma` and `order`. OpenCV's `GaussianBlur` has order 0 alone, and cuts the bell off elsewhere.
///
/// The formula's errors are those of [`gaussian_derivative`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    /// Standard deviations along the rows and along the columns, in pixels.
    pub sigma: (f64, f64),
    /// Orders of the derivative along the rows and along the columns: 0 to 2.
    pub order: (u32, u32),
    /// At how many standard deviations the bell is cut off.
    pub truncate: f64,
}

impl Gaussian {
    /// A blur of this standard deviation on both axes, cut off at 4 of them.
    pub fn new(sigma: f64) -> Gaussian {
        Gaussian { sigma: (sigma, sigma), order: (0, 0), truncate: 4.0 }
    }
}

impl Named for Gaussian {
    fn formula(&self) -> Result<Formula> {
        let axis = |sigma, order| gaussian_derivative(sigma, order, self.truncate);
        Ok(Formula::Separable(axis(self.sigma.0, self.order.0)?, axis(self.sigma.1, self.order.1)?))
    }
}

/// The Laplacian of a Gaussian, the sum of its second derivatives: SciPy's `gaussian_laplace`, with bright spots negative.
///
/// Both derivatives are computed to f32, each within the bound of a separable filter, and their sum is rounded once.
///
/// The formula's errors are those of [`gaussian_derivative`], also for a sigma of 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// Standard deviations along the rows and along the columns, in pixels.
    pub sigma: (f64, f64),
    /// At how many standard deviations the bell is cut off.
    pub truncate: f64,
}

impl Named for Log {
    fn formula(&self) -> Result<Formula> {
        let of = |order| Gaussian { sigma: self.sigma, order, truncate: self.truncate }.formula();
        Ok(Formula::of(PointOp::weighted(1.0, 1.0, 0.0), of((2, 0))?, Some(of((0, 2))?)))
    }
}

/// The difference of two Gaussian blurs, the narrow one less the wide one: scikit-image's `difference_of_gaussians`.
///
/// Both blurs are computed to f32, each within the bound of a separable filter, and their difference is rounded once.
///
/// The formula's errors are those of [`gaussian`], and a wide blur that is narrower than the narrow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dog {
    /// Standard deviation of the narrow blur, in pixels.
    pub low: f64,
    /// Standard deviation of the wide one.
    pub high: f64,
    /// At how many standard deviations the bells are cut off.
    pub truncate: f64,
}

impl Named for Dog {
    fn formula(&self) -> Result<Formula> {
        let blur = |sigma| gaussian(sigma, self.truncate).map(|taps| Formula::Separable(taps.clone(), taps));
        let (low, high) = (blur(self.low)?, blur(self.high)?);
        if self.high < self.low {
            let limit = format!("{} or more, the narrow one", self.low);
            return Err(Error::parameter("dog", "the wide sigma", self.high, limit));
        }
        Ok(Formula::of(PointOp::weighted(1.0, -1.0, 0.0), low, Some(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_can_never_be_right_is_refused() {
        let of = |sigma, order| Gaussian { sigma: (1.0, sigma), order: (0, order), truncate: 4.0 }.formula();
        let dog = |low, high| Dog { low, high, truncate: 4.0 }.formula();
        for (formula, part) in [
            (of(1.0, 3), "order is 3, but must be 0, 1 or 2"),
            (of(0.0, 1), "above 0 with order 1"),
            (of(-1.0, 0), "sigma is -1"),
            (of(1e-30, 2), "finite"),
            (Log { sigma: (0.0, 1.0), truncate: 4.0 }.formula(), "above 0 with order 2"),
            (dog(2.0, 1.0), "the wide sigma is 1, but must be 2 or more"),
            (dog(f64::NAN, 1.0), "sigma is NaN"),
        ] {
            let error = formula.unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
