//! `.npy` files by rows: images that are larger than memory.

use crate::array;
use crate::atomic::Trouble;
use crate::bulk;
use crate::error::{Error, Result};
use crate::output::ImageOutput;
use crate::read::open;
use apron_core::{PixelType, Shape};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An image in a `.npy` file, open to be read by rows.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    file: File,
    shape: Shape,
    pixel: PixelType,
    /// Offset of the first sample, in bytes.
    start: u64,
}

impl ArrayFile {
    /// Opens a file; `None` for one of another format, and for arrays whose samples must be converted or reordered.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Content`] for a file that is broken, [`Error::TooLarge`] for more than `max_pixels` pixels.
    pub fn open(path: &Path, max_pixels: u64) -> Result<Option<ArrayFile>> {
        let mut file = open(path)?;
        let Some((shape, pixel, start)) = array::layout(path, &mut file, max_pixels)? else { return Ok(None) };
        Ok(Some(ArrayFile { path: path.into(), file, shape, pixel, start }))
    }

    /// Returns width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.pixel
    }

    /// Reads consecutive rows, whose size `bytes` has.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let row = (self.shape.row_samples() * self.pixel.size_bytes()) as u64;
        bulk::read(&self.file, bytes, self.start + rows.start as u64 * row)
            .map_err(|error| Error::read(&self.path, error))
    }
}

/// A `.npy` file that is being written by rows.
#[derive(Debug)]
pub struct ArrayDraft<'a> {
    file: &'a File,
    /// Bytes per row.
    row: u64,
    /// Offset of the first sample, in bytes.
    start: u64,
}

impl ArrayDraft<'_> {
    /// Writes consecutive rows from row `first` on.
    ///
    /// # Errors
    /// Of the system.
    pub fn write_rows(&self, first: u32, bytes: &[u8]) -> std::io::Result<()> {
        bulk::write(self.file, bytes, self.start + first as u64 * self.row)
    }
}

impl ImageOutput<'_> {
    /// Writes an image by rows, if the format [is `.npy`](Self::is_array) and the output is a file: `fill` writes all rows.
    /// The file appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Write`] with the error of `fill` or of the system; the previous file is then unchanged.
    pub fn write_rows(
        &self,
        shape: Shape,
        pixel: PixelType,
        fill: impl FnOnce(&ArrayDraft<'_>) -> Result<(), Trouble>,
    ) -> Result<()> {
        self.write_file(|file| {
            let mut header = Vec::new();
            array::write_image_header(&mut header, shape, pixel)?;
            bulk::write(file, &header, 0)?;
            let row = (shape.row_samples() * pixel.size_bytes()) as u64;
            fill(&ArrayDraft { file, row, start: header.len() as u64 })
        })
    }
}
