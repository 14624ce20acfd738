//! Recipes of deviations of integers by prefix sums along the rows.

use crate::kernels;
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::windows::{Kind, Prefix};
use crate::{Launch, Machine};
use apron_abi::{ElementType, Params, PrefixParams, WINDOWS_CHUNK};
use apron_core::{LocalStd, PixelType, Result};

/// Least width of the windows for which a block of bytes has several warps: a quarter of a warp's columns. On one H200,
/// windows of 255x255 take 0.107 ms with four and 0.143 ms with one, windows of 63x63 0.091 and 0.079 ms.
const WIDE: u32 = 128;

/// Least height of windows whose first sums come from a launch that sums chunks of rows, in rows.
const TALL: u32 = 48;

/// Resident warps per multiprocessor.
const RESIDENTS: u32 = 16;

/// Most pixels of a window: of bytes less 128, the sum of squares fits 32 bits; of 16 bits, the sum does.
const MOST: [u64; 2] = [(1 << 18) - 1, 1 << 16];

/// Most rows of a window: the squares of 8 columns sum to less than 2^51.
const TALLEST: u32 = 1 << 15;

/// Bits of a variance of bytes, and of the estimate's argument.
const BITS: [u32; 2] = [14, 32];

/// Plans blocks of one warp or of four.
pub(super) fn plan(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (src, shape, [width, height]) = (problem.src, problem.shape, [problem.width, problem.height]);
    let count = width as u64 * height as u64;
    let kind = |stage, warps| Some(Kind { stage, warps, tall: TALL });
    let kinds = match (src, shape.channels) {
        _ if src != problem.dst => None,
        (PixelType::U8, 1) if width < WIDE => Some([kind("narrow", 1), kind("wide", 4)]),
        (PixelType::U8 | PixelType::U16 | PixelType::I16, 1) => Some([kind("wide", 4), None]),
        _ => None,
    };
    let Some(kinds) = kinds else {
        return Err(variant.refused(format!("{src} to {} pixels of {} channels", problem.dst, shape.channels)));
    };
    if !problem.sums_are_exact() {
        return Err(variant.refused(format!("{src} pixels beside {}", problem.border)));
    }
    if count > MOST[src.size_bytes() - 1] || height > TALLEST {
        return Err(variant.refused(format!("windows of {width}x{height} pixels")));
    }
    // All blocks are resident at once. A block's first sums cost as much as a fraction of its outputs.
    let first = if height < TALL { height } else { height / WINDOWS_CHUNK + WINDOWS_CHUNK };
    let out = problem.window()?.out.height;
    let rows = |kind: Kind, across: u32| {
        let high = (RESIDENTS / kind.warps * machine.multiprocessors / across).max(1);
        out.div_ceil(high).max(first / 2)
    };
    let prefix = Prefix::of(shape, src, problem.window()?, [width, height], problem.border);
    let grid = prefix.and_then(|prefix| prefix.grid(kinds.into_iter().flatten(), rows));
    let (stage, grid) = grid.map_err(|windows| variant.refused(windows))?;
    // Such that the variance times the square of the count, shifted, fits the argument. The shift is even.
    let shift = ((count * count).ilog2() + 1 + BITS[0]).saturating_sub(BITS[1]).next_multiple_of(2);
    let params = PrefixParams {
        factor: 1.0 / count as f64,
        totals_pitch: grid.params.row_samples,
        count: count as u32,
        shift,
        root: ((1u64 << (shift / 2)) as f64 / count as f64) as f32,
        // Bytes are summed less 128.
        signed: (src != PixelType::U16) as u32,
        ..grid.params
    };
    let windows = super::windows(problem, if src == PixelType::U8 { 128.0 } else { 65536.0 })?;
    let (mut buffers, mut launches) = (windows.buffers(), Vec::new());
    if params.chunks > 0 {
        let sums = if src == PixelType::U8 { ElementType::U32 } else { ElementType::U64 };
        let totals = kernels::find("local-sliding", "totals", src.element(), sums).expect("it has all integers");
        let (buffer, launch) = windows.totals(totals, 2, params.chunks);
        buffers.push(buffer);
        launches.push(launch);
    }
    let kernel = kernels::find(variant.name, stage, src.element(), src.element())
        .ok_or_else(|| variant.refused(format!("{src} pixels")))?;
    launches.push(Launch {
        kernel,
        blocks: grid.blocks,
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::PrefixParams(params),
        taps: [].into(),
    });
    Ok((buffers, launches))
}
