//! Replaces every byte by its entry in its channel's table.
//!
//! ```text
//! copy the tables to shared memory; barrier
//! each thread, striding by the whole grid: read 16 bytes, look each up, write 16 bytes
//! ```
//!
//! 4 KiB of shared memory, one word per entry. Per byte: 1/16 of a global load and of a store, one shared load; one
//! barrier per block.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{LookupParams, BYTE_BINS, LOOKUP_BLOCK, WORDS_AT_ONCE};

/// The kernel: writes one byte per byte that it reads.
///
/// Launch contract: input and output hold `samples` bytes and are aligned to 16, the table buffer holds `tables *
/// 256` bytes, of 1 to 4 tables, and the shared memory is as in the kernel table.
pub struct Table;

impl Body for Table {
    type Src = u8;
    type Dst = u8;
    type Params = LookupParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &LookupParams) {
        let (tables, thread) = (Shared::<u32>::at(0), d.thread_x());
        let mut entry = thread;
        while entry < p.tables * BYTE_BINS {
            // SAFETY: the buffer and shared memory hold `tables * 256` entries; one thread copies each.
            unsafe { d.shared_store(tables, entry, d.load(Global::<u8>::at(p.table), entry as u64) as u32) };
            entry += LOOKUP_BLOCK;
        }
        d.barrier();

        let (from, to) = (Global::<u32>::at(src.address), Global::<u32>::at(dst.address));
        let first = (d.block_x() * LOOKUP_BLOCK + thread) as u64;
        let sixteens = p.samples / 16;
        let mut at = first;
        while at < sixteens {
            // Channel of the first byte of 16, and then of each byte that follows.
            let mut channel = channel_of(at * 16, p.tables);
            // SAFETY: at < sixteens, the whole groups of 16 bytes; each table has an entry for every byte.
            unsafe {
                let mut words = d.load_words(from, at * WORDS_AT_ONCE);
                for w in 0..4 {
                    let mut found = 0;
                    for k in 0..4 {
                        let byte = words[w] >> (8 * k) & 0xff;
                        found |= d.shared_load(tables, channel * BYTE_BINS + byte) << (8 * k);
                        channel = if channel + 1 == p.tables { 0 } else { channel + 1 };
                    }
                    words[w] = found;
                }
                d.store4(to, at * WORDS_AT_ONCE, words);
            }
            at += (d.blocks_x() * LOOKUP_BLOCK) as u64;
        }
        // The 0 to 15 bytes after the last whole group of 16.
        let tail = sixteens * 16 + first;
        if tail < p.samples {
            let channel = channel_of(tail, p.tables);
            // SAFETY: tail < samples; each table has an entry for every byte.
            unsafe {
                let byte = d.load(src, tail) as u32;
                d.store(dst, tail, d.shared_load(tables, channel * BYTE_BINS + byte) as u8);
            }
        }
    }
}

/// Returns the table of a sample.
#[inline(always)]
fn channel_of(sample: u64, tables: u32) -> u32 {
    // A 64-bit division by a variable would be a call; by a constant it is not.
    match tables {
        1 => 0,
        2 => (sample % 2) as u32,
        3 => (sample % 3) as u32,
        _ => (sample % 4) as u32,
    }
}
