//! Recipes of the marching kernels.

use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Buffer, Launch, Machine, Role, Tuning, rounding, unsupported};
use apron_abi::{
    BYTE_UNIT, DOUBLE_SCALE, FEW_TAPS, FEWEST_TAPS, Family, Kernel, MARCH_AHEAD, MARCH_BLOCK, MARCH_ROWS, MarchParams,
    MarchSums, PATCH_BLOCK, PATCH_ROWS, Params, march_across, march_lead, march_piece, tap_stride,
};
use apron_core::{Border, BoxFilter, Correlate, PixelType, Result, Scale, Separable, Shape, Window};

/// Correlation with a square mask.
pub(crate) fn dense(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    dense_by(MarchSums::Floats, problem, variant, machine)
}

/// The same, summed in f64.
pub(crate) fn dense_f64(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    dense_by(MarchSums::Doubles, problem, variant, machine)
}

/// The same for small images.
pub(crate) fn dense_patch(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    dense_by(patch_sums(problem.src), problem, variant, machine)
}

fn dense_by(sums: MarchSums, problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let mask = &problem.mask;
    let side = mask.width();
    let window = problem.window()?;
    if side != mask.height() || problem.clamp {
        return Err(refused(variant, format!("{side}x{} masks, or clamped sums", mask.height())));
    }
    let image = Image::of_dense(sums, problem, variant);
    let taps = image.in_units(mask.taps());
    image.steps(variant, machine, side, &window, taps)
}

/// Both passes of a separable filter whose taps are as many along the rows as along the columns.
pub(crate) fn separable(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    separable_by(MarchSums::Floats, problem, variant, machine)
}

/// The same, summed in f64.
pub(crate) fn separable_f64(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    separable_by(MarchSums::Doubles, problem, variant, machine)
}

/// The same for small images.
pub(crate) fn separable_patch(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    separable_by(patch_sums(problem.src), problem, variant, machine)
}

/// What patches, and tiles of words, sum in: integers in f64.
pub(crate) fn patch_sums(src: PixelType) -> MarchSums {
    if src == PixelType::F32 { MarchSums::Floats } else { MarchSums::Doubles }
}

fn separable_by(sums: MarchSums, problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (side, other) = (problem.taps_x.len(), problem.taps_y.len());
    let window = problem.window()?;
    if side != other {
        return Err(refused(variant, format!("{side} taps along rows and {other} along columns")));
    }
    let image = Image::of_separable(sums, problem, variant);
    image.steps(variant, machine, side, &window, image.separable_taps(problem))
}

/// Means of bytes over square windows of odd sides, as the separable kernels sum them.
///
/// The sums along rows, times 1, are exact. Down the columns each of `side` multiply-adds rounds a number of at most 256,
/// by 2^-16 or less, and the reciprocal of the number of samples, rounded itself, adds as much once. Up to 17 a side that
/// is below 2.8e-4. A mean of an odd number of samples is no nearer to halfway between two integers than half of the
/// reciprocal: 1.7e-3. In f64 all that is off by much less.
pub(crate) fn means(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let side = problem.width;
    let window = problem.window()?;
    if side != problem.height || !matches!(problem.scale, Scale::Mean) || !(3..=17).contains(&side) {
        return Err(refused(variant, format!("windows of {side}x{}, or other than means", problem.height)));
    }
    let (kernels, sums) = match variant.family {
        Family::Patch => ("patch-separable", MarchSums::Doubles),
        _ => ("march-separable", MarchSums::Floats),
    };
    let image = Image {
        shape: problem.shape,
        src: problem.src,
        dst: problem.dst,
        border: problem.border,
        kernels,
        sums,
        dense: false,
        slack: 0.0,
        total: 1.0,
    };
    if image.src != PixelType::U8 {
        return Err(refused(variant, format!("means of {}", image.src)));
    }
    let mut taps = image.in_units(&vec![1.0; side as usize]);
    taps.resize(tap_stride(side) as usize * image.words(), 0.0);
    let pixels = (side * side) as f64;
    for _ in 0..side {
        match sums {
            MarchSums::Floats => taps.push((1.0 / pixels) as f32),
            MarchSums::Doubles => taps.extend(halves(1.0 / pixels)),
        }
    }
    image.steps(variant, machine, side, &window, taps)
}

