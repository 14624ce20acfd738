//! What the kernels' headers say that they cost, counted: global loads, shared loads and texture
//! reads of whole launches.
#![allow(clippy::undocumented_unsafe_blocks)] // every access is handed on to the emulator, which checks it

use apron_abi::{Accumulator, Element, SourceSpace};
use apron_core::{
    Bins, Border, ByteHistogram, Correlate, EdgeHistogram, Mask, PixelType, Problem, Separable, Shape, Taps,
};
use apron_emulator::{Geometry, Memory, Thread, launch};
use apron_plan::{Role, plan};
use kernels_gpu::device::{Device, Global, Shared, TextureHandle};
use std::cell::Cell;

/// Accesses of all threads, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Costs {
    loads: u64,
    shared_loads: u64,
    texels: u64,
    increments: u64,
    atomics: u64,
    /// Global loads of the thread that has the most.
    most_loads: u64,
}

/// A thread whose accesses are counted.
#[derive(Clone, Copy)]
struct Counted<'a, D> {
    thread: D,
    costs: &'a Cell<Costs>,
    /// Global loads of this thread.
    loads: &'a Cell<u64>,
}

impl<D> Counted<'_, D> {
    fn count(&self, add: impl FnOnce(&mut Costs)) {
        let mut costs = self.costs.get();
        add(&mut costs);
        self.costs.set(costs);
    }
}

impl<D: Device> Device for Counted<'_, D> {
    fn thread_x(self) -> u32 {
        self.thread.thread_x()
    }
    fn thread_y(self) -> u32 {
        self.thread.thread_y()
    }
    fn block_x(self) -> u32 {
        self.thread.block_x()
    }
    fn block_y(self) -> u32 {
        self.thread.block_y()
    }
    fn blocks_x(self) -> u32 {
        self.thread.blocks_x()
    }
    fn barrier(self) {
        self.thread.barrier();
    }
    fn ballot(self, yes: bool) -> u32 {
        self.thread.ballot(yes)
    }
    fn shuffle(self, value: u32, lane: u32) -> u32 {
        self.thread.shuffle(value, lane)
    }
    unsafe fn tap(self, index: u32) -> f32 {
        unsafe { self.thread.tap(index) }
    }
    unsafe fn taps4(self, index: u32) -> [f32; 4] {
        unsafe { self.thread.taps4(index) }
    }
    unsafe fn load<T: Element>(self, from: Global<T>, index: u64) -> T {
        self.loads.set(self.loads.get() + 1);
        self.count(|costs| {
            costs.loads += 1;
            costs.most_loads = costs.most_loads.max(self.loads.get());
        });
        unsafe { self.thread.load(from, index) }
    }
    unsafe fn load_words(self, from: Global<u32>, index: u64) -> [u32; 4] {
        [0, 1, 2, 3].map(|k| unsafe { self.load(from, index + k) })
    }
    unsafe fn texel(self, texture: TextureHandle, column: i32, row: i32) -> [f32; 4] {
        self.count(|costs| costs.texels += 1);
        unsafe { self.thread.texel(texture, column, row) }
    }
    unsafe fn store<T: Element>(self, to: Global<T>, index: u64, value: T) {
        unsafe { self.thread.store(to, index, value) }
    }
    unsafe fn atomic_add(self, to: Global<u64>, index: u64, value: u64) -> u64 {
        self.count(|costs| costs.atomics += 1);
        unsafe { self.thread.atomic_add(to, index, value) }
    }
    unsafe fn shared_load<T: Element>(self, from: Shared<T>, index: u32) -> T {
        self.count(|costs| costs.shared_loads += 1);
        unsafe { self.thread.shared_load(from, index) }
    }
    unsafe fn shared_store<T: Element>(self, to: Shared<T>, index: u32, value: T) {
        unsafe { self.thread.shared_store(to, index, value) }
    }
    unsafe fn shared_load4<T: Element>(self, from: Shared<T>, index: u32) -> [T; 4] {
        self.count(|costs| costs.shared_loads += 1);
        unsafe { self.thread.shared_load4(from, index) }
    }
    unsafe fn shared_load2<T: Element>(self, from: Shared<T>, index: u32) -> [T; 2] {
        self.count(|costs| costs.shared_loads += 1);
        unsafe { self.thread.shared_load2(from, index) }
    }
    unsafe fn store4<T: Element>(self, to: Global<T>, index: u64, values: [T; 4]) {
        unsafe { self.thread.store4(to, index, values) }
    }
    unsafe fn store2<T: Element>(self, to: Global<T>, index: u64, values: [T; 2]) {
        unsafe { self.thread.store2(to, index, values) }
    }
    fn bytes_of(self, word: u32) -> [f32; 4] {
        self.thread.bytes_of(word)
    }
    fn word_of(self, values: [f32; 4]) -> u32 {
        self.thread.word_of(values)
    }
    unsafe fn signal_start(self, signal: Shared<u64>) {
        unsafe { self.thread.signal_start(signal) }
    }
    unsafe fn signal(self, signal: Shared<u64>) {
        unsafe { self.thread.signal(signal) }
    }
    unsafe fn copy<T: Element>(self, to: Shared<T>, from: Global<T>, index: u64, count: u32, signal: Shared<u64>) {
        self.count(|costs| costs.loads += count as u64);
        unsafe { self.thread.copy(to, from, index, count, signal) }
    }
    unsafe fn signal_wait(self, signal: Shared<u64>, times: u32) {
        unsafe { self.thread.signal_wait(signal, times) }
    }
    unsafe fn start_copy<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        self.count(|costs| costs.loads += 1);
        unsafe { self.thread.start_copy(to, index, from, at) }
    }
    fn end_copies(self) {
        self.thread.end_copies();
    }
    fn wait_copies<const PENDING: u32>(self) {
        self.thread.wait_copies::<PENDING>();
    }
    unsafe fn shared_increment(self, counters: Shared<u32>, index: u32) {
        self.count(|costs| costs.increments += 1);
        unsafe { self.thread.shared_increment(counters, index) }
    }
    fn anew(self, number: u32) -> u32 {
        self.thread.anew(number)
    }
    fn fma<A: Accumulator>(self, a: A, b: A, c: A) -> A {
        self.thread.fma(a, b, c)
    }
}

