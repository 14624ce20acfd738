//! Images that are larger than memory: strip by strip, from rows that are read.

mod counts;
mod filter;
mod lookup;
mod regions;
mod statistics;
mod volumes;

use crate::{AnyImage, Error, PixelType, Report, Result, Shape, Source};
use std::fmt;
use std::ops::Range;
use std::slice;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// An image that is read by rows, such as a file's.
pub trait ReadRows: Sync {
    /// Returns width, height and channels.
    fn shape(&self) -> Shape;

    /// Returns the type of the samples.
    fn pixel_type(&self) -> PixelType;

    /// Reads consecutive rows, without gaps, in the machine's byte order; `bytes` has their size.
    ///
    /// # Errors
    /// [`Error::Rows`].
    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()>;
}

/// A result that is written by rows, such as a file's.
pub trait WriteRows: Sync {
    /// Writes consecutive rows from row `first` on, without gaps, in the machine's byte order. Strips
    /// come from top to bottom.
    ///
    /// # Errors
    /// [`Error::Rows`].
    fn write_rows(&self, first: u32, bytes: &[u8]) -> Result<()>;

    /// Returns the number of rows, from the top, that an earlier run has written: they are not computed again.
    fn written(&self) -> u32 {
        0
    }
}

impl fmt::Debug for dyn ReadRows + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadRows")
            .field("shape", &self.shape())
            .field("pixel", &self.pixel_type())
            .finish_non_exhaustive()
    }
}

impl<'a> From<&'a dyn ReadRows> for Source<'a> {
    fn from(rows: &'a dyn ReadRows) -> Self {
        Source::Rows(rows)
    }
}

/// Reads a whole image.
pub(crate) fn read_whole(rows: &dyn ReadRows) -> Result<AnyImage<'static>> {
    apron_cpu::image_from_bytes(rows.pixel_type(), rows.shape(), |bytes| rows.read_rows(0..rows.shape().height, bytes))
}

/// Strips in memory at a time: one is read, one computed and one written; one more stands for the memory of the
/// computation.
const STRIPS_AT_A_TIME: u64 = 4;

/// An image in memory as rows.
struct Whole<'a>(Source<'a>);

impl ReadRows for Whole<'_> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.0.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let (width, height) = (self.shape().width, rows.end - rows.start);
        let part = match &self.0 {
            Source::Host(image) => image.region(0, rows.start, width, height)?.into_packed(),
            Source::Device(image) => image.region(0, rows.start, width, height)?.download_any()?,
            Source::Rows(inner) => return inner.read_rows(rows, bytes),
        };
        bytes.copy_from_slice(&part.bytes());
        Ok(())
    }
}

/// Returns the rows of each strip, from row `first` to the last. A strip has `images` images with rows of the source's
/// size in memory, and [`STRIPS_AT_A_TIME`] strips take at most `memory` bytes.
fn strips(
    operation: &'static str,
    rows: &dyn ReadRows,
    (first, images): (u32, u64),
    memory: u64,
) -> Result<Vec<Range<u32>>> {
    let (shape, size) = (rows.shape(), rows.pixel_type().size_bytes());
    let row = (shape.row_samples() * size) as u64 * images * STRIPS_AT_A_TIME;
    let height = (memory / row).min(shape.height.into()) as u32;
    if height == 0 {
        let (value, limit) = (format!("{memory} bytes"), format!("{row} or more for one row"));
        return Err(Error::parameter(operation, "memory", value, limit));
    }
    Ok((first..shape.height).step_by(height as usize).map(|top| top..(top + height).min(shape.height)).collect())
}

/// Returns the first row to compute: the one after those already written, or the last one.
fn first_row(out: &dyn WriteRows, height: u32) -> u32 {
    out.written().min(height - 1)
}

/// Images that a [`Pool`] keeps: one for each of the two steps of a pipeline that use it.
const SPARE: usize = 2;

/// Images for reuse: the system clears memory that is new to the process, page by page.
#[derive(Default)]
struct Pool(Mutex<Vec<AnyImage<'static>>>);

impl Pool {
    /// Returns an image of this type and shape: one that was given back, with its old samples, or a new one.
    fn take(&self, pixel: PixelType, shape: Shape) -> Result<AnyImage<'static>> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = spare.iter().position(|image| (image.pixel_type(), image.shape()) == (pixel, shape)) {
            return Ok(spare.swap_remove(at));
        }
        // The strips with the previous number of rows are done.
        spare.clear();
        apron_cpu::image_from_bytes(pixel, shape, |_| Ok(()))
    }

    /// Keeps an image for [`take`](Pool::take), or frees it if there are [`SPARE`].
    fn give_back(&self, image: AnyImage<'static>) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE {
            spare.push(image);
        }
    }
}

