//! Images and volumes that are counted or measured: whole, or strip by strip if they exceed the memory that they may
//! take.

use super::planes::Planes;
use super::strips::Input;
use crate::args::{Common, Devices};
use crate::error::Result;
use crate::room::Budget;
use apron::{AnyImage, PixelType, ReadRows, Shape};
use std::path::Path;

/// The samples to count or measure.
pub(super) enum Counted<'a> {
    /// An image, or the planes of a volume one below the other.
    Whole(AnyImage<'static>),
    Strips(Input),
    /// With what strips may take.
    Planes(Box<Planes<'a>>, Budget),
}

impl<'a> Counted<'a> {
    /// Opens an image or a volume, and reads it unless it is too large. `whole` names an operation that is possible
    /// only on whole images.
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

    /// Runs `whole` on the whole image, or `by_rows` on rows that are read strip by strip, with the bytes that strips
    /// may take.
    ///
    /// # Errors
    /// Errors of the two functions, and of the file.
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
