//! One emulated GPU thread: the device layer over checked memory.

use crate::fault::Fault;
use crate::global::{Accessor, Memory};
use crate::shared::SharedMemory;
use apron_abi::{Accumulator, BYTE_UNIT, Element, ElementType, FromSum};
use corosensei::Yielder;
use kernels_gpu::device::{Device, Global, Shared, TextureHandle};
use std::cell::RefCell;
use std::panic::Location;

/// What a thread waits for, and the source location of the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Whether it waits for its warp only, and not for its block.
    pub(crate) warp: bool,
    pub(crate) site: &'static Location<'static>,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", if self.warp { "warp's exchange" } else { "barrier" }, self.site)
    }
}

/// Threads of a warp.
pub(crate) const WARP: u32 = 32;

/// What a thread passes to its warp: a value, or its words of two matrices.
pub(crate) type Told = [u32; 6];

/// State that all threads of a running launch share.
pub(crate) struct State<'m> {
    pub(crate) memory: &'m mut Memory,
    pub(crate) shared: SharedMemory,
    /// Barriers passed, over all blocks; starts at 1, since 0 stands for never.
    pub(crate) interval: u32,
    /// The last two values that each thread of the block passed to its warp: one thread may be ahead of another.
    pub(crate) told: Vec<[Told; 2]>,
    /// Number of values that each thread has passed.
    pub(crate) times: Vec<u32>,
    pub(crate) fault: Option<Fault>,
    pub(crate) costs: Costs,
    /// Global loads of each thread of the block.
    pub(crate) loads: Vec<u64>,
}

/// Accesses of all threads of a launch, in elements; for shared memory in loads of any number of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Loads from global memory, copies included.
    pub loads: u64,
    /// Loads from shared memory.
    pub shared_loads: u64,
    /// Texture reads.
    pub texels: u64,
    /// Increments of counters in shared memory.
    pub increments: u64,
    /// Atomic additions in global memory.
    pub atomics: u64,
    /// Global loads, without copies, of the thread with the most.
    pub most_loads: u64,
}

/// One thread of an emulated launch. After a fault its reads return zeros, and the launch ends with its block.
#[derive(Clone, Copy)]
pub struct Thread<'t, 'm> {
    pub(crate) state: &'t RefCell<State<'m>>,
    pub(crate) yielder: Option<&'t Yielder<(), Wait>>,
    pub(crate) kernel: &'static str,
    pub(crate) taps: &'t [f32],
    pub(crate) blocks_x: u32,
    /// Column and row of the block in the grid.
    pub(crate) block: [u32; 2],
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// Number of the thread in its block, row by row.
    pub(crate) number: u16,
}