/// Reads runs of rows, one after the other, as an image.
fn read_runs(rows: &dyn ReadRows, runs: &[Range<u32>], pool: &Pool) -> Result<AnyImage<'static>> {
    let (pixel, shape) = (rows.pixel_type(), rows.shape());
    let row = shape.row_samples() * pixel.size_bytes();
    let height = runs.iter().map(|run| run.end - run.start).sum();
    let mut image = pool.take(pixel, Shape { height, ..shape })?;
    let mut all = image.view_mut();
    let mut rest = all.spanned_bytes_mut();
    for run in runs {
        let (part, after) = rest.split_at_mut((run.end - run.start) as usize * row);
        rows.read_rows(run.clone(), part)?;
        rest = after;
    }
    Ok(image)
}

/// Reads an image strip by strip, from the top, and hands each to `take`, while a thread reads the next. The strips
/// that are in memory at a time take at most `memory` bytes. Returns the number of strips.
fn each_strip(
    operation: &'static str,
    rows: &dyn ReadRows,
    memory: u64,
    mut take: impl FnMut(AnyImage<'static>) -> Result<()>,
) -> Result<usize> {
    let strips = strips(operation, rows, (0, 1), memory)?;
    let read = |strip: &Range<u32>| read_runs(rows, slice::from_ref(strip), &Pool::default());
    read_ahead(&strips, read, |_, image| take(image))?;
    Ok(strips.len())
}

/// Reads the image of each strip, and hands it to `take`, while a thread reads the next. If no thread can be started,
/// the strips are read one after the other.
fn read_ahead<S: Sync>(
    strips: &[S],
    read: impl Fn(&S) -> Result<AnyImage<'static>> + Sync,
    mut take: impl FnMut(&S, AnyImage<'static>) -> Result<()>,
) -> Result<()> {
    // The channel holds no strips: each is held by one of the two threads.
    let (image_in, images): (SyncSender<Result<AnyImage<'static>>>, Receiver<_>) = sync_channel(0);
    let read = &read;
    thread::scope(|scope| {
        let reader = move || {
            for strip in strips {
                let image = read(strip);
                let last = image.is_err();
                // After an error, or if the receiver is gone, no more strips are read.
                if image_in.send(image).is_err() || last {
                    break;
                }
            }
        };
        if thread::Builder::new().spawn_scoped(scope, reader).is_err() {
            return strips.iter().try_for_each(|strip| take(strip, read(strip)?));
        }
        strips.iter().zip(images).try_for_each(|(strip, image)| take(strip, image?))
    })
}

/// Computes an image per strip, with its first row in the result. One thread reads the next strip and another writes
/// the previous result while `solve` computes; without threads, all steps run one after the other.
fn pipeline<S: Sync>(
    strips: &[S],
    read: impl Fn(&S, &Pool) -> Result<AnyImage<'static>> + Sync,
    mut solve: impl FnMut(&S, &AnyImage<'static>, &Pool) -> Result<(Report, u32, AnyImage<'static>)>,
    out: &dyn WriteRows,
) -> Result<Report> {
    let (inputs, outputs) = (&Pool::default(), &Pool::default());
    let (result_in, results): (SyncSender<(u32, AnyImage<'static>)>, Receiver<_>) = sync_channel(0);
    let write = |(first, image): (u32, AnyImage<'static>)| {
        out.write_rows(first, &image.bytes())?;
        outputs.give_back(image);
        Ok(())
    };
    let write = &write;
    thread::scope(|scope| {
        let writer = thread::Builder::new().spawn_scoped(scope, move || results.into_iter().try_for_each(write)).ok();
        let mut all: Option<Report> = None;
        let mut ended = false;
        let solved = read_ahead(
            strips,
            move |strip| read(strip, inputs),
            |strip, input| {
                if ended {
                    return Ok(());
                }
                let (part, first, image) = solve(strip, &input, outputs)?;
                inputs.give_back(input);
                all = Some(match all.take() {
                    Some(report) => report.joined(&part),
                    None => part,
                });
                match writer {
                    // The writer's result says why it ended.
                    Some(_) => ended = result_in.send((first, image)).is_err(),
                    None => write((first, image))?,
                }
                Ok(())
            },
        );
        drop(result_in);
        let written = writer.map_or(Ok(()), |writer| writer.join().expect("the writer does not panic"));
        solved.and(written)?;
        let report = all.expect("at least one strip");
        Ok(Report { why: format!("{}; in {} strips", report.why, strips.len()), ..report })
    })
}

fn unsupported(operation: &'static str, what: &str) -> Error {
    let (device, hint) = ("strip by strip".into(), "take the whole image".into());
    Error::Unsupported { operation, device, what: what.into(), hint }
}
