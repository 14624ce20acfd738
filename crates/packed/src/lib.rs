//! Files embedded into a program: deflated one by one by a build script, inflated when they are used.
//!
//! A build script calls `build::pack` (feature `build`), and the library includes what that writes:
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
    /// The kernel's entry.
    pub name: &'static str,
    /// Compute capability, times ten, for which it was made: 90 for sm_90.
    pub target: u32,
    /// Its size, in bytes.
    pub size: usize,
    /// Where its deflated bytes start and end in the pack's.
    pub place: (usize, usize),
}

/// Embedded files.
#[derive(Clone, Copy, Debug)]
pub struct Pack {
    /// By name, and of one name by target.
    pub files: &'static [File],
    /// Their deflated bytes.
    pub bytes: &'static [u8],
}

impl Pack {
    /// The file of a kernel for just this target.
    pub fn find(&self, name: &str, target: u32) -> Option<&File> {
        let found = self.files.binary_search_by(|file| (file.name, file.target).cmp(&(name, target)));
        found.ok().map(|index| &self.files[index])
    }

    /// The file of a kernel for the newest target that a GPU of this compute capability, times ten, runs.
    pub fn newest(&self, name: &str, capability: u32) -> Option<&File> {
        let end = self.files.partition_point(|file| (file.name, file.target) <= (name, capability));
        self.files[..end].last().filter(|file| file.name == name)
    }

    /// The bytes of one of its files.
    ///
    /// # Panics
    /// For a file of another pack.
    pub fn read(&self, file: &File) -> Vec<u8> {
        let deflated = &self.bytes[file.place.0..file.place.1];
        decompress_to_vec_with_limit(deflated, file.size).expect("as the build script deflated it")
    }
}
