//! Planted bugs around copies into shared memory: by bulk asynchronous copies, which complete a phase of an mbarrier,
//! and by threads, which wait for their own.
#![allow(clippy::undocumented_unsafe_blocks)] // the emulator checks what a GPU would not

use apron_abi::ElementType;
use apron_simt::{Fault, Geometry, Memory, Thread, launch};
use kernels_gpu::device::{Device, Global, Shared};

const THREADS: u32 = 8;
/// Words per row; shared memory holds two rows, and then an mbarrier.
const ROW: u32 = 8;
const MBARRIER: Shared<u64> = Shared::at(2 * ROW * 4);

fn row(number: u32) -> Shared<u32> {
    Shared::at(number * ROW * 4)
}

/// Runs `body(thread, number, input, output)` on a block of 8 threads; the input holds two rows with the numbers 0 to
/// 15, the output one element per thread.
fn run(body: impl Fn(&Thread<'_, '_>, u32, Global<u32>, Global<u32>)) -> Result<Vec<u32>, Fault> {
    let mut memory = Memory::new();
    let values: Vec<u8> = (0..2 * ROW).flat_map(|i| i.to_ne_bytes()).collect();
    let input = memory.add_written(ElementType::U32, &values);
    let output = memory.add_unwritten(ElementType::U32, THREADS as u64);
    let shared_bytes = MBARRIER.offset + 8;
    let geometry = Geometry {
        kernel: "planted",
        blocks: [1, 1],
        block: [THREADS, 1],
        shared_bytes,
        barriers: true,
        backwards: false,
    };
    launch(&mut memory, &geometry, &[], |t| body(t, t.thread_x(), Global::at(input), Global::at(output)))?;
    let bytes = memory.take(output).expect("every element written");
    Ok(bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect())
}

#[track_caller]
fn expect(result: Result<Vec<u32>, Fault>, thread: u32, what: &str) {
    let fault = result.expect_err("a fault");
    assert_eq!((fault.kernel, fault.thread), ("planted", (thread, 0)), "{fault}");
    assert!(fault.what.contains(what), "'{what}' in '{fault}'");
}

/// The first thread initializes the mbarrier; then a barrier.
unsafe fn start(t: &Thread<'_, '_>, n: u32) {
    if n == 0 {
        unsafe { t.mbarrier_init(MBARRIER) };
    }
    t.barrier();
}

/// The first thread starts the bulk asynchronous copy of a row of the input into a row of shared memory.
unsafe fn copy(t: &Thread<'_, '_>, n: u32, input: Global<u32>, from: u32, to: u32) {
    if n == 0 {
        unsafe { t.bulk_copy(row(to), input, (from * ROW) as u64, ROW, MBARRIER) };
    }
}

/// Each thread stores its neighbour's word of a row.
unsafe fn give(t: &Thread<'_, '_>, n: u32, number: u32, output: Global<u32>) {
    unsafe { t.store(output, n as u64, t.shared_load(row(number), (n + 1) % ROW)) };
}

#[test]
fn a_row_comes_with_its_mbarrier() {
    let result = run(|t, n, input, output| unsafe {
        start(t, n);
        copy(t, n, input, 0, 0);
        t.mbarrier_wait(MBARRIER, 0);
        t.barrier();
        copy(t, n, input, 1, 1);
        t.mbarrier_wait(MBARRIER, 1);
        give(t, n, 1, output);
    });
    assert_eq!(result.unwrap(), [9, 10, 11, 12, 13, 14, 15, 8]);
}

#[test]
fn reads_without_a_wait() {
    let result = run(|t, n, input, output| unsafe {
        start(t, n);
        copy(t, n, input, 0, 0);
        give(t, n, 0, output);
    });
    expect(result, 0, "which is being copied, and was not waited for");
    // A barrier does not wait for a copy, and neither does a wait for an earlier phase.
    let result = run(|t, n, input, output| unsafe {
        start(t, n);
        copy(t, n, input, 0, 0);
        t.mbarrier_wait(MBARRIER, 0);
        t.barrier();
        copy(t, n, input, 1, 1);
        t.barrier();
        give(t, n, 1, output);
    });
    expect(result, 0, "which is being copied, and was not waited for");
}

