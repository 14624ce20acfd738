//! Recipes of the local standard deviation.

mod prefix;

use crate::examples::{limit, shape};
use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Grids, Variant};
use crate::windows::Windows;
use crate::{Launch, Machine};
use apron_abi::{ElementType, Family, LOCAL_ROWS, LOCAL_SIDE, LocalTile, Params, local_columns};
use apron_core::{Border, Extent, LocalStd, PixelType, Result};

/// Plans windows of any size, summed in f64 in a fixed order.
fn ordered(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    windows(problem, 0.0)?.ordered(variant, ElementType::F64, machine)
}

/// Plans windows of floats of up to 16x16 pixels in one launch.
fn tiled(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (windows, size) = (windows(problem, 0.0)?, [problem.width, problem.height]);
    if size[0].max(size[1]) > LOCAL_SIDE {
        return Err(variant.refused(format!("windows of {}x{} pixels", size[0], size[1])));
    }
    let (src, out) = (problem.src.element(), windows.window.out);
    let kernel = kernels::find(variant.name, "", src, problem.dst.element())
        .ok_or_else(|| variant.refused(format!("{} to {} pixels", problem.src, problem.dst)))?;
    let shared_bytes = LocalTile::of(out.channels, size, src.size_bytes()).bytes;
    if shared_bytes > machine.shared_bytes {
        return Err(variant.refused(format!("{} bytes of shared memory per block", machine.shared_bytes)));
    }
    let launch = Launch {
        kernel,
        blocks: [(out.row_samples() as u32).div_ceil(local_columns(out.channels)), out.height.div_ceil(LOCAL_ROWS)],
        shared_bytes,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::OrderedParams(windows.ordered_params()),
        taps: [].into(),
    };
    Ok((windows.buffers(), vec![launch]))
}

/// Plans integer windows with sliding sums.
fn sliding(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    if !problem.sums_are_exact() {
        return Err(variant.refused(format!("{} pixels beside {}", problem.src, problem.border)));
    }
    // Where 32 bits suffice, bytes are summed as differences from 128.
    let most = if problem.src == PixelType::U8 { 128.0f64 } else { 65536.0 };
    windows(problem, most)?.slide(variant, machine)
}

/// Returns the windows of a problem whose samples, less any offset, have magnitudes up to `most`.
fn windows(problem: &LocalStd, most: f64) -> Result<Windows> {
    let count = problem.width as f64 * problem.height as f64;
    Ok(Windows {
        shape: problem.shape,
        src: problem.src,
        dst: problem.dst,
        window: problem.window()?,
        size: [problem.width, problem.height],
        border: problem.border.mode_of(problem.src),
        scale: [1.0 / count, 0.0],
        most: most * most * count,
    })
}

fn deviation(src: PixelType) -> LocalStd {
    let (dst, border, extent) = (PixelType::F32, Border::Wrap, Extent::Same);
    LocalStd { shape: shape(20, 3), src, dst, width: 300, height: 3, border, extent }
}

fn small(pixel: PixelType, side: u32) -> LocalStd {
    let (border, extent) = (Border::Wrap, Extent::Same);
    LocalStd { shape: shape(20, 3), src: pixel, dst: pixel, width: side, height: side, border, extent }
}

/// A problem in rows of 320 pixels of one channel.
fn gray(pixel: PixelType, side: u32) -> LocalStd {
    let (border, extent) = (Border::Wrap, Extent::Same);
    LocalStd { shape: shape(320, 1), src: pixel, dst: pixel, width: side, height: side, border, extent }
}

// Not swept: windows of integers go by prefix sums where these have room, else they slide if their sums are exact; other
// windows are summed in order, small ones in one launch.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        ..Variant::new("local-prefix", Family::Local, "gray u8, u16 and i16 pixels to the same", &For(prefix::plan))
            .examples(|| vec![limit(gray(PixelType::I16, 9), gray(PixelType::I16, 257))])
            .unswept()
    },
    Variant {
        rank: 2,
        grids: Grids { rows: &[0, 32, 64, 128], residents: &[2, 3, 4] },
        ..Variant::new("local-sliding", Family::Local, "integers", &For(sliding))
            .examples(|| vec![limit(deviation(PixelType::I16), deviation(PixelType::F32))])
            .unswept()
    },
    Variant {
        rank: 5,
        ..Variant::new("local-tiled", Family::Local, "f32 and f64 pixels to the same, windows to 16x16", &For(tiled))
            .examples(|| {
                vec![
                    limit(small(PixelType::F32, 16), small(PixelType::F32, 17)),
                    limit(small(PixelType::F64, 16), small(PixelType::F64, 17)),
                ]
            })
            .unswept()
    },
    Variant {
        rank: 10,
        grids: Grids { rows: &[0, 32, 64, 128], residents: &[1] },
        ..Variant::new("local-ordered", Family::Local, "u8, f32 and f64 pixels, any window", &For(ordered))
            .examples(|| vec![limit(deviation(PixelType::F32), deviation(PixelType::I16))])
            .unswept()
    },
];
