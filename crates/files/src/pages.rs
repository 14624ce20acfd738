//! Files of several images: the pages of a TIFF, the stacks in `.npy` files and the planes of Zarr arrays, read and
//! written one image at a time.

use crate::array::{self, Images, Taken};
use crate::atomic::{OutputPath, Trouble};
use crate::convert::convert;
use crate::draft::Draft;
#[cfg(feature = "zarr")]
use crate::draft::FolderDraft;
use crate::error::{Error, Result};
use crate::metadata::{self, Metadata};
use crate::output::ImageOutput;
use crate::patched::Patched;
use crate::read::{ReadOptions, Stream, guarded, open, starts_as_array};
use crate::tiff_tags::Directories;
use crate::{bulk, picture, tiff_file};
#[cfg(feature = "zarr")]
use crate::{read::is_zarr, zarr};
use apron_core::{AnyImage, PixelType, Shape};
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file of several images, open to be read image by image: a TIFF, whose pages may differ in shape and type; or a
/// `.npy` file of shape (n, height, width) or (n, height, width, 1 to 4), whose first dimension counts images; or a
/// Zarr array of such a shape, perhaps with dimensions of size 1 before.
///
/// ```
/// use apron_core::{AnyImage, Image};
/// use apron_files::{ImageOutput, Metadata, PagesFile, ReadOptions};
/// # let folder = std::env::temp_dir().join(format!("apron-pages-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
///
/// let path = folder.join("stack.npy");
/// let output = ImageOutput::new(&path, None)?;
/// let mut stack = output.pages(2)?;
/// for level in [10u8, 20] {
///     stack.write(&AnyImage::U8(Image::new(3, 2, 1, vec![level; 6])?), &Metadata::default())?;
/// }
/// stack.finish()?;
///
/// let mut file = PagesFile::open(&path, ReadOptions::new(6))?;
/// assert_eq!(file.pages(), 2);
/// let (second, _) = file.read(2)?;
/// assert_eq!(second.bytes()[..], [20; 6]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PagesFile {
    path: PathBuf,
    options: ReadOptions,
    stored: Stored,
}

/// The end of the message for a file that does not hold several images.
const NONE: &str = if cfg!(feature = "zarr") {
    "neither a TIFF nor a .npy file nor a Zarr, which alone hold several images"
} else {
    "neither a TIFF nor a .npy file, which alone hold several images"
};

/// Where the images are.
#[derive(Debug)]
enum Stored {
    Stack(File, Images),
    Tiff(File, Directories),
    /// With the metadata that an output keeps of it.
    #[cfg(feature = "zarr")]
    Zarr(Box<zarr::Chunks>, Metadata),
}

impl PagesFile {
    /// Opens a file. The limit of pixels and the type in `options` hold for each image; their page has no meaning here.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Content`] for a file that is neither a TIFF nor a stack in a `.npy` file, is cut
    /// off, is in Fortran order, or has no images; [`Error::TooLarge`] for a stack whose images have too many pixels,
    /// [`Error::Complex`] for one of complex numbers, unless they are asked for.
    pub fn open(path: &Path, options: ReadOptions) -> Result<PagesFile> {
        PagesFile::open_as(path, options, Taken::Images)
    }