pub(crate) fn refused(variant: &Variant, what: String) -> apron_core::Error {
    unsupported(variant.operation, format!("{what} in variant {}", variant.name), "leave the variant to the plan")
}

/// The sum of the sizes of taps.
fn total(taps: &[f32]) -> f64 {
    taps.iter().map(|tap| tap.abs() as f64).sum()
}

/// The bits of a tap of f64 as two of the launch's taps, the lower half first.
fn halves(tap: f64) -> [f32; 2] {
    let bits = tap.to_bits();
    [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]
}

/// What both have in common.
pub(crate) struct Image {
    pub(crate) shape: Shape,
    pub(crate) src: PixelType,
    pub(crate) dst: PixelType,
    pub(crate) border: Border,
    /// The variant of the kernels in their table.
    kernels: &'static str,
    sums: MarchSums,
    dense: bool,
    /// How far sums in f32 may be from the exact ones, where they are rounded to bytes.
    slack: f32,
    /// How many times a sample's size a sum may be, one between the passes, too.
    total: f64,
}

impl Image {
    pub(crate) fn of_dense(sums: MarchSums, problem: &Correlate, variant: &Variant) -> Image {
        let taps = problem.mask.taps();
        Image {
            shape: problem.shape,
            src: problem.src,
            dst: problem.dst,
            border: problem.border,
            kernels: variant.name,
            sums,
            dense: true,
            slack: if problem.src == PixelType::U8 { rounding::dense_slack(taps) } else { 0.0 },
            total: total(taps),
        }
    }

    pub(crate) fn of_separable(sums: MarchSums, problem: &Separable, variant: &Variant) -> Image {
        let (taps_x, taps_y) = (problem.taps_x.taps(), problem.taps_y.taps());
        Image {
            shape: problem.shape,
            src: problem.src,
            dst: problem.dst,
            border: problem.border,
            kernels: variant.name,
            sums,
            dense: false,
            slack: if problem.src == PixelType::U8 { rounding::separable_slack(taps_x, taps_y) } else { 0.0 },
            total: total(taps_x).max(1.0) * total(taps_y).max(1.0),
        }
    }

    /// Those along rows, for samples as the kernels have them, padded to [`tap_stride`], and those along columns.
    pub(crate) fn separable_taps(&self, problem: &Separable) -> Vec<f32> {
        let mut taps = self.in_units(problem.taps_x.taps());
        taps.resize(tap_stride(problem.taps_x.len()) as usize * self.words(), 0.0);
        match self.sums {
            MarchSums::Floats => taps.extend(problem.taps_y.taps()),
            MarchSums::Doubles => taps.extend(problem.taps_y.taps().iter().flat_map(|tap| halves(*tap as f64))),
        }
        taps
    }

    /// The words of a tap.
    pub(crate) fn words(&self) -> usize {
        if self.sums == MarchSums::Doubles { 2 } else { 1 }
    }

    /// Taps for samples as the kernels have them: bytes that are summed in f32 are [`BYTE_UNIT`]s there.
    pub(crate) fn in_units(&self, taps: &[f32]) -> Vec<f32> {
        if self.sums == MarchSums::Doubles {
            return taps.iter().flat_map(|tap| halves(*tap as f64 * DOUBLE_SCALE)).collect();
        }
        let scale = if self.src == PixelType::U8 { 1.0 / BYTE_UNIT } else { 1.0 };
        taps.iter().map(|tap| tap * scale).collect()
    }

