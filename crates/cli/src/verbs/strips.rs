//! Strip by strip, from `.npy` and TIFF files and Zarr arrays and to them: images that are larger than the
//! memory that they may take.

use super::image::Target;
use crate::args::{Common, Devices};
use crate::complex;
use crate::error::{Error, Result};
use crate::report::{Made, Ran, Report, milliseconds};
use crate::room::{self, Budget, WHOLE, check_whole};
use apron::{PixelType, ReadRows, Shape, WriteRows};
use apron_files::{ImageOutput, ReadOptions, RowsDraft, RowsFile};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// An image that is read strip by strip.
pub(super) struct Input {
    file: RowsFile,
    path: PathBuf,
    /// What the strips may take.
    pub(super) memory: Budget,
}

impl Input {
    /// Opens an image if it is too large to be read whole: for the requested memory, or else for the available memory.
    /// `whole` names an operation that is possible only on whole images.
    ///
    /// # Errors
    /// If memory was asked for, and the image must be read whole.
    pub(super) fn open(common: &Common, path: &Path, whole: Option<&str>) -> Result<Option<Input>> {
        let opened = Input::open_with(common, path, whole, false)?;
        if let Some(input) = &opened {
            input.warn(common);
        }
        Ok(opened)
    }

    /// Warns that pages after the first are not read, if none was asked for.
    fn warn(&self, common: &Common) {
        if common.page.is_none() {
            common.warn(&self.path, self.file.pages(), "; --pages of a filter takes all");
        }
    }

    /// Opens an image as [`open`](Self::open) does, without a warning; with `complex` also one of complex numbers.
    fn open_with(common: &Common, path: &Path, whole: Option<&str>, complex: bool) -> Result<Option<Input>> {
        let asked = common.memory.map(|memory| memory.0);
        let memory = asked.unwrap_or_else(room::available);
        let options = ReadOptions { complex, ..ReadOptions::new(common.max_pixels) };
        let opened = match RowsFile::open_with(path, &options) {
            // Errors of other pages and of the standard input are reported where whole images are read.
            Err(_) if common.page.is_some_and(|page| page > 1) || path == Path::new("-") => None,
            opened => opened?,
        };
        let Some(mut file) = opened else { return Ok(None) };
        let bytes = file.shape().samples() * file.pixel_type().size_bytes() as u64;
        if bytes <= memory / WHOLE {
            return Ok(None);
        }
        let option = match common {
            Common { page: Some(2..), .. } => Some("--page"),
            Common { grey: true, .. } => Some("--grey"),
            Common { in_type: Some(_), .. } => Some("--in-type"),
            _ => None,
        };
        match (whole.or(option), asked) {
            (None, _) => {
                // Other programs and the files' pages need memory, too.
                let memory = asked.unwrap_or(memory / 2);
                let (held, grows) = (file.hold(memory / WHOLE), apron_files::is_zarr(path));
                let memory = Budget::new(memory, held, grows);
                Ok(Some(Input { file, path: path.into(), memory }))
            }
            (Some(what), _) => Ok(check_whole(bytes, common.memory, what).map(|()| None)?),
        }
    }

    /// Whether the channels are parts of complex numbers.
    pub(super) fn is_complex(&self) -> bool {
        self.file.is_complex()
    }

    /// Names the file in an error of reading it, and the memory that was asked for in one of too little.
    pub(super) fn error(&self, error: apron::Error) -> Error {
        of_rows(&self.path, self.memory.error(error))
    }

    /// Shows how much of the image is read.
    pub(super) fn shown<'a>(&'a self, devices: &'a Devices) -> Shown<'a> {
        let row_bytes = self.file.shape().row_samples() * self.file.pixel_type().size_bytes();
        Shown::new(self, Rate::new("row", (self.file.shape().height, 0), row_bytes, devices))
    }
}

impl ReadRows for Input {
    fn shape(&self) -> Shape {
        self.file.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.file.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> apron::Result<()> {
        let what = format!("reading rows {} to {}", rows.start, rows.end);
        self.file.read_rows(rows, bytes).map_err(|error| apron::Error::Rows { what, source: error.into() })
    }
}

/// Names the file that is read in an error of its rows, unless the error is one of a file that is written.
pub(super) fn of_rows(path: &Path, error: apron::Error) -> Error {
    match error {
        apron::Error::Rows { what, source } => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(source) => Error::input(path, format!("{what}: {source}")),
        },
        error => error.into(),
    }
}

