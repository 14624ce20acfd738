//! Files by rows: images that are larger than memory.

use crate::atomic::Trouble;
use crate::bulk;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::output::ImageOutput;
use crate::partial::Partial;
use crate::read::{ReadOptions, Stream, guarded, open, starts_as_array};
use crate::tiff_rows::{Chunks, Layout, Samples};
use crate::{alpha, array, tiff_tags};
#[cfg(feature = "zarr")]
use crate::{read::is_zarr, zarr};
use apron_core::{PixelType, Shape};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An image in a `.npy` or TIFF file or a Zarr array, open to be read by rows.
#[derive(Debug)]
pub struct RowsFile {
    path: PathBuf,
    shape: Shape,
    pixel: PixelType,
    pages: u32,
    complex: bool,
    /// Whether colours are stored multiplied by their alpha.
    multiplied: bool,
    stored: Stored,
}

/// How the samples are stored.
#[derive(Debug)]
enum Stored {
    /// As in memory, from this offset on.
    Rows(File, u64),
    /// In strips or tiles that are decoded one after the other.
    Chunks(File, Mutex<Chunks>),
    /// In files of chunks.
    #[cfg(feature = "zarr")]
    Zarr(Box<zarr::Chunks>),
}

impl RowsFile {
    /// Opens a file; `None` for one that can be read only as a whole: of another format, an array whose samples must be
    /// converted or reordered, a TIFF whose planes are apart, that is turned, whose tiles are compressed by
    /// LZW, or whose strips are larger than 64 MiB, a Zarr whose rows of chunks are larger than 1 GiB. Of a
    /// TIFF it is the first page.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Content`] for a file that is broken, [`Error::TooLarge`] for more
    /// than `max_pixels` pixels.
    pub fn open(path: &Path, max_pixels: u64) -> Result<Option<RowsFile>> {
        RowsFile::open_with(path, &ReadOptions::new(max_pixels))
    }

    /// Opens a file as [`open`](Self::open) does; one of complex numbers, too, if `options` take them. Their page and
    /// type have no meaning here.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: &Path, options: &ReadOptions) -> Result<Option<RowsFile>> {
        let &ReadOptions { max_pixels, complex, .. } = options;
        #[cfg(feature = "zarr")]
        if is_zarr(path) {
            let chunks = guarded(path, || zarr::Chunks::open(path, max_pixels, false))?.0;
            let (path, shape, pixel, stored) = (path.into(), chunks.shape(), chunks.pixel(), Box::new(chunks));
            let rows = stored.has_rows();
            return Ok(rows.then_some(RowsFile {
                path,
                shape,
                pixel,
                pages: 1,
                complex: false,
                multiplied: false,
                stored: Stored::Zarr(stored),
            }));
        }
        let mut file = open(path)?;
        let (layout, (pages, complex, multiplied)) = guarded(path, || {
            if starts_as_array(path, &mut file)? {
                let layout = array::layout(path, &mut file, max_pixels, complex)?;
                let complex = layout.is_some_and(|(.., complex)| complex);
                let rows = |(shape, pixel, start, _)| Layout { shape, pixel, samples: Samples::Rows(start) };
                return Ok((layout.map(rows), (1, complex, false)));
            }
            let tags = tiff_tags::page(path, &mut file, 1)?;
            Ok((Layout::of(path, &mut file, &tags, max_pixels)?, (tags.pages, false, tags.multiplied)))
        })?;
        let stored = |samples| match samples {
            Samples::Rows(start) => Some(Stored::Rows(file, start)),
            Samples::Chunks(chunks) => Some(Stored::Chunks(file, Mutex::new(chunks))),
            Samples::Other => None,
        };
        Ok(layout.and_then(|Layout { shape, pixel, samples }| {
            Some(RowsFile { path: path.into(), shape, pixel, pages, complex, multiplied, stored: stored(samples)? })
        }))
    }

    /// Returns width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.pixel
    }

    /// Whether pairs of channels are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// Returns the number of the file's pages.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Keeps at most `most` bytes of rows decoded, or one row of strips, tiles or chunks. Returns
    /// the most that it keeps.
    #[cfg_attr(not(feature = "zarr"), allow(unused_variables))]
    pub fn hold(&mut self, most: u64) -> u64 {
        match &mut self.stored {
            Stored::Rows(..) => 0,
            Stored::Chunks(_, chunks) => chunks.get_mut().unwrap_or_else(PoisonError::into_inner).held_bytes(),
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks) => chunks.hold(most),
        }
    }

    /// Reads consecutive rows, whose size `bytes` has.
    ///
    /// # Errors
    /// [`Error::Read`]; of compressed strips, tiles and chunks [`Error::Content`], too.
    pub fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        self.read_stored(rows, bytes)?;
        if self.multiplied && self.shape.channels == 4 {
            alpha::divide(self.pixel, bytes);
        }
        Ok(())
    }

    /// Reads rows with the colours as they are stored.
    fn read_stored(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        match &self.stored {
            Stored::Rows(file, start) => {
                let row = (self.shape.row_samples() * self.pixel.size_bytes()) as u64;
                bulk::read(file, bytes, start + rows.start as u64 * row).map_err(|error| Error::read(&self.path, error))
            }
            Stored::Chunks(file, chunks) => {
                let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
                guarded(&self.path, || chunks.read(&self.path, &mut Stream(file), rows, bytes))
            }
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks) => guarded(&self.path, || chunks.read(rows, bytes)),
        }
    }
}

