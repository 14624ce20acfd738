//! Planted bugs: each kind of broken rule is reported with kernel, block, thread and address; the
//! same kernel without the bug passes.
#![allow(clippy::undocumented_unsafe_blocks)] // the emulator checks what a GPU would not

use apron_abi::ElementType;
use apron_simt::{Fault, Geometry, Memory, Thread, launch};
use kernels_gpu::device::{Device, Global, Shared, TextureHandle};

const WIDTH: u32 = 8;
const THREADS: u32 = WIDTH * 4;
const BLOCKS: u32 = 3;

/// Runs `body(thread, number in the block, input, output)` on 3 blocks of 8x4 threads; input and output have one
/// element per thread.
fn run(barriers: bool, body: impl Fn(&Thread<'_, '_>, u32, Global<u32>, Global<u32>)) -> Result<Vec<u32>, Fault> {
    let mut memory = Memory::new();
    let values: Vec<u8> = (0..BLOCKS * THREADS).flat_map(|i| i.to_ne_bytes()).collect();
    let input = memory.add_written(ElementType::U32, &values);
    let output = memory.add_unwritten(ElementType::U32, (BLOCKS * THREADS) as u64);
    let geometry = Geometry {
        kernel: "planted",
        blocks: [BLOCKS, 1],
        block: [WIDTH, 4],
        shared_bytes: THREADS * 4,
        barriers,
        backwards: false,
    };
    launch(&mut memory, &geometry, &[1.0, 2.0], |thread| {
        let number = thread.thread_y() * WIDTH + thread.thread_x();
        body(thread, number, Global::at(input), Global::at(output));
    })?;
    let bytes = memory.take(output).expect("every element written");
    Ok(bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect())
}

fn global_index(thread: &Thread<'_, '_>, number: u32) -> u64 {
    (thread.block_x() * THREADS + number) as u64
}

/// Reverses each block through shared memory; `barrier` is called in between.
fn reverse(
    thread: &Thread<'_, '_>,
    number: u32,
    input: Global<u32>,
    output: Global<u32>,
    barrier: impl Fn(&Thread<'_, '_>),
) {
    let tile = Shared::<u32>::at(0);
    unsafe {
        thread.shared_store(tile, number, thread.load(input, global_index(thread, number)));
        barrier(thread);
        let other = thread.shared_load(tile, THREADS - 1 - number);
        thread.store(output, global_index(thread, number), other);
    }
}

#[track_caller]
fn expect(result: Result<Vec<u32>, Fault>, block: u32, thread: (u32, u32), what: &[&str]) {
    let fault = result.expect_err("a fault");
    assert_eq!((fault.kernel, fault.block, fault.thread), ("planted", block, thread), "{fault}");
    for part in what {
        assert!(fault.what.contains(part), "'{part}' in '{fault}'");
    }
}

#[test]
fn a_sound_kernel_runs() {
    let reversed = run(true, |t, n, i, o| reverse(t, n, i, o, |t| t.barrier())).unwrap();
    assert_eq!(reversed[..3], [31, 30, 29]);
    assert_eq!(reversed[95], 64);
}

#[test]
fn global_reads_out_of_bounds() {
    let result = run(false, |t, n, input, output| unsafe {
        let value = t.load(input, global_index(t, n) + 1);
        t.store(output, global_index(t, n), value);
    });
    expect(result, BLOCKS - 1, (7, 3), &["reads u32 from global memory at 0x", "out of bounds"]);
}

#[test]
fn global_writes_out_of_bounds() {
    let result = run(false, |t, n, _, output| unsafe {
        t.store(output, global_index(t, n).wrapping_sub(1), 0);
    });
    expect(result, 0, (0, 0), &["writes u32 to global memory", "out of bounds"]);
}

#[test]
fn global_reads_of_what_nothing_wrote() {
    let result = run(false, |t, n, _, output| unsafe {
        t.load(output, global_index(t, n));
    });
    expect(result, 0, (0, 0), &["element 0, which nothing wrote"]);
}

