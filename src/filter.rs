//! Filters: their builder, and how it is run.

use crate::alpha::Alpha;
use crate::auto::Job;
use crate::backend::Solved;
use crate::choice::Choice;
use crate::conversion::{Conversion, converted, quotient, sum_of_integers};
use crate::options::Options;
use crate::setters::setters;
use crate::target::Room;
use crate::{
    Border, Borders, Cast, Device, DeviceImage, Error, Extent, Formula, Method, Named, PixelType, PointOp, Result,
    Shape, Source, Target,
};
use apron_core::{
    BoxFilter, ByMethod, Correlate, FilterProblem, LocalStd, Padded, Pointwise, Scale, Scaled, Separable, Weights,
};

/// A filter that is ready to [`run`](FilterBuilder::run), with defaults that may be changed before.
///
/// `F` is what is computed: a [`Formula`], such as one mask, or a [named filter](crate::filters) whose parameters can
/// be set, too.
///
/// ```
/// use apron::{Border, Device, Image, Mask, PixelType};
///
/// let image = Image::from_fn(4, 3, 1, |x, _, _| 10 * x as u8)?;
/// let device = Device::cpu();
/// let slope = device.correlate(&image, Mask::from_rows([[-1.0, 0.0, 1.0]])?).out_type(PixelType::I16).run()?;
/// let sobel = device.sobel(&image, 1, 0).ksize(5).border(Border::Replicate).out_type(PixelType::F32).run()?;
/// assert_eq!(slope.download::<i16>()?.row(0), [0, 20, 20, 0]);
/// assert_eq!(sobel.pixel_type(), PixelType::F32);
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a filter does nothing until it is run"]
pub struct FilterBuilder<'a, F = Formula> {
    pub(crate) named: F,
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    out_type: Option<PixelType>,
    pub(crate) options: Options<'a>,
}

