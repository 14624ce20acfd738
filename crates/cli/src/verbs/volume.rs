//! Filters of volumes: all pages of a file are read, filtered as one, and written as the pages of another; slab by slab if they are
//! larger than the memory that they may take.

use super::planes::{Planes, Written};
use super::strips::left;
use crate::args::{Devices, FilterArgs};
use crate::complex;
use crate::error::{Error, Result};
use crate::report::{Made, Ran, Report, milliseconds};
use apron::volumes::{
    VolumeBorders, VolumeExtent, VolumeFilterBuilder, VolumeFormula, VolumeMask, VolumeShape, VolumeSource,
};
use apron::{AnyImage, PixelType, ReadRows};
use apron_files::PagesDraft;
use std::path::Path;
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
    let Some((input, output)) = devices.files() else {
        return Err(Error::Usage(
            "--volume is from a file to a file, not a step of a pipe or the standard output".into(),
        ));
    };
    let (common, borders, extent) = (&args.common, args.border.deep()?, args.volume_extent()?);
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
    check(verb, shape, (formula, extent), args)?;
    let device = devices.get(common.device)?;
    let out_type = args.out_type.unwrap_or(pixel);
    let built = (borders, extent, anchor, out_type);
    let (mut of_all, mut out, mut copy_out_ms) = (None::<apron::Report>, shape, 0.0);
    let mut joined = |report: apron::Report| {
        of_all = Some(match of_all.take() {
            Some(before) => apron::Report {
                kernels: before.kernels + report.kernels,
                copy_in: before.copy_in + report.copy_in,
                ..before
            },
            None => report,
        });
    };
    match planes.slab_bytes()? {
        None => {
            let mut draft = None;
            for number in 0..planes.volumes {
                planes.select(number);
                let volume = planes.read()?;
                let at = match planes.volumes {
                    1 => String::new(),
                    volumes => format!("volume {} of {volumes}: ", number + 1),
                };
                devices.at(format!("{at}{verb} of {shape} {pixel} on {}", device.name()));
                let result = filter(args, built, device.filter_volume(&volume, formula.clone())).run()?;
                joined(result.report()?);
                let copy = Instant::now();
                let result = result.into_host()?;
                copy_out_ms += milliseconds(copy.elapsed());
                devices.at(format!("{at}writing {}", output.display()));
                out = result.shape();
                let draft = match &mut draft {
                    Some(draft) => draft,
                    none => none.insert(file.volumes(planes.volumes, out.depth)?),
                };
                draft.write_stacked(&result.stack().bytes(), (out.plane(), out_type), &metadata)?;
            }
            draft.map_or(Ok(()), PagesDraft::finish)?;
        }
        Some(memory) => {
            let memory = left(memory, file.held_by_pages((shape.plane(), out_type), shape.depth, &metadata))?;
            let draft = file.volumes(planes.volumes, shape.depth)?;
            let written = Written::new(draft, (shape, planes.volumes, out_type), &metadata, devices);
            for number in 0..planes.volumes {
                planes.select(number);
                let rows = VolumeSource::from_stack(&planes as &dyn ReadRows, shape.depth)?;
                let filter = filter(args, built, device.filter_volume(rows, formula.clone()));
                joined(filter.run_rows(&written, memory).map_err(|error| planes.error(error))?);
            }
            written.finish()?;
        }
    }
    let ran = of_all.ok_or(Error::NoImage)?;
    let mut ran = Ran::of(verb, &input, (shape.plane(), pixel), ran, Duration::ZERO, start);
    ran.pages = Some(shape.depth * planes.volumes);
    ran.copy_out_ms = copy_out_ms;
    ran.total_ms = milliseconds(start.elapsed());
    let (output, out_type) = (output.display().to_string(), out_type.to_string());
    let (volumes, out_depth) = (planes.volumes, out.depth);
    let made = Made::Volume { output, out_type, out_width: out.width, out_height: out.height, out_depth, volumes };
    Ok(Report { ran, made })
}

/// Sets the options of a filter.
fn filter<'a>(
    args: &'a FilterArgs,
    (borders, extent, anchor, out_type): (VolumeBorders, VolumeExtent, Option<[u32; 3]>, PixelType),
    filter: VolumeFilterBuilder<'a>,
) -> VolumeFilterBuilder<'a> {
    let filter = args.stored_volume(filter).border(borders).extent(extent).anchor(anchor);
    filter.out_type(out_type).variant(args.common.variant.as_deref())
}

/// Checks the voxels of full output, and the products of taps and samples, against the limit, and warns of many products.
fn check(
    verb: &'static str,
    shape: VolumeShape,
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
    crate::limits::warn(products, &args.common);
    Ok(())
}

/// Reads a mask: a `.npy` file of three dimensions, or a mask of an image, which is one plane.
pub(super) fn mask(value: &str, normalize: bool) -> Result<VolumeMask> {
    let path = Path::new(value);
    let is_file = apron_files::extension(path) == "npy";
    let options = apron_files::ReadOptions { pixel: Some(PixelType::F64), ..apron_files::ReadOptions::new(1 << 28) };
    let (size, mut taps) = match is_file.then(|| apron_files::PagesFile::open(path, options)) {
        Some(Ok(mut file)) => {
            let (mut taps, mut size) = (Vec::new(), [0, 0, file.pages()]);
            for page in 1..=file.pages() {
                let (image, _) = file.read(page)?;
                (size[0], size[1]) = (image.shape().width * image.shape().channels, image.shape().height);
                let AnyImage::F64(image) = image else { return Err(Error::input(path, "no mask of numbers")) };
                taps.extend_from_slice(&image.packed());
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
