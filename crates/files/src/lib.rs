//! Apron's files: images and masks from `.npy`, PNG, JPEG, TIFF, BMP and PNM, images and tables of counts to files.
//!
//! Files are not trusted. What one is, its content says; what its header promises is compared with the caller's limit
//! and, where the format allows it, with the file's length, before memory is allocated. What is wrong comes as a typed
//! [`Error`] that names the file, also where a decoder panics. Outputs appear whole or not at all.
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
#![forbid(unsafe_code)]

mod array;
mod atomic;
mod draft;
mod error;
mod grey_bmp;
mod metadata;
mod narrow;
mod output;
mod patched;
mod picture;
mod plane;
mod png_file;
mod pnm;
mod read;
pub mod table;
mod tiff_tags;
mod upright;

pub use atomic::{OutputPath, Trouble};
pub use draft::discard_drafts;
pub use error::{Error, Result};
pub use metadata::{Metadata, decode_metadata, read_metadata};
pub use narrow::convert;
pub use output::{ImageOutput, check_extension, extension, write_array};
pub use picture::write_rgb_png;
pub use read::{
    Page, ReadOptions, decode_image, decode_mask, decode_page, read_edges, read_image, read_mask, read_page, read_taps,
    read_weights,
};