#[test]
fn an_output_that_is_not_all_written() {
    let mut memory = Memory::new();
    let output = memory.add_unwritten(ElementType::U8, 4);
    let geometry = Geometry {
        kernel: "planted",
        blocks: [1, 1],
        block: [3, 1],
        shared_bytes: 0,
        barriers: false,
        backwards: false,
    };
    launch(&mut memory, &geometry, &[], |t| unsafe { t.store(Global::at(output), t.thread_x() as u64, 1u8) }).unwrap();
    assert!(memory.take(output).unwrap_err().contains("element 3"));
}

#[test]
fn global_races() {
    let both_write = run(false, |t, n, _, output| unsafe { t.store(output, (n / 2) as u64, n) });
    expect(both_write, 0, (1, 0), &["data race with the write by block 0, thread 0"]);
    let across_blocks = run(false, |t, n, _, output| unsafe { t.store(output, n as u64, n) });
    expect(across_blocks, 1, (0, 0), &["data race with the write by block 0, thread 0"]);
    let read_what_is_written = run(false, |t, n, _, output| unsafe {
        t.store(output, global_index(t, n), n);
        t.load(output, global_index(t, n));
    });
    expect(read_what_is_written, 0, (0, 0), &["reads u32", "data race with the write by block 0, thread 0"]);
    let write_what_was_read = run(false, |t, n, input, _| unsafe {
        let value = t.load(input, 0);
        t.store(input, global_index(t, n), value);
    });
    expect(write_what_was_read, 0, (0, 0), &["writes u32", "data race with the read by block 0, thread 0"]);
}

#[test]
fn shared_out_of_bounds() {
    let result = run(true, |t, n, _, _| unsafe { t.shared_store(Shared::<u32>::at(0), n + 1, n) });
    expect(result, 0, (7, 3), &["writes u32 to shared memory at byte 128", "out of bounds"]);
    let far = run(true, |t, _, _, _| unsafe { t.shared_store(Shared::<u32>::at(0), u32::MAX, 0) });
    expect(far, 0, (0, 0), &["out of bounds"]);
}

#[test]
fn shared_reads_of_what_nothing_wrote() {
    let result = run(true, |t, n, _, _| unsafe {
        if n > 0 {
            t.shared_store(Shared::<u32>::at(0), n, n);
        }
        t.barrier();
        t.shared_load(Shared::<u32>::at(0), n);
    });
    expect(result, 0, (0, 0), &["reads u32 from shared memory at byte 0, which nothing wrote"]);
}

#[test]
fn what_an_earlier_block_wrote_is_not_there() {
    let result = run(true, |t, n, _, _| unsafe {
        if t.block_x() == 0 {
            t.shared_store(Shared::<u32>::at(0), n, n);
        }
        t.barrier();
        t.shared_load(Shared::<u32>::at(0), n);
    });
    expect(result, 1, (0, 0), &["which nothing wrote"]);
}

#[test]
fn shared_races() {
    // The barrier is missing: the last threads read what the first threads have just written.
    let missing_barrier = run(true, |t, n, input, output| {
        if n == 0 {
            for i in 0..THREADS {
                unsafe { t.shared_store(Shared::<u32>::at(0), i, 0) };
            }
        }
        t.barrier();
        reverse(t, n, input, output, |_| ());
    });
    expect(missing_barrier, 0, (0, 2), &["shared memory at byte 64", "data race with the read by thread 15"]);
    let both_write = run(true, |t, n, _, _| unsafe { t.shared_store(Shared::<u32>::at(0), n / 2, n) });
    expect(both_write, 0, (1, 0), &["writes u32 to shared memory at byte 0", "data race with the write by thread 0"]);
    let increments_meet_a_store = run(true, |t, n, _, _| unsafe {
        if n == 0 {
            t.shared_store(Shared::<u32>::at(0), 0, 0);
        } else {
            t.shared_increment(Shared::at(0), 0);
        }
    });
    expect(increments_meet_a_store, 0, (1, 0), &["updates u32", "data race with the write by thread 0"]);
    let maxima_meet_a_store = run(true, |t, n, _, _| unsafe {
        if n == 0 {
            t.shared_store(Shared::<u32>::at(0), 0, 0);
        } else {
            t.shared_max(Shared::at(0), 0, n);
        }
    });
    expect(maxima_meet_a_store, 0, (1, 0), &["updates u32", "data race with the write by thread 0"]);
    let a_read_among_increments = run(true, |t, n, _, _| unsafe {
        if n == 0 {
            t.shared_store(Shared::<u32>::at(0), 0, 0);
        }
        t.barrier();
        t.shared_increment(Shared::at(0), 0);
        if n == 5 {
            t.shared_load(Shared::<u32>::at(0), 0);
        }
    });
    expect(a_read_among_increments, 0, (5, 0), &["reads u32", "several threads"]);
    let misaligned = run(true, |t, n, _, _| unsafe {
        t.shared_store(Shared::<u32>::at(0), n, 0);
        t.barrier();
        t.shared_load4(Shared::<u32>::at(0), n % 4 * 2);
    });
    expect(misaligned, 0, (1, 0), &["reads 4", "misaligned"]);
}