/// Names the output in an error of writing from row `first` on.
pub(super) fn unwritten(path: &Path, first: u32, error: std::io::Error) -> apron::Error {
    let what = format!("writing from row {first} on");
    let source = format!("{what}: {error}").into();
    let error: Error = apron_files::Error::Write { path: path.into(), source }.into();
    apron::Error::Rows { what, source: error.into() }
}

/// The bytes that are done of the rows or planes of an image or a volume, and their rate.
pub(super) struct Rate<'a> {
    done: AtomicU64,
    /// Bytes of an earlier run.
    before: u64,
    /// The unit of the progress: "row" or "plane".
    unit: &'static str,
    count: u64,
    /// Bytes per row or plane.
    each: u64,
    start: Instant,
    devices: &'a Devices,
}

impl<'a> Rate<'a> {
    /// Starts at unit `before` of `count`, each of this many bytes.
    pub(super) fn new(unit: &'static str, (count, before): (u32, u32), each: usize, devices: &'a Devices) -> Rate<'a> {
        let (count, each) = (count.into(), each as u64);
        let before = u64::from(before) * each;
        Rate { done: AtomicU64::new(before), before, unit, count, each, start: Instant::now(), devices }
    }

    /// Shows that `bytes` bytes are done.
    pub(super) fn add(&self, bytes: usize) {
        let done = self.done.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        let (took, all) = (self.start.elapsed().as_secs_f64(), self.count * self.each);
        // An image that is read twice counts twice.
        let (pass, within) = ((done - 1) / all, (done - 1) % all + 1);
        let again = if pass > 0 { ", second pass" } else { "" };
        let rate = (done - self.before) as f64 / took;
        let (left, at) = ((all - within) as f64 / rate, within.div_ceil(self.each));
        let Rate { unit, count, .. } = self;
        self.devices.at(format!("{unit} {at} of {count}{again}, {:.0} MB/s, {left:.0} s left", rate / 1e6));
    }
}

/// An image or a volume whose reading is shown.
pub(super) struct Shown<'a> {
    rows: &'a dyn ReadRows,
    rate: Rate<'a>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(rows: &'a dyn ReadRows, rate: Rate<'a>) -> Shown<'a> {
        Shown { rows, rate }
    }
}

impl ReadRows for Shown<'_> {
    fn shape(&self) -> Shape {
        self.rows.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.rows.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> apron::Result<()> {
        self.rows.read_rows(rows, bytes)?;
        self.rate.add(bytes.len());
        Ok(())
    }
}

/// A file that the result goes to, and how much of it is written.
struct Written<'a> {
    draft: &'a RowsDraft<'a>,
    path: &'a Path,
    rate: Rate<'a>,
    /// Rows that an earlier run wrote.
    before: u32,
}

impl WriteRows for Written<'_> {
    fn write_rows(&self, first: u32, bytes: &[u8]) -> apron::Result<()> {
        self.draft.write_rows(first, bytes).map_err(|error| unwritten(self.path, first, error))?;
        self.rate.add(bytes.len());
        Ok(())
    }

    fn written(&self) -> u32 {
        self.before
    }
}

/// A job from file to file that runs strip by strip.
pub(super) struct Job<'a> {
    pub(super) input: Input,
    common: &'a Common,
    file: ImageOutput<'a>,
    resume: bool,
}

