//! A recipe and its parts.

use apron_abi::{ElementType, IMAGE_ALIGNMENT, Kernel, Params};
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

    /// From one image of a batch to the next, in [`IMAGE_ALIGNMENT`]s.
    fn image_alignments(&self) -> u32 {
        (image_step(self.size_bytes()) / IMAGE_ALIGNMENT) as u32
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

/// A launch from the first buffer to the second, in blocks along x, with the shared memory of the kernel's own size.
pub(crate) fn launch(kernel: Kernel, blocks: u32, params: Params) -> Launch {
    Launch {
        kernel,
        blocks: [blocks, 1],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params,
        taps: Vec::new(),
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
    /// Images of the same shape that are solved at once; sizes are those of one.
    pub images: u32,
}

/// Most rows of blocks of a grid, and most layers of such rows: CUDA's.
pub const MAX_GRID_ROWS: u32 = 65535;

/// Bytes from the start of one image of a batch to that of the next, of images of so many bytes.
pub fn image_step(image_bytes: u64) -> u64 {
    image_bytes.next_multiple_of(IMAGE_ALIGNMENT)
}

/// Bytes of so many images of so many bytes each.
pub fn batch_bytes(images: u32, image_bytes: u64) -> u64 {
    (images as u64 - 1) * image_step(image_bytes) + image_bytes
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

    /// The same for a batch of images, each launch for all of them; `None` where images cannot share one: their counts
    /// would meet in zeroed memory, a texture is of one image, and so is a grid of more than [`MAX_GRID_ROWS`].
    pub fn for_images(mut self, images: u32) -> Option<Recipe> {
        let alone = |buffer: &Buffer| matches!(buffer.role, Role::Zeroed | Role::Texture { .. });
        let tall = |launch: &Launch| launch.blocks[1] > MAX_GRID_ROWS;
        if images > 1 && (self.buffers.iter().any(alone) || self.launches.iter().any(tall)) {
            return None;
        }
        for launch in self.launches.iter_mut().filter(|_| images > 1) {
            launch.params = launch.params.with_steps(|buffer| self.buffers[buffer].image_alignments());
        }
        Some(Recipe { images, ..self })
    }

    /// The size of a buffer, in bytes, for all images.
    pub fn size_bytes(&self, buffer: &Buffer) -> u64 {
        batch_bytes(self.images, buffer.size_bytes())
    }

    /// From one image to the next in what a launch reads, and in what it writes, in [`IMAGE_ALIGNMENT`]s.
    pub fn steps(&self, launch: &Launch) -> (u32, u32) {
        (self.buffers[launch.src].image_alignments(), self.buffers[launch.dst].image_alignments())
    }

    /// The blocks and threads of each launch, columns x rows (x images): `132x64 x 32x8 + 264x1 x 256x1`.
    pub fn grid(&self) -> String {
        let images = if self.images > 1 { format!("x{}", self.images) } else { String::new() };
        let launches = self.launches.iter().map(|launch| {
            let ([x, y], [columns, rows]) = (launch.kernel.facts().block, launch.blocks);
            format!("{columns}x{rows}{images} x {x}x{y}")
        });
        launches.collect::<Vec<_>>().join(" + ")
    }
}
