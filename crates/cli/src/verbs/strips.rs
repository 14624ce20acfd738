//! Filters from file to file strip by strip, between `.npy` and TIFF, for images that are larger than the memory that they may take.

use super::filter::built;
use super::image::Target;
use crate::args::{Devices, FilterArgs};
use crate::error::{Error, Result};
use crate::limits;
use crate::report::{Made, Ran, Report, milliseconds};
use crate::room;
use apron::{Device, FilterBuilder, PixelType, ReadRows, Shape, Source, WriteRows};
use apron_files::{ImageOutput, RowsDraft, RowsFile};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Images and intermediate results of a filter that is computed whole, in sizes of its image.
const WHOLE: u64 = 4;

/// A job that runs strip by strip.
pub(super) struct Strips<'a> {
    rows: RowsFile,
    file: ImageOutput<'a>,
    input: PathBuf,
    memory: u64,
}

impl ReadRows for Strips<'_> {
    fn shape(&self) -> Shape {
        self.rows.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.rows.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> apron::Result<()> {
        let what = format!("reading rows {} to {}", rows.start, rows.end);
        self.rows.read_rows(rows, bytes).map_err(|error| apron::Error::Rows { what, source: error.into() })
    }
}

/// The file that the result goes to, and how much of it is written.
struct Written<'a> {
    draft: &'a RowsDraft<'a>,
    rows: AtomicU64,
    row_bytes: u64,
    height: u32,
    start: Instant,
    devices: &'a Devices,
}

impl WriteRows for Written<'_> {
    fn write_rows(&self, first: u32, bytes: &[u8]) -> apron::Result<()> {
        let what = || format!("writing from row {first} on");
        self.draft
            .write_rows(first, bytes)
            .map_err(|error| apron::Error::Rows { what: what(), source: error.into() })?;
        let done =
            self.rows.fetch_add(bytes.len() as u64 / self.row_bytes, Relaxed) + bytes.len() as u64 / self.row_bytes;
        let took = self.start.elapsed().as_secs_f64();
        let (part, rate) = (done as f64 / self.height as f64, (done * self.row_bytes) as f64 / took / 1e6);
        let left = took / part - took;
        self.devices.at(format!("row {done} of {}, {rate:.0} MB/s, {left:.0} s left", self.height));
        Ok(())
    }
}

/// Returns the strips of a filter from file to file, if its image is too large to be filtered whole: for the memory that was
/// asked for, or else for what there is.
pub(super) fn asked<'a>(
    args: &FilterArgs,
    target: &Target<'_>,
    (input, output): (&Path, &'a Path),
) -> Result<Option<Strips<'a>>> {
    let common = &args.common;
    let page = common.page.is_some_and(|page| page != 1);
    let converts =
        page || common.grey || common.in_type.is_some() || target.args.rescale.is_some() || target.keep_alpha;
    let memory = common.memory.map_or_else(room::available, |memory| memory.0);
    let bytes = |rows: &RowsFile| rows.shape().samples() * rows.pixel_type().size_bytes() as u64;
    // An image that is not there, or broken, is told of where whole images are read.
    let Ok(Some(rows)) = RowsFile::open(input, common.max_pixels) else { return Ok(None) };
    if bytes(&rows) <= memory / WHOLE {
        return Ok(None);
    }
    let file = target.args.open(output, None, target.out_type)?;
    if converts || !file.takes_rows() {
        if common.memory.is_none() {
            return Ok(None);
        }
        let why = if converts {
            "the first page without conversions and alpha that is kept"
        } else {
            "to .npy and TIFF files"
        };
        let (memory, bytes) = (memory.to_string(), bytes(&rows));
        let limit = format!("{} or more for the whole image: only {why} it is filtered strip by strip", bytes * WHOLE);
        return Err(apron::Error::parameter("strips", "memory", memory, limit).into());
    }
    let file = file.with_metadata(apron_files::read_metadata(input, 1));
    Ok(Some(Strips { rows, file, input: input.into(), memory }))
}

/// Runs a filter strip by strip.
pub(super) fn run(
    verb: &'static str,
    (args, clamp, out_type): (&FilterArgs, bool, PixelType),
    strips: &Strips<'_>,
    devices: &mut Devices,
    make: impl for<'a> FnOnce(&'a Device, Source<'a>) -> FilterBuilder<'a>,
) -> Result<Report> {
    let start = Instant::now();
    let device = devices.get(args.common.device)?;
    let (shape, pixel) = (strips.shape(), strips.pixel_type());
    let filter = built(args, clamp, out_type, make(&device, Source::Rows(strips)));
    limits::filter(verb, shape, filter.formula(), args)?;
    let (out, out_type) = filter.result()?;
    let mut ran = None;
    // The error of a device or a parameter, which is none of the file.
    let mut failed = None;
    let written = strips.file.write_rows(out, out_type, |draft| {
        let row_bytes = (out.row_samples() * out_type.size_bytes()) as u64;
        let written = Written { draft, rows: AtomicU64::new(0), row_bytes, height: out.height, start, devices };
        match filter.run_rows(&written, strips.memory) {
            Ok(report) => {
                ran = Some(report);
                Ok(())
            }
            Err(error) => {
                let text = error.to_string();
                failed = Some(error);
                Err(text.into())
            }
        }
    });
    if let Some(error) = failed {
        return Err(match error {
            apron::Error::Rows { what, source } => Error::input(&strips.input, format!("{what}: {source}")),
            error => error.into(),
        });
    }
    written?;
    let ran = ran.ok_or(Error::NoImage)?;
    let mut ran = Ran::of(verb, &strips.input, (shape, pixel), ran, Duration::ZERO, start);
    ran.total_ms = milliseconds(start.elapsed());
    let output = strips.file.path().display().to_string();
    let Shape { width: out_width, height: out_height, .. } = out;
    Ok(Report { ran, made: Made::Image { output, out_type: out_type.to_string(), out_width, out_height } })
}
