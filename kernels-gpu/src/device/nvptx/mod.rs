//! The device layer in inline PTX, for rustc's own NVPTX backend.
//!
//! Accesses are inline assembly, since generic pointers do not carry what a kernel knows: that nothing writes a buffer,
//! which `ld.global.nc` requires, and that an address is in shared memory, without which each access is a 64-bit
//! generic one.

mod access;
mod address;
mod packing;
mod products;
mod scan;
mod taps;

use super::{Device, Global, Shared, TextureHandle};
use access::{load, store};
use address::{global_address, shared_address};
use apron_abi::{Accumulator, Element, ElementType, Layers};
use core::arch::{asm, global_asm, nvptx};
use core::marker::PhantomData;
use core::mem::transmute_copy;
pub use taps::{Buffer, Parameter, Symbol, Taps};

// Dynamic shared memory: the launch sets its size.
global_asm!(".extern .shared .align 16 .b8 apron_shared[];");

/// Whether copies into shared memory are asynchronous (`cp.async`); otherwise they are loads and stores.
const COPIES: bool = cfg!(apron_copies);

// Intrinsics, not asm: LLVM treats them as convergent and does not move them into a branch.
unsafe extern "C" {
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(members: u32, yes: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shuffle_index(members: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shuffle_from_below(members: u32, value: u32, lanes: u32, clamp: u32) -> u32;
}

/// Member mask of all threads of a warp.
const WARP: u32 = u32::MAX;

/// Ends the kernel with an error.
pub fn trap() -> ! {
    // SAFETY: trap has no precondition and does not return.
    unsafe { nvptx::trap() }
}

/// A thread on an NVIDIA GPU, with its taps in the state space `S`.
#[derive(Clone, Copy)]
pub struct Nvptx<S> {
    taps: u64,
    /// Rows of blocks per layer of the grid.
    layer_rows: u32,
    space: PhantomData<S>,
}

impl<S> Nvptx<S> {
    /// Returns the thread, in a launch whose mask is at address `taps` of the space `S`.
    #[inline(always)]
    pub fn new(taps: u64, layers: &Layers) -> Self {
        Nvptx { taps, layer_rows: layers.rows, space: PhantomData }
    }
}

// SAFETY (every unsafe block below): the caller promises that the element exists, and the transmutes are between a
// type and the type that its tag names.
impl<S: Taps> Device for Nvptx<S> {
    #[inline(always)]
    fn thread_x(self) -> u32 {
        unsafe { nvptx::_thread_idx_x() as u32 }
    }

    #[inline(always)]
    fn thread_y(self) -> u32 {
        unsafe { nvptx::_thread_idx_y() as u32 }
    }

    #[inline(always)]
    fn block_x(self) -> u32 {
        unsafe { nvptx::_block_idx_x() as u32 }
    }

    #[inline(always)]
    fn block_y(self) -> u32 {
        // CUDA allows 65535 blocks along y and along z: rows of blocks beyond that are in further layers.
        unsafe { nvptx::_block_idx_z() as u32 * self.layer_rows + nvptx::_block_idx_y() as u32 }
    }

    #[inline(always)]
    fn image(self) -> u32 {
        unsafe { nvptx::_block_idx_z() as u32 }
    }

    #[inline(always)]
    fn blocks_x(self) -> u32 {
        unsafe { nvptx::_grid_dim_x() as u32 }
    }

    #[inline(always)]
    fn barrier(self) {
        // The intrinsic, not asm: LLVM treats it as convergent and does not move it into a branch.
        unsafe { nvptx::_syncthreads() }
    }

    #[inline(always)]
    fn ballot(self, yes: bool) -> u32 {
        unsafe { vote_ballot(WARP, yes) }
    }

    #[inline(always)]
    fn shuffle(self, value: u32, lane: u32) -> u32 {
        unsafe { shuffle_index(WARP, value, lane, 31) }
    }

    #[inline(always)]
    fn shuffle_up(self, value: u32, lanes: u32) -> u32 {
        unsafe { shuffle_from_below(WARP, value, lanes, 0) }
    }

    #[inline(always)]
    fn scan(self, value: u32) -> u32 {
        scan::scan(value)
    }

    #[inline(always)]
    fn multiply_bytes(self, a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
        products::multiply_bytes(a, b, c)
    }
    #[inline(always)]
    fn multiply_signed_bytes(self, a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
        products::multiply_signed_bytes(a, b, c)
    }

    #[inline(always)]
    unsafe fn tap(self, index: u32) -> f32 {
        unsafe { S::one(self.taps + index as u64 * 4) }
    }

    #[inline(always)]
    unsafe fn tap_f64(self, index: u32) -> f64 {
        unsafe { S::double(self.taps + index as u64 * 8) }
    }

    #[inline(always)]
    unsafe fn taps4(self, index: u32) -> [f32; 4] {
        // Four taps per access, which the hardware reads two by two, since constant memory limits dense kernels. With
        // single reads a 64x64 mask took 25 ms on an H100, with these 2.7 ms (docs/decisions/mask-reads.md).
        unsafe { S::four(self.taps + index as u64 * 4) }
    }

    #[inline(always)]
    unsafe fn load<T: Element>(self, from: Global<T>, index: u64) -> T {
        unsafe { load!(T, "ld.global.nc", global_address(from, index), reg64, pure, readonly, nostack) }
    }

    #[inline(always)]
    unsafe fn load_bits<T: Element>(self, from: Global<T>, index: u64) -> u32 {
        let address = global_address(from, index);
        let bits: u32;
        unsafe {
            match T::TYPE.size_bytes() {
                1 => {
                    asm!("ld.global.nc.u8 {0}, [{1}];", out(reg32) bits, in(reg64) address, options(pure, readonly, nostack))
                }
                _ => {
                    asm!("ld.global.nc.u16 {0}, [{1}];", out(reg32) bits, in(reg64) address, options(pure, readonly, nostack))
                }
            }
        }
        bits
    }

    #[inline(always)]
    unsafe fn load_words(self, from: Global<u32>, index: u64) -> [u32; 4] {
        unsafe { access::load_words(global_address(from, index)) }
    }

    #[inline(always)]
    unsafe fn texel(self, texture: TextureHandle, column: i32, row: i32) -> [f32; 4] {
        let (r, g, b, a): (f32, f32, f32, f32);
        // The centre of a texel is half a pixel in.
        let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
        unsafe {
            asm!(
                "tex.2d.v4.f32.f32 {{{0}, {1}, {2}, {3}}}, [{4}, {{{5}, {6}}}];",
                out(reg32) r, out(reg32) g, out(reg32) b, out(reg32) a,
                in(reg64) texture.0, in(reg32) x, in(reg32) y,
                options(pure, nomem, nostack)
            );
        }
        [r, g, b, a]
    }

    #[inline(always)]
    unsafe fn store<T: Element>(self, to: Global<T>, index: u64, value: T) {
        unsafe { store!(T, "st.global", global_address(to, index), reg64, value) }
    }

    #[inline(always)]
    unsafe fn atomic_add(self, to: Global<u64>, index: u64, value: u64) -> u64 {
        let before: u64;
        unsafe {
            asm!(
                "atom.relaxed.gpu.global.add.u64 {0}, [{1}], {2};",
                out(reg64) before,
                in(reg64) global_address(to, index),
                in(reg64) value,
                options(nostack)
            );
        }
        before
    }

    #[inline(always)]
    unsafe fn shared_load<T: Element>(self, from: Shared<T>, index: u32) -> T {
        unsafe { load!(T, "ld.shared", shared_address(from, index), reg32, readonly, nostack) }
    }

    #[inline(always)]
    unsafe fn shared_store<T: Element>(self, to: Shared<T>, index: u32, value: T) {
        unsafe { store!(T, "st.shared", shared_address(to, index), reg32, value) }
    }

    #[inline(always)]
    unsafe fn shared_load4<T: Element>(self, from: Shared<T>, index: u32) -> [T; 4] {
        let (a, b, c, d): (u32, u32, u32, u32);
        unsafe {
            asm!(
                "ld.shared.v4.b32 {{{0}, {1}, {2}, {3}}}, [{4}];",
                out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                in(reg32) shared_address(from, index),
                options(readonly, nostack)
            );
            transmute_copy(&[a, b, c, d])
        }
    }

    #[inline(always)]
    unsafe fn shared_load2<T: Element>(self, from: Shared<T>, index: u32) -> [T; 2] {
        let (a, b): (u32, u32);
        unsafe {
            asm!(
                "ld.shared.v2.b32 {{{0}, {1}}}, [{2}];",
                out(reg32) a, out(reg32) b,
                in(reg32) shared_address(from, index),
                options(readonly, nostack)
            );
            transmute_copy(&[a, b])
        }
    }

    #[inline(always)]
    unsafe fn shared_store2<T: Element>(self, to: Shared<T>, index: u32, values: [T; 2]) {
        unsafe {
            let [a, b]: [u32; 2] = transmute_copy(&values);
            asm!("st.shared.v2.b32 [{2}], {{{0}, {1}}};", in(reg32) a, in(reg32) b, in(reg32) shared_address(to, index), options(nostack));
        }
    }

    #[inline(always)]
    unsafe fn shared_store4<T: Element>(self, to: Shared<T>, index: u32, values: [T; 4]) {
        unsafe {
            let [a, b, c, d]: [u32; 4] = transmute_copy(&values);
            asm!(
                "st.shared.v4.b32 [{4}], {{{0}, {1}, {2}, {3}}};",
                in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, in(reg32) shared_address(to, index),
                options(nostack)
            );
        }
    }

    #[inline(always)]
    unsafe fn store4<T: Element>(self, to: Global<T>, index: u64, values: [T; 4]) {
        unsafe { access::store4(global_address(to, index), transmute_copy(&values)) }
    }

    #[inline(always)]
    unsafe fn store2<T: Element>(self, to: Global<T>, index: u64, values: [T; 2]) {
        unsafe { access::store2(global_address(to, index), transmute_copy(&values)) }
    }

    #[inline(always)]
    fn pick<const BYTES: u32>(self, low: u32, high: u32) -> u32 {
        packing::pick::<BYTES>(low, high)
    }

    #[inline(always)]
    fn pick_at(self, low: u32, high: u32, bytes: u32) -> u32 {
        packing::pick_at(low, high, bytes)
    }

    #[inline(always)]
    fn dot_bytes(self, bytes: u32, signed: u32, sum: u32) -> u32 {
        products::dot_bytes(bytes, signed, sum)
    }

    #[inline(always)]
    fn bytes_of(self, word: u32) -> [f32; 4] {
        packing::bytes_of(word)
    }

    #[inline(always)]
    fn word_of(self, values: [f32; 4]) -> u32 {
        packing::word_of(values)
    }

    #[inline(always)]
    fn word_of_bytes(self, values: [i32; 4]) -> u32 {
        packing::word_of_bytes(values)
    }

    #[inline(always)]
    fn multiply_high(self, a: u32, b: u32) -> u32 {
        products::multiply_high(a, b)
    }

    #[inline(always)]
    fn multiply_wide(self, a: i32, b: i32) -> i64 {
        products::multiply_wide(a, b)
    }

    #[inline(always)]
    fn word_of_halves(self, values: [i32; 2]) -> u32 {
        packing::word_of_halves(values)
    }

    #[inline(always)]
    fn floats_of(self, word: u32) -> [f32; 2] {
        packing::floats_of(word)
    }

    #[inline(always)]
    fn word_of_floats(self, values: [f32; 2]) -> u32 {
        packing::word_of_floats(values)
    }

    #[inline(always)]
    unsafe fn mbarrier_init(self, mbarrier: Shared<u64>) {
        unsafe {
            asm!(
                "mbarrier.init.shared.b64 [{0}], 1;",
                "fence.mbarrier_init.release.cluster;",
                in(reg32) shared_address(mbarrier, 0),
                options(nostack)
            );
        }
    }

    #[inline(always)]
    unsafe fn mbarrier_arrive(self, mbarrier: Shared<u64>) {
        unsafe {
            asm!("mbarrier.arrive.shared.b64 _, [{0}];", in(reg32) shared_address(mbarrier, 0), options(nostack));
        }
    }

    #[inline(always)]
    unsafe fn bulk_copy<T: Element>(
        self,
        to: Shared<T>,
        from: Global<T>,
        index: u64,
        count: u32,
        mbarrier: Shared<u64>,
    ) {
        unsafe {
            asm!(
                "mbarrier.arrive.expect_tx.shared.b64 _, [{3}], {2};",
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{0}], [{1}], {2}, [{3}];",
                in(reg32) shared_address(to, 0),
                in(reg64) global_address(from, index),
                in(reg32) count * T::TYPE.size_bytes(),
                in(reg32) shared_address(mbarrier, 0),
                options(nostack)
            );
        }
    }

    #[inline(always)]
    #[allow(named_asm_labels)] // the braces make the label local: the assembly may be duplicated
    unsafe fn mbarrier_wait(self, mbarrier: Shared<u64>, times: u32) {
        unsafe {
            asm!(
                "{{ .reg .pred given; again: mbarrier.try_wait.parity.shared.b64 given, [{0}], {1}; @!given bra again; }}",
                in(reg32) shared_address(mbarrier, 0),
                in(reg32) times & 1,
                options(nostack)
            );
        }
    }

    #[inline(always)]
    unsafe fn start_copy<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        if !COPIES {
            return unsafe { self.shared_store(to, index, self.load(from, at)) };
        }
        let (to, from) = (shared_address(to, index), global_address(from, at));
        unsafe {
            match size_of::<T>() {
                8 => {
                    asm!("cp.async.ca.shared.global [{0}], [{1}], 8;", in(reg32) to, in(reg64) from, options(nostack))
                }
                _ => {
                    asm!("cp.async.ca.shared.global [{0}], [{1}], 4;", in(reg32) to, in(reg64) from, options(nostack))
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn start_copy4<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        if !COPIES {
            for k in 0..4 {
                unsafe { self.shared_store(to, index + k, self.load(from, at + k as u64)) };
            }
            return;
        }
        unsafe {
            asm!(
                "cp.async.cg.shared.global [{0}], [{1}], 16;",
                in(reg32) shared_address(to, index),
                in(reg64) global_address(from, at),
                options(nostack)
            );
        }
    }

    #[inline(always)]
    fn end_copies(self) {
        if COPIES {
            unsafe { asm!("cp.async.commit_group;", options(nostack)) }
        }
    }

    #[inline(always)]
    fn wait_copies<const PENDING: u32>(self) {
        if COPIES {
            unsafe { asm!("cp.async.wait_group {0};", const PENDING, options(nostack)) }
        }
    }

    #[inline(always)]
    unsafe fn shared_increment(self, counters: Shared<u32>, index: u32) {
        unsafe {
            asm!("red.shared.add.u32 [{0}], 1;", in(reg32) shared_address(counters, index), options(nostack));
        }
    }

    #[inline(always)]
    unsafe fn shared_max(self, numbers: Shared<u32>, index: u32, value: u32) {
        let address = shared_address(numbers, index);
        unsafe { asm!("red.shared.max.u32 [{0}], {1};", in(reg32) address, in(reg32) value, options(nostack)) }
    }

    #[inline(always)]
    fn anew(self, number: u32) -> u32 {
        let same: u32;
        unsafe { asm!("mov.u32 {0}, {1};", out(reg32) same, in(reg32) number, options(nomem, nostack)) };
        same
    }

    #[inline(always)]
    fn fma<A: Accumulator>(self, a: A, b: A, c: A) -> A {
        use core::intrinsics::{fmaf32, fmaf64};
        unsafe {
            match A::TYPE {
                ElementType::F32 => transmute_copy(&fmaf32(transmute_copy(&a), transmute_copy(&b), transmute_copy(&c))),
                _ => transmute_copy(&fmaf64(transmute_copy(&a), transmute_copy(&b), transmute_copy(&c))),
            }
        }
    }

    #[inline(always)]
    fn sqrt(self, value: f64) -> f64 {
        let root: f64;
        unsafe {
            asm!("sqrt.rn.f64 {0}, {1};", out(reg64) root, in(reg64) value, options(pure, nomem, nostack));
        }
        root
    }

    #[inline(always)]
    fn near_sqrt(self, value: f32) -> f32 {
        let root: f32;
        unsafe {
            asm!("sqrt.approx.ftz.f32 {0}, {1};", out(reg32) root, in(reg32) value, options(pure, nomem, nostack));
        }
        root
    }

    #[inline(always)]
    fn near_reciprocal_sqrt(self, value: f32) -> f32 {
        let root: f32;
        unsafe {
            asm!("rsqrt.approx.f32 {0}, {1};", out(reg32) root, in(reg32) value, options(pure, nomem, nostack));
        }
        root
    }
}
