//! Runs a grid: block after block, each thread a coroutine that yields at the barrier.

use crate::fault::Fault;
use crate::global::Memory;
use crate::shared::SharedMemory;
use crate::thread::{Site, State, Thread};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;

/// Stack of a thread, in bytes; kernels need little, unoptimised builds more.
const STACK_BYTES: usize = 128 * 1024;

thread_local! {
    /// Stacks of finished threads: mapping 1024 of them anew costs more than most blocks.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Entry name of the kernel, for faults.
    pub kernel: &'static str,
    /// Columns and rows of blocks.
    pub blocks: [u32; 2],
    /// Threads of a block, x and y.
    pub block: [u32; 2],
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Whether the kernel has barriers; without, its threads need no coroutines.
    pub barriers: bool,
    /// Whether the last block runs first, and the first one last.
    pub backwards: bool,
}

/// Runs `body` once for every thread of the grid.
///
/// # Errors
/// The first [`Fault`], at the end of the block in which it happened.
pub fn launch(
    memory: &mut Memory,
    geometry: &Geometry,
    taps: &[f32],
    body: impl Fn(Thread<'_, '_>),
) -> Result<(), Fault> {
    memory.start_launch();
    let shared = SharedMemory::new(geometry.shared_bytes);
    let state = RefCell::new(State { memory, shared, interval: 1, fault: None });
    let [width, height] = geometry.block;
    let [columns, rows] = geometry.blocks;
    let number = |place: u64| if geometry.backwards { columns as u64 * rows as u64 - 1 - place } else { place };
    for place in 0..columns as u64 * rows as u64 {
        let block = [(number(place) % columns as u64) as u32, (number(place) / columns as u64) as u32];
        if geometry.shared_bytes > 0 {
            state.borrow_mut().shared.start_block();
        }
        let thread = |number: u32| Thread {
            state: &state,
            yielder: None,
            kernel: geometry.kernel,
            taps,
            blocks_x: columns,
            block,
            x: number % width,
            y: number / width,
            number: number as u16,
        };
        if geometry.barriers {
            run_block(width * height, thread, &body);
        } else {
            (0..width * height).for_each(|number| body(thread(number)));
        }
        let mut state = state.borrow_mut();
        state.interval += 1;
        if let Some(fault) = state.fault.take() {
            return Err(fault);
        }
    }
    Ok(())
}

/// Runs one block to its end, from barrier to barrier.
#[allow(unsafe_code)]
fn run_block<'t, 'm: 't>(threads: u32, thread: impl Fn(u32) -> Thread<'t, 'm>, body: &impl Fn(Thread<'_, '_>)) {
    let mut running: Vec<(Thread<'t, 'm>, Coroutine<(), Site, ()>)> = (0..threads)
        .map(|number| {
            let thread = thread(number);
            let stack = STACKS.with_borrow_mut(Vec::pop);
            let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("memory for a thread's stack"));
            let run = move |yielder: &Yielder<(), Site>, ()| body(Thread { yielder: Some(yielder), ..thread });
            // SAFETY: what the closure borrows outlives the coroutine, which this function runs to
            // its end or, should the body panic, drops.
            (thread, unsafe { Coroutine::with_stack_unchecked(stack, run) })
        })
        .collect();
    while let Some((first, _)) = running.first() {
        let state = first.state;
        let mut finished: Option<Thread<'t, 'm>> = None;
        let mut waiting: Option<(Thread<'t, 'm>, Site)> = None;
        let mut still_running = Vec::with_capacity(running.len());
        for (thread, mut coroutine) in running {
            match coroutine.resume(()) {
                CoroutineResult::Return(()) => {
                    finished.get_or_insert(thread);
                    STACKS.with_borrow_mut(|stacks| stacks.push(coroutine.into_stack()));
                }
                CoroutineResult::Yield(site) => {
                    let (_, expected) = *waiting.get_or_insert((thread, site));
                    if !std::ptr::eq(site, expected) && site != expected {
                        let what = format!("waits at the barrier at {site}, others at {expected}");
                        thread.note(&mut state.borrow_mut(), what);
                    }
                    still_running.push((thread, coroutine));
                }
            }
        }
        if let (Some(finished), Some((_, site))) = (finished, waiting) {
            finished.note(&mut state.borrow_mut(), format!("ends without the barrier at {site}, where others wait"));
        }
        state.borrow_mut().interval += 1;
        running = still_running;
    }
}