impl Thread<'_, '_> {
    /// Performs an access, and records its fault if it is the first.
    #[inline]
    fn access<T: Default>(&self, access: impl FnOnce(&mut State<'_>) -> Result<T, String>) -> T {
        let mut state = self.state.borrow_mut();
        access(&mut state).unwrap_or_else(|what| {
            self.note(&mut state, what);
            T::default()
        })
    }

    #[cold]
    pub(crate) fn note(&self, state: &mut State<'_>, what: String) {
        let fault = Fault { kernel: self.kernel, block: self.block_number(), thread: (self.x, self.y), what };
        state.fault.get_or_insert(fault);
    }

    /// Returns the number of the block in the grid, row by row.
    pub(crate) fn block_number(&self) -> u32 {
        self.block[1].wrapping_mul(self.blocks_x).wrapping_add(self.block[0])
    }

    /// Multiplies a matrix of 16x32 bytes by one of 32x8, by `of` two bytes, and adds the product to 16x8 integers.
    #[track_caller]
    fn multiply(&self, a: [u32; 4], b: [u32; 2], sums: [i32; 4], of: fn(u8, u8) -> i32) -> [i32; 4] {
        let told = self.exchange_all([a[0], a[1], a[2], a[3], b[0], b[1]]);
        let (row, column) = (self.number as u32 % WARP / 4, self.number as u32 % 4 * 2);
        // The four lanes of a row of the one matrix, or of a column of the other: words 4 * quarter of its halves.
        let lanes = |line: u32| [0, 1, 2, 3].map(|quarter| told(4 * line + quarter));
        let (samples, factors) = (lanes(row), [lanes(column), lanes(column + 1)]);
        let product = |below: usize, factors: &[Told; 4]| {
            let words = samples
                .iter()
                .zip(factors)
                .flat_map(|(samples, factors)| [(samples[below], factors[4]), (samples[below + 2], factors[5])]);
            let products = words.flat_map(|(samples, factors)| {
                let (samples, factors) = (samples.to_le_bytes(), factors.to_le_bytes());
                [0, 1, 2, 3].map(|k| of(samples[k], factors[k]))
            });
            products.sum::<i32>()
        };
        [0, 1, 2, 3].map(|i| sums[i].wrapping_add(product(i / 2, &factors[i % 2])))
    }

    /// Checks that a vector access is aligned to its size.
    #[inline]
    fn aligned(&self, at: u64, bytes: u64, what: &str) {
        if !at.is_multiple_of(bytes) {
            self.access(|_| Err(format!("{what} at {at:#x}: misaligned")))
        }
    }

    /// Counts an access: in the costs of all threads, and in this thread's global loads.
    #[inline]
    fn count(&self, add: impl FnOnce(&mut Costs, &mut u64)) {
        let state = &mut *self.state.borrow_mut();
        add(&mut state.costs, &mut state.loads[self.number as usize]);
    }

    /// Returns elements of shared memory, by one load.
    #[inline]
    fn shared_elements<T: Element, const N: usize>(&self, from: Shared<T>, index: u32) -> [T; N] {
        self.count(|costs, _| costs.shared_loads += 1);
        std::array::from_fn(|i| {
            let byte = byte_of(from, index.saturating_add(i as u32));
            self.access(|state| state.shared.load(byte, self.number, state.interval))
        })
    }

    /// Passes a value to the warp, waits for all its threads, and returns a lookup of their values.
    #[track_caller]
    fn exchange(&self, value: u32) -> impl Fn(u32) -> u32 {
        let told = self.exchange_all([value, 0, 0, 0, 0, 0]);
        move |lane| told(lane)[0]
    }

    /// As [`exchange`](Thread::exchange), for several values.
    #[track_caller]
    fn exchange_all(&self, values: Told) -> impl Fn(u32) -> Told {
        let (number, mut round) = (self.number as usize, 0);
        let site = Location::caller();
        self.access(|state| {
            round = state.times[number] as usize % 2;
            state.told[number][round] = values;
            state.times[number] += 1;
            Ok(())
        });
        match self.yielder {
            Some(yielder) => yielder.suspend(Wait { warp: true, site }),
            None => self.access(|_| Err("talks to its warp in a kernel without barriers".into())),
        }
        let first = number - number % WARP as usize;
        move |lane| {
            let state = self.state.borrow();
            state.told.get(first + (lane % WARP) as usize).map_or(Told::default(), |told| told[round])
        }
    }

    fn accessor(&self, state: &State<'_>) -> Accessor {
        Accessor { block: self.block_number(), thread: self.number, interval: state.interval }
    }
}

fn byte_of<T: Element>(at: Shared<T>, index: u32) -> u32 {
    // Saturating: an index past all memory is reported there as out of bounds.
    index.saturating_mul(T::TYPE.size_bytes()).saturating_add(at.offset).min(u32::MAX - 8)
}

fn address_of<T: Element>(at: Global<T>, index: u64) -> u64 {
    at.address.wrapping_add(index.wrapping_mul(T::TYPE.size_bytes() as u64))
}

// The trait's SAFETY contracts are checked here instead of trusted. Accesses are not inlined: inlined into every
// kernel, their checks would be most of the code to compile.
#[allow(unsafe_code)]
impl Device for &Thread<'_, '_> {
    fn thread_x(self) -> u32 {
        self.x
    }

