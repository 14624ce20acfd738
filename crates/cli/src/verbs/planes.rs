//! Volumes in files: the images of a file as planes, read whole or slab by slab.

use super::strips::{Rate, Shown, of_rows, unwritten};
use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::room::{self, Budget, WHOLE};
use apron::volumes::{AnyVolume, VolumeShape};
use apron::{AnyImage, PixelType, ReadRows, Shape, WriteRows};
use apron_files::{Metadata, PagesDraft, PagesFile, RowsDraft};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// A volume in a file: its planes are the images of a `.npy` file or a Zarr, or the pages of a TIFF. Of several volumes
/// in a `.npy` file it is one.
pub(super) struct Planes<'a> {
    common: &'a Common,
    path: PathBuf,
    file: Mutex<Open>,
    /// Number of volumes, and of the current one, from 0.
    pub(super) volumes: u32,
    volume: u32,
    pub(super) shape: VolumeShape,
    pub(super) pixel: PixelType,
    /// Metadata of the first plane.
    pub(super) metadata: Metadata,
}

/// The file, and the plane that was read last by itself, with its number.
struct Open {
    file: PagesFile,
    plane: (u32, AnyImage<'static>),
}

impl<'a> Planes<'a> {
    /// Opens the first of the volumes in a file, and reads its first plane; with `complex` also of complex numbers.
    ///
    /// # Errors
    /// Errors of the file; more voxels than `--max-pixels` allows.
    pub(super) fn open(common: &'a Common, path: &Path, complex: bool) -> Result<Planes<'a>> {
        let mut file = common.open_volumes(path, complex)?;
        let (pages, volumes) = (file.pages(), file.volumes());
        let depth = pages / volumes;
        let (first, metadata) = common.read_one(&mut file, 1)?;
        let (plane, pixel) = (first.shape(), first.pixel_type());
        let voxels = plane.pixels().saturating_mul(pages.into());
        if voxels > common.max_pixels {
            let most = common.max_pixels;
            let holds = if volumes == 1 { "volume has".into() } else { format!("{volumes} volumes have") };
            let what = format!("the {holds} {voxels} voxels; {most} are taken, or what --max-pixels says");
            return Err(Error::input(path, what));
        }
        let shape = VolumeShape::new(plane.width, plane.height, depth, plane.channels)?;
        let file = Mutex::new(Open { file, plane: (0, first) });
        Ok(Planes { common, path: path.into(), file, volumes, volume: 0, shape, pixel, metadata })
    }

    /// Opens all volumes in a file as one, as [`open`](Self::open) does.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn open_all(common: &'a Common, path: &Path) -> Result<Planes<'a>> {
        let planes = Planes::open(common, path, false)?;
        let VolumeShape { width, height, depth, channels } = planes.shape;
        let shape = VolumeShape::new(width, height, depth.saturating_mul(planes.volumes), channels)?;
        Ok(Planes { volumes: 1, shape, ..planes })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes another of the volumes, from 0.
    pub(super) fn select(&mut self, volume: u32) {
        self.volume = volume;
    }

    /// Returns the size of the samples, in bytes.
    fn bytes(&self) -> u64 {
        self.shape.samples() * self.pixel.size_bytes() as u64
    }

    /// Returns the memory that slabs may take, in bytes, besides what the file holds decoded, if the volume is too
    /// large to be read whole: for the requested memory, or else for the available memory.
    pub(super) fn slabs(&self) -> Option<Budget> {
        let asked = self.common.memory.map(|memory| memory.0);
        let memory = asked.unwrap_or_else(room::available);
        if self.bytes() <= memory / WHOLE {
            return None;
        }
        // Other programs and the files' pages need memory, too.
        let memory = asked.unwrap_or(memory / 2);
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let plane = self.shape.plane().samples() * self.pixel.size_bytes() as u64;
        let (held, grows) = (open.file.hold(memory / WHOLE), apron_files::is_zarr(&self.path));
        Some(Budget::new(memory, held + plane, grows))
    }

    /// Checks that `--memory`, if it is given, suffices for a volume that is taken whole because of `what`, and returns
    /// that there are no slabs.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check_whole(&self, what: &str) -> Result<Option<Budget>> {
        Ok(room::check_whole(self.bytes(), self.common.memory, what).map(|()| None)?)
    }

    /// Reads the whole volume.
    ///
    /// # Errors
    /// Errors of the file; planes of several shapes or types.
    pub(super) fn read(&self) -> Result<AnyVolume<'static>> {
        Ok(AnyVolume::new(self.read_stack()?, self.shape.depth)?)
    }

