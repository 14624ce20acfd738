//! Files by rows: images that are larger than memory.

use crate::array;
use crate::atomic::Trouble;
use crate::bulk;
use crate::error::{Error, Result};
use crate::output::ImageOutput;
use crate::read::{Stream, guarded, open, starts_as_array};
use crate::tiff_rows::{Chunks, Layout, Samples};
use crate::tiff_tags;
use apron_core::{PixelType, Shape};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An image in a `.npy` or TIFF file, open to be read by rows.
#[derive(Debug)]
pub struct RowsFile {
    path: PathBuf,
    file: File,
    shape: Shape,
    pixel: PixelType,
    pages: u32,
    stored: Stored,
}

/// How the samples are stored.
#[derive(Debug)]
enum Stored {
    /// As in memory, from this offset on.
    Rows(u64),
    /// In strips or tiles that are decoded one after the other.
    Chunks(Mutex<Chunks>),
}

impl RowsFile {
    /// Opens a file; `None` for one that can be read only as a whole: of another format, an array whose samples must be
    /// converted or reordered, a TIFF whose planes are apart, that is turned, whose tiles are compressed by LZW, or whose strips
    /// are larger than 64 MiB. Of a TIFF it is the first page.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Content`] for a file that is broken, [`Error::TooLarge`] for more than `max_pixels` pixels.
    pub fn open(path: &Path, max_pixels: u64) -> Result<Option<RowsFile>> {
        let mut file = open(path)?;
        let (layout, pages) = guarded(path, || {
            if starts_as_array(path, &mut file)? {
                let layout = array::layout(path, &mut file, max_pixels)?;
                let rows = |(shape, pixel, start)| Layout { shape, pixel, samples: Samples::Rows(start) };
                return Ok((layout.map(rows), 1));
            }
            let tags = tiff_tags::page(path, &mut file, 1)?;
            Ok((Layout::of(path, &mut file, &tags, max_pixels)?, tags.pages))
        })?;
        let stored = |samples| match samples {
            Samples::Rows(start) => Some(Stored::Rows(start)),
            Samples::Chunks(chunks) => Some(Stored::Chunks(Mutex::new(chunks))),
            Samples::Other => None,
        };
        Ok(layout.and_then(|Layout { shape, pixel, samples }| {
            Some(RowsFile { path: path.into(), file, shape, pixel, pages, stored: stored(samples)? })
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

    /// Returns the number of the file's pages.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Reads consecutive rows, whose size `bytes` has.
    ///
    /// # Errors
    /// [`Error::Read`]; of compressed strips and tiles [`Error::Content`], too.
    pub fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        match &self.stored {
            Stored::Rows(start) => {
                let row = (self.shape.row_samples() * self.pixel.size_bytes()) as u64;
                bulk::read(&self.file, bytes, start + rows.start as u64 * row)
                    .map_err(|error| Error::read(&self.path, error))
            }
            Stored::Chunks(chunks) => {
                let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
                guarded(&self.path, || chunks.read(&self.path, &mut Stream(&self.file), rows, bytes))
            }
        }
    }
}

/// A file that is being written by rows.
#[derive(Debug)]
pub struct RowsDraft<'a> {
    file: &'a File,
    /// Bytes per row.
    row: u64,
    /// Offset of the first sample, in bytes.
    start: u64,
}

impl RowsDraft<'_> {
    /// Writes consecutive rows from row `first` on.
    ///
    /// # Errors
    /// Of the system.
    pub fn write_rows(&self, first: u32, bytes: &[u8]) -> std::io::Result<()> {
        bulk::write(self.file, bytes, self.start + first as u64 * self.row)
    }
}

impl ImageOutput<'_> {
    /// Writes an image by rows, if the output [takes them](Self::takes_rows): `fill` writes all rows. The file appears whole or
    /// not at all.
    ///
    /// # Errors
    /// [`Error::Unfit`] for an image that the format does not support; [`Error::Write`] with the error of `fill` or of the
    /// system; the previous file is then unchanged.
    pub fn write_rows(
        &self,
        shape: Shape,
        pixel: PixelType,
        fill: impl FnOnce(&RowsDraft<'_>) -> Result<(), Trouble>,
    ) -> Result<()> {
        self.check(pixel, shape.channels)?;
        self.write_file(|file| {
            let head = self.head(shape, pixel)?;
            bulk::write(file, &head, 0)?;
            let row = (shape.row_samples() * pixel.size_bytes()) as u64;
            fill(&RowsDraft { file, row, start: head.len() as u64 })
        })
    }
}