    /// Opens a file as [`open`](Self::open) does, whose images are the planes of a volume; or of several, in a `.npy`
    /// file of shape (n, depth, height, width) with a width of at least 5.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_volumes(path: &Path, options: ReadOptions) -> Result<PagesFile> {
        PagesFile::open_as(path, options, Taken::Volumes)
    }

    fn open_as(path: &Path, options: ReadOptions, taken: Taken) -> Result<PagesFile> {
        #[cfg(feature = "zarr")]
        if is_zarr(path) {
            let (chunks, kept) = guarded(path, || zarr::Chunks::open(path, options.max_pixels, true))?;
            let metadata = Metadata { zarr: Some(Box::new(kept)), ..Metadata::default() };
            return Ok(PagesFile { path: path.into(), options, stored: Stored::Zarr(Box::new(chunks), metadata) });
        }
        let mut file = open(path)?;
        let stored = guarded(path, || {
            if starts_as_array(path, &mut file)? {
                let complex = options.complex && options.pixel.is_none();
                let images = Images::open(path, &mut file, options.max_pixels, (taken, complex))?;
                return Ok(Stored::Stack(file, images));
            }
            if !picture::is_tiff(&mut file).map_err(|error| Error::read(path, error))? {
                return Err(Error::content(path, NONE));
            }
            let directories = Directories::of(path, &mut file)?;
            match (directories.count(), directories.all) {
                (0, _) => Err(Error::content(path, "the TIFF has no page")),
                (pages, false) => {
                    let what =
                        format!("the file is cut off or broken: no page follows page {pages}, which is not the last");
                    Err(Error::content(path, what))
                }
                _ => Ok(Stored::Tiff(file, directories)),
            }
        })?;
        Ok(PagesFile { path: path.into(), options, stored })
    }

    /// Returns the number of images, at least 1.
    pub fn pages(&self) -> u32 {
        match &self.stored {
            Stored::Stack(_, images) => images.count,
            Stored::Tiff(_, directories) => directories.count(),
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks, _) => chunks.planes(),
        }
    }

    /// Returns the number of volumes, whose planes are the images.
    pub fn volumes(&self) -> u32 {
        if let Stored::Stack(_, images) = &self.stored { images.volumes.unwrap_or(1) } else { 1 }
    }

    /// Reads an image, from 1, and its metadata; those of `.npy` files say only whether numbers are complex,
    /// and whether there is a dimension of volumes.
    ///
    /// # Errors
    /// As [`read_page`](crate::read_page).
    pub fn read(&mut self, page: u32) -> Result<(AnyImage<'static>, Metadata)> {
        let pages = self.pages();
        let PagesFile { path, options: ReadOptions { max_pixels, pixel, .. }, stored } = self;
        if !(1..=pages).contains(&page) {
            return Err(Error::NoPage { path: path.clone(), page, pages });
        }
        let (image, metadata) = guarded(path, || match stored {
            Stored::Stack(file, images) => {
                let (complex, of_volumes) = (images.complex, images.volumes.is_some());
                let metadata = Metadata { complex, of_volumes, ..Metadata::default() };
                Ok((images.read(path, file, page - 1)?, metadata))
            }
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks, metadata) => Ok((chunks.read_plane(page - 1)?, metadata.clone())),
            Stored::Tiff(file, directories) => {
                let tags = directories.page(path, file, page)?;
                let image = picture::read_tiff(path, file, &tags, *max_pixels)?;
                // The patches make this page the first one, for which no other has to be gone through.
                let patched = Patched::new(file, &tags.patches, 0).map_err(|error| Error::read(path, error))?;
                Ok((image, metadata::of_tiff(&mut Stream(patched), 1).unwrap_or_default()))
            }
        })?;
        let image = match *pixel {
            Some(pixel) => convert(image, pixel).map_err(|error| Error::content(path, error))?,
            None => image,
        };
        Ok((image, metadata))
    }

    /// Reads consecutive images, from 0, whose samples are stored as they lie in memory; returns whether they are:
    /// those of a TIFF are not, nor are images that are converted. `bytes` has their size.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Content`] for chunks that are broken.
    pub fn read_stored(&self, images: Range<u32>, bytes: &mut [u8]) -> Result<bool> {
        let PagesFile { path, options, stored } = self;
        match stored {
            Stored::Stack(file, stack) if stack.is_stored_as(options.pixel) => {
                let read = bulk::read(file, bytes, stack.offset(images.start));
                read.map(|()| true).map_err(|error| Error::read(path, error))
            }
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks, _) if options.pixel.is_none_or(|pixel| pixel == chunks.pixel()) => {
                guarded(path, || chunks.read(images, bytes)).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Keeps at most `most` bytes of chunks decoded, or the planes of one chunk. Returns the most that it keeps.
    #[cfg_attr(not(feature = "zarr"), allow(unused_variables))]
    pub fn hold(&mut self, most: u64) -> u64 {
        match &mut self.stored {
            #[cfg(feature = "zarr")]
            Stored::Zarr(chunks, _) => chunks.hold(most),
            _ => 0,
        }
    }
}

/// A file of several images that is being written: the pages of a TIFF, a stack in a `.npy` file, or the planes of a
/// Zarr array. Unless it is [finished](Self::finish), nothing of it stays.
pub struct PagesDraft<'a> {
    output: &'a ImageOutput<'a>,
    made: Made<'a>,
    pages: u32,
    /// The volumes whose planes the images are.
    volumes: u32,
    written: u32,
    to: To,
}

