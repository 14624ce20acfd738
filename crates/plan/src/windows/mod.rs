//! Recipes of windows of integers, whose sums slide: what box filters and local deviations share.

mod prefix;

pub(crate) use prefix::{Kind, Prefix};

use crate::kernels;
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    BorderMode, ElementType, Kernel, Params, SharedMemory, SlidingParams, SlidingTile, WINDOWS_BLOCK, WINDOWS_CHUNK,
    WINDOWS_QUAD, WINDOWS_ROWS,
};
use apron_core::{PixelType, Result, Shape, Window};

/// Windows to sum.
pub(crate) struct Windows {
    pub(crate) shape: Shape,
    pub(crate) src: PixelType,
    pub(crate) dst: PixelType,
    pub(crate) window: Window,
    /// Width and height of the windows, in pixels.
    pub(crate) size: [u32; 2],
    /// Border mode, and the border constant: an integer for sliding sums.
    pub(crate) border: (BorderMode, f64),
    /// Factor of a sum, and for exact means its reciprocal, the divisor; otherwise 0.
    pub(crate) scale: [f64; 2],
    /// Bound on the sums of every term; not used for sums in order.
    pub(crate) most: f64,
}

/// Least height, in rows, of windows whose first sums come from a launch that sums chunks of rows.
const TALL: u32 = 24;

impl Windows {
    /// Plans the sliding kernel and, for tall windows, a launch before it that sums each column by chunks of rows.
    pub(crate) fn slide(&self, variant: &Variant, machine: &Machine) -> Result<Steps> {
        let out = self.window.out;
        let wide = self.most > u32::MAX as f64;
        let sums = if wide { ElementType::U64 } else { ElementType::U32 };
        let kernel = self.kernel(variant, "windows", sums)?;
        let tile = self.tile(kernel, variant, machine)?;
        let strips = out.width.div_ceil(tile.strip) * (out.channels / tile.channels);
        let rows = self.rows(&tile, strips, machine);
        let blocks = [strips, out.height.div_ceil(rows)];
        let chunks = match self.size[1] {
            height if height >= TALL => (blocks[1] - 1) * rows / WINDOWS_CHUNK + height / WINDOWS_CHUNK,
            _ => 0,
        };
        let [factor, divisor] = self.scale;
        let (out_float, out_low, out_high) = match self.dst {
            PixelType::U8 => (0, 0.0, 255.0),
            PixelType::U16 => (0, 0.0, 65535.0),
            PixelType::I16 => (0, -32768.0, 32767.0),
            PixelType::F32 => (1, 0.0, 0.0),
            _ => return Err(variant.refused(format!("{} output", self.dst))),
        };
        let plain = out_float == 0 && divisor % 2.0 == 1.0;
        let [multiplier, shift] = if plain && !wide && self.src != PixelType::I16 {
            reciprocal(divisor as u64, self.most as u64)
        } else {
            [0; 2]
        };
        let params = SlidingParams {
            factor,
            divisor,
            totals: if chunks > 0 { 2 } else { 0 },
            out_width: out.width,
            out_height: out.height,
            window_x: self.size[0],
            window_y: self.size[1],
            origin_x: self.window.origin_x,
            rows,
            // A mean over an odd number of samples is never halfway between two integers: it is at
            // least 1 / (2 n) away.
            plain: plain as u32,
            multiplier,
            shift,
            bias: if multiplier > 0 { (divisor / 2.0) as i32 } else { 0 },
            out_bytes: self.dst.size_bytes() as u32,
            out_float,
            out_low,
            out_high,
            tile,
            ..self.by_columns(chunks)
        };
        let (mut buffers, mut launches) = (self.buffers(), Vec::new());
        if chunks > 0 {
            let (buffer, launch) = self.totals(self.kernel(variant, "totals", sums)?, self.terms(kernel), chunks);
            buffers.push(buffer);
            launches.push(launch);
        }
        launches.push(Launch {
            kernel,
            blocks,
            shared_bytes: tile.bytes,
            reserved_bytes: 0,
            src: 0,
            dst: 1,
            params: Params::SlidingParams(params),
            taps: [].into(),
        });
        Ok((buffers, launches))
    }

