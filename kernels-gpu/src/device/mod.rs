//! The operations of a GPU thread: the only interface between kernels and devices.

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
pub mod nvptx;
#[cfg(feature = "rust-cuda")]
pub mod rust_cuda;

use apron_abi::{Accumulator, Element, ElementType, Half, Sample, IMAGE_ALIGNMENT};
use core::marker::PhantomData;

/// The address of a buffer in device memory.
#[repr(transparent)]
pub struct Global<T> {
    /// Address of the first element.
    pub address: u64,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Global<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Global<T> {}

impl<T> Global<T> {
    /// Returns the buffer at `address`.
    pub const fn at(address: u64) -> Self {
        Global { address, element: PhantomData }
    }

    /// Returns the buffer of image `image` of a batch, whose images are `step` times [`IMAGE_ALIGNMENT`] bytes apart.
    #[inline(always)]
    pub const fn of_image(self, image: u32, step: u32) -> Self {
        Global::at(self.address + image as u64 * step as u64 * IMAGE_ALIGNMENT)
    }
}

/// An array of `T` at a byte offset in the block's shared memory.
pub struct Shared<T> {
    /// Offset from the start of the block's shared memory, in bytes; a multiple of the element's size.
    pub offset: u32,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    /// Returns the array at `offset` bytes.
    pub const fn at(offset: u32) -> Self {
        Shared { offset, element: PhantomData }
    }
}

/// A texture of RGBA pixels, 8 bits per channel.
#[derive(Clone, Copy)]
pub struct TextureHandle(pub u64);

/// One thread of a running kernel. The value identifies the thread and is cheap to copy.
///
/// Grids and blocks have two axes. A grid may have more rows of blocks than its launch needs.
///
/// # Safety
///
/// Accesses are unchecked on a GPU: indices lie inside the buffer or the launch's shared memory, global loads are
/// from buffers that the launch does not write, and every thread of the block reaches every barrier. A warp is 32
/// consecutive threads of a block, numbered row by row.
pub trait Device: Copy {
    /// Returns the thread's column in its block.
    fn thread_x(self) -> u32;
    /// Returns the thread's row in its block.
    fn thread_y(self) -> u32;
    /// Returns the block's column in the grid.
    fn block_x(self) -> u32;
    /// Returns the block's row in the grid.
    fn block_y(self) -> u32;
    /// Returns the number of the image in a batch; 0 for a single image whose grid has one layer.
    fn image(self) -> u32;
    /// Returns the number of blocks in a row of the grid.
    fn blocks_x(self) -> u32;
    /// Waits until every thread of the block arrives; what they wrote before is visible afterwards.
    fn barrier(self);
    /// Returns the `yes` of all threads of the warp, one bit each; bit 0 is lane 0's. All threads of the warp call this
    /// together.
    fn ballot(self, yes: bool) -> u32;
    /// Returns the value of lane `lane` of the warp, 0 to 31. All threads of the warp call this together, for any
    /// lanes.
    fn shuffle(self, value: u32, lane: u32) -> u32;
    /// Returns the value of the lane `lanes` below; in lanes below `lanes` the result is arbitrary. All threads of the
    /// warp call this together.
    fn shuffle_up(self, value: u32, lanes: u32) -> u32;
    /// Returns the sum of the values of this lane and of those below, modulo 2^32, in a block of one row. All threads
    /// of the warp call this together.
    #[inline(always)]
    fn scan(self, value: u32) -> u32 {
        let (lane, mut sum, mut lanes) = (self.thread_x() % 32, value, 1);
        while lanes < 32 {
            let lower = self.shuffle_up(sum, lanes);
            sum = sum.wrapping_add(if lane >= lanes { lower } else { 0 });
            lanes *= 2;
        }
        sum
    }
    /// Multiplies a matrix of 16x32 unsigned bytes by one of 32x8 signed bytes, and adds the product to 16x8 integers,
    /// modulo 2^32. The fragments that each lane holds are those of PTX's `mma.m16n8k32`. All threads of the warp call
    /// this together.
    fn multiply_bytes(self, a: [u32; 4], b: [u32; 2], sums: [i32; 4]) -> [i32; 4];
    /// As [`multiply_bytes`](Device::multiply_bytes), for a matrix of 16x32 signed bytes and one of 32x8 unsigned
    /// bytes.
    fn multiply_signed_bytes(self, a: [u32; 4], b: [u32; 2], sums: [i32; 4]) -> [i32; 4];
    /// As [`shuffle`](Device::shuffle), for 64 bits.
    #[inline(always)]
    fn shuffle_f64(self, value: f64, lane: u32) -> f64 {
        let bits = value.to_bits();
        let (low, high) = (self.shuffle(bits as u32, lane), self.shuffle((bits >> 32) as u32, lane));
        f64::from_bits(low as u64 | (high as u64) << 32)
    }
    /// Returns tap `index` of the launch's mask, from the tap space in the kernel table.
    ///
    /// # Safety
    /// `index` is below the number of taps.
    unsafe fn tap(self, index: u32) -> f32;
    /// Returns taps `index` to `index + 3` of the launch's mask.
    ///
    /// # Safety
    /// `index` is a multiple of 4, and all four are below the number of taps.
    unsafe fn taps4(self, index: u32) -> [f32; 4];
    /// Returns tap `index` of a mask of f64. Its bits are two of the launch's f32 taps, the lower half first.
    ///
    /// # Safety
    /// As [`tap`](Device::tap) for both.
    #[inline(always)]
    unsafe fn tap_f64(self, index: u32) -> f64 {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { (self.tap(2 * index), self.tap(2 * index + 1)) };
        f64::from_bits(low.to_bits() as u64 | (high.to_bits() as u64) << 32)
    }
    /// Reads an element of a buffer that the launch only reads.
    ///
    /// # Safety
    /// `index` is inside the buffer, which nothing writes during the launch.
    unsafe fn load<T: Element>(self, from: Global<T>, index: u64) -> T;
    /// Reads an element of 1 or 2 bytes of a buffer that the launch only reads: its bits, without a conversion that
    /// would wait for the load.
    ///
    /// # Safety
    /// As [`load`](Device::load).
    #[inline(always)]
    unsafe fn load_bits<T: Element>(self, from: Global<T>, index: u64) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            match T::TYPE.size_bytes() {
                1 => self.load(Global::<u8>::at(from.address), index) as u32,
                _ => self.load(Global::<u16>::at(from.address), index) as u32,
            }
        }
    }
    /// Reads 32-bit words `index` to `index + 3` of a buffer that the launch only reads, in one access.
    ///
    /// # Safety
    /// `index` is a multiple of 4, the buffer starts at a multiple of 16 bytes, and all four words are
    /// inside it; nothing writes it during the launch.
    unsafe fn load_words(self, from: Global<u32>, index: u64) -> [u32; 4];
    /// Reads a pixel of a texture, its channels as numbers from 0 to 1: the f32 nearest to `byte / 255`. Columns and
    /// rows outside are clamped to the edge.
    ///
    /// # Safety
    /// `texture` is the handle of a texture that nothing writes during the launch.
    unsafe fn texel(self, texture: TextureHandle, column: i32, row: i32) -> [f32; 4];
    /// Writes an element of a buffer.
    ///
    /// # Safety
    /// `index` is inside the buffer, and no other thread accesses that element.
    unsafe fn store<T: Element>(self, to: Global<T>, index: u64, value: T);
    /// Adds to an element of a buffer, atomically among all threads of the launch, and returns its previous value.
    /// Relaxed: the addition orders no other access, so other writes of a thread need not be visible to those that read
    /// its sum.
    ///
    /// # Safety
    /// `index` is inside the buffer, and in this launch the element is accessed only through this function.
    unsafe fn atomic_add(self, to: Global<u64>, index: u64, value: u64) -> u64;
    /// Reads an element of shared memory.
    ///
    /// # Safety
    /// The element is inside the launch's shared memory and no other thread writes it before the next barrier.
    unsafe fn shared_load<T: Element>(self, from: Shared<T>, index: u32) -> T;
    /// Writes an element of shared memory.
    ///
    /// # Safety
    /// The element is inside the launch's shared memory and no other thread accesses it before the next barrier.
    unsafe fn shared_store<T: Element>(self, to: Shared<T>, index: u32, value: T);
    /// Reads four elements of 4 bytes of shared memory.
    ///
    /// # Safety
    /// As [`shared_load`](Device::shared_load) for each; `index` is a multiple of 4, and the array's offset of 16
    /// bytes.
    unsafe fn shared_load4<T: Element>(self, from: Shared<T>, index: u32) -> [T; 4];
    /// Reads two elements of 4 bytes of shared memory.
    ///
    /// # Safety
    /// As [`shared_load`](Device::shared_load) for each; `index` is a multiple of 2, and the array's offset of 8
    /// bytes.
    unsafe fn shared_load2<T: Element>(self, from: Shared<T>, index: u32) -> [T; 2];
    /// Writes two elements of 4 bytes of shared memory.
    ///
    /// # Safety
    /// As [`shared_store`](Device::shared_store) for each; `index` is a multiple of 2, and the array's offset of 8
    /// bytes.
    unsafe fn shared_store2<T: Element>(self, to: Shared<T>, index: u32, values: [T; 2]);
    /// Writes four elements of 4 bytes of shared memory.
    ///
    /// # Safety
    /// As [`shared_store`](Device::shared_store) for each; `index` is a multiple of 4, and the array's offset of 16
    /// bytes.
    unsafe fn shared_store4<T: Element>(self, to: Shared<T>, index: u32, values: [T; 4]);
    /// Writes four elements of 4 bytes of a buffer, in one access.
    ///
    /// # Safety
    /// As [`store`](Device::store) for each; `index` is a multiple of 4, and the buffer's address of 16.
    unsafe fn store4<T: Element>(self, to: Global<T>, index: u64, values: [T; 4]);
    /// Writes two elements of 4 bytes of a buffer, in one access.
    ///
    /// # Safety
    /// As [`store`](Device::store) for each; `index` is a multiple of 2, and the buffer's address of 8.
    unsafe fn store2<T: Element>(self, to: Global<T>, index: u64, values: [T; 2]);
    /// Selects a word of four bytes from the eight bytes of `low` and `high`, as PTX's `prmt`: each hexadecimal digit
    /// of `BYTES` is the number of a byte, 0 to 3 in `low` and 4 to 7 in `high`; the last digit selects the lowest
    /// byte.
    #[inline(always)]
    fn pick<const BYTES: u32>(self, low: u32, high: u32) -> u32 {
        self.pick_at(low, high, BYTES)
    }
    /// As [`pick`](Device::pick), with a selector that is known only at run time.
    #[inline(always)]
    fn pick_at(self, low: u32, high: u32, bytes: u32) -> u32 {
        let both = low as u64 | (high as u64) << 32;
        let byte = |k: u32| (both >> (((bytes >> (4 * k)) & 7) * 8)) as u32 & 0xff;
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    }
    /// Adds the products of four bytes by four signed bytes to a sum, modulo 2^32, as PTX's `dp4a`.
    #[inline(always)]
    fn dot_bytes(self, bytes: u32, signed: u32, sum: u32) -> u32 {
        let product = |k: u32| ((bytes >> (8 * k)) & 0xff).wrapping_mul((signed >> (8 * k)) as i8 as i32 as u32);
        sum.wrapping_add(product(0)).wrapping_add(product(1)).wrapping_add(product(2)).wrapping_add(product(3))
    }
    /// Returns the bytes of a word, the lowest first, each times [`BYTE_UNIT`](apron_abi::BYTE_UNIT).
    fn bytes_of(self, word: u32) -> [f32; 4];
    /// Packs four bytes into a word, the lowest first: `values` rounded half to even and clamped to 0 to 255.
    fn word_of(self, values: [f32; 4]) -> u32;
    /// Returns the two f16 of a word, the lower first; the bits of a NaN may differ between devices.
    #[inline(always)]
    fn floats_of(self, word: u32) -> [f32; 2] {
        [Half(word as u16).to_f32(), Half((word >> 16) as u16).to_f32()]
    }
    /// Packs two floats into a word as f16, the lower first, rounded as by [`Half::from_f32`]; the sign of a NaN may be
    /// lost.
    #[inline(always)]
    fn word_of_floats(self, values: [f32; 2]) -> u32 {
        let [low, high] = values.map(|value| Half::from_f32(value).0 as u32);
        low | high << 16
    }
    /// Packs four integers into a word as bytes, the lowest first, clamped to 0 to 255.
    #[inline(always)]
    fn word_of_bytes(self, values: [i32; 4]) -> u32 {
        u32::from_le_bytes(values.map(|value| value.clamp(0, 255) as u8))
    }
    /// Returns the product in 64 bits, by one instruction.
    #[inline(always)]
    fn multiply_wide(self, a: i32, b: i32) -> i64 {
        a as i64 * b as i64
    }
    /// Returns the upper 32 bits of the product.
    #[inline(always)]
    fn multiply_high(self, a: u32, b: u32) -> u32 {
        ((a as u64 * b as u64) >> 32) as u32
    }
    /// Packs two integers into a word as 16 bits each, the lower first, clamped to 0 to 65535.
    #[inline(always)]
    fn word_of_halves(self, values: [i32; 2]) -> u32 {
        let [low, high] = values.map(|value| value.clamp(0, 65535) as u32);
        low | high << 16
    }
    /// Initializes an mbarrier, 8 bytes of shared memory, for one arrival per phase. It may be used
    /// after the next barrier.
    ///
    /// # Safety
    /// No thread uses these bytes before the next barrier, and the device has bulk asynchronous copies.
    unsafe fn mbarrier_init(self, mbarrier: Shared<u64>);
    /// Arrives at an mbarrier, which completes its phase.
    ///
    /// # Safety
    /// The mbarrier is initialized, and its next arrival comes only after every thread has waited for this phase.
    unsafe fn mbarrier_arrive(self, mbarrier: Shared<u64>);
    /// Starts a bulk asynchronous copy of `count` elements of a buffer into shared memory, which completes a phase of
    /// an mbarrier when it is done.
    ///
    /// # Safety
    /// As [`mbarrier_arrive`](Device::mbarrier_arrive), [`load`](Device::load) and
    /// [`shared_store`](Device::shared_store); addresses and length are multiples of 16 bytes. No thread reads the
    /// elements without waiting for the phase.
    unsafe fn bulk_copy<T: Element>(
        self,
        to: Shared<T>,
        from: Global<T>,
        index: u64,
        count: u32,
        mbarrier: Shared<u64>,
    );
    /// Waits until an mbarrier has completed `times + 1` phases.
    ///
    /// # Safety
    /// The thread has waited for it `times` times, and the phase will complete.
    unsafe fn mbarrier_wait(self, mbarrier: Shared<u64>, times: u32);
    /// Starts copying an element of 4 or 8 bytes of a buffer into shared memory (`cp.async`).
    ///
    /// # Safety
    /// As [`load`](Device::load) and [`shared_store`](Device::shared_store); no thread, not even this one, reads it
    /// before the barrier after the [wait](Device::wait_copies) for it.
    unsafe fn start_copy<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64);
    /// Starts copying elements `at` to `at + 3`, of 4 bytes each, to elements `index` to `index + 3`.
    ///
    /// # Safety
    /// As [`start_copy`](Device::start_copy) for each; both addresses are multiples of 16 bytes.
    unsafe fn start_copy4<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64);
    /// Starts copying a sample, as f32; samples of other types are loaded, converted and stored at once.
    ///
    /// # Safety
    /// As [`start_copy`](Device::start_copy).
    #[inline(always)]
    unsafe fn start_copy_as_f32<S: Sample>(self, to: Shared<f32>, index: u32, from: Global<S>, at: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            if S::TYPE == ElementType::F32 {
                self.start_copy(to, index, Global::<f32>::at(from.address), at);
            } else {
                self.shared_store(to, index, self.load(from, at).to_f32());
            }
        }
    }
    /// Commits the copies that this thread started since the last call as one group, which may be empty.
    fn end_copies(self);
    /// Waits for all groups of copies of this thread except the last `PENDING`.
    fn wait_copies<const PENDING: u32>(self);
    /// Adds 1 to a counter in shared memory, atomically.
    ///
    /// # Safety
    /// The counter is inside the launch's shared memory, and is accessed only through this function until the next
    /// barrier.
    unsafe fn shared_increment(self, counters: Shared<u32>, index: u32);
    /// Replaces a number in shared memory by its maximum with `value`, atomically.
    ///
    /// # Safety
    /// As [`shared_increment`](Device::shared_increment).
    unsafe fn shared_max(self, numbers: Shared<u32>, index: u32, value: u32);
    /// Returns the same number, opaque to the compiler: values derived from it in a loop are recomputed in each
    /// iteration, and take no registers in between.
    fn anew(self, number: u32) -> u32;
    /// Returns `a * b + c`, rounded once.
    fn fma<A: Accumulator>(self, a: A, b: A, c: A) -> A;
    /// Returns the square root, rounded once.
    fn sqrt(self, value: f64) -> f64;
    /// Approximates the square root with a relative error of at most 2^-22; for a subnormal number the result may be 0.
    fn near_sqrt(self, value: f32) -> f32;
    /// Approximates the reciprocal of the square root with a relative error of at most 2^-22.
    fn near_reciprocal_sqrt(self, value: f32) -> f32;
}
