//! Filters with names, ready to run.

use crate::filters::{
    Dog, Gaussian, Gradient, Laplacian, Log, MotionBlur, Operator, Prewitt, Roberts, Scharr, Sharpen, Sobel, Unsharp,
};
use crate::{Device, FilterBuilder, Formula, Named, Source, filters};

/// A filter with a name, whose parameters may be changed before it runs.
pub type NamedFilter<'a, N> = FilterBuilder<'a, N>;

/// Setters of one filter's parameters.
macro_rules! parameters {
    ($($named:ident { $($(#[$doc:meta])* $name:ident: $type:ty),* })*) => {$(
        impl NamedFilter<'_, $named> {
            $($(#[$doc])*
            pub fn $name(mut self, $name: $type) -> Self {
                self.named.$name = $name;
                self
            })*
        }
    )*};
}
parameters! {
    Sobel {
        /// Side of the mask: 1, 3, 5 or 7 pixels; 3 if not said.
        ksize: u32,
        /// By what the sums are multiplied; 1 if not said.
        scale: f64,
        /// What is added then; 0 if not said.
        delta: f64
    }
    Scharr {
        /// By what the sums are multiplied; 1 if not said.
        scale: f64,
        /// What is added then; 0 if not said.
        delta: f64
    }
    Laplacian {
        /// Side of the mask: 1, 3, 5 or 7 pixels; 1, for the neighbours alone, if not said.
        ksize: u32,
        /// Neighbours that count where the side is 1: 4 or 8; 4 if not said.
        neighbours: u32,
        /// By what the sums are multiplied; 1 if not said.
        scale: f64,
        /// What is added then; 0 if not said.
        delta: f64
    }
    Gradient {
        /// The derivative of which it is made; Sobel's if not said.
        operator: Operator,
        /// Side of Sobel's masks: 1, 3, 5 or 7 pixels; 3 if not said.
        ksize: u32,
        /// Whether the direction is asked for, in radians, and not the magnitude.
        direction: bool
    }
    Gaussian {
        /// Standard deviations along the rows and along the columns, in pixels.
        sigma: (f64, f64),
        /// Orders of the derivative along the rows and along the columns: 0 to 2.
        order: (u32, u32),
        /// At how many standard deviations the bell is cut off; 4 if not said.
        truncate: f64
    }
    Sharpen {
        /// How much; 1 if not said.
        amount: f64
    }
    Unsharp {
        /// How much of the difference to the blurred image is added; 1 if not said.
        amount: f64,
        /// The least difference that counts, in the samples' units; 0 if not said.
        threshold: f64
    }
}

impl Device {
    /// A [named filter](filters), or a [`Formula`] of one's own.
    ///
    /// ```
    /// use apron::{Device, Formula, Image, PointOp};
    ///
    /// let image = Image::new(3, 1, 1, vec![0u8, 100, 255])?;
    /// let negative = Formula::of(PointOp::weighted(-1.0, 0.0, 255.0), Formula::Image, None);
    /// let negative = Device::cpu().apply(&image, negative).run()?;
    /// assert_eq!(negative.download::<u8>()?.row(0), [255, 155, 0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn apply<'a, N: Named>(&'a self, image: impl Into<Source<'a>>, named: N) -> NamedFilter<'a, N> {
        FilterBuilder::new(self, image.into(), named)
    }

    /// Sobel's derivative of order `dx` along the rows and `dy` along the columns: OpenCV's `Sobel`, [more](Sobel).
    ///
    /// ```
    /// use apron::{Device, Image, PixelType};
    ///
    /// let ramp = Image::new(4, 1, 1, vec![0u8, 1, 2, 3])?;
    /// let derivative = Device::cpu().sobel(&ramp, 1, 0).ksize(3).out_type(PixelType::I16).run()?;
    /// assert_eq!(derivative.download::<i16>()?.row(0), [0, 8, 8, 0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn sobel<'a>(&'a self, image: impl Into<Source<'a>>, dx: u32, dy: u32) -> NamedFilter<'a, Sobel> {
        self.apply(image, Sobel::new(dx, dy))
    }

    /// Scharr's derivative, of order 1 along the rows or the columns: OpenCV's `Scharr`, [more](Scharr).
    pub fn scharr<'a>(&'a self, image: impl Into<Source<'a>>, dx: u32, dy: u32) -> NamedFilter<'a, Scharr> {
        self.apply(image, Scharr::new(dx, dy))
    }

    /// Prewitt's derivative, of order 1 along the rows or the columns: SciPy's `prewitt`, [more](Prewitt).
    pub fn prewitt<'a>(&'a self, image: impl Into<Source<'a>>, dx: u32, dy: u32) -> NamedFilter<'a, Prewitt> {
        self.apply(image, Prewitt { dx, dy })
    }

    /// Roberts' difference along a diagonal, [more](Roberts).
    pub fn roberts<'a>(&'a self, image: impl Into<Source<'a>>, dx: u32, dy: u32) -> NamedFilter<'a, Roberts> {
        self.apply(image, Roberts { dx, dy })
    }

    /// The sum of the second derivatives: OpenCV's `Laplacian`, [more](Laplacian).
    pub fn laplacian<'a>(&'a self, image: impl Into<Source<'a>>) -> NamedFilter<'a, Laplacian> {
        self.apply(image, Laplacian::default())
    }

    /// The gradient's magnitude, or its [direction](NamedFilter::direction), [more](Gradient).
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// // Rises by 3 to the right and by 4 down: 8 times their magnitude.
    /// let plane = Image::new(3, 3, 1, vec![0u8, 3, 6, 4, 7, 10, 8, 11, 14])?;
    /// let magnitude = Device::cpu().gradient(&plane).run()?;
    /// assert_eq!(magnitude.download::<u8>()?.row(1)[1], 8 * 5);
    /// let direction = Device::cpu().gradient(&plane).direction(true).run()?;
    /// assert_eq!(direction.download::<f32>()?.row(1)[1], 4f32.atan2(3.0));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn gradient<'a>(&'a self, image: impl Into<Source<'a>>) -> NamedFilter<'a, Gradient> {
        self.apply(image, Gradient::default())
    }

    /// A derivative of a Gaussian blur, of order 0 to 2 along the rows and along the columns: SciPy's `gaussian_filter`
    /// with `order`, [more](Gaussian).
    pub fn gaussian_derivative<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        sigma: f64,
        order: (u32, u32),
    ) -> NamedFilter<'a, Gaussian> {
        self.apply(image, Gaussian { order, ..Gaussian::new(sigma) })
    }

    /// The Laplacian of a Gaussian: SciPy's `gaussian_laplace`, [more](Log).
    pub fn log<'a>(&'a self, image: impl Into<Source<'a>>, sigma: f64) -> NamedFilter<'a, Log> {
        self.apply(image, Log { sigma: (sigma, sigma), truncate: 4.0 })
    }

    /// The difference of two Gaussian blurs, the narrow one less the wide one, [more](Dog).
    pub fn dog<'a>(&'a self, image: impl Into<Source<'a>>, low: f64, high: f64) -> NamedFilter<'a, Dog> {
        self.apply(image, Dog { low, high, truncate: 4.0 })
    }

    /// Sharpening by the four neighbours, [more](Sharpen).
    pub fn sharpen<'a>(&'a self, image: impl Into<Source<'a>>) -> NamedFilter<'a, Sharpen> {
        self.apply(image, Sharpen { amount: 1.0 })
    }

    /// Unsharp masking: the image and what it has more than its blur, [more](Unsharp).
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![10u8, 20, 10])?;
    /// let sharp = Device::cpu().unsharp(&image, 0.5).amount(2.0).run()?;
    /// assert_eq!(sharp.download::<u8>()?.row(0), [6, 24, 6]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn unsharp<'a>(&'a self, image: impl Into<Source<'a>>, sigma: f64) -> NamedFilter<'a, Unsharp> {
        self.apply(image, Unsharp::new(sigma))
    }

    /// A relief lit from the upper left: the [mask](filters::named_mask) `emboss`.
    pub fn emboss<'a>(&'a self, image: impl Into<Source<'a>>) -> NamedFilter<'a, Formula> {
        self.apply(image, filters::emboss())
    }

    /// The mean over a line of `length` pixels that rises by `angle` degrees to the right, [more](MotionBlur).
    pub fn motion_blur<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        length: u32,
        angle: f64,
    ) -> NamedFilter<'a, MotionBlur> {
        self.apply(image, MotionBlur { length, angle })
    }

    /// The mean over a window around each pixel: [`box_filter`](Device::box_filter).
    pub fn local_mean<'a>(&'a self, image: impl Into<Source<'a>>, width: u32, height: u32) -> NamedFilter<'a, Formula> {
        self.apply(image, Formula::Mean(width, height))
    }

    /// The standard deviation of the samples in a window around each pixel, of the population: exact for integers but
    /// for its rounding, with sums in f64 for f32.
    ///
    /// ```
    /// use apron::{Border, Device, Image};
    ///
    /// let image = Image::new(8, 1, 1, vec![2u8, 4, 4, 4, 5, 5, 7, 9])?;
    /// let deviation = Device::cpu().local_std(&image, 8, 1).border(Border::Crop).run()?;
    /// assert_eq!(deviation.download::<u8>()?.row(0), [2]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn local_std<'a>(&'a self, image: impl Into<Source<'a>>, width: u32, height: u32) -> NamedFilter<'a, Formula> {
        self.apply(image, Formula::LocalStd(width, height))
    }
}