#[test]
fn increments_and_maxima_do_not_race_with_each_other() {
    let counts = run(true, |t, n, _, output| unsafe {
        t.shared_store(Shared::<u32>::at(0), n, 0);
        t.barrier();
        t.shared_increment(Shared::at(0), n % 2);
        t.barrier();
        let count = t.shared_load(Shared::<u32>::at(0), n);
        t.store(output, global_index(t, n), count);
    });
    assert_eq!(counts.unwrap()[..3], [THREADS / 2, THREADS / 2, 0]);
    let maxima = run(true, |t, n, _, output| unsafe {
        t.shared_store(Shared::<u32>::at(0), n, 7);
        t.barrier();
        t.shared_max(Shared::at(0), n % 2, n);
        t.barrier();
        t.store(output, global_index(t, n), t.shared_load(Shared::<u32>::at(0), n));
    });
    assert_eq!(maxima.unwrap()[..3], [THREADS - 2, THREADS - 1, 7]);
}

#[test]
#[allow(clippy::if_same_then_else)] // two barriers that look alike are two all the same
fn barriers_that_not_every_thread_reaches() {
    let result = run(true, |t, n, _, _| {
        if n != 9 {
            t.barrier();
        }
    });
    expect(result, 0, (1, 1), &["ends without the barrier at", "planted.rs"]);
    let two_barriers = run(true, |t, n, _, _| {
        if n == 9 {
            t.barrier();
        } else {
            t.barrier();
        }
    });
    expect(two_barriers, 0, (1, 1), &["waits at the barrier at", "others at"]);
}

#[test]
fn a_warp_tells_itself_values() {
    let rotated = run(true, |t, n, _, output| unsafe {
        // Several times, some threads ahead of others.
        let value = (1..4).fold(n, |value, step| t.shuffle(value, (n + step) % 32));
        t.store(output, global_index(t, n), value);
    });
    assert_eq!(rotated.unwrap()[..3], [6, 7, 8]);
    let below = run(true, |t, n, _, output| unsafe {
        let value = t.shuffle_up(10 * n, 3);
        t.store(output, global_index(t, n), if n % 32 < 3 { 7 } else { value });
    });
    let below = below.unwrap();
    assert_eq!((&below[1..5], below[31]), (&[7, 7, 0, 10][..], 280));
    let votes = run(true, |t, n, _, output| unsafe {
        let votes = t.ballot(n % 5 == 1);
        t.store(output, global_index(t, n), votes);
    });
    assert_eq!(votes.unwrap()[40], 0b1000_0100_0010_0001_0000_1000_0100_0010);
}