setters! { ['a, F] FilterBuilder<'a, F>: variant(options.choice), tuning(options.choice), cast(options.cast) }

impl<'a> FilterBuilder<'a> {
    /// Clamps each sum to 0..1; for f32 output of one dense mask.
    pub fn clamp(mut self, clamp: bool) -> Self {
        self.options.clamp = clamp;
        self
    }

    /// Returns what is computed, for example to find the size of its [window](Formula::window) before it runs.
    pub fn formula(&self) -> &Formula {
        &self.named
    }
}

impl<'a, F> FilterBuilder<'a, F> {
    pub(crate) fn new(device: &'a Device, source: Source<'a>, named: F) -> Self {
        FilterBuilder { named, device, source, out_type: None, options: Options::default() }
    }

    /// Sets what lies outside the image: in both axes or [per axis](Borders), for all channels or [per
    /// channel](crate::Constants); [`Border::Reflect101`] by default, as in OpenCV, while SciPy's default is
    /// [`Border::Reflect`]. If axes or channels differ, the image is padded first, as one of f32 where its type does not
    /// hold the constants.
    ///
    /// ```
    /// use apron::{Border, Borders, Device, Image, Mask};
    ///
    /// let image = Image::new(2, 2, 1, vec![1.0f32, 2.0, 10.0, 20.0])?;
    /// let mask = Mask::from_rows([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 100.0]])?;
    /// let borders = Borders::by_axis(Border::Wrap, Border::Constant(7.0));
    /// let out = Device::cpu().correlate(&image, mask).border(borders).run()?;
    /// // Left of 1 is 2, right of 20 is 10, and below is 7.
    /// assert_eq!(out.download::<f32>()?.packed().as_ref(), [2.0 + 2000.0, 1.0 + 1000.0, 720.0, 710.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn border(mut self, border: impl Into<Borders>) -> Self {
        self.options.borders = border.into();
        self
    }

    /// Sets which pixels are computed; the image's own by default. Filters of several masks support the
    /// [full](Extent::Full) extent only if all masks have the same size.
    ///
    /// ```
    /// use apron::{Border, Device, Extent, Image, Region};
    ///
    /// let image = Image::new(4, 1, 1, vec![9u8, 1, 3, 9])?;
    /// let mean = |extent| Device::cpu().box_filter(&image, 2, 1).border(Border::Constant(0.0)).extent(extent).run();
    /// // Of 9, 1 and of 1, 3; the region alone, as an image, would have 3 or nothing before its first pixel.
    /// let region = mean(Extent::Region(Region { x: 1, y: 0, width: 2, height: 1 }))?;
    /// assert_eq!(region.download::<u8>()?.row(0), [5, 2]);
    /// assert_eq!(mean(Extent::Full)?.download::<u8>()?.row(0), [4, 5, 2, 6, 4]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn extent(mut self, extent: Extent) -> Self {
        self.options.extent = extent;
        self
    }

    /// Sets the sample type of the output. By default it is the input's, but f32 for
    /// [directions](crate::filters::Gradient::direction). Integer results are rounded half to even and saturate, so
    /// derivatives of u8 need i16 or f32, unless [`rounding`](FilterBuilder::rounding) and
    /// [`overflow`](FilterBuilder::overflow) are set.
    ///
    /// Samples of bool and of integers of 32 or 64 bits, of input or output, are summed in f64 and weighted by f64
    /// taps; those beyond 2^53 are rounded to f64 first.
    pub fn out_type(mut self, pixel: PixelType) -> Self {
        self.out_type = Some(pixel);
        self
    }

    /// Stores the sums between the passes of a separable filter or a mean in the output's type, as SciPy's
    /// filters do: the columns are filtered first, and their result, rounded, along the rows. By default sums are
    /// rounded once, at the end. One tap 1 is a pass, too, as in `correlate1d`; but a mean over one sample and a Gaussian
    /// without a sigma are none, as in `uniform_filter` and `gaussian_filter`.
    ///
    /// ```
    /// use apron::{Device, Image, Taps};
    ///
    /// let image = Image::new(1, 1, 1, vec![1u8])?;
    /// let taps = || Taps::new([1.5]);
    /// let filter = |stored| Device::cpu().separable(&image, taps()?, taps()?).store_between_passes(stored).run()?.download::<u8>();
    /// assert_eq!(filter(false)?.row(0), [2]); // 2.25
    /// assert_eq!(filter(true)?.row(0), [3]); // 1.5 times 2, which is 1.5 rounded
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn store_between_passes(mut self, stored: bool) -> Self {
        self.options.stored = stored;
        self
    }

    /// Leaves the last of two or four channels alone: it is the input's sample under the window's anchor, converted to
    /// the output's type. For filters of several masks that is the anchor of the first.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 2, vec![0u8, 255, 30, 128, 90, 7])?;
    /// let mean = Device::cpu().box_filter(&image, 3, 1).keep_alpha(true).run()?;
    /// assert_eq!(mean.download::<u8>()?.row(0), [20, 255, 40, 128, 50, 7]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn keep_alpha(mut self, keep_alpha: bool) -> Self {
        self.options.keep_alpha = keep_alpha;
        self
    }

    /// Sets column and row of the tap over the output pixel, from 0; by default the mask's own anchor, or the middle,
    /// size / 2. For masks, separable taps and means; filters of several parts have no anchor of their own.
    ///
    /// ```
    /// use apron::{Border, Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![3u8, 6, 9])?;
    /// let mean = |x| Device::cpu().box_filter(&image, 3, 1).border(Border::Constant(0.0)).anchor((x, 0)).run();
    /// assert_eq!(mean(0)?.download::<u8>()?.row(0), [6, 5, 3]); // windows begin at the pixel
    /// assert_eq!(mean(2)?.download::<u8>()?.row(0), [1, 3, 6]); // and end at it
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn anchor(mut self, anchor: impl Into<Option<(u32, u32)>>) -> Self {
        self.options.anchor = anchor.into();
        self
    }

    /// Selects a method, instead of the one that suits the problem; for filters of several masks, for each of them.
    pub fn method(mut self, method: impl Into<Option<Method>>) -> Self {
        self.options.method = method.into();
        self
    }

    /// Accepts errors of up to `tolerance` times the Euclidean norm of a tile times the sum of the taps' magnitudes, so
    /// that large dense masks with f32 results are computed by [`Method::Fft`] where that takes fewer operations. By
    /// default, it runs only if it is named.
    ///
    /// ```
    /// use apron::{Device, Image, Mask, Method};
    ///
    /// let image = Image::from_fn(300, 200, 1, |x, y, _| (x * y % 11) as f32)?;
    /// let mask = Mask::new(31, 31, (0..961).map(|n| (n % 7) as f32).collect::<Vec<_>>())?.normalized()?;
    /// let exact = Device::cpu().correlate(&image, &mask).run()?;
    /// let near = Device::cpu().correlate(&image, &mask).tolerance(1e-5).run()?;
    /// let report = near.report()?;
    /// assert_eq!(report.method, Some(Method::Fft));
    /// assert!(report.error_bound.unwrap() <= 1e-5);
    /// let (exact, near) = (exact.download::<f32>()?, near.download::<f32>()?);
    /// assert!(exact.row(7).iter().zip(near.row(7)).all(|(exact, near)| (exact - near).abs() < 1e-5));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn tolerance(mut self, tolerance: impl Into<Option<f64>>) -> Self {
        self.options.tolerance = tolerance.into();
        self
    }
}

