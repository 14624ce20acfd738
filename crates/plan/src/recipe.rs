//! A recipe and its parts.

use apron_abi::{ElementType, Kernel, Params};
use apron_core::Shape;
use std::borrow::Cow;

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Holds the input before the first launch.
    Input,
    /// Holds what is given beside the input before the first launch: a second image, a mask, a table.
    Beside,
    /// A copy of the input as a texture of RGBA pixels, there before the first launch.
    Texture {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// Lives between launches, on the device only.
    Scratch,
    /// Holds zeros before the first launch and again after the last, so that recipes on a stream take turns to use
    /// it, and none of them has to zero it: [`apron_abi::ZEROED_BYTES`] or less.
    Zeroed,
    /// Holds the result after the last launch.
    Output,
}

/// A buffer in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// What it is for.
    pub role: Role,
    /// Type of its elements.
    pub element: ElementType,
    /// Number of its elements.
    pub elems: u64,
}

impl Buffer {
    /// Its size, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.elems * self.element.size_bytes() as u64
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The kernel; its block is in the kernel table.
    pub kernel: Kernel,
    /// Columns and rows of blocks.
    pub blocks: [u32; 2],
    /// Shared memory of each block, in bytes.
    pub shared_bytes: u32,
    /// Shared memory that each block takes besides, in bytes, and leaves alone: fewer blocks then share a
    /// multiprocessor, and so fewer places of memory are read and written at a time.
    pub reserved_bytes: u32,
    /// Index of the buffer that is read.
    pub src: usize,
    /// Index of the buffer that is written.
    pub dst: usize,
    /// The parameters behind the two addresses; of further buffers they name the index.
    pub params: Params,
    /// The taps, for kernels that take some; in constant memory at most [`apron_abi::MAX_TAPS`].
    pub taps: Vec<f32>,
}

impl Launch {
    /// The parameters, with buffers at these addresses.
    pub fn params_at(&self, addresses: &[u64]) -> Params {
        self.params.with_addresses(|buffer| addresses[buffer])
    }
}

/// What a variant makes of a problem: its buffers and launches.
pub(crate) type Steps = (Vec<Buffer>, Vec<Launch>);

/// Everything that an executor must know to solve a problem: run the launches in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The operation, for errors.
    pub operation: &'static str,
    /// The variant that was chosen.
    pub variant: &'static str,
    /// Why it was chosen.
    pub why: Cow<'static, str>,
    /// The buffers: one input, one output, any scratch, at most one beside and one that is zeroed.
    pub buffers: Vec<Buffer>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
}

/// Multiples of what the first sample's address and the row stride must be, in bytes, where rows are read with gaps:
/// the copy engine's, and those of all words.
pub const ROW_ALIGNMENT: u64 = 16;

impl Recipe {
    /// The same for an input of this shape whose rows start `row_stride` samples apart, at multiples of
    /// [`ROW_ALIGNMENT`]; `None` where its kernels read rows without gaps only, or the stride is no such multiple.
    pub fn with_row_stride(mut self, shape: Shape, row_stride: u64) -> Option<Recipe> {
        if self.buffers.iter().any(|buffer| matches!(buffer.role, Role::Texture { .. })) {
            return None;
        }
        let input = self.buffers.iter().position(|buffer| buffer.role == Role::Input)?;
        let buffer = &mut self.buffers[input];
        buffer.elems = (shape.height as u64 - 1) * row_stride + shape.row_samples() as u64;
        if !(row_stride * buffer.element.size_bytes() as u64).is_multiple_of(ROW_ALIGNMENT) {
            return None;
        }
        let stride = u32::try_from(row_stride).ok()?;
        for launch in self.launches.iter_mut().filter(|launch| launch.src == input) {
            launch.params = launch.params.with_row_stride(stride)?;
        }
        Some(self)
    }

    /// The blocks and threads of each launch, columns x rows: `132x64 x 32x8 + 264x1 x 256x1`.
    pub fn grid(&self) -> String {
        let launches = self.launches.iter().map(|launch| {
            let ([x, y], [columns, rows]) = (launch.kernel.facts().block, launch.blocks);
            format!("{columns}x{rows} x {x}x{y}")
        });
        launches.collect::<Vec<_>>().join(" + ")
    }
}