/// The costs of each launch by which `variant` solves `problem`.
fn costs(problem: &Problem, variant: &str) -> Vec<Costs> {
    let recipe = plan(problem, Some(variant), &apron_plan::Machine::EMULATED).unwrap();
    let mut memory = Memory::new();
    let input = vec![1; recipe.buffers[0].size_bytes() as usize];
    let addresses: Vec<u64> = recipe
        .buffers
        .iter()
        .map(|buffer| match buffer.role {
            Role::Input => memory.add_written(buffer.element, &input),
            Role::Texture { width, height } => memory.add_texture(width, height, &input),
            Role::Scratch | Role::Output => memory.add_unwritten(buffer.element, buffer.elems),
            Role::Zeroed => memory.add_written(buffer.element, &vec![0; buffer.size_bytes() as usize]),
        })
        .collect();
    let launches = recipe.launches.iter().map(|step| {
        let facts = step.kernel.facts();
        let (blocks, block, shared_bytes) = (step.blocks, facts.block, step.shared_bytes);
        let (kernel, barriers, backwards) = (facts.entry, facts.barriers > 0, false);
        let geometry = Geometry { kernel, blocks, block, shared_bytes, barriers, backwards };
        let params = step.params_at(&addresses);
        let counted = Cell::new(Costs::default());
        launch(&mut memory, &geometry, &step.taps, |thread: Thread<'_, '_>| unsafe {
            let device = Counted { thread, costs: &counted, loads: &Cell::new(0) };
            kernels_gpu::run_on(device, step.kernel, addresses[step.src], addresses[step.dst], &params);
        })
        .unwrap();
        assert_eq!(counted.get().texels > 0, facts.source == SourceSpace::Texture, "{}", facts.entry);
        counted.get()
    });
    launches.collect()
}

fn correlate(shape: (u32, u32, u32), pixel: PixelType, mask: (u32, u32)) -> Problem {
    Problem::Correlate(Correlate {
        shape: Shape::new(shape.0, shape.1, shape.2).unwrap(),
        src: pixel,
        dst: pixel,
        mask: Mask::new(mask.0, mask.1, vec![0.0; (mask.0 * mask.1) as usize]).unwrap(),
        border: Border::Replicate,
        clamp: false,
    })
}

#[test]
fn dense() {
    // 64x96 pixels of 2 channels, in tiles 2 across and 3 down.
    let (samples, blocks, taps) = (64 * 96 * 2, 2 * 3, 5 * 7);
    let problem = correlate((64, 96, 2), PixelType::F32, (5, 7));
    for variant in ["naive", "constant"] {
        let expected = Costs { loads: samples * taps, most_loads: 2 * taps, ..Costs::default() };
        assert_eq!(costs(&problem, variant), [expected], "{variant}");
    }
    for variant in ["tiled", "tiled-symbol"] {
        let (loads, shared_loads) = (blocks * 2 * (31 + 5) * (31 + 7), samples * taps);
        // 1368 elements a tile are 2 batches of 1024 threads, in each of 2 channels.
        let expected = Costs { loads, shared_loads, most_loads: 2 * 2, ..Costs::default() };
        assert_eq!(costs(&problem, variant), [expected], "{variant}");
    }
}