    fn thread_y(self) -> u32 {
        self.y
    }

    fn block_x(self) -> u32 {
        self.block[0]
    }

    fn block_y(self) -> u32 {
        self.block[1]
    }

    fn image(self) -> u32 {
        0
    }

    fn blocks_x(self) -> u32 {
        self.blocks_x
    }

    #[track_caller]
    fn barrier(self) {
        match self.yielder {
            Some(yielder) => yielder.suspend(Wait { warp: false, site: Location::caller() }),
            None => self.access(|_| Err("reaches a barrier that the kernel table does not have".into())),
        }
    }

    #[track_caller]
    fn ballot(self, yes: bool) -> u32 {
        let told = self.exchange(u32::from(yes));
        (0..WARP).map(|lane| told(lane) << lane).sum()
    }

    #[track_caller]
    fn shuffle(self, value: u32, lane: u32) -> u32 {
        self.exchange(value)(lane)
    }

    #[track_caller]
    fn shuffle_up(self, value: u32, lanes: u32) -> u32 {
        let (lane, of) = (self.number as u32 % WARP, self.exchange(value));
        lane.checked_sub(lanes).map_or(value, of)
    }

    #[track_caller]
    #[inline(never)]
    fn multiply_bytes(self, a: [u32; 4], b: [u32; 2], sums: [i32; 4]) -> [i32; 4] {
        self.multiply(a, b, sums, |a, b| a as i32 * b as i8 as i32)
    }

    #[track_caller]
    #[inline(never)]
    fn multiply_signed_bytes(self, a: [u32; 4], b: [u32; 2], sums: [i32; 4]) -> [i32; 4] {
        self.multiply(a, b, sums, |a, b| a as i8 as i32 * b as i32)
    }

    #[inline(never)]
    unsafe fn tap(self, index: u32) -> f32 {
        match self.taps.get(index as usize) {
            Some(tap) => *tap,
            None => self.access(|_| Err(format!("reads tap {index} of a mask of {}: out of bounds", self.taps.len()))),
        }
    }

    #[inline(never)]
    unsafe fn taps4(self, index: u32) -> [f32; 4] {
        if !index.is_multiple_of(4) {
            self.access(|_| Err(format!("reads 4 taps at {index}: misaligned")))
        }
        // SAFETY: every tap is checked where it is read.
        [0, 1, 2, 3].map(|i| unsafe { self.tap(index + i) })
    }

    #[inline(never)]
    unsafe fn load<T: Element>(self, from: Global<T>, index: u64) -> T {
        self.count(|costs, loads| {
            (costs.loads, *loads) = (costs.loads + 1, *loads + 1);
            costs.most_loads = costs.most_loads.max(*loads);
        });
        self.access(|state| state.memory.load(address_of(from, index), self.accessor(state)))
    }

    #[inline(never)]
    unsafe fn load_words(self, from: Global<u32>, index: u64) -> [u32; 4] {
        if !address_of(from, index).is_multiple_of(16) {
            self.access(|_| Err(format!("reads 4 words from word {index} of a buffer: misaligned")))
        }
        // SAFETY: every word is checked where it is read.
        [0, 1, 2, 3].map(|k| unsafe { self.load(from, index.wrapping_add(k)) })
    }

    #[inline(never)]
    unsafe fn texel(self, texture: TextureHandle, column: i32, row: i32) -> [f32; 4] {
        self.count(|costs, _| costs.texels += 1);
        self.access(|state| state.memory.texel(texture.0, column, row))
    }

    #[inline(never)]
    unsafe fn store<T: Element>(self, to: Global<T>, index: u64, value: T) {
        self.access(|state| state.memory.store(address_of(to, index), value, self.accessor(state)));
    }

