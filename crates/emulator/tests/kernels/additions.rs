//! Atomic additions in global memory, and zeroed memory of recipes: planted bugs are reported.
#![allow(clippy::undocumented_unsafe_blocks)] // the emulator checks what a GPU would not

use apron_abi::ElementType;
use apron_core::{ByteHistogram, Problem, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, Role, plan};
use apron_simt::{Fault, Geometry, Memory, Thread, launch};
use kernels_gpu::device::{Device, Global};

const WIDTH: u32 = 8;
const THREADS: u32 = WIDTH * 4;
const BLOCKS: u32 = 3;

/// Runs `body(thread, number in the block, sums, output)` on 3 blocks of 8x4 threads; returns the sums, which start at
/// 0, and the outputs.
fn run(
    backwards: bool,
    body: impl Fn(&Thread<'_, '_>, u32, Global<u64>, Global<u64>),
) -> Result<(Vec<u64>, Vec<u64>), Fault> {
    let mut memory = Memory::new();
    let elements = (BLOCKS * THREADS) as u64;
    let sums = memory.add_written(ElementType::U64, &vec![0; elements as usize * 8]);
    let output = memory.add_unwritten(ElementType::U64, elements);
    let (blocks, block, shared_bytes) = ([BLOCKS, 1], [WIDTH, 4], 0);
    let geometry = Geometry { kernel: "planted", blocks, block, shared_bytes, barriers: false, backwards };
    launch(&mut memory, &geometry, &[], |thread| {
        let number = thread.thread_y() * WIDTH + thread.thread_x();
        body(thread, number, Global::at(sums), Global::at(output));
    })?;
    let mut words = |address| -> Vec<u64> {
        let bytes = memory.take(address).expect("every element written");
        bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
    };
    Ok((words(sums), words(output)))
}

#[track_caller]
fn expect<T: std::fmt::Debug>(result: Result<T, Fault>, block: u32, thread: (u32, u32), what: &[&str]) {
    let fault = result.expect_err("a fault");
    assert_eq!((fault.block, fault.thread), (block, thread), "{fault}");
    for part in what {
        assert!(fault.what.contains(part), "'{part}' in '{fault}'");
    }
}

#[test]
fn additions_meet_no_race_and_give_what_was_before() {
    let last = (BLOCKS * THREADS - 1) as usize;
    for backwards in [false, true] {
        let (sums, before) = run(backwards, |t, n, sums, output| unsafe {
            let before = t.atomic_add(sums, 5, 10);
            t.store(output, (t.block_x() * THREADS + n) as u64, before);
        })
        .unwrap();
        assert_eq!((sums[5], sums[4]), ((BLOCKS * THREADS) as u64 * 10, 0));
        // Threads of a block run in order; blocks in the requested order.
        let first = if backwards { (BLOCKS - 1) * THREADS } else { 0 } as usize;
        assert_eq!(before[first], 0);
        assert_eq!(before[last] == last as u64 * 10, !backwards);
    }
}

#[test]
fn additions_beside_other_accesses() {
    let read = run(false, |t, n, sums, _| unsafe {
        t.atomic_add(sums, 0, 1);
        if n == 9 {
            t.load(sums, 0);
        }
    });
    expect(read, 0, (1, 1), &["reads u64", "data race with the addition by block 0, thread 9"]);
    // Even for the thread that added last, because no fence orders the store.
    let write = run(false, |t, n, sums, _| unsafe {
        if t.atomic_add(sums, n as u64, 1) + 1 == BLOCKS as u64 {
            t.store(sums, n as u64, 0u64);
        }
    });
    expect(write, BLOCKS - 1, (0, 0), &["writes u64", "data race with the addition by block 2, thread 0"]);
    let added_to_what_was_read = run(false, |t, n, sums, _| unsafe {
        t.load(sums, 3);
        t.atomic_add(sums, n as u64, 1);
    });
    expect(added_to_what_was_read, 0, (3, 0), &["adds to u64", "data race with the read by block 0, thread 3"]);
    let added_to_what_was_written = run(false, |t, n, sums, _| unsafe {
        if n == 0 {
            t.store(sums, 3, 0u64);
        }
        t.atomic_add(sums, n as u64, 1);
    });
    expect(added_to_what_was_written, 0, (3, 0), &["data race with the write by block 0, thread 0"]);
    let added_to_nothing = run(false, |t, _, _, output| unsafe {
        t.atomic_add(output, 2, 1);
    });
    expect(added_to_nothing, 0, (0, 0), &["adds to u64", "element 2, which nothing wrote"]);
    let added_beyond = run(false, |t, _, sums, _| unsafe {
        t.atomic_add(sums, (BLOCKS * THREADS) as u64, 1);
    });
    expect(added_beyond, 0, (0, 0), &["adds to u64", "out of bounds"]);
}

/// A recipe whose kernel writes to zeroed memory and leaves it.
#[test]
fn zeroed_memory_that_is_not_zeroed_again() {
    let shape = Shape::new(100, 1, 1).unwrap();
    let problem = Problem::from(ByteHistogram { shape, per_channel: false });
    let mut recipe = plan(&problem, Some("histogram-columns"), &Machine::EMULATED).unwrap();
    assert!(execute(&recipe, &[3; 100]).is_ok());
    recipe.buffers[1].role = Role::Zeroed;
    let error = execute(&recipe, &[3; 100]).unwrap_err().to_string();
    assert!(error.contains("element 3 of the zeroed memory is not 0 again"), "{error}");
}
