//! What a kernel did wrong, and in which thread.

use crate::thread::Thread;
use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Entry name of the kernel.
    pub kernel: &'static str,
    /// Number of the block in its grid.
    pub block: u32,
    /// Column and row of the thread in its block.
    pub thread: (u32, u32),
    /// What it did, with the address.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.thread;
        write!(f, "{}: block {}, thread ({x}, {y}) {}", self.kernel, self.block, self.what)
    }
}

impl std::error::Error for Fault {}

/// As a fault names it: kernel, block and thread.
impl fmt::Debug for Thread<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, thread) = (self.block_number(), (self.x, self.y));
        let mut shown = f.debug_struct("Thread");
        shown.field("kernel", &self.kernel).field("block", &block).field("thread", &thread).finish_non_exhaustive()
    }
}