    /// Returns the input and the output.
    pub(crate) fn buffers(&self) -> Vec<Buffer> {
        vec![
            Buffer { role: Role::Input, element: self.src.element(), elems: self.shape.samples() },
            Buffer { role: Role::Output, element: self.dst.element(), elems: self.window.out.samples() },
        ]
    }

    /// Returns the parameters that sums of columns depend on.
    fn by_columns(&self, chunks: u32) -> SlidingParams {
        SlidingParams {
            row_stride: self.shape.row_samples() as u32,
            chunks,
            constant: self.border.1 as i32,
            border: self.border.0 as u32,
            width: self.shape.width,
            height: self.shape.height,
            channels: self.shape.channels,
            origin_y: self.window.origin_y,
            ..SlidingParams::default()
        }
    }

    /// Returns the launch that sums each column by chunks of rows, for each of `terms` terms, and its buffer, the recipe's
    /// third.
    pub(crate) fn totals(&self, kernel: Kernel, terms: u32, chunks: u32) -> (Buffer, Launch) {
        let (element, samples) = (kernel.facts().dst, self.shape.row_samples() as u32);
        let launch = Launch {
            kernel,
            blocks: [samples.div_ceil(WINDOWS_BLOCK * WINDOWS_QUAD), chunks],
            shared_bytes: 0,
            reserved_bytes: 0,
            src: 0,
            dst: 2,
            params: Params::SlidingParams(self.by_columns(chunks)),
            taps: [].into(),
        };
        (Buffer { role: Role::Scratch, element, elems: (terms * chunks) as u64 * samples as u64 }, launch)
    }

    fn kernel(&self, variant: &Variant, stage: &str, dst: ElementType) -> Result<Kernel> {
        kernels::find(variant.name, stage, self.src.element(), dst)
            .ok_or_else(|| variant.refused(format!("{} to {} pixels", self.src, self.dst)))
    }

    fn terms(&self, kernel: Kernel) -> u32 {
        let SharedMemory::SlidingTile([terms, _], ..) = kernel.facts().shared else { return 1 };
        terms
    }

    /// Returns the shared memory layout with the least work. With wider strips fewer columns are summed twice, but
    /// fewer blocks are resident. For wide windows of several channels, blocks of one channel are an alternative.
    fn tile(&self, kernel: Kernel, variant: &Variant, machine: &Machine) -> Result<SlidingTile> {
        let (width, out) = (self.size[0], self.window.out);
        let SharedMemory::SlidingTile(sums) = kernel.facts().shared else {
            return Err(variant.refused(format!("{} to {} pixels", self.src, self.dst)));
        };
        // Samples that all blocks sum per step of eight rows. Half as much again is added for blocks of one channel of
        // several, which load sample by sample, and where only one block is resident per multiprocessor.
        let work = |tile: &SlidingTile| {
            let blocks = out.width.div_ceil(tile.strip) as u64 * (out.channels / tile.channels) as u64;
            let half_again = |yes: bool| if yes { 3 } else { 2 };
            let alone = machine.residents(tile.bytes) == 1;
            let steps = (WINDOWS_ROWS / tile.rows) as u64;
            steps * blocks * tile.quads as u64 * half_again(tile.channels < out.channels) * half_again(alone)
        };
        let of = |channels: u32, rows: u32| {
            let tiles = (1..).map(move |quads| SlidingTile::of([rows, quads], width, channels, sums));
            tiles.take_while(|tile| tile.bytes <= machine.shared_bytes).filter(|tile| tile.strip > 0)
        };
        let kinds = [WINDOWS_ROWS, WINDOWS_ROWS / 2, WINDOWS_ROWS / 4, 1].map(|rows| [(out.channels, rows), (1, rows)]);
        let tiles = kinds.into_iter().flatten().flat_map(|(channels, rows)| of(channels, rows));
        let Some(tile) = tiles.min_by_key(work) else {
            return Err(variant.refused(format!("windows of {width} pixels")));
        };
        // Strips of equal width.
        let strips = out.width.div_ceil(tile.strip);
        Ok(SlidingTile { strip: out.width.div_ceil(strips).next_multiple_of(WINDOWS_QUAD), ..tile })
    }

