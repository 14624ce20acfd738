//! Filters of volumes: their builder, and how it is run.

use super::{AnyVolume, DeviceVolume, VolumeBorders, VolumeExtent, VolumeFormula, VolumeRegion, VolumeSource, parts};
use crate::backend::Solved;
use crate::by_rows::read_whole;
use crate::choice::Choice;
use crate::conversion::Conversion;
use crate::setters::setters;
use crate::target::{Room, Target};
use crate::{Border, Cast, Device, DeviceImage, Error, PixelType, PointOp, Result, Shape, Source};
use apron_core::{FilterProblem, Pointwise, VolumeFilter, sums_of, unstacked, voxels};

/// A filter of a volume that is ready to [`run`](VolumeFilterBuilder::run), with defaults that may be changed before.
#[derive(Debug)]
#[must_use = "a filter does nothing until it is run"]
pub struct VolumeFilterBuilder<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: VolumeSource<'a>,
    pub(crate) formula: VolumeFormula,
    out_type: Option<PixelType>,
    pub(crate) options: Options<'a>,
}

/// Options of a filter, independent of what it computes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options<'a> {
    pub(crate) borders: VolumeBorders,
    pub(crate) extent: VolumeExtent,
    pub(crate) anchor: Option<[u32; 3]>,
    /// How sums become integers.
    pub(super) cast: Cast,
    /// Whether the sums between the passes of separable filters are stored in the output's type.
    pub(crate) stored: bool,
    pub(super) choice: Choice<'a>,
}

