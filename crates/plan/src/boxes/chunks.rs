//! Recipes of windows by chunks of samples, whose row sums stay in shared memory.

use super::{OPERATION, buffers, find, params, rows};
use crate::machine::Tuning;
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Launch, Machine, unsupported};
use apron_abi::{BOX_PACKED, BoxParams, BoxSums, BoxTile, Params, box_pixels};
use apron_core::{BoxFilter, PixelType, Result};

/// Plans one launch.
pub(super) fn plan(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let size = [problem.width, problem.height];
    if problem.src == PixelType::U8 && problem.width > BOX_PACKED {
        let what = format!("u8 windows over {BOX_PACKED} wide (this one is {})", problem.width);
        return Err(unsupported(OPERATION, what, "leave the variant to the plan"));
    }
    let all = kinds(problem);
    let last = all.last().expect("there are some");
    let fits = |kind: &&Kind| kind.tile(size).bytes <= machine.shared_bytes;
    // If no kernel fits, the error reports the shared memory that the last one needs.
    let kind = all.iter().find(fits).unwrap_or(last);
    let (tile, chunk) = (kind.tile(size), kind.sums.chunk());
    // f32 chunks are aligned to the image's chunks; byte chunks may start at any column and row.
    let start = |origin: i32| match kind.sums {
        BoxSums::Floats => origin.div_euclid(chunk as i32) * chunk as i32,
        BoxSums::Bytes => origin,
    };
    let (left, top) = (start(window.origin_x), start(window.origin_y));
    let columns = window.out.width + (window.origin_x - left) as u32;
    let strips = columns.div_ceil(kind.strip * kind.pixels());
    let before = problem.height - 1 + (window.origin_y - top) as u32;
    let kernel = find(problem, variant, kind.stage, problem.src.element(), problem.dst.element())?;
    let residents = machine.residents(tile.bytes).clamp(1, kernel.facts().residents);
    let all = rows(window.out.height, before, strips, residents * machine.multiprocessors, chunk);
    let rows = match machine.tuning {
        Some(Tuning { rows: some @ 1.., .. }) => some.max(before).next_multiple_of(chunk).min(all),
        _ => all,
    };
    let launch = Launch {
        kernel,
        blocks: [strips, window.out.height.div_ceil(rows)],
        shared_bytes: tile.bytes,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::BoxParams(BoxParams { left, top, rows, tile, ..params(problem, &window) }),
        taps: [].into(),
    };
    Ok((buffers(problem, &window), vec![launch]))
}

/// A kernel of the variant `boxes-chunks`.
struct Kind {
    stage: &'static str,
    sums: BoxSums,
    channels: u32,
    /// Width of a strip: pixels for f32, words of four bytes for bytes.
    strip: u32,
}

/// Kernels for a problem, the preferred one first.
fn kinds(problem: &BoxFilter) -> Vec<Kind> {
    let channels = problem.shape.channels;
    let kind = |stage, sums, strip| Kind { stage, sums, channels, strip };
    match problem.src {
        PixelType::U8 => {
            let small = problem.samples() <= BOX_PACKED as u64;
            let (wide, narrow) = match (channels, small) {
                (4, true) => ("small-rgba", "narrow-rgba"),
                (4, false) => ("large-rgba", "narrow-rgba"),
                (_, true) => ("small", "narrow"),
                (_, false) => ("large", "narrow"),
            };
            vec![kind(wide, BoxSums::Bytes, 128), kind(narrow, BoxSums::Bytes, 64)]
        }
        _ => {
            let (stage, strip) = [("c1", 128), ("c2", 64), ("c3", 64), ("c4", 64)][channels as usize - 1];
            vec![kind(stage, BoxSums::Floats, strip)]
        }
    }
}

impl Kind {
    fn tile(&self, size: [u32; 2]) -> BoxTile {
        BoxTile::of(self.sums, self.channels, size, self.strip)
    }

    /// Returns the pixels per column of a strip: one for f32; for bytes, the pixels of a word of four bytes.
    fn pixels(&self) -> u32 {
        match self.sums {
            BoxSums::Floats => 1,
            BoxSums::Bytes => box_pixels(self.channels),
        }
    }
}