    /// Why its samples are not for the variant, if so.
    pub(crate) fn refusal(&self, machine: &Machine) -> Option<String> {
        let (_, constant) = self.border.mode();
        let is_sample = match self.src {
            PixelType::U8 => f32::from(constant as u8) == constant,
            PixelType::U16 => f32::from(constant as u16) == constant,
            _ => true,
        };
        if !is_sample {
            return Some(format!("a constant border of {constant}"));
        }
        match self.sums {
            MarchSums::Floats if self.slack > rounding::MOST_SLACK => {
                Some("taps whose sums in f32 are too far off".into())
            }
            MarchSums::Doubles if self.total > MOST_TOTAL => Some(format!("taps over {MOST_TOTAL} in all")),
            // Samples of 16 bits have no kernels that sum in f32.
            MarchSums::Doubles if self.src == PixelType::U8 && machine.f64_ratio > FAST_F64 => {
                Some(format!("bytes where f64 takes {} times as long as f32", machine.f64_ratio))
            }
            _ => None,
        }
    }

    fn steps(&self, variant: &Variant, machine: &Machine, side: u32, window: &Window, taps: Vec<f32>) -> Result<Steps> {
        match variant.family {
            Family::Patch => self.patch(variant, machine, side, window, taps),
            _ => self.march(variant, machine, side, window, taps),
        }
    }

    fn march(&self, variant: &Variant, machine: &Machine, side: u32, window: &Window, taps: Vec<f32>) -> Result<Steps> {
        let (shape, out, src) = (self.shape, window.out, self.src.element());
        let channels = shape.channels;
        let samples = shape.row_samples();
        let piece = march_piece(src) as usize;
        // The copy engine brings rows of whole pieces alone.
        let any = if samples.is_multiple_of(piece) { "" } else { "-any" };
        let kernel = self.kernel(variant, &format!("{side}-c{channels}{any}"), side)?;
        if samples >= 1 << 30 || samples < piece {
            return Err(refused(variant, format!("rows of {samples} samples")));
        }
        // Threads bring what lies beside the image, one piece each: as much as windows see over the image's own pixels.
        let (first, end) = (window.origin_x as i64, window.origin_x as i64 + out.width as i64 + side as i64 - 1);
        if (-first).max(0) + (end - shape.width as i64).max(0) > side as i64 - 1 {
            return Err(refused(variant, format!("columns {first} to {end} of images {} wide", shape.width)));
        }
        if let Some(what) = self.refusal(machine) {
            return Err(refused(variant, what));
        }
        assert!(taps.len() <= FEW_TAPS, "masks of kernels in the table fit");
        let params = self.params(side, window);
        let strip = MARCH_BLOCK * march_across(src, self.sums, self.dense, side);
        let strips = (params.out_samples as u64 + params.first.unsigned_abs() as u64).div_ceil(strip as u64) as u32;
        let tuning = machine.tuning.unwrap_or(if side <= 8 { FEW_ROWS } else { MANY_ROWS });
        let rows = rows(tuning, side, strips, out.height, machine);
        let shared_bytes = kernel.facts().shared.bytes(0, 0);
        let launch = Launch {
            kernel,
            blocks: [strips, out.height.div_ceil(rows)],
            shared_bytes,
            reserved_bytes: reserved(shared_bytes, tuning.residents, machine),
            src: 0,
            dst: 1,
            params: Params::MarchParams(MarchParams { rows, ..params }),
            taps,
        };
        Ok((self.buffers(out), vec![launch]))
    }

    /// By threads that share nothing: of images so small that a march would be over before it is under way.
    fn patch(&self, variant: &Variant, machine: &Machine, side: u32, window: &Window, taps: Vec<f32>) -> Result<Steps> {
        let (shape, out) = (self.shape, window.out);
        let samples = shape.row_samples();
        let kernel = self.kernel(variant, &format!("{side}-c{}", shape.channels), side)?;
        if samples >= 1 << 30 || !samples.is_multiple_of(4) {
            return Err(refused(variant, format!("rows of {samples} samples")));
        }
        if let Some(what) = self.refusal(machine) {
            return Err(refused(variant, what));
        }
        assert!(taps.len() <= FEWEST_TAPS, "masks of kernels in the table fit");
        let params = self.params(side, window);
        if params.aligned < 4 {
            return Err(refused(variant, format!("rows of {} outputs from {}", params.out_samples, params.first)));
        }
        let across = (params.out_samples as u64 + params.first.unsigned_abs() as u64).div_ceil(4);
        let [width, height] = PATCH_BLOCK;
        let launch = Launch {
            kernel,
            blocks: [across.div_ceil(width as u64) as u32, out.height.div_ceil(height * PATCH_ROWS)],
            shared_bytes: kernel.facts().shared.bytes(0, 0),
            reserved_bytes: 0,
            src: 0,
            dst: 1,
            params: Params::MarchParams(params),
            taps,
        };
        Ok((self.buffers(out), vec![launch]))
    }