impl<'a> Job<'a> {
    /// Returns the job, if its image is too large to be read whole. Pages are read one after the
    /// other, each of them whole.
    ///
    /// # Errors
    /// As [`Input::open`], and for an output that cannot be written.
    pub(super) fn asked(
        verb: &'static str,
        common: &'a Common,
        target: &Target<'_>,
        (input, output): (&Path, &'a Path),
        devices: &Devices,
    ) -> Result<Option<Job<'a>>> {
        if target.args.pages {
            return Ok(None);
        }
        let option = target.args.rescale.as_ref().map(|_| "--rescale");
        let file = target.args.open(output, devices.format(), target.out_type)?;
        let whole = if file.takes_rows() { option } else { Some("an output other than .npy, TIFF and Zarr") };
        let opened = Input::open_with(common, input, whole, target.complex);
        // A format that does not hold the result has no use for more memory.
        if opened.is_err()
            && !file.takes_rows()
            && let Ok(Some(rows)) = RowsFile::open(input, common.max_pixels)
        {
            let of = common.in_type.unwrap_or(rows.pixel_type());
            let channels = if common.grey { 1 } else { rows.shape().channels };
            target.args.drops_alpha(&file, target.args.out_type(target.out_type, of), channels)?;
        }
        let Some(input) = opened? else { return Ok(None) };
        if input.is_complex() {
            complex::check(verb, &file, target.out_type, input.pixel_type())?;
        }
        let file = file.with_metadata(apron_files::read_metadata(devices.origin(&input.path), 1));
        Ok(Some(Job { input, common, file, resume: target.args.resume }))
    }

    /// Checks that no memory was requested: the operation, which `what` names, cannot run strip by strip.
    ///
    /// # Errors
    /// If it was.
    pub(super) fn whole(&self, what: &str) -> Result<()> {
        let bytes = self.input.shape().samples() * self.input.pixel_type().size_bytes() as u64;
        Ok(check_whole(bytes, self.common.memory, what)?)
    }

    /// Runs an operation whose result has this shape and type: `run_rows` writes it to the rows that it is given, by
    /// strips within the memory that is left. `what` contains everything that the result depends on, except the input
    /// and the output's format.
    ///
    /// # Errors
    /// Those of the operation and of both files.
    pub(super) fn run(
        &self,
        verb: &'static str,
        what: &dyn Debug,
        (out, out_type): (Shape, PixelType),
        devices: &Devices,
        run_rows: impl FnOnce(&dyn WriteRows, u64) -> apron::Result<apron::Report>,
    ) -> Result<Report> {
        let start = Instant::now();
        self.input.warn(self.common);
        let memory = self.input.memory.beside(self.file.held_bytes(out, out_type));
        let mut ran = None;
        let fill = |draft: &RowsDraft<'_>, before: u32| {
            let row_bytes = out.row_samples() * out_type.size_bytes();
            let rate = Rate::new("row", (out.height, before), row_bytes, devices);
            let written = Written { draft, path: self.file.path(), rate, before };
            Ok(keep(&mut ran, run_rows(&written, memory.left()))?)
        };
        let written = if self.resume {
            self.file.resume_rows(out, out_type, &name(verb, what, &self.input.path), fill)
        } else {
            self.file.write_rows(out, out_type, |draft| fill(draft, 0))
        };
        if let Some(Err(error)) = ran {
            return Err(of_rows(&self.input.path, memory.error(error)));
        }
        written?;
        let ran = ran.ok_or(Error::NoImage)??;
        let of = (self.input.shape(), self.input.pixel_type());
        let mut ran = Ran::of(verb, &self.input.path, of, ran, Duration::ZERO, start);
        ran.total_ms = milliseconds(start.elapsed());
        let output = self.file.path().display().to_string();
        let Shape { width: out_width, height: out_height, .. } = out;
        Ok(Report { ran, made: Made::Image { output, out_type: out_type.to_string(), out_width, out_height } })
    }
}

/// Keeps the result of filling a file, and returns what the file's writer needs: an error of a device or a parameter is
/// not reported as one of the file.
pub(super) fn keep<T, E: std::fmt::Display>(kept: &mut Option<Result<T, E>>, made: Result<T, E>) -> Result<(), String> {
    let told = made.as_ref().map(drop).map_err(E::to_string);
    *kept = Some(made);
    told
}

/// Returns a name that identifies a job together with its input. `what` contains everything that the result depends on,
/// except the input and the output's format.
pub(super) fn name(verb: &str, what: &dyn Debug, input: &Path) -> String {
    let facts = std::fs::metadata(input).ok();
    let facts = facts.map(|facts| (facts.len(), facts.modified().ok()));
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), format!("{what:?}"), std::fs::canonicalize(input).ok(), facts).hash(&mut hasher);
    format!("{verb} {:016x}", hasher.finish())
}
