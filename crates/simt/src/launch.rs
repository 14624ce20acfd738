//! Runs a grid: block after block, each thread a coroutine that yields at the barrier.

use crate::fault::Fault;
use crate::global::Memory;
use crate::shared::SharedMemory;
use crate::thread::{Costs, State, Thread, WARP, Wait};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;
use std::io;

/// Stack size per thread, in bytes; kernels need little, unoptimised builds more.
const STACK_BYTES: usize = 128 * 1024;

thread_local! {
    /// Stacks of finished threads: mapping 1024 new ones costs more than most blocks.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Entry name of the kernel, for faults.
    pub kernel: &'static str,
    /// Columns and rows of blocks.
    pub blocks: [u32; 2],
    /// Threads per block, x and y.
    pub block: [u32; 2],
    /// Shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Whether threads wait for each other; if not, they need no coroutines.
    pub barriers: bool,
    /// Whether the last block runs first, and the first one last.
    pub backwards: bool,
}

impl Geometry {
    /// Returns the size of the stacks that a launch needs at a time, in bytes; 0 without barriers.
    pub fn stack_bytes(&self) -> u64 {
        if self.barriers { self.threads() as u64 * STACK_BYTES as u64 } else { 0 }
    }

    fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }

    /// Reserves the stacks that a launch needs, so that the launch does not panic for lack of memory.
    ///
    /// # Errors
    /// The system's error if memory is short; the stacks reserved so far are released.
    pub fn reserve_stacks(&self) -> io::Result<()> {
        let missing = if self.barriers { self.threads().saturating_sub(STACKS.with_borrow(Vec::len)) } else { 0 };
        match (0..missing).map(|_| DefaultStack::new(STACK_BYTES)).collect::<io::Result<Vec<_>>>() {
            Ok(more) => STACKS.with_borrow_mut(|stacks| stacks.extend(more)),
            Err(error) => {
                // The next launch of fewer threads, or the caller's message, may need that memory.
                STACKS.take();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Runs `body` once for every thread of the grid, and counts the accesses.
///
/// # Errors
/// The first [`Fault`], at the end of the block in which it happened.
///
/// # Panics
/// If memory for the threads' stacks is short: [`Geometry::reserve_stacks`] reports this in advance.
pub fn launch(
    memory: &mut Memory,
    geometry: &Geometry,
    taps: &[f32],
    body: impl Fn(&Thread<'_, '_>),
) -> Result<Costs, Fault> {
    memory.start_launch();
    let shared = SharedMemory::new(geometry.shared_bytes);
    let [width, height] = geometry.block;
    let threads = geometry.threads();
    let state = State {
        memory,
        shared,
        interval: 1,
        told: vec![Default::default(); threads],
        times: vec![0; threads],
        fault: None,
        costs: Costs::default(),
        loads: vec![0; threads],
    };
    let state = RefCell::new(state);
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
            (0..width * height).for_each(|number| body(&thread(number)));
        }
        let mut state = state.borrow_mut();
        state.interval += 1;
        state.loads.fill(0);
        if let Some(fault) = state.fault.take() {
            return Err(fault);
        }
    }
    Ok(state.into_inner().costs)
}

/// Runs one block to its end, from barrier to barrier.
#[allow(unsafe_code)]
fn run_block<'t, 'm: 't>(threads: u32, thread: impl Fn(u32) -> Thread<'t, 'm>, body: &impl Fn(&Thread<'_, '_>)) {
    let mut running: Vec<(Thread<'t, 'm>, Coroutine<(), Wait, ()>)> = (0..threads)
        .map(|number| {
            let thread = thread(number);
            let stack = STACKS.with_borrow_mut(Vec::pop);
            let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("memory for a thread's stack"));
            let run = move |yielder: &Yielder<(), Wait>, ()| body(&Thread { yielder: Some(yielder), ..thread });
            // SAFETY: what the closure borrows outlives the coroutine, which this function runs to
            // its end or, should the body panic, drops.
            (thread, unsafe { Coroutine::with_stack_unchecked(stack, run) })
        })
        .collect();
    while let Some((first, _)) = running.first() {
        let state = first.state;
        let mut block = Meeting::default();
        let mut still_running = Vec::with_capacity(running.len());
        let mut rest = running.into_iter().peekable();
        while let Some((first, _)) = rest.peek() {
            let number = first.number as u32 / WARP;
            let mut warp: Vec<_> =
                std::iter::from_fn(|| rest.next_if(|(thread, _)| thread.number as u32 / WARP == number)).collect();
            // As long as all threads of the warp wait for each other.
            loop {
                let mut meeting = Meeting::default();
                let mut waiting = Vec::with_capacity(warp.len());
                for (thread, mut coroutine) in warp {
                    match coroutine.resume(()) {
                        CoroutineResult::Return(()) => {
                            meeting.ends(thread);
                            STACKS.with_borrow_mut(|stacks| stacks.push(coroutine.into_stack()));
                        }
                        CoroutineResult::Yield(wait) => {
                            meeting.waits(thread, wait);
                            waiting.push((thread, coroutine));
                        }
                    }
                }
                warp = waiting;
                if !meeting.waiting.is_some_and(|(_, wait)| wait.warp) {
                    block.join(meeting);
                    break;
                }
                meeting.close();
            }
            still_running.append(&mut warp);
        }
        block.close();
        state.borrow_mut().interval += 1;
        running = still_running;
    }
}

/// Threads that should all wait for the same event, or all have ended.
#[derive(Default)]
struct Meeting<'t, 'm> {
    /// First thread that ended, and first thread that waits, with the event.
    ended: Option<Thread<'t, 'm>>,
    waiting: Option<(Thread<'t, 'm>, Wait)>,
}

impl<'t, 'm> Meeting<'t, 'm> {
    fn ends(&mut self, thread: Thread<'t, 'm>) {
        self.ended.get_or_insert(thread);
    }

    fn waits(&mut self, thread: Thread<'t, 'm>, wait: Wait) {
        let (_, expected) = *self.waiting.get_or_insert((thread, wait));
        if wait != expected {
            let what = format!("waits at the {wait}, others at the {expected}");
            thread.note(&mut thread.state.borrow_mut(), what);
        }
    }

    /// Adds the threads of a warp.
    fn join(&mut self, warp: Meeting<'t, 'm>) {
        if let Some(thread) = warp.ended {
            self.ends(thread);
        }
        if let Some((thread, wait)) = warp.waiting {
            self.waits(thread, wait);
        }
    }

    /// Records a fault if some threads wait for an event that others will never reach.
    fn close(self) {
        if let (Some(ended), Some((_, wait))) = (self.ended, self.waiting) {
            ended.note(&mut ended.state.borrow_mut(), format!("ends without the {wait}, where others wait"));
        }
    }
}