    /// A kernel of the variant.
    fn kernel(&self, variant: &Variant, stage: &str, side: u32) -> Result<Kernel> {
        let kernel = Kernel::find(self.kernels, stage, self.src.element(), self.dst.element());
        kernel.ok_or_else(|| {
            let (channels, samples) = (self.shape.channels, self.shape.row_samples());
            let types = format!("{} to {} pixels", self.src, self.dst);
            refused(
                variant,
                format!("{side} taps a side over {channels} channels of {types}, rows of {samples} samples"),
            )
        })
    }

    pub(crate) fn buffers(&self, out: Shape) -> Vec<Buffer> {
        vec![
            Buffer { role: Role::Input, element: self.src.element(), elems: self.shape.samples() },
            Buffer { role: Role::Output, element: self.dst.element(), elems: out.samples() },
        ]
    }

    /// Outputs start where the windows of the first begin at a piece of the input, or so many samples before.
    fn params(&self, side: u32, window: &Window) -> MarchParams {
        let (shape, out, src) = (self.shape, window.out, self.src.element());
        let (mode, constant) = self.border.mode();
        let out_samples = out.row_samples() as u32;
        let origin = window.origin_x * shape.channels as i32;
        let (lead, piece) = (march_lead(src, side, shape.channels) as i32, march_piece(src) as i32);
        let left = (origin - lead).div_euclid(piece) * piece;
        let first = left + lead - origin;
        let bits = (first as u32 | out_samples).trailing_zeros() + src.size_bytes().trailing_zeros();
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
            slack: self.slack,
        }
    }
}

/// Sums in f64 may be so many times a sample: their integers are then far below 2^31.
const MOST_TOTAL: f64 = 4096.0;
/// Bytes are summed in f64 where that takes so many times as long as f32, or less.
const FAST_F64: u32 = 2;

/// Where the tuning table is empty, for small masks and for large ones.
const FEW_ROWS: Tuning = Tuning { rows: 16, residents: 4 };
const MANY_ROWS: Tuning = Tuning { rows: 249, residents: 4 };

/// Output rows of a block. Each block reads `side - 1` rows more than it gives; but the fewer it has, the closer
/// together are the rows that all blocks read and write at a time. Fewer than the tuning's where blocks would be too
/// few for every multiprocessor; but never a few more blocks than run at a time.
fn rows(tuning: Tuning, side: u32, strips: u32, height: u32, machine: &Machine) -> u32 {
    let blocks = (tuning.residents * machine.multiprocessors / strips).max(1);
    let enough = height.div_ceil(blocks).max(side);
    let most = if tuning.rows == 0 { enough } else { tuning.rows };
    most.min(enough).clamp(1, height.min(MARCH_ROWS + 1 - side))
}

/// Shared memory that a block must take besides its own, so that so many share a multiprocessor. Of
/// 228 KiB the driver keeps 1 KiB for each block.
pub(crate) fn reserved(own: u32, residents: u32, machine: &Machine) -> u32 {
    let share = (228 / residents - 1) * 1024;
    share.min(machine.shared_bytes).saturating_sub(own)
}

#[cfg(test)]
mod tests {
    use crate::{Launch, Machine, plan};
    use apron_abi::{BYTE_UNIT, MarchParams, Params};
    use apron_core::{
        Border, Correlate, Error, Extent, Mask, PixelType, Problem, Region, Result, Separable, Shape, Taps,
    };

    fn problem() -> Correlate {
        Correlate {
            shape: Shape::new(64, 20, 4).unwrap(),
            src: PixelType::U8,
            dst: PixelType::U8,
            mask: Mask::new(3, 3, [0.125; 9]).unwrap(),
            border: Border::Replicate,
            clamp: false,
            extent: Extent::Same,
        }
    }

