//! Filters of volumes: all pages of a file are read, filtered as one, and written as the pages of another; slab by slab
//! if they are larger than the memory that they may take.

use super::planes::{Planes, To, Written};
use super::strips::{keep, name};
use crate::args::{Common, Devices, FilterArgs};
use crate::complex;
use crate::error::{Error, Result};
use crate::output::OutputArgs;
use crate::place::Place;
use crate::report::{Made, Ran, Report, milliseconds};
use crate::room::Budget;
use apron::volumes::{
    AnyVolume, DeviceVolume, VolumeBorders, VolumeExtent, VolumeFilterBuilder, VolumeFormula, VolumeMask, VolumeShape,
    VolumeSource,
};
use apron::{AnyImage, Border, Device, PixelType, ReadRows};
use apron_files::{ImageOutput, Metadata};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Allowed products of taps and samples per allowed voxel, as of images.
const PRODUCTS: u64 = 1 << 16;

/// Runs a formula on the volume at hand.
pub(super) fn run(
    verb: &'static str,
    args: &FilterArgs,
    formula: &VolumeFormula,
    anchor: Option<[u32; 3]>,
    devices: &mut Devices,
) -> Result<Report> {
    let start = Instant::now();
    let (common, borders, extent) = (&args.common, args.border.deep()?, args.volume_extent()?);
    let Some((input, output)) = devices.files() else {
        return step(verb, args, formula, (borders, extent, anchor), devices);
    };
    let file = args.output.open(&output, devices.format(), args.out_type)?;
    devices.place()?;
    // Whether the format holds several pages is found before anything is read.
    drop(file.pages(1)?);
    devices.at(format!("reading {}", input.display()));
    let mut planes = Planes::open(common, &input, complex::takes_volume(formula))?;
    let (shape, pixel, metadata) = (planes.shape, planes.pixel, planes.metadata.clone());
    if metadata.complex {
        complex::check(verb, &file, args.out_type, pixel)?;
        complex::deep(&borders)?;
    }
    check(verb, (shape, planes.volumes), (formula, extent), args)?;
    let out_type = args.out_type.unwrap_or(pixel);
    let device = devices.get(common.device)?;
    let job = Job { verb, args, formula, options: (borders, extent, anchor, out_type), device, file: &file, metadata };
    // Slabs give a result of the volume's size. Another is taken whole, unless that would take more
    // memory than was asked for.
    let has_slabs = extent == VolumeExtent::Same && !borders.axes().contains(&Border::Crop);
    let memory = if has_slabs { planes.slabs() } else { planes.check_whole("a result of another size")? };
    let (ran, out, copy_out_ms) = match memory {
        Some(memory) => (job.run_by_slabs(&mut planes, memory, devices)?, (shape, out_type), 0.0),
        None => {
            let what = format!("{verb} of {shape} {pixel} on {}", job.device.name());
            whole(&mut planes, (&file, &job.metadata), (&what, devices), |volume| Ok(job.filter(volume).run()?))?
        }
    };
    let mut ran = Ran::of(verb, &input, (shape.plane(), pixel), ran, Duration::ZERO, start);
    ran.pages = Some(shape.depth * planes.volumes);
    ran.copy_out_ms = copy_out_ms;
    ran.total_ms = milliseconds(start.elapsed());
    Ok(Report { ran, made: made(&output, out, planes.volumes) })
}