impl fmt::Debug for PagesDraft<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut draft = f.debug_struct("PagesDraft");
        draft.field("output", self.output).field("pages", &self.pages).field("written", &self.written);
        draft.finish_non_exhaustive()
    }
}

/// What is written, and where it will be.
enum Made<'a> {
    File(&'a OutputPath<'a>, Draft),
    #[cfg(feature = "zarr")]
    Folder(&'a zarr::Target<'a>, FolderDraft),
}

/// Where the next image goes.
enum To {
    /// It is the first.
    Start,
    /// At this offset, in bytes, if it has this shape and type.
    Stack {
        next: u64,
        first: (Shape, PixelType),
    },
    Tiff(tiff_file::Pages),
    #[cfg(feature = "zarr")]
    Zarr {
        writer: Box<zarr::Writer>,
        first: (Shape, PixelType),
    },
}

impl ImageOutput<'_> {
    /// Returns the memory that a file of `pages` images of this shape and type, with the first one's metadata, takes
    /// while it is [written](PagesDraft::write), beside the images, in bytes: the planes of one chunk of a Zarr.
    pub fn held_by_pages(&self, (shape, pixel): (Shape, PixelType), pages: u32, metadata: &Metadata) -> u64 {
        #[cfg(feature = "zarr")]
        if self.folder().is_some() {
            return zarr::held_bytes(metadata, (shape, Some(pages)), pixel);
        }
        let _ = (shape, pixel, pages, metadata);
        0
    }

    /// Starts a file of `pages` images, at least 1, each to be [written](PagesDraft::write) then; for
    /// `.npy`, TIFF and Zarr.
    ///
    /// # Errors
    /// [`Error::OneImage`] for another format and for the standard output, [`Error::Write`] if no file can be created.
    pub fn pages(&self, pages: u32) -> Result<PagesDraft<'_>> {
        let to_system = |error| Error::write(self.path(), error);
        #[cfg(feature = "zarr")]
        if let Some(target) = self.folder() {
            let made = Made::Folder(target, target.draft().map_err(to_system)?);
            return Ok(PagesDraft { output: self, made, pages, volumes: 1, written: 0, to: To::Start });
        }
        let path = self.of_pages()?;
        let made = Made::File(path, path.draft().map_err(to_system)?);
        Ok(PagesDraft { output: self, made, pages, volumes: 1, written: 0, to: To::Start })
    }

    /// Starts a file of several volumes of `planes` images each, as [`pages`](Self::pages) does; more
    /// than one only for `.npy`.
    ///
    /// # Errors
    /// As [`pages`](Self::pages); [`Error::OneVolume`] for another format.
    pub fn volumes(&self, volumes: u32, planes: u32) -> Result<PagesDraft<'_>> {
        if volumes != 1 && !self.is_array() {
            return Err(Error::OneVolume { path: self.path().into() });
        }
        Ok(PagesDraft { volumes, ..self.pages(volumes.saturating_mul(planes))? })
    }
}