setters! { ['a] VolumeFilterBuilder<'a>: variant(options.choice), cast(options.cast) }

impl<'a> VolumeFilterBuilder<'a> {
    pub(crate) fn new(device: &'a Device, source: VolumeSource<'a>, formula: VolumeFormula) -> Self {
        VolumeFilterBuilder { device, source, formula, out_type: None, options: Options::default() }
    }

    /// Sets what lies outside the volume, along all axes or [each](VolumeBorders);
    /// [`Border::Reflect101`](crate::Border::Reflect101) by default.
    pub fn border(mut self, border: impl Into<VolumeBorders>) -> Self {
        self.options.borders = border.into();
        self
    }

    /// Sets which voxels are computed: the volume's own, all whose window touches it, or those of a region.
    ///
    /// ```
    /// use apron::volumes::{self, Volume, VolumeExtent, VolumeRegion};
    /// use apron::Device;
    ///
    /// let volume = Volume::new(1, 1, 4, 1, vec![3u8, 6, 9, 30])?;
    /// let part = VolumeRegion { corner: [0, 0, 2], size: [1, 1, 1] };
    /// let device = Device::cpu();
    /// let filter = device.filter_volume(&volume, volumes::mean([1, 1, 3])?);
    /// let mean = filter.extent(VolumeExtent::Region(part)).run()?;
    /// assert_eq!(mean.download::<u8>()?.packed()[..], [15]); // of 6, 9 and 30
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn extent(mut self, extent: VolumeExtent) -> Self {
        self.options.extent = extent;
        self
    }

    /// Sets the sample type of the output; by default it is the input's. Integer results are rounded half to even and
    /// saturate.
    pub fn out_type(mut self, pixel: PixelType) -> Self {
        self.out_type = Some(pixel);
        self
    }

    /// Sets the tap over the output voxel, along x, y and z from 0; by default the mask's own, or the middle, side / 2.
    /// For masks, separable taps and means alone.
    ///
    /// ```
    /// use apron::{Border, Device, volumes::{self, Volume}};
    ///
    /// let volume = Volume::new(1, 1, 3, 1, vec![3u8, 6, 9])?;
    /// let mean = |z| {
    ///     let mean = volumes::mean([1, 1, 3])?;
    ///     Device::cpu().filter_volume(&volume, mean).border(Border::Constant(0.0)).anchor([0, 0, z]).run()
    /// };
    /// assert_eq!(mean(0)?.download::<u8>()?.packed()[..], [6, 5, 3]); // windows begin at the voxel
    /// assert_eq!(mean(2)?.download::<u8>()?.packed()[..], [1, 3, 6]); // and end at it
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn anchor(mut self, anchor: impl Into<Option<[u32; 3]>>) -> Self {
        self.options.anchor = anchor.into();
        self
    }

    /// Stores the sums between the passes of a separable filter or a mean in the output's type, as SciPy's filters do:
    /// along z first, then y, then x. By default sums are rounded once, at the end. One tap 1 is a pass, too, but a mean
    /// over one voxel and a Gaussian without a sigma are none.
    ///
    /// ```
    /// use apron::{Device, volumes::{self, Volume}};
    ///
    /// let (device, volume) = (Device::cpu(), Volume::new(2, 1, 2, 1, vec![1u8, 2, 0, 3])?);
    /// let mean = |stored| {
    ///     let filter = device.filter_volume(&volume, volumes::mean([2, 1, 2])?).border(apron::Border::Wrap);
    ///     filter.store_between_passes(stored).run()?.download::<u8>()
    /// };
    /// assert_eq!(mean(false)?.packed()[..], [2; 4]); // 6 / 4
    /// assert_eq!(mean(true)?.packed()[..], [1; 4]); // (0 + 2) / 2, where 0 and 2 are 1 / 2 and 5 / 2
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn store_between_passes(mut self, stored: bool) -> Self {
        self.options.stored = stored;
        self
    }

    /// Runs the filter. On a GPU it returns when the work is enqueued, and intermediate volumes stay there.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters out of range, [`Error::Shape`] for a volume smaller than a window where the
    /// border is crop and for full output that is too large, [`Error::Unsupported`] for what the device does not
    /// support, and errors of the device itself.
    pub fn run(self) -> Result<DeviceVolume> {
        let depth = self.depth()?;
        let stack = self.solved(None)?.into_image();
        Ok(DeviceVolume { stack, depth })
    }

    /// Runs the filter, and writes its result into an existing volume of the result's shape and type,
    /// which must not be shared.
    ///
    /// ```
    /// use apron::{Device, volumes::{self, Volume}};
    ///
    /// let (device, volume) = (Device::cpu(), Volume::new(1, 1, 3, 1, vec![3u8, 3, 9])?);
    /// let mut mean = device.upload_volume(&volume)?;
    /// device.filter_volume(&volume, volumes::mean([1, 1, 3])?).run_into(&mut mean)?;
    /// assert_eq!(mean.download::<u8>()?.packed()[..], [3, 5, 5]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](VolumeFilterBuilder::run), and [`Error::Parameter`] or [`Error::Shape`] for a volume of another shape
    /// or type, or a shared one.
    pub fn run_into(self, out: &mut DeviceVolume) -> Result<()> {
        let depth = self.depth()?;
        if out.depth != depth {
            let (value, limit) = (out.depth.to_string(), format!("{depth}, as the result's"));
            return Err(Error::Shape { what: "depth", value, limit });
        }
        Target::from(&mut out.stack).fill(|mut room| self.solved(Some(&mut room)).map(|solved| solved.made))
    }

    pub(crate) fn out_type_of(&self) -> PixelType {
        self.out_type.unwrap_or(self.source.pixel_type())
    }

    /// Returns the number of planes of the result; finds errors before anything runs.
    pub(crate) fn depth(&self) -> Result<u32> {
        let (shape, types) = (self.source.shape()?, (self.source.pixel_type(), self.out_type_of()));
        if let (Some([x, y, z]), false) = (self.options.anchor, matches!(self.formula, VolumeFormula::Sums { .. })) {
            let limit = "used with a mask, with taps or with a mean";
            return Err(Error::parameter("volume", "anchor", format!("{x},{y},{z}"), limit));
        }
        depth_of(&self.formula, (shape.stacked(), shape.depth), types, &self.options)
    }

    pub(crate) fn solved(self, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let dst = self.out_type_of();
        let VolumeFilterBuilder { device, source: VolumeSource { stack, depth }, formula, options, .. } = self;
        let has_room = room.is_some();
        let job = || parts::job(&formula, (&stack, depth), dst, &options, has_room);
        device.by_cost(&[&stack], &options.choice, job, |device| {
            Filtering { device, stack: stack.view(), depth, options }.solve(&formula, dst, room)
        })
    }
}

/// States the problem of weights; `None` for other formulas.
///
/// # Errors
/// [`Error::Parameter`] for another anchor than one of the weights', and for other formulas whose sums are to be stored
/// between passes.
pub(super) fn stated(
    formula: &VolumeFormula,
    (shape, depth): (apron_core::Shape, u32),
    (src, dst): (PixelType, PixelType),
    options: &Options<'_>,
) -> Result<Option<VolumeFilter>> {
    let VolumeFormula::Sums { weights, divisor } = formula else {
        if options.stored {
            let limit = "left out: used with separable filters and means";
            return Err(Error::parameter("volume", "store between passes", "asked for", limit));
        }
        return Ok(None);
    };
    let (mut weights, divisor, Options { borders, extent, cast, stored, .. }) = (weights.clone(), *divisor, *options);
    if let Some(anchor) = options.anchor {
        weights = weights.with_anchor(anchor)?;
    }
    Ok(Some(VolumeFilter { shape, depth, src, dst, weights, divisor, cast, stored, borders, extent }))
}

/// Returns the sums over windows.
pub(super) fn plain_sums(size: [u32; 3]) -> Result<VolumeFormula> {
    match VolumeFormula::mean(size)? {
        VolumeFormula::Sums { weights, .. } => Ok(VolumeFormula::Sums { weights, divisor: 1.0 }),
        other => Ok(other),
    }
}

/// Returns the number of planes of a result.
fn depth_of(
    formula: &VolumeFormula,
    (shape, depth): (apron_core::Shape, u32),
    (src, dst): (PixelType, PixelType),
    options: &Options<'_>,
) -> Result<u32> {
    if let VolumeFormula::Deviation(size) = formula {
        let types = (PixelType::F64, PixelType::F64);
        return depth_of(&plain_sums(*size)?, (shape, depth), types, options);
    }
    if let Some(problem) = stated(formula, (shape, depth), (src, dst), options)? {
        return Ok(problem.window()?.out.depth);
    }
    let VolumeFormula::Pointwise { x, y, .. } = formula else {
        return match options.extent {
            VolumeExtent::Region(region) => region.check(unstacked(shape, depth)?).map(|()| region.size[2]),
            _ => Ok(depth),
        };
    };
    let types = (src, sums_of(src, dst));
    let first = depth_of(x, (shape, depth), types, options)?;
    y.as_ref().map_or(Ok(first), |y| depth_of(y, (shape, depth), types, options)).map(|_| first)
}

/// The input and the options of a filter.
pub(super) struct Filtering<'a> {
    pub(super) device: &'a Device,
    pub(super) stack: Source<'a>,
    pub(super) depth: u32,
    pub(super) options: Options<'a>,
}