#[test]
fn a_warp_multiplies_matrices() {
    // Sample k of row r is r + k. Column c is -2 in row c + 3, 3 in row c + 20, and else 0: products are r + c + 54.
    let packed = run(true, |t, n, _, output| unsafe {
        let (row, first) = (n % 32 / 4, n % 4 * 4);
        let word = |of: &dyn Fn(u32) -> u32| u32::from_le_bytes([0, 1, 2, 3].map(|k| of(k) as u8));
        let samples = |row: u32, k: u32| word(&|i| row + k + i);
        let factors = |column: u32, k: u32| {
            word(&|i| match k + i {
                k if k == column + 3 => -2i32 as u32,
                k if k == column + 20 => 3,
                _ => 0,
            })
        };
        let a = [(row, first), (row + 8, first), (row, first + 16), (row + 8, first + 16)];
        let a = a.map(|(row, k)| samples(row, k));
        let sums = t.multiply_bytes(a, [factors(row, first), factors(row, first + 16)], [1, 2, 3, -4]);
        t.store(output, global_index(t, n), word(&|i| sums[i as usize] as u32));
    });
    let packed = packed.unwrap();
    for (lane, sums) in (0..32).zip(packed) {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let expected = [row + column + 55, row + column + 57, row + column + 65, row + column + 59];
        assert_eq!(sums.to_le_bytes().map(i32::from), expected, "lane {lane}");
    }
}

#[test]
fn a_warp_of_which_not_all_are_there() {
    let products = run(true, |t, n, _, _| {
        if n != 9 {
            t.multiply_bytes([n; 4], [n; 2], [0; 4]);
        }
    });
    expect(products, 0, (1, 1), &["ends without the warp's exchange at", "planted.rs"]);
    let result = run(true, |t, n, _, _| {
        if n != 9 {
            t.ballot(true);
        }
    });
    expect(result, 0, (1, 1), &["ends without the warp's exchange at", "planted.rs"]);
    let others_at_a_barrier = run(true, |t, n, _, _| {
        if n == 9 {
            t.barrier();
        } else {
            t.shuffle(n, 0);
        }
    });
    expect(others_at_a_barrier, 0, (1, 1), &["waits at the barrier at", "others at the warp's exchange at"]);
}

#[test]
fn taps_out_of_bounds() {
    let result = run(false, |t, _, _, _| unsafe {
        t.tap(2);
    });
    expect(result, 0, (0, 0), &["reads tap 2 of a mask of 2: out of bounds"]);
}

#[test]
fn textures_clamp_and_give_units() {
    let mut memory = Memory::new();
    let bytes: Vec<u8> = (0..2 * 3 * 4).map(|i| i * 10).collect();
    let texture = memory.add_texture(2, 3, &bytes);
    let geometry = Geometry {
        kernel: "planted",
        blocks: [1, 1],
        block: [1, 1],
        shared_bytes: 0,
        barriers: false,
        backwards: false,
    };
    for (column, row, pixel) in [(0, 0, 0), (1, 2, 5), (-7, 1, 2), (9, -1, 1), (0, i32::MAX, 4)] {
        let expected = [0, 1, 2, 3].map(|channel| bytes[pixel * 4 + channel] as f32 / 255.0);
        let sound = launch(&mut memory, &geometry, &[], |t| {
            assert_eq!(unsafe { t.texel(TextureHandle(texture), column, row) }, expected, "{column}, {row}");
        });
        assert!(sound.is_ok());
    }
    let buffer = memory.add_written(ElementType::U8, &bytes);
    for handle in [0, buffer, texture + 1] {
        let fault = launch(&mut memory, &geometry, &[], |t| unsafe {
            t.texel(TextureHandle(handle), 0, 0);
        });
        assert!(fault.unwrap_err().what.contains("reads a texture at 0x"));
    }
}

#[test]
fn misaligned_words() {
    let mut memory = Memory::new();
    let input = memory.add_written(ElementType::U8, &[0; 8]);
    let geometry = Geometry {
        kernel: "planted",
        blocks: [1, 1],
        block: [1, 1],
        shared_bytes: 0,
        barriers: false,
        backwards: false,
    };
    let at = |offset: u64, memory: &mut Memory| {
        launch(memory, &geometry, &[], |t| unsafe {
            t.load(Global::<u32>::at(input + offset), 0);
        })
    };
    assert!(at(4, &mut memory).is_ok());
    assert!(at(2, &mut memory).unwrap_err().what.contains("misaligned"));
}