impl PagesDraft<'_> {
    /// Writes the next image, with its metadata where the format is TIFF. Those of a `.npy` file and of a Zarr are said
    /// with the first.
    ///
    /// # Errors
    /// [`Error::Unfit`] and [`Error::ComplexUnfit`] for an image that the format does not hold, [`Error::Uneven`] for
    /// one of another shape or type than the first, unless the format is TIFF; [`Error::Write`] for errors of the
    /// system, for more images than were said, and for a TIFF whose later pages make it larger than 4 GiB though it was
    /// not to be expected from the first.
    pub fn write(&mut self, image: &AnyImage<'_>, metadata: &Metadata) -> Result<()> {
        self.write_stacked(&image.bytes(), (image.shape(), image.pixel_type()), metadata)
    }

    /// Writes the next images, which lie in `bytes` without gaps, as [`write`](Self::write) does one: of this shape and
    /// type, with these metadata.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    ///
    /// # Panics
    /// If `bytes` has not the size of one or more such images.
    pub fn write_stacked(&mut self, bytes: &[u8], found: (Shape, PixelType), metadata: &Metadata) -> Result<()> {
        let (shape, pixel) = found;
        let each = shape.samples() as usize * pixel.size_bytes();
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(each), "whole images");
        let count = bytes.len() / each;
        self.output.check_with(metadata, pixel, shape.channels)?;
        let to_system = |error: Trouble| Error::write(self.output.path(), error);
        if count > (self.pages - self.written) as usize {
            return Err(to_system(format!("all {} images are there already", self.pages).into()));
        }
        if let To::Start = self.to {
            self.to = self.started(found, metadata).map_err(to_system)?;
        }
        match (&mut self.to, &self.made) {
            (To::Stack { first, .. }, _) if *first != found => {
                return Err(Error::Uneven { path: self.output.path().into(), found, first: *first });
            }
            #[cfg(feature = "zarr")]
            (To::Zarr { first, .. }, _) if *first != found => {
                return Err(Error::Uneven { path: self.output.path().into(), found, first: *first });
            }
            #[cfg(feature = "zarr")]
            (To::Zarr { writer, .. }, _) => {
                writer.write_lines(self.written, bytes).map_err(|error| to_system(error.into()))?;
            }
            (To::Stack { next, .. }, Made::File(_, draft)) => {
                bulk::write(draft.file(), bytes, *next).map_err(|error| to_system(error.into()))?;
                *next += bytes.len() as u64;
            }
            (To::Tiff(pages), _) => {
                for bytes in bytes.chunks_exact(each) {
                    let image = AnyImage::from_bytes(pixel, shape, |to| {
                        to.copy_from_slice(bytes);
                        Ok(())
                    });
                    let written = image.map_err(Trouble::from).and_then(|image| pages.write(&image, metadata));
                    written.map_err(to_system)?;
                }
            }
            _ => {}
        }
        self.written += count as u32;
        Ok(())
    }

    /// Writes what comes before the first image, whose shape and type are these.
    fn started(&self, (shape, pixel): (Shape, PixelType), metadata: &Metadata) -> Result<To, Trouble> {
        let file = match &self.made {
            Made::File(_, draft) => draft.file(),
            #[cfg(feature = "zarr")]
            Made::Folder(_, draft) => {
                let writer =
                    zarr::Writer::new(draft.path(), metadata.zarr.as_deref(), (shape, Some(self.pages)), pixel)?;
                return Ok(To::Zarr { writer: Box::new(writer), first: (shape, pixel) });
            }
        };
        if self.output.is_array() {
            let mut head = Vec::new();
            let (volumes, planes) = (self.volumes, self.pages / self.volumes);
            let counts = volumes != 1 || metadata.of_volumes;
            let leading = if counts { &[volumes, planes][..] } else { &[planes] };
            array::write_image_header(&mut head, leading, (shape, pixel), metadata.complex)?;
            bulk::write(file, &head, 0)?;
            return Ok(To::Stack { next: head.len() as u64, first: (shape, pixel) });
        }
        let bytes = (shape.samples() * pixel.size_bytes() as u64).saturating_mul(self.pages.into());
        Ok(To::Tiff(tiff_file::Pages::new(file.try_clone()?, bytes)?))
    }

    /// Gives the file its name, once all images are written.
    ///
    /// # Errors
    /// [`Error::Write`] if images are missing, and for errors of the system; the previous file is then unchanged.
    pub fn finish(self) -> Result<()> {
        let PagesDraft { output, made, pages, written, to, .. } = self;
        let to_system = |error: Trouble| Error::write(output.path(), error);
        if written < pages {
            return Err(Error::write(output.path(), format!("{written} of {pages} images were written")));
        }
        match (made, to) {
            (Made::File(path, draft), _) => path.publish(draft).map_err(|error| to_system(error.into())),
            #[cfg(feature = "zarr")]
            (Made::Folder(target, draft), to) => {
                if let To::Zarr { writer, .. } = to {
                    writer.end().map_err(to_system)?;
                }
                target.publish(draft).map_err(|error| to_system(error.into()))
            }
        }
    }
}
