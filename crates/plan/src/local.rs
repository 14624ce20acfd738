//! Recipes of the local standard deviation.

use crate::Machine;
use crate::examples::{limit, shape};
use crate::recipe::Steps;
use crate::variant::{For, Grids, Variant};
use crate::windows::Windows;
use apron_abi::{ElementType, Family};
use apron_core::{Border, Extent, LocalStd, PixelType, Result};

/// Plans windows of any size, summed in f64 in a fixed order.
fn ordered(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    windows(problem, 0.0)?.ordered(variant, ElementType::F64, machine)
}

/// Plans small windows of floats in one launch.
fn tiled(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    windows(problem, 0.0)?.tiled(variant, machine)
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

// Not swept: windows slide if their sums are exact, and are summed in order otherwise, in one launch
// where a kernel does.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
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
                    limit(small(PixelType::F16, 15), small(PixelType::F16, 17)),
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