    #[test]
    fn windows_far_beside_the_image_are_left_to_others() {
        let of = |x, width| {
            let extent = Extent::Region(Region { x, y: -50, width, height: 200 });
            march(Correlate { extent, ..problem() }).is_ok()
        };
        // Windows of three columns around each of the region's: two columns beside the image in all.
        for (x, width, marches) in [
            (0, 64, true),
            (1, 5, true),
            (10, 55, true),
            (-1, 10, true),
            (-2, 10, false),
            (-1, 65, false),
            (63, 2, true),
            (64, 2, false),
            (-30, 10, false),
            (1000, 10, false),
        ] {
            assert_eq!(of(x, width), marches, "{x} {width}");
        }
    }

    fn march(problem: Correlate) -> Result<Launch> {
        plan(&Problem::Correlate(problem), Some("march-dense"), &Machine::EMULATED).map(|mut r| r.launches.remove(0))
    }

    fn params(problem: Correlate) -> MarchParams {
        let Params::MarchParams(params) = march(problem).unwrap().params else {
            panic!("parameters of another kernel")
        };
        params
    }

    #[test]
    fn taps_for_bytes_are_in_their_unit_along_the_rows_alone() {
        assert_eq!(march(problem()).unwrap().taps, [0.125 / BYTE_UNIT; 9]);
        let Correlate { shape, src, dst, border, .. } = problem();
        let (taps_x, taps_y) = (Taps::new([0.25, 0.5, 0.25]).unwrap(), Taps::new([1.0, 2.0, 3.0]).unwrap());
        let problem = Problem::Separable(Separable { shape, src, dst, taps_x, taps_y, border, extent: Extent::Same });
        let recipe = plan(&problem, Some("march-separable"), &Machine::EMULATED).unwrap();
        let x = [0.25, 0.5, 0.25].map(|tap| tap / BYTE_UNIT);
        assert_eq!(recipe.launches[0].taps, [x[0], x[1], x[2], 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn outputs_start_where_anchors_and_rows_let_them() {
        let at = |anchor, border, width| {
            let mask = problem().mask.with_anchor(anchor, 1).unwrap();
            let params = params(Correlate { shape: Shape::new(width, 20, 4).unwrap(), mask, border, ..problem() });
            (params.left, params.first, params.aligned)
        };
        // In the middle both start at a piece; a column beside it, one pixel off.
        assert_eq!(at(1, Border::Replicate, 64), (-16, 0, 16));
        assert_eq!(at(0, Border::Replicate, 64), (-16, -4, 4));
        assert_eq!(at(2, Border::Replicate, 64), (-32, -12, 4));
        // 62 pixels of output in a row.
        assert_eq!(at(1, Border::Crop, 64), (-16, -4, 4));
        let one = Correlate { shape: Shape::new(64, 20, 1).unwrap(), border: Border::Crop, ..problem() };
        assert_eq!(params(one).aligned, 1);
    }

    #[test]
    fn bytes_take_what_their_kernels_can_hold() {
        let mask = |tap| Mask::new(3, 3, [tap; 9]).unwrap();
        assert_eq!(params(problem()).slack, 0.0);
        assert!(params(Correlate { mask: mask(1.0 / 9.0), ..problem() }).slack > 0.0);
        assert!(march(Correlate { border: Border::Constant(255.0), ..problem() }).is_ok());
        let refused = [
            Correlate { border: Border::Constant(255.5), ..problem() },
            Correlate { border: Border::Constant(-1.0), ..problem() },
            Correlate { border: Border::Constant(f32::NAN), ..problem() },
            Correlate { mask: mask(100.0 / 9.0), ..problem() },
            Correlate { shape: Shape::new(3, 20, 4).unwrap(), ..problem() },
            Correlate { dst: PixelType::I16, ..problem() },
        ];
        for problem in refused {
            let error = march(problem.clone()).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{problem:?}: {error}");
        }
    }
}
