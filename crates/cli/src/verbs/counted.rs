//! Images and volumes of which numbers are taken: whole, or strip by strip if they are too large for the
//! memory that they may take.

use super::planes::Planes;
use super::strips::Input;
use crate::args::{Common, Devices};
use crate::error::Result;
use crate::room::Budget;
use apron::{AnyImage, PixelType, ReadRows, Shape};
use std::path::Path;

/// What numbers are taken of.
pub(super) enum Counted<'a> {
    /// An image, or the planes of a volume one below the other.
    Whole(AnyImage<'static>),
    Strips(Input),
    /// With what strips may take.
    Planes(Box<Planes<'a>>, Budget),
}

impl<'a> Counted<'a> {
    /// Opens an image or a volume, and reads it if it is not too large. `whole` names what is done
    /// to whole images alone.
    ///
    /// # Errors
    /// Errors of the file, and of [`Input::open`].
    pub(super) fn open(
        common: &'a Common,
        path: &Path,
        volume: bool,
        whole: Option<&str>,
        devices: &Devices,
    ) -> Result<Counted<'a>> {
        devices.at(format!("reading {}", path.display()));
        if volume {
            let planes = Planes::open_all(common, path)?;
            return Ok(match planes.slabs() {
                Some(memory) => Counted::Planes(Box::new(planes), memory),
                None => Counted::Whole(planes.read_stack()?),
            });
        }
        Ok(match Input::open(common, path, whole)? {
            Some(input) => Counted::Strips(input),
            None => Counted::Whole(common.read(path)?),
        })
    }

    /// Returns the shape and the sample type.
    pub(super) fn of(&self) -> (Shape, PixelType) {
        match self {
            Counted::Whole(image) => (image.shape(), image.pixel_type()),
            Counted::Strips(input) => (input.shape(), input.pixel_type()),
            Counted::Planes(planes, _) => (planes.shape.stacked(), planes.pixel),
        }
    }

    /// Takes numbers of the whole image, or of rows that are read strip by strip, in as many bytes.
    ///
    /// # Errors
    /// Errors of the two, and of the file.
    pub(super) fn take<T>(
        &self,
        devices: &Devices,
        whole: impl FnOnce(&AnyImage<'_>) -> apron::Result<T>,
        by_rows: impl FnOnce(&dyn ReadRows, u64) -> apron::Result<T>,
    ) -> Result<T> {
        match self {
            Counted::Whole(image) => Ok(whole(image)?),
            Counted::Strips(input) => {
                by_rows(&input.shown(devices), input.memory.left()).map_err(|error| input.error(error))
            }
            Counted::Planes(planes, memory) => {
                let counted = by_rows(&planes.shown(devices), memory.left());
                counted.map_err(|error| planes.error(memory.error(error)))
            }
        }
    }
}
