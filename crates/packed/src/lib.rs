//! Files embedded into a program: compressed in groups by a build script, and decompressed on use.
//!
//! A build script calls `build::pack` (feature `build`), and the library includes the file that it writes:
//!
//! ```ignore
//! pub static PTX: apron_packed::Pack = include!(concat!(env!("OUT_DIR"), "/pack.rs"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

#[cfg(feature = "build")]
pub mod build;

use lzma_rust2::Lzma2Reader;
use std::io::Read;

/// A file: a kernel for a target.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// The kernel's entry point.
    pub name: &'static str,
    /// Compute capability of its target, times ten: 90 for sm_90.
    pub target: u32,
    /// Index of the group that holds it.
    pub group: usize,
    /// Offset in the decompressed group, in bytes.
    pub offset: usize,
    /// Size, in bytes.
    pub size: usize,
}

/// Embedded files.
#[derive(Clone, Copy, Debug)]
pub struct Pack {
    /// Largest size of a group of several files and size of the compression window, in bytes.
    pub window: u32,
    /// The files, sorted by name and target.
    pub files: &'static [File],
    /// Offsets in `bytes` at which the groups end.
    pub groups: &'static [usize],
    /// The compressed groups (LZMA2).
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

    /// Returns the bytes of a file.
    ///
    /// # Panics
    /// If the file is of another pack.
    pub fn read(&self, file: &File) -> Vec<u8> {
        let start = if file.group == 0 { 0 } else { self.groups[file.group - 1] };
        let mut group = Lzma2Reader::new(&self.bytes[start..self.groups[file.group]], self.window, None);
        // Files behind it in its group are not decompressed.
        let mut bytes = vec![0; file.offset + file.size];
        group.read_exact(&mut bytes).expect("as the build script compressed it");
        bytes.split_off(file.offset)
    }
}