/// Runs a formula on the volume of a pipe.
fn step(
    verb: &'static str,
    args: &FilterArgs,
    formula: &VolumeFormula,
    (borders, extent, anchor): (VolumeBorders, VolumeExtent, Option<[u32; 3]>),
    devices: &mut Devices,
) -> Result<Report> {
    let start = Instant::now();
    let Place::Volume(volume) = devices.place()? else {
        return Err(Error::Usage("--volume is from a file to a file, or of a whole pipe, not one of its steps".into()));
    };
    let (shape, pixel) = (volume.shape(), volume.pixel_type());
    check(verb, (shape, devices.images), (formula, extent), args)?;
    let device = devices.get(args.common.device)?;
    let options = (borders, extent, anchor, args.out_type.unwrap_or(pixel));
    let result = built(&device, args, formula, options, &volume).run()?;
    let no_file = Path::new("-");
    let mut ran = Ran::of(verb, no_file, (shape.plane(), pixel), result.report()?, Duration::ZERO, start);
    ran.pages = Some(shape.depth);
    let made = made(no_file, (result.shape(), result.pixel_type()), 1);
    devices.go_to(Place::Volume(result));
    Ok(Report { ran, made })
}

/// Runs `steps`, each of which replaces the volume in its place, on each volume in a file; `None` if the volumes are
/// too large to be taken whole.
pub(super) fn pipe(
    (common, out): (&Common, &OutputArgs),
    devices: &mut Devices,
    mut steps: impl FnMut(&mut Devices) -> Result<()>,
) -> Result<Option<Report>> {
    let start = Instant::now();
    let Some((input, output)) = devices.files() else {
        return Err(Error::Usage("--volume is from a file to a file, and not the standard output".into()));
    };
    let file = out.open(&output, devices.format(), None)?;
    drop(file.pages(1)?);
    devices.at(format!("reading {}", input.display()));
    let mut planes = Planes::open(common, &input, false)?;
    if planes.slabs().is_some() {
        return Ok(None);
    }
    devices.place()?;
    let device = devices.get(common.device)?;
    let (shape, pixel, metadata) = (planes.shape, planes.pixel, planes.metadata.clone());
    let mut inner = Devices::of(device.clone()).for_each_of(planes.volumes);
    let what = format!("pipe of {shape} {pixel} on {}", device.name());
    let (ran, out, copy_out_ms) = whole(&mut planes, (&file, &metadata), (&what, devices), |volume| {
        inner.go_to(Place::Volume(device.upload_volume(volume)?));
        steps(&mut inner)?;
        match inner.place()? {
            Place::Volume(result) => Ok(result),
            _ => Err(Error::Bug("a step left the pipe".into())),
        }
    })?;
    let mut ran = Ran::of("pipe", &input, (shape.plane(), pixel), ran, Duration::ZERO, start);
    ran.pages = Some(shape.depth * planes.volumes);
    ran.copy_out_ms = copy_out_ms;
    ran.total_ms = milliseconds(start.elapsed());
    Ok(Some(Report { ran, made: made(&output, out, planes.volumes) }))
}

/// Writes what `make` makes of each volume in a file, each of which is taken whole; `what` names the work. Returns
/// the report of all, the shape and the type of a result, and the time in which results were copied from the
/// device, in milliseconds.
fn whole(
    planes: &mut Planes<'_>,
    (file, metadata): (&ImageOutput<'_>, &Metadata),
    (what, devices): (&str, &Devices),
    mut make: impl FnMut(&AnyVolume<'_>) -> Result<DeviceVolume>,
) -> Result<(apron::Report, (VolumeShape, PixelType), f64)> {
    let (volumes, output) = (planes.volumes, file.path().display());
    let (mut all, mut made, mut copy_out_ms) = (None, None, 0.0);
    for number in 0..volumes {
        planes.select(number);
        let at = if volumes == 1 { String::new() } else { format!("volume {} of {volumes}: ", number + 1) };
        devices.at(format!("{at}{what}"));
        let result = make(&planes.read()?)?;
        add(&mut all, result.report()?);
        let copy = Instant::now();
        let result = result.into_host()?;
        copy_out_ms += milliseconds(copy.elapsed());
        devices.at(format!("{at}writing {output}"));
        let (draft, (out, pixel)) = match &mut made {
            Some(made) => made,
            none => {
                let out = (result.shape(), result.pixel_type());
                none.insert((file.volumes(volumes, out.0.depth)?, out))
            }
        };
        draft.write_stacked(&result.stack().bytes(), (out.plane(), *pixel), metadata)?;
    }
    let (Some(ran), Some((draft, out))) = (all, made) else { return Err(Error::NoImage) };
    draft.finish()?;
    Ok((ran, out, copy_out_ms))
}

/// Returns what is reported of the volumes that were made.
fn made(output: &Path, (shape, out_type): (VolumeShape, PixelType), volumes: u32) -> Made {
    let (output, out_type) = (output.display().to_string(), out_type.to_string());
    let VolumeShape { width: out_width, height: out_height, depth: out_depth, .. } = shape;
    Made::Volume { output, out_type, out_width, out_height, out_depth, volumes }
}

/// Borders, extent, anchor, and the type of the result.
type Options = (VolumeBorders, VolumeExtent, Option<[u32; 3]>, PixelType);

/// Builds the filter of a volume.
fn built<'a>(
    device: &'a Device,
    args: &'a FilterArgs,
    formula: &VolumeFormula,
    (borders, extent, anchor, out_type): Options,
    volume: impl Into<VolumeSource<'a>>,
) -> VolumeFilterBuilder<'a> {
    let filter = args.stored_volume(device.filter_volume(volume, formula.clone()));
    let filter = filter.border(borders).extent(extent).anchor(anchor).out_type(out_type);
    filter.variant(args.common.variant.as_deref())
}

