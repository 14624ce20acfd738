//! Filters made of Gaussians.

use super::{Allowed::*, Orders, Sigma, Value, gaussian};
use crate::volumes;
use crate::{Error, Formula, PointOp, Result};

filters! {
    /// Derivative of a Gaussian blur.
    ///
    /// A Gaussian blur with a standard deviation for each axis, or its first, second or third derivative along each.
    /// With orders of 0 it is the blur itself. Of a ramp that rises to the right, order 1,0 is positive.
    /// OpenCV's `GaussianBlur` has order 0 alone, and cuts the bell off elsewhere.
    ///
    /// # Errors
    /// As [`gaussian_derivative`](super::gaussian_derivative): also a sigma of 0 with an order above 0.
    gaussian_derivative(
        /// Standard deviation, for both axes or for x and y.
        sigma: Sigma, NotNegative, "pixels";
        /// Order of the derivative, for both axes or for x and y.
        order: Orders = Orders { x: 0, y: 0 }, OneOf(&[0, 1, 2, 3]);
    ) -> Gaussian {
        /// Cut the bell off at this many standard deviations.
        truncate: f64 = 4.0, NotNegative;
    }
    source "SciPy's `gaussian_filter` with `order`"
    examples [
        "photo.jpg slope.npy --sigma 1.5 --order 1,0 --out-type f32",
        "photo.jpg bend.npy --sigma 1.5,0.8 --order 1,2 --truncate 3 --out-type f32",
    ]
    volume Some(|of| volumes::gaussian(of.each("sigma")?, of.each("order")?, of.one("truncate")?));

    /// Laplacian of a Gaussian.
    ///
    /// The sum of the second derivatives of a Gaussian blur: negative on bright spots. Both derivatives are computed to
    /// f32, each within the bound of a separable filter, and their sum is rounded once.
    ///
    /// # Errors
    /// As [`gaussian_derivative`](super::gaussian_derivative), also for a sigma of 0.
    laplacian_of_gaussian(
        /// Standard deviation, for both axes or for x and y.
        sigma: Sigma, NotNegative, "pixels";
    ) -> LaplacianOfGaussian {
        /// Cut the bell off at this many standard deviations.
        truncate: f64 = 4.0, NotNegative;
    }
    also ["log"]
    source "SciPy's `gaussian_laplace`"
    examples [
        "photo.png spots.npy --sigma 2 --out-type f32",
        "photo.png spots.npy --sigma 1.2,0.8 --truncate 3 --border wrap --out-type f32",
    ]
    volume Some(|of| volumes::laplacian_of_gaussian(of.each("sigma")?, of.one("truncate")?));

    /// Magnitude of the gradient of a Gaussian blur.
    ///
    /// The root of the sum of the squares of the blur's first derivatives. Both derivatives are computed to f32, each
    /// within the bound of a separable filter, and the root is rounded once.
    ///
    /// # Errors
    /// As [`gaussian_derivative`](super::gaussian_derivative), also for a sigma of 0.
    gaussian_gradient(
        /// Standard deviation, for both axes or for x and y.
        sigma: Sigma, NotNegative, "pixels";
    ) -> GaussianGradient {
        /// Cut the bell off at this many standard deviations.
        truncate: f64 = 4.0, NotNegative;
    }
    source "SciPy's `gaussian_gradient_magnitude`"
    examples ["photo.png edges.npy --sigma 1.5 --out-type f32"]
    volume Some(|of| volumes::gaussian_gradient(of.each("sigma")?, of.one("truncate")?));

    /// Difference of two Gaussian blurs.
    ///
    /// The narrow blur less the wide one: a band of frequencies. Both blurs are computed to f32, each within the bound
    /// of a separable filter, and their difference is rounded once.
    ///
    /// # Errors
    /// As [`gaussian`](super::gaussian), and a wide blur that is narrower than the narrow one.
    dog(
        /// Standard deviation of the narrow blur.
        sigma_low: f64, NotNegative, "pixels";
        /// Standard deviation of the wide blur.
        sigma_high: f64, NotNegative, "pixels";
    ) -> Dog {
        /// Cut the bells off at this many standard deviations.
        truncate: f64 = 4.0, NotNegative;
    }
    source "scikit-image's `difference_of_gaussians`"
    examples [
        "photo.png bands.npy --sigma-low 1 --sigma-high 1.6 --out-type f32",
        "photo.png bands.npy --sigma-low 0.5 --sigma-high 2 --truncate 3 --out-type i16",
    ]
    volume Some(|of| volumes::dog(of.each("sigma-low")?, of.each("sigma-high")?, of.one("truncate")?));
}

impl Gaussian {
    fn build(self) -> Result<Formula> {
        let axis = |sigma, order| super::gaussian_derivative(sigma, order, self.truncate);
        Ok(Formula::Separable(axis(self.sigma.x, self.order.x)?, axis(self.sigma.y, self.order.y)?))
    }
}

impl LaplacianOfGaussian {
    fn build(self) -> Result<Formula> {
        let LaplacianOfGaussian { sigma, truncate } = self;
        let second = |order: (u32, u32)| Gaussian { sigma, order: order.into(), truncate }.build();
        Ok(Formula::of(PointOp::weighted(1.0, 1.0, 0.0), second((2, 0))?, Some(second((0, 2))?)))
    }
}

impl GaussianGradient {
    fn build(self) -> Result<Formula> {
        let GaussianGradient { sigma, truncate } = self;
        let first = |order: (u32, u32)| Gaussian { sigma, order: order.into(), truncate }.build();
        Ok(Formula::of(PointOp::Magnitude, first((1, 0))?, Some(first((0, 1))?)))
    }
}

/// Refuses a wide blur that is narrower than the narrow one.
pub(crate) fn check_wide(low: f64, high: f64) -> Result<()> {
    if high < low {
        return Err(Error::parameter("dog", "the wide sigma", high, format!("{low} or more, the narrow one")));
    }
    Ok(())
}

impl Dog {
    fn build(self) -> Result<Formula> {
        let blur = |sigma| gaussian(sigma, self.truncate).map(|taps| Formula::Separable(taps.clone(), taps));
        let (low, high) = (blur(self.sigma_low)?, blur(self.sigma_high)?);
        check_wide(self.sigma_low, self.sigma_high)?;
        Ok(Formula::of(PointOp::weighted(1.0, -1.0, 0.0), low, Some(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Named};

    #[test]
    fn what_can_never_be_right_is_refused() {
        let of = |sigma, order| Gaussian::new((1.0, sigma), (0, order)).formula();
        let dog = |low, high| Dog::new(low, high).formula();
        for (formula, part) in [
            (of(1.0, 4), "order is 4, but must be 0, 1, 2 or 3"),
            (of(0.0, 1), "above 0 with order 1"),
            (of(-1.0, 0), "sigma is -1"),
            (of(1e-30, 2), "finite"),
            (LaplacianOfGaussian::new((0.0, 1.0)).formula(), "above 0 with order 2"),
            (dog(2.0, 1.0), "the wide sigma is 1, but must be 2 or more"),
            (dog(f64::NAN, 1.0), "sigma-low is NaN"),
            (dog(f64::INFINITY, 1.0), "sigma is inf"),
        ] {
            let error = formula.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
