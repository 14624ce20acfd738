//! Common parts of the recipes that sum products in one launch: marches, patches and tiles of words.

use crate::kernels;
use crate::rewrite::rounding;
use crate::variant::Variant;
use crate::{Buffer, Machine, Role};
use apron_abi::{
    BYTE_UNIT, DOUBLE_SCALE, ElementType, Half, Kernel, MARCH_AHEAD, MarchParams, MarchSums, Sample, march_lead,
    march_piece, tap_stride,
};
use apron_core::{Border, BoxFilter, Correlate, PixelType, Result, Scale, Separable, Shape, Window};

/// Accumulators of the patch and words kernels: f64 for integers.
pub(crate) fn exact_sums(src: PixelType) -> MarchSums {
    if src == PixelType::F32 { MarchSums::Floats } else { MarchSums::Doubles }
}

/// Returns the side of a square mask.
pub(crate) fn square(problem: &Correlate, variant: &Variant) -> Result<u32> {
    let mask = &problem.mask;
    let side = mask.width();
    if side != mask.height() || problem.clamp {
        return Err(variant.refused(format!("{side}x{} masks, or clamped sums", mask.height())));
    }
    Ok(side)
}

/// Returns the number of taps per axis, if it is the same along rows and columns.
pub(crate) fn both_axes(problem: &Separable, variant: &Variant) -> Result<u32> {
    let (side, other) = (problem.taps_x.len(), problem.taps_y.len());
    if side != other {
        return Err(variant.refused(format!("{side} taps along rows and {other} along columns")));
    }
    Ok(side)
}

/// Returns the sum of |tap|.
pub(crate) fn total(taps: &[f32]) -> f64 {
    taps.iter().map(|tap| tap.abs() as f64).sum()
}

/// Returns the bits of an f64 tap as two f32 taps of the launch, the lower half first.
pub(crate) fn halves(tap: f64) -> [f32; 2] {
    let bits = tap.to_bits();
    [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]
}

/// A filter that is computed in one launch.
pub(crate) struct Summation {
    pub(crate) shape: Shape,
    pub(crate) src: PixelType,
    pub(crate) dst: PixelType,
    pub(crate) border: Border,
    /// The variant whose kernels are used, in the kernel table.
    kernels: &'static str,
    pub(crate) sums: MarchSums,
    pub(crate) dense: bool,
    /// Error bound of f32 sums that are rounded to bytes.
    slack: f32,
    /// Bound on the gain of any sum, intermediate ones included.
    total: f64,
}

impl Summation {
    /// Returns the summation of a correlation with a mask.
    pub(crate) fn of_dense(sums: MarchSums, problem: &Correlate, variant: &Variant) -> Summation {
        let taps = problem.mask.taps();
        Summation {
            shape: problem.shape,
            src: problem.src,
            dst: problem.dst,
            border: problem.border,
            kernels: variant.kernels,
            sums,
            dense: true,
            slack: if problem.src == PixelType::U8 { rounding::dense_slack(taps) } else { 0.0 },
            total: total(taps),
        }
    }

    /// Returns the summation of both passes of a separable filter.
    pub(crate) fn of_separable(sums: MarchSums, problem: &Separable, variant: &Variant) -> Summation {
        let (taps_x, taps_y) = (problem.taps_x.taps(), problem.taps_y.taps());
        Summation {
            shape: problem.shape,
            src: problem.src,
            dst: problem.dst,
            border: problem.border,
            kernels: variant.kernels,
            sums,
            dense: false,
            slack: if problem.src == PixelType::U8 { rounding::separable_slack(taps_x, taps_y) } else { 0.0 },
            total: total(taps_x).max(1.0) * total(taps_y).max(1.0),
        }
    }

    /// Returns the summation and taps of means of bytes over square windows of odd sides, computed by the separable
    /// kernels.
    ///
    /// The sums along rows, with taps of 1, are exact. Down the columns each of `side` multiply-adds rounds a number of
    /// at most 256, with an error of 2^-16 or less, and the rounded reciprocal of the number of samples adds the same
    /// once. For sides up to 17 the total is below 2.8e-4. A mean of an odd number of samples is at least half of the
    /// reciprocal, 1.7e-3, away from halfway between two integers. In f64 the errors are far smaller.
    pub(crate) fn of_means(sums: MarchSums, problem: &BoxFilter, variant: &Variant) -> Result<(Summation, Vec<f32>)> {
        let side = problem.width;
        if side != problem.height || !matches!(problem.scale, Scale::Mean) || !(3..=17).contains(&side) {
            return Err(variant.refused(format!("windows of {side}x{}, or other than means", problem.height)));
        }
        if problem.src != PixelType::U8 {
            return Err(variant.refused(format!("means of {}", problem.src)));
        }
        let summation = Summation {
            shape: problem.shape,
            src: problem.src,
            dst: problem.dst,
            border: problem.border,
            kernels: variant.kernels,
            sums,
            dense: false,
            slack: 0.0,
            total: 1.0,
        };
        let mut taps = summation.in_units(&vec![1.0; side as usize]);
        taps.resize(tap_stride(side) as usize * summation.words(), 0.0);
        let pixels = (side * side) as f64;
        for _ in 0..side {
            match sums {
                MarchSums::Floats => taps.push((1.0 / pixels) as f32),
                MarchSums::Doubles => taps.extend(halves(1.0 / pixels)),
            }
        }
        Ok((summation, taps))
    }