    #[inline(never)]
    unsafe fn atomic_add(self, to: Global<u64>, index: u64, value: u64) -> u64 {
        self.count(|costs, _| costs.atomics += 1);
        self.access(|state| state.memory.atomic_add(address_of(to, index), value, self.accessor(state)))
    }

    #[inline(never)]
    unsafe fn shared_load<T: Element>(self, from: Shared<T>, index: u32) -> T {
        let [element] = self.shared_elements(from, index);
        element
    }

    #[inline(never)]
    unsafe fn shared_store<T: Element>(self, to: Shared<T>, index: u32, value: T) {
        self.access(|state| state.shared.store(byte_of(to, index), value, self.number, state.interval));
    }

    #[inline(never)]
    unsafe fn shared_load4<T: Element>(self, from: Shared<T>, index: u32) -> [T; 4] {
        self.aligned(byte_of(from, index) as u64, 16, "reads 4 words from shared memory");
        self.shared_elements(from, index)
    }

    #[inline(never)]
    unsafe fn shared_load2<T: Element>(self, from: Shared<T>, index: u32) -> [T; 2] {
        self.aligned(byte_of(from, index) as u64, 8, "reads 2 words from shared memory");
        self.shared_elements(from, index)
    }

    #[inline(never)]
    unsafe fn shared_store2<T: Element>(self, to: Shared<T>, index: u32, values: [T; 2]) {
        self.aligned(byte_of(to, index) as u64, 8, "writes 2 words to shared memory");
        for (i, value) in (0..).zip(values) {
            // SAFETY: every element is checked where it is written.
            unsafe { self.shared_store(to, index + i, value) };
        }
    }

    #[inline(never)]
    unsafe fn shared_store4<T: Element>(self, to: Shared<T>, index: u32, values: [T; 4]) {
        self.aligned(byte_of(to, index) as u64, 16, "writes 4 words to shared memory");
        for (i, value) in (0..).zip(values) {
            // SAFETY: every element is checked where it is written.
            unsafe { self.shared_store(to, index + i, value) };
        }
    }

    #[inline(never)]
    unsafe fn store4<T: Element>(self, to: Global<T>, index: u64, values: [T; 4]) {
        self.aligned(address_of(to, index), 16, "writes 4 words to global memory");
        for (i, value) in (0..).zip(values) {
            // SAFETY: every element is checked where it is written.
            unsafe { self.store(to, index + i, value) };
        }
    }

    #[inline(never)]
    unsafe fn store2<T: Element>(self, to: Global<T>, index: u64, values: [T; 2]) {
        self.aligned(address_of(to, index), 8, "writes 2 words to global memory");
        for (i, value) in (0..).zip(values) {
            // SAFETY: every element is checked where it is written.
            unsafe { self.store(to, index + i, value) };
        }
    }

    #[inline]
    fn bytes_of(self, word: u32) -> [f32; 4] {
        word.to_le_bytes().map(|byte| byte as f32 * BYTE_UNIT)
    }

    #[inline]
    fn word_of(self, values: [f32; 4]) -> u32 {
        u32::from_le_bytes(values.map(u8::from_sum))
    }

    #[inline(never)]
    unsafe fn mbarrier_init(self, mbarrier: Shared<u64>) {
        self.access(|state| state.shared.init_mbarrier(byte_of(mbarrier, 0), self.number, state.interval));
    }

    #[inline(never)]
    unsafe fn mbarrier_arrive(self, mbarrier: Shared<u64>) {
        self.access(|state| state.shared.arrive_mbarrier(byte_of(mbarrier, 0), state.interval));
    }

