//! Recipes: buffers and launches.

use apron_abi::{ElementType, IMAGE_ALIGNMENT, Kernel, Params};
use apron_core::Shape;
use std::borrow::Cow;
use std::sync::Arc;

/// The use of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The input, filled before the first launch.
    Input,
    /// A second input, filled before the first launch: an image, a mask or a table.
    Beside,
    /// A copy of the input as a texture of RGBA pixels, filled before the first launch.
    Texture {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Intermediate results, on the device only.
    Scratch,
    /// Memory that is zero before the first launch and again after the last, so that all recipes of a stream share it
    /// and none has to zero it: at most [`apron_abi::ZEROED_BYTES`].
    Zeroed,
    /// The result, complete after the last launch.
    Output,
}

/// A buffer in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its use.
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

    /// Returns the stride between images of a batch, in units of [`IMAGE_ALIGNMENT`] bytes.
    fn image_alignments(&self) -> u32 {
        (image_step(self.size_bytes()) / IMAGE_ALIGNMENT) as u32
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The kernel; the kernel table has its block size.
    pub kernel: Kernel,
    /// Grid size: columns and rows of blocks.
    pub blocks: [u32; 2],
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Shared memory that each block reserves in addition, in bytes, and does not use: it limits the resident blocks
    /// per multiprocessor, and so the number of memory regions that are accessed at a time.
    pub reserved_bytes: u32,
    /// Index of the source buffer.
    pub src: usize,
    /// Index of the destination buffer.
    pub dst: usize,
    /// The kernel's parameters after the two addresses; they name further buffers by index.
    pub params: Params,
    /// The taps, for kernels that take taps; at most [`apron_abi::MAX_TAPS`] if they are in constant memory. Launches
    /// with the same allocation share one copy of taps in global memory.
    pub taps: Arc<[f32]>,
}

impl Launch {
    /// Returns the parameters with buffer indices replaced by these addresses.
    pub fn params_at(&self, addresses: &[u64]) -> Params {
        self.params.with_addresses(|buffer| addresses[buffer])
    }
}

/// Returns a launch from buffer 0 to buffer 1, with a grid along x and the kernel's own size of shared memory.
pub(crate) fn launch(kernel: Kernel, blocks: u32, params: Params) -> Launch {
    Launch {
        kernel,
        blocks: [blocks, 1],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params,
        taps: [].into(),
    }
}

/// Buffers and launches that a variant plans for a problem.
pub(crate) type Steps = (Vec<Buffer>, Vec<Launch>);

/// Everything an executor needs to solve a problem: run the launches in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The operation, for errors.
    pub operation: &'static str,
    /// The chosen variant.
    pub variant: &'static str,
    /// The reason for the choice.
    pub why: Cow<'static, str>,
    /// The buffers: one input, one output, any number of scratch buffers, at most one second input and one zeroed
    /// buffer.
    pub buffers: Vec<Buffer>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
    /// Images per batch, all of the same shape; buffer sizes are per image.
    pub images: u32,
}

/// Most rows of blocks per grid, and most layers along z: a limit of CUDA.
pub const MAX_GRID_ROWS: u32 = 65535;

/// Returns the bytes between the starts of two images of a batch, for images of `image_bytes` bytes.
pub fn image_step(image_bytes: u64) -> u64 {
    image_bytes.next_multiple_of(IMAGE_ALIGNMENT)
}

/// Returns the bytes of a batch of `images` images of `image_bytes` bytes each.
pub fn batch_bytes(images: u32, image_bytes: u64) -> u64 {
    (images as u64 - 1) * image_step(image_bytes) + image_bytes
}

/// Alignment, in bytes, of the first sample's address and of the row stride, if rows have a stride: bulk asynchronous
/// copies and the widest loads need it.
pub const ROW_ALIGNMENT: u64 = 16;

impl Recipe {
    /// Returns the recipe for an input of this shape with `row_stride` samples between the starts of rows, a multiple
    /// of [`ROW_ALIGNMENT`] bytes; `None` if a kernel only reads contiguous rows, or the stride is not such a multiple.
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
            // Where planes are the rows of a launch, they have no stride of their own.
            if let Params::VolumesParams(params) = launch.params
                && params.sides[0] != shape.width
            {
                return None;
            }
            launch.params = launch.params.with_row_stride(stride)?;
        }
        Some(self)
    }

    /// Returns the recipe for a batch of images, with one launch for all of them; `None` if images cannot share a
    /// launch: counts would mix in zeroed memory, a texture holds one image, and so does a grid of more than
    /// [`MAX_GRID_ROWS`] rows of blocks.
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

    /// Returns the size of a buffer, in bytes, for all images.
    pub fn size_bytes(&self, buffer: &Buffer) -> u64 {
        batch_bytes(self.images, buffer.size_bytes())
    }

    /// Returns the image strides of a launch's input and output, in units of [`IMAGE_ALIGNMENT`] bytes.
    pub fn steps(&self, launch: &Launch) -> (u32, u32) {
        (self.buffers[launch.src].image_alignments(), self.buffers[launch.dst].image_alignments())
    }

    /// Formats the blocks and threads of each launch, columns x rows (x images): `132x64 x 32x8 + 264x1 x 256x1`.
    pub fn grid(&self) -> String {
        let images = if self.images > 1 { format!("x{}", self.images) } else { String::new() };
        let launches = self.launches.iter().map(|launch| {
            let ([x, y], [columns, rows]) = (launch.kernel.facts().block, launch.blocks);
            format!("{columns}x{rows}{images} x {x}x{y}")
        });
        launches.collect::<Vec<_>>().join(" + ")
    }
}