/// A file that is being written by rows.
#[derive(Debug)]
pub struct RowsDraft<'a>(To<'a>);

/// Where rows go.
#[derive(Debug)]
enum To<'a> {
    File {
        file: &'a File,
        /// Bytes per row.
        row: u64,
        /// Offset of the first sample, in bytes.
        start: u64,
        /// What stays if the program ends.
        partial: Option<&'a Partial>,
    },
    #[cfg(feature = "zarr")]
    Zarr(&'a zarr::Writer, Option<&'a Partial>),
}

impl RowsDraft<'_> {
    /// Writes consecutive rows from row `first` on. Those of a Zarr, and of a file that a later run may go on with,
    /// have to come from top to bottom.
    ///
    /// # Errors
    /// Of the system.
    pub fn write_rows(&self, first: u32, bytes: &[u8]) -> std::io::Result<()> {
        match self.0 {
            To::File { file, row, start, partial: None } => bulk::write(file, bytes, start + first as u64 * row),
            To::File { file, row, start, partial: Some(partial) } => {
                bulk::write_unmapped(file, bytes, start + first as u64 * row)?;
                partial.note(first + (bytes.len() as u64 / row) as u32)
            }
            #[cfg(feature = "zarr")]
            To::Zarr(writer, partial) => {
                writer.write_lines(first, bytes)?;
                match (partial, writer.complete()) {
                    (None, _) | (_, 0) => Ok(()),
                    (Some(partial), complete) => partial.note(complete),
                }
            }
        }
    }
}