    /// Reads all planes, one below the other.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_stack(&self) -> Result<AnyImage<'static>> {
        let mut read = Ok(());
        let stack = AnyImage::from_bytes(self.pixel, self.shape.stacked(), |bytes| {
            read = self.read_planes(0..self.shape.depth, bytes);
            Ok(())
        })?;
        read.map(|()| stack)
    }

    /// Reads a plane, from 0.
    ///
    /// # Errors
    /// Errors of the file; a plane of another shape or type than the first.
    pub(super) fn read_plane(&self, plane: u32) -> Result<AnyImage<'static>> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.plane(&mut open, plane).cloned()
    }

    /// Reads consecutive planes, from 0, whose size `bytes` has.
    fn read_planes(&self, planes: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.volume * self.shape.depth;
        if !self.common.grey && open.file.read_stored(first + planes.start..first + planes.end, bytes)? {
            return Ok(());
        }
        let each = bytes.len() / planes.len();
        planes.zip(bytes.chunks_exact_mut(each)).try_for_each(|(plane, bytes)| {
            bytes.copy_from_slice(&self.plane(&mut open, plane)?.bytes());
            Ok(())
        })
    }

    /// Reads a plane of the volume, from 0, unless it is the one that was read last.
    fn plane<'b>(&self, open: &'b mut Open, plane: u32) -> Result<&'b AnyImage<'static>> {
        let plane = self.volume * self.shape.depth + plane;
        if open.plane.0 != plane {
            let page = plane + 1;
            let read = self.common.read_one(&mut open.file, page);
            let (image, _) = read.map_err(|error| Error::Page { page, error: Box::new(error) })?;
            let (found, first) = ((image.shape(), image.pixel_type()), (self.shape.plane(), self.pixel));
            if found != first {
                let what = format!(
                    "page {page} is {} {}, and the first is {} {}: no volume",
                    found.0, found.1, first.0, first.1
                );
                return Err(Error::input(&self.path, what));
            }
            open.plane = (plane, image);
        }
        Ok(&open.plane.1)
    }

    /// Shows how much of the volume is read.
    pub(super) fn shown<'b>(&'b self, devices: &'b Devices) -> Shown<'b> {
        let plane = self.shape.plane().samples() as usize * self.pixel.size_bytes();
        Shown::new(self, Rate::new("plane", (self.shape.depth, 0), plane, devices))
    }

    /// Names the file in an error of reading it.
    pub(super) fn error(&self, error: apron::Error) -> Error {
        of_rows(&self.path, error)
    }
}

impl ReadRows for Planes<'_> {
    fn shape(&self) -> Shape {
        self.shape.stacked()
    }

    fn pixel_type(&self) -> PixelType {
        self.pixel
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> apron::Result<()> {
        let (height, row) = (self.shape.height, self.shape.row_samples() * self.pixel.size_bytes());
        let read = || {
            let (mut rows, mut rest) = (rows.clone(), bytes);
            while !rows.is_empty() {
                let (z, y) = (rows.start / height, rows.start % height);
                // As many whole planes as there are, or else a part of one.
                let whole = if y == 0 { (rows.end - rows.start) / height } else { 0 };
                let count = if whole > 0 { whole * height } else { (height - y).min(rows.end - rows.start) };
                let (part, after) = std::mem::take(&mut rest).split_at_mut(count as usize * row);
                if whole > 0 {
                    self.read_planes(z..z + whole, part)?;
                } else {
                    let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                    let plane = self.plane(&mut open, z)?;
                    part.copy_from_slice(&plane.region(0, y, self.shape.width, count)?.bytes());
                }
                (rows.start, rest) = (rows.start + count, after);
            }
            Ok(())
        };
        let what = || format!("reading rows {} to {}", rows.start, rows.end);
        read().map_err(|error: Error| apron::Error::Rows { what: what(), source: error.into() })
    }
}

/// A file that planes of a result go to, and how many are written.
pub(super) struct Written<'a> {
    to: To<'a>,
    shape: VolumeShape,
    pixel: PixelType,
    metadata: &'a Metadata,
    rate: Rate<'a>,
    /// Planes of all volumes that an earlier run wrote.
    before: u32,
    /// Number of the volume that is written, from 0.
    volume: AtomicU32,
}

/// Where planes go.
pub(super) enum To<'a> {
    /// One after the other.
    Pages(Mutex<PagesDraft<'a>>),
    /// To an output that a later run may continue, and its path.
    Rows(&'a RowsDraft<'a>, &'a Path),
}

impl<'a> Written<'a> {
    /// Starts to write volumes of this shape and type, of which an earlier run has written `before` planes.
    pub(super) fn new(
        (to, before): (To<'a>, u32),
        (shape, volumes, pixel): (VolumeShape, u32, PixelType),
        metadata: &'a Metadata,
        devices: &'a Devices,
    ) -> Written<'a> {
        let plane = shape.plane().samples() as usize * pixel.size_bytes();
        let rate = Rate::new("plane", (shape.depth * volumes, before), plane, devices);
        Written { to, shape, pixel, metadata, rate, before, volume: AtomicU32::new(0) }
    }

    /// Takes another of the volumes, from 0. Returns whether an earlier run has written it.
    pub(super) fn select(&self, volume: u32) -> bool {
        self.volume.store(volume, Relaxed);
        self.there() == self.shape.depth
    }

    /// Returns the planes of the volume that an earlier run wrote.
    fn there(&self) -> u32 {
        let first = self.volume.load(Relaxed) * self.shape.depth;
        self.before.saturating_sub(first).min(self.shape.depth)
    }

    /// Gives the file its final name, unless a later run may continue it.
    pub(super) fn finish(self) -> Result<()> {
        match self.to {
            To::Pages(draft) => Ok(draft.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?),
            To::Rows(..) => Ok(()),
        }
    }
}

impl WriteRows for Written<'_> {
    fn write_rows(&self, first: u32, bytes: &[u8]) -> apron::Result<()> {
        match &self.to {
            To::Pages(draft) => {
                let mut draft = draft.lock().unwrap_or_else(PoisonError::into_inner);
                let written = draft.write_stacked(bytes, (self.shape.plane(), self.pixel), self.metadata);
                written.map_err(|error| apron::Error::Rows {
                    what: format!("writing from row {first} on"),
                    source: Error::from(error).into(),
                })?;
            }
            To::Rows(draft, path) => {
                let plane = self.volume.load(Relaxed) * self.shape.depth + first / self.shape.height;
                draft.write_rows(plane, bytes).map_err(|error| unwritten(path, first, error))?;
            }
        }
        self.rate.add(bytes.len());
        Ok(())
    }

    fn written(&self) -> u32 {
        self.there() * self.shape.height
    }
}