impl<F: Named> FilterBuilder<'_, F> {
    /// Runs the filter. On a GPU it returns when the work is enqueued, and intermediate images stay on the GPU.
    ///
    /// # Errors
    /// The errors of the filter's [formula](Named::formula), [`Error::Parameter`] for parameters out of range and for a
    /// method that the problem does not allow, [`Error::Shape`] for full output that is too large and for `keep_alpha`
    /// with one or three channels, [`Error::NoWindow`] if border crop leaves no pixels, [`Error::PixelType`] for
    /// directions of a type other than f32, [`Error::Unsupported`] for what the device does not support, and errors of
    /// the device itself.
    pub fn run(self) -> Result<DeviceImage> {
        self.solved(None).map(Solved::into_image)
    }

    /// Runs the filter, and writes its result into an existing image of the result's shape and type, on any device or
    /// on the host. It must not be shared, since the pixels of clones never change. Repeated work thus allocates no
    /// memory for results, and on a GPU with [`Device::keep_memory`] none at all.
    ///
    /// The result is written in place, without a copy, if the image is on the filter's device and, on a GPU, has rows
    /// without gaps at an address that is a multiple of 16 bytes, in memory that the filter does not read.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let device = Device::cpu();
    /// let mut mean = device.box_filter(&Image::new(3, 1, 1, vec![3u8, 3, 9])?, 3, 1).run()?;
    /// device.box_filter(&Image::new(3, 1, 1, vec![6u8, 0, 6])?, 3, 1).run_into(&mut mean)?;
    /// assert_eq!(mean.download::<u8>()?.row(0), [2, 4, 2]);
    /// let seen = mean.clone();
    /// assert!(device.box_filter(&seen, 3, 1).run_into(&mut mean).is_err());
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](FilterBuilder::run), and [`Error::Parameter`] for an image of another shape or type, or a shared one.
    /// Its samples are then unchanged or, if the device failed, undefined.
    pub fn run_into<'t>(self, target: impl Into<Target<'t>>) -> Result<()> {
        target.into().fill(|mut room| self.solved(Some(&mut room)).map(|solved| solved.made))
    }

    /// Returns the formula, and the type of its result.
    pub(crate) fn asked(&self) -> Result<(Formula, PixelType)> {
        let formula = self.named.formula()?;
        let dst = self.out_type.unwrap_or(formula.out_type(self.source.pixel_type()));
        Ok((formula, dst))
    }

    pub(crate) fn solved(self, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let (formula, dst) = self.asked()?;
        let FilterBuilder { device, source, options, .. } = self;
        check_constants(&options.borders, (source.pixel_type(), dst))?;
        let has_room = room.is_some();
        let job = || {
            let mut parts = Vec::new();
            Filtering { device: &Device::cpu(), source: source.view(), options }
                .parts(&formula, (source.pixel_type(), dst), &mut parts)
                .ok()?;
            Job::of(parts, &source, has_room)
        };
        device.by_cost(&[&source], &options.choice, job, |device| {
            Filtering { device, source: source.view(), options }.solve(&formula, dst, room)
        })
    }
}

/// The input and the options of a filter.
pub(crate) struct Filtering<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    pub(crate) options: Options<'a>,
}

