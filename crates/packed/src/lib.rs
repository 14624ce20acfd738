//! Files embedded into a program: deflated one by one by a build script, and inflated on use.
//!
//! A build script calls `build::pack` (feature `build`), and the library includes the file that it writes:
//!
//! ```ignore
//! pub static PTX: apron_packed::Pack = include!(concat!(env!("OUT_DIR"), "/pack.rs"));
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "build")]
pub mod build;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// A file: a kernel for a target.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// The kernel's entry point.
    pub name: &'static str,
    /// Compute capability of its target, times ten: 90 for sm_90.
    pub target: u32,
    /// Size when inflated, in bytes.
    pub size: usize,
    /// Start and end of its deflated bytes in the pack's bytes.
    pub place: (usize, usize),
}

/// Embedded files.
#[derive(Clone, Copy, Debug)]
pub struct Pack {
    /// The files, sorted by name and target.
    pub files: &'static [File],
    /// The deflated bytes of all files.
    pub bytes: &'static [u8],
}

impl Pack {
    /// Returns the file of a kernel for exactly this target.
    pub fn find(&self, name: &str, target: u32) -> Option<&File> {
        let found = self.files.binary_search_by(|file| (file.name, file.target).cmp(&(name, target)));
        found.ok().map(|index| &self.files[index])
    }

    /// Returns the file of a kernel for the newest target that runs on a GPU of this compute capability, times ten.
    pub fn newest(&self, name: &str, capability: u32) -> Option<&File> {
        let end = self.files.partition_point(|file| (file.name, file.target) <= (name, capability));
        self.files[..end].last().filter(|file| file.name == name)
    }

    /// Returns the inflated bytes of a file.
    ///
    /// # Panics
    /// If the file is of another pack.
    pub fn read(&self, file: &File) -> Vec<u8> {
        let deflated = &self.bytes[file.place.0..file.place.1];
        decompress_to_vec_with_limit(deflated, file.size).expect("as the build script deflated it")
    }
}