impl Filtering<'_> {
    /// Computes the formula's samples, of type `dst`; into `room`, if there is one.
    pub(super) fn solve(&self, formula: &VolumeFormula, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let (shape, src) = (self.stack.shape(), self.stack.pixel_type());
        let sums = stated(formula, (shape, self.depth), (src, dst), &self.options)?;
        if let Some(problem) = &sums
            && self.is_taken(problem)?
        {
            return self.solve_sums(problem, room);
        }
        if let Some((stages, last)) = sums.as_ref().map(VolumeFilter::stages).transpose()?
            && !stages.is_empty()
        {
            return self.solve_stages(&stages, &last, room);
        }
        if let Some(conversion) = self.conversion(dst) {
            return self.solve_converted(conversion, formula, dst, room);
        }
        match formula {
            VolumeFormula::Volume => match self.options.extent {
                VolumeExtent::Region(region) => self.cut(region, dst, room),
                _ => self.pointwise(PointOp::AS_IT_IS, &self.stack, None, dst, room),
            },
            VolumeFormula::Pointwise { op, x, y } => {
                if let Source::Host(_) = &self.stack
                    && let Some(uploaded) = self.device.uploaded(&self.stack)?
                {
                    // Uploaded once, for all operations that read it.
                    let on_device = Filtering { device: self.device, stack: Source::Device(&uploaded), ..*self };
                    let mut result = on_device.solve(formula, dst, room)?;
                    result.made.report.copy_in += uploaded.made.report.copy_in;
                    return Ok(result);
                }
                let of_parts = sums_of(src, dst);
                // Kernels take operands of one type, which is the result's, too.
                let by_kernels = self.device.machine().is_some();
                if by_kernels && dst != of_parts {
                    let image = self.solve(formula, of_parts, None)?.into_image();
                    let mut result = self.pointwise(PointOp::AS_IT_IS, &Source::Device(&image), None, dst, room)?;
                    result.made.before.push(image.made);
                    return Ok(result);
                }
                let cuts = matches!(self.options.extent, VolumeExtent::Region(_));
                let operand = |formula: &VolumeFormula| match formula {
                    VolumeFormula::Volume if !cuts && (!by_kernels || src == of_parts) => Ok(None),
                    formula => self.solve(formula, of_parts, None).map(|solved| Some(solved.into_image())),
                };
                let (made_x, made_y) = (operand(x)?, y.as_deref().map(operand).transpose()?.flatten());
                let seen = |made| match made {
                    Some(image) => Source::Device(image),
                    None => self.stack.view(),
                };
                let (x, y) = (seen(made_x.as_ref()), y.as_ref().map(|_| seen(made_y.as_ref())));
                let mut result = self.pointwise(*op, &x, y.as_ref(), dst, room)?;
                let made = [&made_x, &made_y];
                result.made.before = made.into_iter().flatten().map(|part| part.made.clone()).collect();
                Ok(result)
            }
            VolumeFormula::Deviation(size) => self.deviation(*size, dst, room),
            VolumeFormula::Sums { .. } => self.solve_in_sums(formula, (src, dst), room),
        }
    }

    /// Returns whether samples of a type that is not computed, or that are cast in another way than by
    /// default, are converted.
    fn conversion(&self, dst: PixelType) -> Option<Conversion> {
        let src = self.stack.pixel_type();
        let casts = !dst.is_float() && self.options.cast != Cast::default();
        if casts || !dst.is_computed() {
            Some(Conversion::After(PixelType::F64))
        } else if !src.is_computed() {
            Some(Conversion::Before(src.computed()))
        } else {
            None
        }
    }

    /// Converts the input, or the result; into `room`, if there is one.
    fn solve_converted(
        &self,
        conversion: Conversion,
        formula: &VolumeFormula,
        dst: PixelType,
        room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        match conversion {
            Conversion::Before(first) => {
                let cast = PointOp::Cast(Cast::default());
                let image = self.pointwise(cast, &self.stack, None, first, None)?.into_image();
                let computed = Filtering { device: self.device, stack: Source::Device(&image), ..*self };
                let mut result = computed.solve(formula, dst, room)?;
                result.made.report.copy_in += image.made.report.copy_in;
                result.made.before.push(image.made);
                Ok(result)
            }
            Conversion::After(last) => {
                let image = self.solve(formula, last, None)?.into_image();
                let cast = PointOp::Cast(self.options.cast);
                let mut result = self.pointwise(cast, &Source::Device(&image), None, dst, room)?;
                result.made.before.push(image.made);
                Ok(result)
            }
        }
    }

    /// Computes standard deviations of sums in f64.
    fn deviation(&self, size: [u32; 3], dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let (doubles, sums) = (PixelType::F64, plain_sums(size)?);
        let converted = self.pointwise(PointOp::AS_IT_IS, &self.stack, None, doubles, None)?.into_image();
        let numbers = Source::Device(&converted);
        let squares = self.pointwise(PointOp::Product, &numbers, Some(&numbers), doubles, None)?.into_image();
        let squared = |border| match border {
            Border::Constant(value) => Border::Constant(value * value),
            other => other,
        };
        let VolumeBorders { x, y, z } = self.options.borders;
        let borders = VolumeBorders { x: squared(x), y: squared(y), z: squared(z) };
        let of_squares =
            Filtering { stack: Source::Device(&squares), options: Options { borders, ..self.options }, ..*self };
        let of_numbers = Filtering { stack: numbers.view(), ..*self };
        let of_squares = of_squares.solve(&sums, doubles, None)?.into_image();
        let of_numbers = of_numbers.solve(&sums, doubles, None)?.into_image();
        let (op, y) = (PointOp::Deviation { n: voxels(size) }, Source::Device(&of_numbers));
        let (x, y) = (Source::Device(&of_squares), Some(&y));
        let by_kernels = self.device.machine().is_some() && dst != doubles;
        let mut before = [&converted, &squares, &of_squares, &of_numbers].map(|part| part.made.clone()).to_vec();
        let mut result = if by_kernels {
            let image = self.pointwise(op, &x, y, doubles, None)?.into_image();
            before.push(image.made.clone());
            self.pointwise(PointOp::AS_IT_IS, &Source::Device(&image), None, dst, room)?
        } else {
            self.pointwise(op, &x, y, dst, room)?
        };
        result.made.before = before;
        Ok(result)
    }

    /// Returns whether the device solves a problem as it is: the CPU does, and kernels if a variant takes its types, and
    /// converting the samples before and after is not faster.
    fn is_taken(&self, problem: &VolumeFilter) -> Result<bool> {
        problem.window()?;
        let Some(machine) = self.device.machine() else { return Ok(true) };
        let filter = FilterProblem::Volume(problem.clone()).into();
        let mut is_named = false;
        let planned = self.options.choice.of("volume", |variant| {
            is_named = variant.is_some();
            apron_plan::plan(&filter, variant, &machine)
        });
        Ok(planned.is_ok() && (is_named || !apron_plan::is_faster_in_doubles(problem, &machine)))
    }

    fn solve_sums(&self, problem: &VolumeFilter, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        let problem = FilterProblem::Volume(problem.clone());
        self.device.with_fallback(|backend| {
            backend.filter(&problem, "", &self.stack, None, &self.options.choice, room.as_deref_mut())
        })
    }

    /// Computes sums by kernels that take no other types than the sums': the samples are converted before and after.
    fn solve_in_sums(
        &self,
        formula: &VolumeFormula,
        (src, dst): (PixelType, PixelType),
        room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let sums = sums_of(src, dst);
        let convert = |source: &Source<'_>, dst, room: Option<&mut Room<'_>>| {
            self.pointwise(PointOp::AS_IT_IS, source, None, dst, room)
        };
        let converted = (src != sums).then(|| convert(&self.stack, sums, None)).transpose()?.map(Solved::into_image);
        let stack = converted.as_ref().map_or(self.stack.view(), Source::Device);
        let on_sums = Filtering { device: self.device, stack, ..*self };
        let mut result = match stated(formula, (self.stack.shape(), self.depth), (sums, sums), &self.options)? {
            // An error of the plan is told by the backend.
            Some(problem) if dst == sums => on_sums.solve_sums(&problem, room)?,
            _ => {
                let image = on_sums.solve(formula, sums, None)?.into_image();
                let mut result = convert(&Source::Device(&image), dst, room)?;
                result.made.before.push(image.made);
                result
            }
        };
        if let Some(image) = converted {
            result.made.report.copy_in += image.made.report.copy_in;
            result.made.before.insert(0, image.made);
        }
        Ok(result)
    }

    /// Copies a region of the volume itself, with samples of type `dst`.
    fn cut(&self, region: VolumeRegion, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let copied = |part: Source<'_>, dst, room: Option<&mut Room<'_>>| {
            self.pointwise(PointOp::AS_IT_IS, &part, None, dst, room)
        };
        let (volume, VolumeRegion { corner: [x, y, z], size: [width, height, depth] }) =
            (unstacked(self.stack.shape(), self.depth)?, region);
        region.check(volume)?;
        let stack = match &self.stack {
            Source::Device(stack) => stack,
            Source::Host(stack) => {
                let part = AnyVolume::new(stack.view(), self.depth)?.region(region.corner, region.size)?;
                return copied(Source::Host(part.stack()), dst, room);
            }
            Source::Rows(rows) => {
                let stack = Source::Host(read_whole(*rows)?);
                return Filtering { device: self.device, stack, ..*self }.cut(region, dst, room);
            }
        };
        let copied = |part: DeviceImage, dst, room: Option<&mut Room<'_>>| copied(Source::Device(&part), dst, room);
        // With a plane as a row, the rows of a plane are columns.
        let plane = Shape::new(volume.width * volume.height, volume.depth, volume.channels)?;
        let src = self.stack.pixel_type();
        let stack = match stack.is_packed() {
            true => (*stack).clone(),
            false => copied((*stack).clone(), src, None)?.into_image(),
        };
        let planes = stack.into_reshaped(plane)?;
        let rows = planes.region(y * volume.width, z, height * volume.width, depth)?;
        let rows = copied(rows, src, None)?.into_image();
        let stack = rows.into_reshaped(Shape { width: volume.width, height: height * depth, ..plane })?;
        copied(stack.region(x, 0, width, height * depth)?, dst, room)
    }

    fn pointwise(
        &self,
        op: PointOp,
        x: &Source<'_>,
        y: Option<&Source<'_>>,
        dst: PixelType,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        if let Some(y) = y.filter(|y| y.shape() != x.shape()) {
            let limit = format!("another: the parts of the filter have {} and {} voxels", x.shape(), y.shape());
            return Err(match self.options.extent {
                VolumeExtent::Full => Error::parameter("volume", "extent", "full", limit),
                _ => Error::parameter("volume", "border", self.options.borders, limit),
            });
        }
        let (shape, src, second) = (x.shape(), x.pixel_type(), y.map(Source::pixel_type));
        let problem = FilterProblem::Pointwise(Pointwise { shape, src, second, dst, op });
        self.device.with_fallback(|backend| backend.filter(&problem, "", x, y, &Choice::default(), room.as_deref_mut()))
    }
}