#[test]
fn waits_without_end() {
    let never_given = run(|t, n, _, _| unsafe {
        start(t, n);
        t.mbarrier_wait(MBARRIER, 0);
    });
    expect(never_given, 0, "whose phase nobody completes");
    let never_made = run(|t, _, _, _| unsafe { t.mbarrier_wait(MBARRIER, 0) });
    expect(never_made, 0, "which nobody initialized");
}

#[test]
fn phases_that_are_missed() {
    let result = run(|t, n, input, output| unsafe {
        start(t, n);
        copy(t, n, input, 0, 0);
        copy(t, n, input, 1, 1);
        t.mbarrier_wait(MBARRIER, 0);
        give(t, n, 0, output);
    });
    expect(result, 0, "whose next phase completed before this thread waited");
}

#[test]
fn mbarriers_that_others_do_not_know_of() {
    let result = run(|t, n, input, _| unsafe {
        if n == 0 {
            t.mbarrier_init(MBARRIER);
        }
        copy(t, n, input, 0, 0);
    });
    expect(result, 0, "which was not there before the last barrier");
}

#[test]
fn copies_over_what_is_read() {
    let result = run(|t, n, input, output| unsafe {
        start(t, n);
        copy(t, n, input, 0, 0);
        t.mbarrier_wait(MBARRIER, 0);
        give(t, n, 0, output);
        // The barrier is missing here. The last thread copies: the others have read before.
        if n == THREADS - 1 {
            t.bulk_copy(row(0), input, ROW as u64, ROW, MBARRIER);
        }
    });
    expect(result, THREADS - 1, "data race with the read");
}

#[test]
fn copies_that_are_misaligned_or_outside() {
    let copy = |to: u32, from: u64, count: u32| {
        run(move |t, n, input, _| unsafe {
            start(t, n);
            if n == 0 {
                t.bulk_copy(Shared::<u32>::at(to), input, from, count, MBARRIER);
            }
        })
    };
    expect(copy(4, 0, 4), 0, "misaligned");
    expect(copy(0, 1, 4), 0, "misaligned");
    expect(copy(0, 0, 3), 0, "misaligned");
    expect(copy(0, 12, 8), 0, "out of bounds");
}

#[test]
fn a_threads_own_copies_come_with_its_wait_and_the_barrier() {
    let result = run(|t, n, input, output| unsafe {
        t.start_copy(row(0), n, input, n as u64);
        t.end_copies();
        t.start_copy(row(1), n, input, (ROW + n) as u64);
        t.end_copies();
        // The second group may still be in flight.
        t.wait_copies::<1>();
        t.barrier();
        give(t, n, 0, output);
        t.wait_copies::<0>();
    });
    assert_eq!(result.unwrap(), [1, 2, 3, 4, 5, 6, 7, 0]);
}

#[test]
fn a_threads_own_copies_read_too_early() {
    let without_wait = run(|t, n, input, output| unsafe {
        t.start_copy(row(0), n, input, n as u64);
        t.end_copies();
        t.barrier();
        give(t, n, 0, output);
    });
    expect(without_wait, 0, "which is being copied, and was not waited for");
    let waited_for_another_group = run(|t, n, input, output| unsafe {
        t.start_copy(row(0), n, input, n as u64);
        t.end_copies();
        t.start_copy(row(1), n, input, n as u64);
        t.end_copies();
        t.wait_copies::<1>();
        t.barrier();
        give(t, n, 1, output);
    });
    expect(waited_for_another_group, 0, "which is being copied, and was not waited for");
    let group_not_ended = run(|t, n, input, output| unsafe {
        t.start_copy(row(0), n, input, n as u64);
        t.wait_copies::<0>();
        t.barrier();
        give(t, n, 0, output);
    });
    expect(group_not_ended, 0, "which is being copied, and was not waited for");
    let without_barrier = run(|t, n, input, output| unsafe {
        t.start_copy(row(0), n, input, n as u64);
        t.end_copies();
        t.wait_copies::<0>();
        if n > 0 {
            t.store(output, n as u64, t.shared_load(row(0), n - 1));
        }
    });
    expect(without_barrier, 1, "data race with the write by thread 0");
}

#[test]
fn four_at_once_are_aligned() {
    let result = run(|t, n, _, _| unsafe {
        t.shared_load4(Shared::<f32>::at(0), n + 1);
    });
    expect(result, 0, "misaligned");
    let result = run(|t, n, _, output| unsafe {
        t.store4(Global::<f32>::at(output.address), n as u64 + 1, [0.0; 4]);
    });
    expect(result, 0, "misaligned");
}