    /// Returns the output rows per block, a multiple of [`WINDOWS_CHUNK`]: enough for all blocks to be resident at
    /// once, and at least half as many as are summed for a block's first outputs.
    fn rows(&self, tile: &SlidingTile, strips: u32, machine: &Machine) -> u32 {
        let height = self.size[1];
        let first = if height >= TALL { height / WINDOWS_CHUNK + WINDOWS_CHUNK } else { height };
        let (most, residents) = machine.tuning.map_or((0, 3), |tuning| (tuning.rows, tuning.residents));
        let slots = machine.residents(tile.bytes).min(residents) * machine.multiprocessors;
        let all = self.window.out.height.div_ceil((slots / strips).max(1)).max(first / 2);
        (if most == 0 { all } else { all.min(most) }).next_multiple_of(WINDOWS_CHUNK)
    }
}

/// Returns a multiplier and a shift that make the rounded mean of `count` samples, an odd number, of each sum up to
/// `most`: `((sum + count / 2) * multiplier) >> (32 + shift)`. Zeros if there are none.
///
/// The rounded mean is the quotient `(sum + count / 2) / count`, rounded down. The multiplier is
/// `2^(32 + shift) / count`, rounded up: the product divided by `2^(32 + shift)` is too large by less than
/// `(most + count) / 2^(32 + shift)`, which does not reach the next multiple of `1 / count`.
fn reciprocal(count: u64, most: u64) -> [u32; 2] {
    let unit = (1u64 << 32) << count.ilog2();
    let fits = count > 1 && (most + count).checked_mul(count).is_some_and(|bound| bound <= unit);
    // Below 2^32, since an odd number above 1 is more than the power of two below it.
    if fits { [unit.div_ceil(count) as u32, count.ilog2()] } else { [0; 2] }
}

#[cfg(test)]
mod tests {
    use crate::{Machine, plan};
    use apron_abi::{Kernel, Params, SlidingParams};
    use apron_core::{Border, BoxFilter, Extent, LocalStd, PixelType, Problem, Scale, Shape};

    fn mean(src: PixelType, channels: u32, width: u32, height: u32) -> SlidingParams {
        let shape = Shape::new(4096, 4096, channels).unwrap();
        let (anchor, border) = ((width / 2, height / 2), Border::Reflect);
        let problem =
            BoxFilter { shape, src, dst: src, width, height, anchor, border, scale: Scale::Mean, extent: Extent::Same };
        params(problem.into())
    }

    fn deviation(src: PixelType, channels: u32, width: u32, height: u32) -> SlidingParams {
        let shape = Shape::new(4096, 4096, channels).unwrap();
        let (border, extent) = (Border::Reflect, Extent::Same);
        params(LocalStd { shape, src, dst: src, width, height, border, extent }.into())
    }

    fn params(problem: Problem) -> SlidingParams {
        let variant = format!("{}-sliding", if problem.operation() == "box" { "boxes" } else { "local" });
        let recipe = plan(&problem, Some(&variant), &Machine::EMULATED).unwrap();
        // A launch before it, which sums columns by chunks of rows, needs no tile.
        let Params::SlidingParams(params) = recipe.launches.last().unwrap().params else { panic!("{recipe:?}") };
        params
    }