    /// Returns the taps along rows in the kernels' units, padded to [`tap_stride`], followed by the taps along columns.
    pub(crate) fn separable_taps(&self, problem: &Separable) -> Vec<f32> {
        let mut taps = self.in_units(problem.taps_x.taps());
        taps.resize(tap_stride(problem.taps_x.len()) as usize * self.words(), 0.0);
        match self.sums {
            MarchSums::Floats => taps.extend(problem.taps_y.taps()),
            MarchSums::Doubles => taps.extend(problem.taps_y.taps().iter().flat_map(|tap| halves(*tap as f64))),
        }
        taps
    }

    /// Words of 32 bits per tap.
    pub(crate) fn words(&self) -> usize {
        if self.sums == MarchSums::Doubles { 2 } else { 1 }
    }

    /// Converts taps to the kernels' units: bytes that are summed in f32 are scaled by [`BYTE_UNIT`], and their taps by
    /// its inverse.
    pub(crate) fn in_units(&self, taps: &[f32]) -> Vec<f32> {
        if self.sums == MarchSums::Doubles {
            return taps.iter().flat_map(|tap| halves(*tap as f64 * DOUBLE_SCALE)).collect();
        }
        let scale = if self.src == PixelType::U8 { 1.0 / BYTE_UNIT } else { 1.0 };
        taps.iter().map(|tap| tap * scale).collect()
    }

    /// Returns the reason why the variant refuses the problem, if it does.
    pub(crate) fn refusal(&self, machine: &Machine) -> Option<String> {
        let (_, constant) = self.border.mode();
        let held = self.src != PixelType::F16 || Half::from_f32(constant).to_f32() == constant;
        if !held || !self.src.holds(constant) {
            return Some(format!("a constant border of {constant}"));
        }
        match self.sums {
            MarchSums::Floats if self.slack > rounding::MOST_SLACK => {
                Some("taps whose sums in f32 are too far off".into())
            }
            MarchSums::Doubles if self.total > MOST_TOTAL => Some(format!("taps over {MOST_TOTAL} in all")),
            // 16-bit samples have no kernels that sum in f32.
            MarchSums::Doubles if self.src == PixelType::U8 && machine.f64_ratio > FAST_F64 => {
                Some(format!("bytes where f64 takes {} times as long as f32", machine.f64_ratio))
            }
            _ => None,
        }
    }

    /// Returns the variant's kernel for a stage.
    pub(crate) fn kernel(&self, variant: &Variant, stage: &str, side: u32) -> Result<Kernel> {
        let kernel = kernels::find(self.kernels, stage, self.src.element(), self.dst.element());
        kernel.ok_or_else(|| {
            let (channels, samples) = (self.shape.channels, self.shape.row_samples());
            let types = format!("{} to {} pixels", self.src, self.dst);
            variant
                .refused(format!("{side} taps a side over {channels} channels of {types}, rows of {samples} samples"))
        })
    }

    pub(crate) fn buffers(&self, out: Shape) -> Vec<Buffer> {
        vec![
            Buffer { role: Role::Input, element: self.src.element(), elems: self.shape.samples() },
            Buffer { role: Role::Output, element: self.dst.element(), elems: out.samples() },
        ]
    }

    /// Returns the kernel parameters.
    pub(crate) fn params(&self, side: u32, window: &Window) -> MarchParams {
        let types = (self.src.element(), self.dst.element());
        MarchParams { slack: self.slack, ..march_params(self.shape, types, self.border, side, window) }
    }
}

/// Returns the parameters of a march of `side` x `side` samples under each output. Strips start where the window of an
/// output begins at a piece of the input: at the first output or up to a piece before it.
pub(crate) fn march_params(
    shape: Shape,
    (src, dst): (ElementType, ElementType),
    border: Border,
    side: u32,
    window: &Window,
) -> MarchParams {
    let (out, (mode, constant)) = (window.out, border.mode());
    let out_samples = out.row_samples() as u32;
    let origin = window.origin_x * shape.channels as i32;
    let (lead, piece) = (march_lead(src, side, shape.channels) as i32, march_piece(src) as i32);
    let left = (origin - lead).div_euclid(piece) * piece;
    let first = left + lead - origin;
    let bits = (first as u32 | out_samples).trailing_zeros() + dst.size_bytes().trailing_zeros();
    MarchParams {
        samples: shape.row_samples() as u32,
        height: shape.height,
        row_stride: shape.row_samples() as u32,
        out_samples,
        out_height: out.height,
        rows: 0,
        left,
        first,
        origin_y: window.origin_y,
        border: mode as u32,
        constant,
        ahead: MARCH_AHEAD,
        halo_rows: side - 1,
        aligned: 1 << bits.min(4),
        slack: 0.0,
    }
}

/// Largest gain of f64 sums: their integers are then far below 2^31.
const MOST_TOTAL: f64 = 4096.0;
/// Bytes are summed in f64 where f32 has at most this many times the throughput of f64.
const FAST_F64: u32 = 2;