impl ImageOutput<'_> {
    /// Returns the memory that [`write_rows`](Self::write_rows) takes for an image, beside the rows that
    /// it is given, in bytes.
    pub fn held_bytes(&self, shape: Shape, pixel: PixelType) -> u64 {
        #[cfg(feature = "zarr")]
        if self.folder().is_some() {
            return zarr::held_bytes(self.metadata(), (shape, None), pixel);
        }
        let _ = (shape, pixel);
        0
    }

    /// Writes an image by rows, if the output [takes them](Self::takes_rows): `fill` writes all rows. The file
    /// appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Unfit`] for an image that the format does not support; [`Error::Write`] with the error of `fill` or of
    /// the system; the previous file is then unchanged.
    pub fn write_rows(
        &self,
        shape: Shape,
        pixel: PixelType,
        fill: impl FnOnce(&RowsDraft<'_>) -> Result<(), Trouble>,
    ) -> Result<()> {
        self.check(pixel, shape.channels)?;
        #[cfg(feature = "zarr")]
        if let Some(target) = self.folder() {
            return zarr::write(target, self.metadata(), (shape, pixel), |writer| {
                fill(&RowsDraft(To::Zarr(writer, None)))
            });
        }
        self.write_file(|file| {
            let head = self.head(shape, pixel)?;
            bulk::write(file, &head, 0)?;
            let row = (shape.row_samples() * pixel.size_bytes()) as u64;
            fill(&RowsDraft(To::File { file, row, start: head.len() as u64, partial: None }))
        })
    }

    /// As [`write_rows`](Self::write_rows), in a file or folder `OUT.partial` beside the output that stays if the
    /// program ends: the next run of the same `job` continues it. `fill` also gets the number of complete rows, and
    /// writes the rest from top to bottom.
    ///
    /// # Errors
    /// As [`write_rows`](Self::write_rows); what was written stays.
    pub fn resume_rows(
        &self,
        shape: Shape,
        pixel: PixelType,
        job: &str,
        fill: impl FnOnce(&RowsDraft<'_>, u32) -> Result<(), Trouble>,
    ) -> Result<()> {
        self.check(pixel, shape.channels)?;
        let head = match self.is_folder() {
            true => Vec::new(),
            false => self.head(shape, pixel).map_err(|error| Error::write(self.path(), error))?,
        };
        let row = (shape.row_samples() * pixel.size_bytes()) as u64;
        self.resume((head, row), ((shape, None), pixel), None, job, fill)
    }

    /// As [`resume_rows`](Self::resume_rows), for volumes: planes of this shape are written, counted and noted in place
    /// of rows. There are `volumes` volumes of `depth` planes each, one after the other; more than one only in `.npy`
    /// files. These have a dimension of volumes even for a single one if the metadata, which are the volumes', say so.
    /// # Errors
    /// As [`resume_rows`](Self::resume_rows); [`Error::Write`] for TIFF, and [`Error::OneVolume`] for
    /// more than one in a Zarr.
    pub fn resume_planes(
        &self,
        (plane, pixel): (Shape, PixelType),
        (volumes, depth): (u32, u32),
        metadata: &Metadata,
        job: &str,
        fill: impl FnOnce(&RowsDraft<'_>, u32) -> Result<(), Trouble>,
    ) -> Result<()> {
        self.check_with(metadata, pixel, plane.channels)?;
        if !self.is_array() && !self.is_folder() {
            return Err(Error::write(self.path(), "of volumes only .npy files and Zarr arrays can be resumed"));
        }
        if volumes != 1 && !self.is_array() {
            return Err(Error::OneVolume { path: self.path().into() });
        }
        let counts = volumes != 1 || metadata.of_volumes;
        let leading = if counts { &[volumes, depth][..] } else { &[depth] };
        let mut head = Vec::new();
        array::write_image_header(&mut head, leading, (plane, pixel), metadata.complex)
            .map_err(|error| Error::write(self.path(), error))?;
        let bytes = plane.samples() * pixel.size_bytes() as u64;
        self.resume((head, bytes), ((plane, Some(depth)), pixel), Some(metadata), job, fill)
    }

    /// Lets `fill` continue with rows of `row` bytes behind a file's head, or with the lines of a Zarr of this shape
    /// and type.
    fn resume(
        &self,
        (head, row): (Vec<u8>, u64),
        (shape, pixel): ((Shape, Option<u32>), PixelType),
        metadata: Option<&Metadata>,
        job: &str,
        fill: impl FnOnce(&RowsDraft<'_>, u32) -> Result<(), Trouble>,
    ) -> Result<()> {
        #[cfg(feature = "zarr")]
        if let Some(target) = self.folder() {
            return target.write_partial(job, |partial, rows| {
                let kept = metadata.unwrap_or(self.metadata()).zarr.as_deref();
                let writer = zarr::Writer::new(partial.path(), kept, shape, pixel)?;
                fill(&RowsDraft(To::Zarr(&writer, Some(partial))), writer.go_on_at(rows))?;
                writer.end()
            });
        }
        let _ = (shape, pixel, metadata);
        let start = head.len() as u64;
        self.resumable()?.write_partial(job, (start, row), |partial, rows| {
            let file = partial.file();
            if rows == 0 {
                bulk::write_unmapped(file, &head, 0)?;
            }
            fill(&RowsDraft(To::File { file, row, start, partial: Some(partial) }), rows)
        })
    }
}