#[test]
fn separable() {
    // 17 taps leave 16 outputs a tile: 4 tiles along each axis of 64x64.
    let taps = Taps::new(vec![0.0; 17]).unwrap();
    let (shape, border) = (Shape::new(64, 64, 1).unwrap(), Border::Replicate);
    let (src, dst) = (PixelType::F32, PixelType::F32);
    let problem = Problem::Separable(Separable { shape, src, dst, taps_x: taps.clone(), taps_y: taps, border });
    let simple = Costs { loads: 64 * 64 * 17, most_loads: 17, ..Costs::default() };
    assert_eq!(costs(&problem, "simple"), [simple; 2]);
    let tiled = Costs { loads: 4 * 32 * 64, shared_loads: 64 * 64 * 17, most_loads: 1, ..Costs::default() };
    assert_eq!(costs(&problem, "tiled"), [tiled; 2]);
}

#[test]
fn rgba() {
    // 4x5 blocks of 8x4 pixels.
    let (pixels, blocks) = (32 * 20, 4 * 5);
    let problem = correlate((32, 20, 4), PixelType::U8, (3, 3));
    let of = |variant: &str| costs(&problem, variant)[0];
    assert_eq!(of("rgba-naive"), Costs { loads: 288 * blocks, most_loads: 9, ..Costs::default() });
    assert_eq!(of("rgba-texture"), Costs { texels: pixels * 9, ..Costs::default() });
    let tile = Costs { loads: 60 * blocks, shared_loads: pixels * 9, ..Costs::default() };
    assert_eq!(of("rgba-one-loader"), Costs { most_loads: 60, ..tile });
    assert_eq!(of("rgba-cooperative"), Costs { most_loads: 2, ..tile });
}

#[test]
fn histogram() {
    // 3 blocks of 256 threads and 16 words each, and 3 bytes more.
    let bytes = 3 * 256 * 16 * 4 + 3;
    let shape = Shape::new(bytes as u32, 1, 1).unwrap();
    let launches = costs(&Problem::ByteHistogram(ByteHistogram { shape, per_channel: false }), "partials");
    let words = bytes / 4;
    let loads = Costs { loads: words + 3, most_loads: 17, ..Costs::default() };
    let partial = Costs { shared_loads: 3 * 8 * 256, increments: bytes, ..loads };
    // The tree of 256 sums: two loads for each of 255 additions, and one to write.
    let merge = Costs { loads: 256 * 3, shared_loads: 256 * (255 * 2 + 1), most_loads: 1, ..Costs::default() };
    assert_eq!(launches, [partial, merge]);
}

#[test]
fn histogram_in_one_launch() {
    // Two blocks of 1024 threads and 16 bytes each, of which the second has 5 sixteens, and 3 bytes more.
    let bytes = 1029 * 16 + 3;
    let shape = Shape::new(bytes as u32, 1, 1).unwrap();
    let launches = costs(&Problem::ByteHistogram(ByteHistogram { shape, per_channel: false }), "one-launch");
    // Both add each bin's 32 counters, four a load, to its total, and one takes it away again.
    let (shared_loads, atomics) = (2 * 256 * 32 / 4, 3 * 256);
    let loads = Costs { loads: bytes / 4 + 3, most_loads: 4 + 1, ..Costs::default() };
    assert_eq!(launches, [Costs { shared_loads, atomics, increments: bytes, ..loads }]);
}

#[test]
fn histogram_between_edges() {
    // Four loads of each thread of a block, and 3 samples more; 8 bins, of 32 counters each.
    let samples = 1024 * 16 + 3;
    let shape = Shape::new(samples as u32, 1, 1).unwrap();
    let bins = Bins { count: 8, range: Some((0.0, 1.0)) };
    let problem = Problem::EdgeHistogram(EdgeHistogram { shape, bins, extremes: None, per_channel: false });
    // Five blocks, so that a thread has one read of four, and three of them a sample more. All blocks add each bin's
    // counters to its total, and one takes it away again.
    let (sums, atomics) = (5 * 8 * 32 / 4, 6 * 8);
    let count = Costs { loads: samples, increments: samples, atomics, most_loads: 4 + 1, ..Costs::default() };
    let nearest = Costs { shared_loads: samples + sums, ..count };
    assert_eq!(costs(&problem, "nearest-edge"), [nearest]);
    // 10 rows, of which the second is found in 4 steps.
    assert_eq!(costs(&problem, "edge-search"), [Costs { shared_loads: 4 * samples + sums, ..count }]);
}
