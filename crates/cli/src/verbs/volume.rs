//! Filters of volumes: all pages of a file are read, filtered as one, and written as the pages of another.

use crate::args::{Common, Devices, FilterArgs};
use crate::complex;
use crate::error::{Error, Result};
use crate::report::{Made, Ran, Report, milliseconds};
use apron::volumes::{AnyVolume, VolumeFormula, VolumeMask};
use apron::{AnyImage, Extent, PixelType, Shape};
use apron_files::Metadata;
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
    let (common, borders) = (&args.common, args.border.deep()?);
    let file = args.output.open(&output, devices.format(), args.out_type)?;
    devices.place()?;
    // Whether the format holds several pages is found before anything is read.
    drop(file.pages(1)?);
    devices.at(format!("reading {}", input.display()));
    let (volume, metadata) = read(common, &input, complex::takes_volume(formula))?;
    let (shape, pixel) = (volume.shape(), volume.pixel_type());
    if metadata.complex {
        complex::check(verb, &file, args.out_type, pixel)?;
        complex::deep(&borders)?;
    }
    let most = common.max_pixels;
    let sides = shape.sides().into_iter().zip(formula.window()).map(|(side, more)| side as u64 + more as u64 - 1);
    let voxels = sides.fold(1u64, u64::saturating_mul);
    if args.extent() == Extent::Full && voxels > most {
        let limit = format!("up to {most}, or what --max-pixels says");
        return Err(apron::Error::parameter(verb, "voxels of the full output", voxels, limit).into());
    }
    let products = shape.samples().saturating_mul(formula.taps());
    if products > most.saturating_mul(PRODUCTS) {
        let (value, limit) = (format!("{}, and so {products} products", formula.taps()), most.saturating_mul(PRODUCTS));
        let limit = format!("few enough for {limit} products, {PRODUCTS} per pixel of --max-pixels");
        return Err(apron::Error::parameter(verb, "number of taps", value, limit).into());
    }
    crate::limits::warn(products, common);
    let device = devices.get(common.device)?;
    devices.at(format!("{verb} of {shape} {pixel} on {}", device.name()));
    let filter = args.stored_volume(device.filter_volume(&volume, formula.clone()))?;
    let filter = filter.border(borders).extent(args.extent()).anchor(anchor);
    let filter = filter.out_type(args.out_type.unwrap_or(pixel)).variant(common.variant.as_deref());
    let result = filter.run()?;
    let (ran, out) = (result.report()?, result.shape());
    let plane = Shape { width: shape.width, height: shape.height, channels: shape.channels };
    let mut ran = Ran::of(verb, &input, (plane, pixel), ran, Duration::ZERO, start);
    ran.pages = Some(shape.depth);
    let copy = Instant::now();
    let result = result.into_host()?;
    ran.copy_out_ms = milliseconds(copy.elapsed());
    devices.at(format!("writing {}", output.display()));
    let mut draft = file.pages(out.depth)?;
    (0..out.depth).try_for_each(|z| Ok::<_, Error>(draft.write(&result.plane(z)?, &metadata)?))?;
    draft.finish()?;
    ran.total_ms = milliseconds(start.elapsed());
    let (output, out_type) = (output.display().to_string(), result.pixel_type().to_string());
    let made = Made::Volume { output, out_type, out_width: out.width, out_height: out.height, out_depth: out.depth };
    Ok(Report { ran, made })
}

/// Reads all pages of a file as a volume, and the first one's metadata; with `complex` also those of complex numbers.
///
/// # Errors
/// Errors of the file; pages of several shapes or types; more voxels than `--max-pixels` allows.
pub(super) fn read(common: &Common, path: &Path, complex: bool) -> Result<(AnyVolume<'static>, Metadata)> {
    let mut file = common.open_pages(path, complex)?;
    let depth = file.pages();
    let (first, metadata) = common.read_one(&mut file, 1)?;
    let (shape, pixel) = (first.shape(), first.pixel_type());
    let voxels = shape.pixels().saturating_mul(depth.into());
    if voxels > common.max_pixels {
        let what =
            format!("the volume has {voxels} voxels; {} are taken, or what --max-pixels says", common.max_pixels);
        return Err(Error::input(path, what));
    }
    let stacked = apron::volumes::VolumeShape::new(shape.width, shape.height, depth, shape.channels)?.stacked();
    let mut failed = None;
    let stack = AnyImage::from_bytes(pixel, stacked, |bytes| {
        let plane = bytes.len() / depth as usize;
        for (bytes, page) in bytes.chunks_exact_mut(plane).zip(1..) {
            let read =
                if page == 1 { Ok(first.view()) } else { common.read_one(&mut file, page).map(|(image, _)| image) };
            match read {
                Ok(image) if (image.shape(), image.pixel_type()) == (shape, pixel) => {
                    bytes.copy_from_slice(&image.bytes())
                }
                Ok(image) => {
                    let (other, of) = (image.shape(), image.pixel_type());
                    let what = format!("page {page} is {other} {of}, and the first is {shape} {pixel}: no volume");
                    failed = Some(Error::input(path, what));
                }
                Err(error) => failed = Some(Error::Page { page, error: Box::new(error) }),
            }
            if failed.is_some() {
                break;
            }
        }
        Ok(())
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok((AnyVolume::new(stack, depth)?, metadata)),
    }
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