impl<'a> Filtering<'a> {
    /// Returns a filter with the same options on another input.
    pub(crate) fn of<'s>(&self, source: Source<'s>) -> Filtering<'s>
    where
        'a: 's,
    {
        Filtering { device: self.device, source, options: self.options }
    }

    /// Lists the problems of a formula's parts, in the order in which they are solved.
    fn parts(
        &self,
        formula: &Formula,
        (src, dst): (PixelType, PixelType),
        parts: &mut Vec<FilterProblem>,
    ) -> Result<()> {
        let Filtering { device, source, options } = self;
        let shape = source.shape();
        if let Some(passes) = self.passes(formula, dst)? {
            return passes.iter().try_for_each(|(pass, _)| self.parts(pass, (src, dst), parts));
        }
        let conversion = Conversion::of(formula, (src, dst), options);
        if let (Some(_), Some((sum, divisor))) = (conversion, sum_of_integers(formula, src)?) {
            self.parts(&sum, (src, PixelType::F64), parts)?;
            parts.push(quotient(shape, divisor)?);
            if dst != PixelType::F64 {
                parts.push(converted(shape, (PixelType::F64, dst), options.cast));
            }
            return Ok(());
        }
        match conversion {
            Some(Conversion::Before(first)) => {
                parts.push(converted(shape, (src, first), Cast::default()));
                return self.parts(formula, (first, dst), parts);
            }
            Some(Conversion::After(last)) => {
                self.parts(formula, (src, last), parts)?;
                parts.push(converted(shape, (last, dst), options.cast));
                return Ok(());
            }
            None => {}
        }
        if let Some(problem) = stated(formula, shape, (src, dst), options)? {
            let filter = problem.with_borders(options.borders)?.filter;
            parts.push(device.by_method(filter, options.asked(), options.choice.variant)?.problem);
            return Ok(());
        }
        if let Formula::Pointwise { op, x, y } = formula {
            let of_parts = part_type(src);
            self.parts(x, (src, of_parts), parts)?;
            y.as_ref().map_or(Ok(()), |y| self.parts(y, (src, of_parts), parts))?;
            let second = y.as_ref().map(|_| of_parts);
            parts.push(Pointwise { shape, src: of_parts, second, dst, op: *op }.into());
        }
        Ok(())
    }

    /// Computes the formula's samples, of type `dst`; into `room`, if there is one.
    pub(crate) fn solve(&self, formula: &Formula, dst: PixelType, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        let Filtering { device, source, options } = self;
        if options.keep_alpha {
            return self.with_alpha(formula, dst, room);
        }
        if let Some(passes) = self.passes(formula, dst)? {
            return self.solve_passes(&passes, dst, room);
        }
        if let Some(conversion) = Conversion::of(formula, (source.pixel_type(), dst), options) {
            return self.solve_converted(conversion, formula, dst, room);
        }
        let Some(problem) = stated(formula, source.shape(), (source.pixel_type(), dst), options)? else {
            return self.evaluate(formula, dst, room);
        };
        if let (FilterProblem::LocalStd(_), Some(method)) = (&problem, options.method) {
            return Err(Error::parameter("local-std", "method", method, "left out: there is one"));
        }
        let Padded { padding, filter } = problem.with_borders(options.borders)?;
        let padded = padding.map(|padding| {
            let padding = FilterProblem::Pad(padding);
            device.with_fallback(|backend| backend.filter(&padding, "", source, None, &Choice::default(), None))
        });
        let padded = padded.transpose()?.map(Solved::into_image);
        let ByMethod { problem, why } = device.by_method(filter, options.asked(), options.choice.variant)?;
        let seen = padded.as_ref().map_or(source.view(), Source::Device);
        let mut result = device.with_fallback(|backend| {
            backend.filter(&problem, why, &seen, None, &options.choice, room.as_deref_mut())
        })?;
        result.made.before.extend(padded.map(|padded| padded.made));
        Ok(result)
    }

    /// Computes the result with the alpha of its input; into `room`, if there is one.
    fn with_alpha(&self, formula: &Formula, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        if let Source::Host(_) = &self.source
            && let Some(uploaded) = self.device.uploaded(&self.source)?
        {
            // Uploaded once, for the filter and for alpha.
            let mut result = self.of(Source::Device(&uploaded)).with_alpha(formula, dst, room)?;
            result.made.report.copy_in += uploaded.made.report.copy_in;
            return Ok(result);
        }
        let kept = Alpha::of(self, dst)?;
        let options = Options { keep_alpha: false, ..self.options };
        let filtered = Filtering { options, ..self.of(self.source.view()) }.solve(formula, dst, None)?;
        let anchor = self.options.anchor.unwrap_or_else(|| formula.anchor());
        kept.put_back(filtered.into_image(), anchor, room)
    }
}