    #[test]
    fn strips_are_wide_beside_their_windows() {
        let tile = |channels, width| {
            let tile = mean(PixelType::U8, channels, width, 9).tile;
            (tile.channels, tile.quads, tile.strip)
        };
        // 1024 samples per quad of the block's threads, less the window; the strips share the 4096 pixels evenly.
        assert_eq!((tile(1, 15), tile(1, 255)), ((1, 1, 820), (1, 1, 684)));
        // Windows that leave little of a narrow strip, or are too wide for all channels in a block.
        assert_eq!(tile(1, 1023), (1, 3, 1368));
        assert_eq!((tile(3, 15).0, tile(4, 15).0, tile(4, 1023).0), (3, 4, 1));
        let means = [(1, 3), (1, 700), (2, 31), (3, 31), (4, 255), (1, 4095), (4, 4095), (3, 12_001)];
        let deviations = [(1, 511), (1, 1023), (4, 1023), (4, 4095), (1, 8191)];
        let mean = means.map(|(channels, width)| (width, mean(PixelType::U8, channels, width, 9).tile));
        let deviation =
            deviations.map(|(channels, width)| (width, deviation(PixelType::U16, channels, width, 999).tile));
        for (width, tile) in mean.into_iter().chain(deviation) {
            let segments = 32 / tile.channels;
            // The lanes' segments hold the strip and its last windows.
            assert!(tile.strip + width <= segments * tile.segment, "{tile:?}");
            assert_eq!(tile.window[0] * tile.segment + tile.window[1], width);
        }
    }

    #[test]
    fn products_round_means_over_odd_numbers() {
        assert_eq!(super::reciprocal(1, 255), [0; 2]);
        for (count, largest) in
            [(3u64, 255u64), (9, 255), (15, 65_535), (225, 65_535), (65_025, 255), (16_383, 65_535), (4_971_027, 255)]
        {
            let most = count * largest;
            let [multiplier, shift] = super::reciprocal(count, most);
            assert!(multiplier > 0, "{count}");
            // For the last count, 2^54 / count exceeds an integer by so little that a quotient in f64 loses the excess.
            // Sums next to half an integer, below and above it, and the ends.
            let halves = (0..largest).flat_map(|mean| [mean * count + count / 2, mean * count + count / 2 + 1]);
            for sum in halves.chain([0, most]) {
                let mean = ((sum + count / 2) * multiplier as u64) >> (32 + shift);
                assert_eq!(mean, (2 * sum + count) / (2 * count), "{sum} / {count}");
            }
        }
        // Too many samples for 32 bits.
        assert_eq!(super::reciprocal(33_554_431, 33_554_431 * 255), [0; 2]);
    }

    #[test]
    fn one_multiply_add_rounds_means_over_odd_numbers() {
        assert_eq!((mean(PixelType::U8, 1, 5, 5).plain, mean(PixelType::U8, 1, 5, 4).plain), (1, 0));
        let ones = 6_755_399_441_055_744.0f64;
        for count in [1u64, 3, 9, 225, 65_025, 261_121, 1_046_529, 16_777_215] {
            let factor = 1.0 / count as f64;
            for mean in [0, 1, 2, 127, 128, 254, 32_767, 65_534] {
                // Next to half an integer, below and above it.
                for (sum, rounded) in [(count / 2, 0), (count / 2 + 1, 1)] {
                    let bits = ((mean * count + sum) as f64).mul_add(factor, ones).to_bits();
                    assert_eq!(bits as u32 as u64, mean + rounded, "{mean} + {sum} / {count}");
                }
            }
        }
    }

    #[test]
    fn squares_of_bytes_take_32_bits_in_windows_of_up_to_511_pixels() {
        let kernel = |side| {
            let (shape, border, extent) = (Shape::new(4096, 4096, 1).unwrap(), Border::Reflect, Extent::Same);
            let (src, dst) = (PixelType::U8, PixelType::F32);
            let problem = LocalStd { shape, src, dst, width: side, height: side, border, extent };
            let recipe = plan(&Problem::from(problem), Some("local-sliding"), &Machine::EMULATED).unwrap();
            recipe.launches.last().unwrap().kernel
        };
        let (narrow, wide) = (Kernel::local_sliding_windows_u8_u32, Kernel::local_sliding_windows_u8_u64);
        assert_eq!([kernel(3), kernel(511), kernel(512)], [narrow, narrow, wide]);
    }
}
