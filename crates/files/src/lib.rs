//! Apron's files: reads images and masks from `.npy`, PNG, JPEG, TIFF, BMP and PNM, and writes images and tables of
//! counts. Files of several images are read and written one image at a time. With the feature `zarr`, images are also
//! arrays of Zarr, which are folders.
//!
//! Files are not trusted. Formats are recognised by content; sizes in headers are compared with the caller's limit and,
//! where the format allows it, with the file's length, before memory is allocated. Errors are a typed [`Error`] that
//! names the file, also for panics of decoders. Outputs appear whole or not at all.
//!
//! ```
//! use apron_core::{AnyImage, Image};
//! use apron_files::{Error, ImageOutput, read_image};
//! # let folder = std::env::temp_dir().join(format!("apron-files-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//!
//! let path = folder.join("ramp.png");
//! let ramp = Image::new(3, 2, 1, vec![0u8, 50, 100, 150, 200, 250])?;
//! ImageOutput::new(&path, None)?.write(&AnyImage::U8(ramp))?;
//!
//! let image = read_image(&path, 6)?;
//! assert_eq!(image.bytes()[..], [0, 50, 100, 150, 200, 250]);
//! assert!(matches!(read_image(&path, 5), Err(Error::TooLarge { width: 3, height: 2, .. })));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]
#![warn(missing_debug_implementations)]

mod alpha;
mod array;
mod array_header;
mod atomic;
mod bulk;
mod convert;
mod draft;
mod error;
mod grey_bmp;
mod joint;
mod jpeg_file;
mod metadata;
mod output;
mod pages;
mod partial;
mod patched;
mod picture;
mod png_file;
mod pnm;
mod read;
mod rows;
pub mod table;
mod tiff_file;
mod tiff_rows;
mod tiff_tags;
mod upright;
#[cfg(feature = "zarr")]
mod zarr;

pub use atomic::{Complete, OutputPath, Trouble, publish};
pub use convert::convert;
pub use draft::{MadeFolder, Scratch, discard_drafts};
pub use error::{Error, Result};
pub use metadata::{Metadata, decode_metadata, read_metadata};
pub use output::{ImageOutput, check_extension, extension, write_array};
pub use pages::{PagesDraft, PagesFile};
pub use picture::write_rgb_png;
pub use read::{
    Page, ReadOptions, decode_image, decode_mask, decode_page, decoded_bytes, is_zarr, pixels, read_edges, read_image,
    read_mask, read_page, read_taps, read_weights, sample_bytes,
};
pub use rows::{RowsDraft, RowsFile};