/// Checks that the borders' constants are finite as numbers of the type in which they are used: f64 if one of the
/// types is, otherwise f32.
fn check_constants(borders: &Borders, (src, dst): (PixelType, PixelType)) -> Result<()> {
    let of_doubles = [src.computed(), dst.computed()].contains(&PixelType::F64);
    let constants = [borders.x, borders.y].map(|border| border.mode().1);
    match constants.iter().flatten().find(|constant| !of_doubles && (**constant as f32).is_infinite()) {
        Some(constant) if constant.is_finite() => {
            let limit = "finite in f32, at most 3.4028235e38, unless samples are f64";
            Err(Error::parameter("border", "constant", format!("{constant:e}"), limit))
        }
        _ => Ok(()),
    }
}

/// Returns the type of the parts of a pointwise operation on filters of an image.
pub(crate) fn part_type(src: PixelType) -> PixelType {
    if src == PixelType::F64 { src } else { PixelType::F32 }
}

/// States the problem of one mask or window; its border is set later. `None` for pointwise operations, except scaled
/// sums with integer output, which must not be rounded before scaling.
pub(crate) fn stated(
    formula: &Formula,
    shape: Shape,
    (src, dst): (PixelType, PixelType),
    options: &Options<'_>,
) -> Result<Option<FilterProblem>> {
    let &Options { extent, clamp, anchor, .. } = options;
    let border = Border::default();
    let own_anchor = |operation| match anchor {
        None => Ok(()),
        Some((x, y)) => {
            let limit = "used with a mask, with taps or with a mean";
            Err(Error::parameter(operation, "anchor", format!("{x},{y}"), limit))
        }
    };
    Ok(Some(match formula {
        Formula::Dense(mask) => {
            if clamp && !matches!(dst, PixelType::F32 | PixelType::F64) {
                let value = format!("asked for with {dst} output");
                return Err(Error::parameter("correlate", "clamp", value, "used with f32 or f64 output"));
            }
            let mut mask = mask.clone();
            if let Some((x, y)) = anchor {
                mask = mask.with_anchor(x, y)?;
            }
            FilterProblem::Correlate(Correlate { shape, src, dst, mask, border, clamp, extent })
        }
        Formula::Separable(taps_x, taps_y) => {
            unclamped("separable", clamp)?;
            let (mut taps_x, mut taps_y) = (taps_x.clone(), taps_y.clone());
            if let Some((x, y)) = anchor {
                (taps_x, taps_y) = (taps_x.with_anchor(x)?, taps_y.with_anchor(y)?);
            }
            FilterProblem::Separable(Separable { shape, src, dst, taps_x, taps_y, border, extent })
        }
        &Formula::Mean(width, height) => {
            unclamped("box", clamp)?;
            let (anchor, scale) = (anchor.unwrap_or((width / 2, height / 2)), Scale::Mean);
            FilterProblem::Box(BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent })
        }
        &Formula::LocalStd(width, height) => {
            unclamped("local-std", clamp)?;
            own_anchor("local-std")?;
            FilterProblem::LocalStd(LocalStd { shape, src, dst, width, height, border, extent })
        }
        Formula::Image | Formula::Pointwise { .. } => {
            unclamped("a named filter", clamp)?;
            own_anchor("a named filter")?;
            let Some((factor, offset, weights)) = scaled_sums(formula).filter(|_| !dst.is_float()) else {
                return Ok(None);
            };
            FilterProblem::Scaled(Scaled { shape, src, dst, weights, factor, offset, border, extent })
        }
    }))
}

/// Returns factor, offset and weights of a formula that is a scaled sum.
fn scaled_sums(formula: &Formula) -> Option<(f64, f64, Weights)> {
    let Formula::Pointwise { op: PointOp::Weighted { a, b: 0.0, c, threshold: 0.0 }, x, y: None } = formula else {
        return None;
    };
    match &**x {
        Formula::Dense(mask) => Some((*a, *c, Weights::Dense(mask.clone()))),
        Formula::Separable(x, y) => Some((*a, *c, Weights::Separable(x.clone(), y.clone()))),
        _ => None,
    }
}

/// Returns an error if `clamp` is set: only sums of dense masks are clamped.
fn unclamped(operation: &'static str, clamp: bool) -> Result<()> {
    match clamp {
        true => Err(Error::parameter(operation, "clamp", true, "used with a dense mask")),
        false => Ok(()),
    }
}