/// A filter of each volume in a file.
struct Job<'a> {
    verb: &'static str,
    args: &'a FilterArgs,
    formula: &'a VolumeFormula,
    options: Options,
    device: Device,
    file: &'a ImageOutput<'a>,
    metadata: Metadata,
}

impl Job<'_> {
    /// Builds the filter of a volume.
    fn filter<'b>(&'b self, volume: impl Into<VolumeSource<'b>>) -> VolumeFilterBuilder<'b> {
        built(&self.device, self.args, self.formula, self.options, volume)
    }

    /// Filters each volume by slabs.
    fn run_by_slabs(&self, planes: &mut Planes<'_>, memory: Budget, devices: &Devices) -> Result<apron::Report> {
        let (shape, volumes, (borders, extent, anchor, out_type)) = (planes.shape, planes.volumes, self.options);
        let memory = memory.beside(self.file.held_by_pages((shape.plane(), out_type), shape.depth, &self.metadata));
        let made = (shape, volumes, out_type);
        if !self.args.output.resume {
            let to = To::Pages(Mutex::new(self.file.volumes(volumes, shape.depth)?));
            let written = Written::new((to, 0), made, &self.metadata, devices);
            let ran = self.slabs(planes, &written, memory)?;
            written.finish()?;
            return Ok(ran);
        }
        let what = (self.formula, borders, extent, anchor, out_type, planes.pixel, self.args.asked());
        let name = name(self.verb, &what, planes.path());
        let mut ran = None;
        let of = ((shape.plane(), out_type), (volumes, shape.depth));
        let written = self.file.resume_planes(of.0, of.1, &self.metadata, &name, |draft, before| {
            let written = Written::new((To::Rows(draft, self.file.path()), before), made, &self.metadata, devices);
            Ok(keep(&mut ran, self.slabs(planes, &written, memory))?)
        });
        match ran {
            Some(Err(error)) => Err(error),
            ran => written.map_err(Error::from).and(ran.unwrap_or(Err(Error::NoImage))),
        }
    }

    /// Filters each volume by slabs into a file.
    fn slabs(&self, planes: &mut Planes<'_>, written: &Written<'_>, memory: Budget) -> Result<apron::Report> {
        let mut all = None;
        for number in 0..planes.volumes {
            planes.select(number);
            // Of the last one a plane is computed again, or there would be no report.
            if written.select(number) && number + 1 < planes.volumes {
                continue;
            }
            let rows = VolumeSource::from_stack(&*planes as &dyn ReadRows, planes.shape.depth)?;
            let ran = self.filter(rows).run_rows(written, memory.left());
            add(&mut all, ran.map_err(|error| planes.error(memory.error(error)))?);
        }
        all.ok_or(Error::NoImage)
    }
}