    #[inline(never)]
    unsafe fn bulk_copy<T: Element>(
        self,
        to: Shared<T>,
        from: Global<T>,
        index: u64,
        count: u32,
        mbarrier: Shared<u64>,
    ) {
        let (start, bytes) = (byte_of(to, 0), count.saturating_mul(T::TYPE.size_bytes()));
        let aligned = [start as u64, bytes as u64, address_of(from, index)].iter().all(|at| at.is_multiple_of(16));
        if !aligned || bytes == 0 {
            let at = address_of(from, index);
            return self.access(|_| Err(format!("copies {bytes} bytes from {at:#x} to byte {start}: misaligned")));
        }
        self.count(|costs, _| costs.loads += count as u64);
        self.access(|state| {
            let by = self.accessor(state);
            for i in 0..count {
                let value: T = state.memory.load(address_of(from, index + i as u64), by)?;
                let to = start + i * T::TYPE.size_bytes();
                state.shared.store_copied(to, value, byte_of(mbarrier, 0), self.number, state.interval)?;
            }
            state.shared.arrive_mbarrier(byte_of(mbarrier, 0), state.interval)
        });
    }

    #[inline(never)]
    unsafe fn mbarrier_wait(self, mbarrier: Shared<u64>, times: u32) {
        self.access(|state| state.shared.wait_mbarrier(byte_of(mbarrier, 0), times, self.number));
    }

    #[inline(never)]
    unsafe fn start_copy<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        self.count(|costs, _| costs.loads += 1);
        self.access(|state| {
            let value: T = state.memory.load(address_of(from, at), self.accessor(state))?;
            state.shared.start_copy(byte_of(to, index), value, self.number, state.interval)
        });
    }

    #[inline(never)]
    unsafe fn start_copy4<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        self.aligned(byte_of(to, index) as u64 | address_of(from, at), 16, "copies 16 bytes");
        for k in 0..4 {
            // SAFETY: the caller's promise.
            unsafe { self.start_copy(to, index + k, from, at + k as u64) };
        }
    }

    #[inline(never)]
    fn end_copies(self) {
        self.access(|state| {
            state.shared.end_copies(self.number);
            Ok(())
        });
    }

    #[inline(never)]
    fn wait_copies<const PENDING: u32>(self) {
        self.access(|state| {
            state.shared.wait_copies(PENDING, self.number, state.interval);
            Ok(())
        });
    }

    #[inline(never)]
    unsafe fn shared_increment(self, counters: Shared<u32>, index: u32) {
        self.count(|costs, _| costs.increments += 1);
        let byte = byte_of(counters, index);
        self.access(|state| state.shared.update(byte, self.number, state.interval, |count| count.wrapping_add(1)));
    }

    #[inline(never)]
    unsafe fn shared_max(self, numbers: Shared<u32>, index: u32, value: u32) {
        let byte = byte_of(numbers, index);
        self.access(|state| state.shared.update(byte, self.number, state.interval, |number| number.max(value)));
    }

    #[inline]
    fn anew(self, number: u32) -> u32 {
        number
    }

    #[inline]
    fn fma<A: Accumulator>(self, a: A, b: A, c: A) -> A {
        match A::TYPE {
            // f64 holds an f32 exactly, so the conversions lose nothing.
            ElementType::F32 => A::of(a.to_f32().mul_add(b.to_f32(), c.to_f32())),
            _ => A::from_f64(a.to_f64().mul_add(b.to_f64(), c.to_f64())),
        }
    }

    #[inline]
    fn sqrt(self, value: f64) -> f64 {
        value.sqrt()
    }

    #[inline]
    fn near_sqrt(self, value: f32) -> f32 {
        value.sqrt()
    }

    #[inline]
    fn near_reciprocal_sqrt(self, value: f32) -> f32 {
        // Off by the largest error that the contract allows, up or down, so that callers cannot rely on less.
        let off = if value.to_bits().is_multiple_of(2) { 1.0 - 1.0 / 4_194_304.0 } else { 1.0 + 1.0 / 4_194_304.0 };
        value.sqrt().recip() * off
    }
}
