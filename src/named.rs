//! Filters with names, ready to run.

use crate::{Borders, Device, DeviceImage, Extent, Filter, Formula, Method, Named, PixelType, Result, Source, Target};

/// A named filter that is ready to [`run`](NamedFilter::run), with defaults that may be changed before.
#[must_use = "a filter does nothing until it is run"]
pub struct NamedFilter<'a, N> {
    filter: Filter<'a>,
    /// With fields that setters of its own change: see [`filters`](crate::filters).
    pub(crate) named: N,
    out_type: Option<PixelType>,
}

impl<'a, N: Named> NamedFilter<'a, N> {
    /// What lies outside the image, in both axes or by axis; [`Border::Reflect101`](crate::Border::Reflect101) if not
    /// said, as in OpenCV; SciPy's default is [`Border::Reflect`](crate::Border::Reflect).
    pub fn border(self, border: impl Into<Borders>) -> Self {
        NamedFilter { filter: self.filter.border(border), ..self }
    }

    /// Which pixels are computed; those of the image if not said. Filters of several masks have no
    /// [full](Extent::Full) extent, unless all masks are of one size.
    pub fn extent(self, extent: Extent) -> Self {
        NamedFilter { filter: self.filter.extent(extent), ..self }
    }

    /// Sample type of the output; if not said, the input's, but f32 for [directions](crate::filters::Gradient::direction). Integers
    /// round half to even and saturate: derivatives of u8 want i16 or f32.
    pub fn out_type(self, pixel: PixelType) -> Self {
        NamedFilter { out_type: Some(pixel), ..self }
    }

    /// Leaves the last of two or four channels alone, as [`Filter::keep_alpha`]; of filters of several masks, under the
    /// anchor of the first.
    pub fn keep_alpha(self, keep_alpha: bool) -> Self {
        NamedFilter { filter: self.filter.keep_alpha(keep_alpha), ..self }
    }

    /// Asks for a method in the filter's masks, instead of the one that suits them.
    pub fn method(self, method: impl Into<Option<Method>>) -> Self {
        NamedFilter { filter: self.filter.method(method), ..self }
    }

    /// Asks for an implementation of the filter's masks by name, as [`Filter::variant`].
    pub fn variant(self, name: impl Into<Option<&'a str>>) -> Self {
        NamedFilter { filter: self.filter.variant(name), ..self }
    }

    /// Runs the filter. On a GPU it returns when the work is enqueued; nothing between its parts visits the host.
    ///
    /// # Errors
    /// Those of the filter's [formula](Named::formula), and as [`Filter::run`]: also where border crop leaves images
    /// of two sizes, and [`Error::PixelType`](crate::Error::PixelType) for directions that are not to be f32.
    pub fn run(self) -> Result<DeviceImage> {
        self.filter().run()
    }

    /// Runs the filter, and writes its result into an image that is there: as [`Filter::run_into`].
    ///
    /// # Errors
    /// As [`run`](NamedFilter::run) and [`Filter::run_into`].
    pub fn run_into<'t>(self, target: impl Into<Target<'t>>) -> Result<()> {
        self.filter().run_into(target)
    }

    fn filter(self) -> Filter<'a> {
        let (formula, src) = (self.named.formula(), self.filter.src());
        let out_type = self.out_type.or(formula.as_ref().ok().map(|formula| formula.out_type(src)));
        self.filter.of(formula).out_type(out_type.unwrap_or(src))
    }
}

impl Device {
    /// A [named filter](crate::filters), or a [`Formula`] of one's own.
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
        let filter = Filter::formula(self, image.into(), Ok(Formula::Image));
        NamedFilter { filter, named, out_type: None }
    }
}