/// Adds the times of another volume.
fn add(all: &mut Option<apron::Report>, of_one: apron::Report) {
    match all {
        Some(all) => {
            all.kernels += of_one.kernels;
            all.copy_in += of_one.copy_in;
        }
        None => *all = Some(of_one),
    }
}

/// Checks the voxels of full output, and the products of taps and samples, against the limit, and
/// warns of many products.
fn check(
    verb: &'static str,
    (shape, volumes): (VolumeShape, u32),
    (formula, extent): (&VolumeFormula, VolumeExtent),
    args: &FilterArgs,
) -> Result<()> {
    let most = args.common.max_pixels;
    let sides = shape.sides().into_iter().zip(formula.window()).map(|(side, more)| side as u64 + more as u64 - 1);
    let voxels = sides.fold(1u64, u64::saturating_mul);
    if extent == VolumeExtent::Full && voxels > most {
        let limit = format!("up to {most}, or what --max-pixels says");
        return Err(apron::Error::parameter(verb, "voxels of the full output", voxels, limit).into());
    }
    let products = shape.samples().saturating_mul(formula.taps());
    if products > most.saturating_mul(PRODUCTS) {
        let (value, limit) = (format!("{}, and so {products} products", formula.taps()), most.saturating_mul(PRODUCTS));
        let limit = format!("few enough for {limit} products, {PRODUCTS} per pixel of --max-pixels");
        return Err(apron::Error::parameter(verb, "number of taps", value, limit).into());
    }
    crate::limits::warn(products.saturating_mul(volumes.into()), &args.common);
    Ok(())
}

/// Returns taps as f64, which must hold them.
fn doubles(path: &Path, image: AnyImage<'_>) -> Result<Vec<f64>> {
    fn held<T: apron::Pixel + Into<i128>>(path: &Path, taps: &[T]) -> Result<Vec<f64>> {
        let double = |&tap: &T| {
            let (exact, double) = (tap.into(), apron_core::Sample::to_f64(tap));
            let what = || format!("tap {exact} is not taken; beyond 2^53 integers that f64 holds are");
            if double as i128 == exact { Ok(double) } else { Err(Error::input(path, what())) }
        };
        taps.iter().map(double).collect()
    }
    match image {
        AnyImage::I64(image) => held(path, &image.packed()),
        AnyImage::U64(image) => held(path, &image.packed()),
        image => Ok(apron_core::each_type!(image, image => {
            image.packed().iter().map(|&tap| apron_core::Sample::to_f64(tap)).collect()
        })),
    }
}

/// Reads a mask: a `.npy` file of three dimensions, or a mask of an image, which is one plane.
pub(super) fn mask(value: &str, normalize: bool) -> Result<VolumeMask> {
    let path = Path::new(value);
    let is_file = apron_files::extension(path) == "npy";
    let options = apron_files::ReadOptions::new(1 << 28);
    let (size, mut taps) = match is_file.then(|| apron_files::PagesFile::open(path, options)) {
        Some(Ok(mut file)) => {
            let (mut taps, mut size) = (Vec::new(), [0, 0, file.pages()]);
            for page in 1..=file.pages() {
                let (image, _) = file.read(page)?;
                (size[0], size[1]) = (image.shape().width * image.shape().channels, image.shape().height);
                taps.extend(doubles(path, image)?);
            }
            (size, taps)
        }
        _ => {
            let mask = crate::args::mask(value, false)?;
            ([mask.width(), mask.height(), 1], mask.taps_f64().to_vec())
        }
    };
    if normalize {
        let sum: f64 = taps.iter().sum();
        if !sum.is_normal() {
            return Err(apron::Error::parameter("mask", "sum of taps", sum, "far enough from 0 to divide by").into());
        }
        taps.iter_mut().for_each(|tap| *tap /= sum);
    }
    Ok(VolumeMask::new(size[0], size[1], size[2], taps)?)
}
