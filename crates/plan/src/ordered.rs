//! Recipes of windows of floats, summed in order: what box filters and local deviations share.

use crate::kernels;
use crate::machine::Tuning;
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::windows::Windows;
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    BOX_CHUNK, ElementType, Kernel, ORDERED_BLOCK, ORDERED_STEPS, OrderedParams, OrderedTile, Params, SharedMemory,
    ordered_piece,
};
use apron_core::Result;

const CHUNK: i32 = BOX_CHUNK as i32;
/// Shared memory per block with which eight blocks with one term per sample, or four with two, are resident per
/// multiprocessor.
const SHARED: u32 = 56 * 1024;
/// Most samples per row of a tile.
const TILE: u32 = 8192;
/// Wanted blocks per multiprocessor; with fewer, pieces are made shorter.
const FEW_BLOCKS: u32 = 2;
/// Fewest chunks per piece.
const LEAST_PIECE: u32 = 8;

impl Windows {
    /// Plans two launches: sums along rows, of type `sums`, with the totals of chunks of rows; and sums down columns.
    pub(crate) fn ordered(&self, variant: &Variant, sums: ElementType, machine: &Machine) -> Result<Steps> {
        let (out, height) = (self.window.out, self.size[1]);
        let find = |stage, src, dst| {
            kernels::find(variant.name, stage, src, dst)
                .ok_or_else(|| variant.refused(format!("{} to {} pixels", self.src, self.dst)))
        };
        let along = find("rows", self.src.element(), sums)?;
        let down = find("columns", sums, self.dst.element())?;
        let (origin_y, is_long) = (self.window.origin_y, height > BOX_CHUNK);
        let chunk = |row: i64| row.div_euclid(CHUNK as i64);
        let first = chunk(origin_y as i64) as i32;
        let end = chunk(origin_y as i64 + out.height as i64 - 1) as i32 + ((height - 1) / BOX_CHUNK) as i32 + 1;
        // `chunks` chunks of rows from `first_chunk` on have totals; `chunks_of_rows` have totals, sums along rows, or
        // both.
        let (first_chunk, chunks) = if is_long { (first + 1, (end - first - 1) as u32) } else { (0, 0) };
        let own = (self.shape.height / BOX_CHUNK + 1) as i32;
        let others = (0.min(first_chunk + chunks as i32) - first_chunk).max(0) + (end - own.max(first_chunk)).max(0);
        let chunks_of_rows = own as u32 + if is_long { others as u32 } else { 0 };
        let tile = self.ordered_tile(along, chunks_of_rows, variant, machine)?;
        let windows = (out.width + self.window.origin_x.rem_euclid(CHUNK) as u32).div_ceil(BOX_CHUNK);
        let samples = out.row_samples() as u32;
        let all = (out.height + origin_y.rem_euclid(CHUNK) as u32).div_ceil(BOX_CHUNK);
        let steps = ordered_steps(all, samples.div_ceil(ORDERED_BLOCK), machine);
        let params = OrderedParams {
            totals: if is_long { 3 } else { 0 },
            first_chunk,
            chunks,
            steps,
            tile,
            ..self.ordered_params()
        };
        let launch = |kernel: Kernel, blocks, shared_bytes, src| Launch {
            kernel,
            blocks,
            shared_bytes,
            reserved_bytes: 0,
            src,
            dst: src + 1,
            params: Params::OrderedParams(params),
            taps: [].into(),
        };
        let launches = vec![
            launch(along, [windows.div_ceil(tile.chunks), chunks_of_rows], tile.bytes, 0),
            launch(down, [samples.div_ceil(ORDERED_BLOCK), all.div_ceil(steps)], down.facts().shared.bytes(0, 0), 1),
        ];
        // One more row holds the sums along rows of the border constant, for rows outside the image.
        let planes = ordered_sums(along)[0] as u64 * samples as u64;
        let scratch = |rows: u64| Buffer { role: Role::Scratch, element: sums, elems: planes * rows };
        let mut buffers = vec![
            Buffer { role: Role::Input, element: self.src.element(), elems: self.shape.samples() },
            scratch(self.shape.height as u64 + 1),
            Buffer { role: Role::Output, element: self.dst.element(), elems: out.samples() },
        ];
        if is_long {
            buffers.push(scratch(chunks as u64));
        }
        Ok((buffers, launches))
    }

    /// Returns the parameters that do not depend on how the work is divided.
    pub(crate) fn ordered_params(&self) -> OrderedParams {
        let (out, [window_x, window_y]) = (self.window.out, self.size);
        OrderedParams {
            row_stride: self.shape.row_samples() as u32,
            scale: self.scale[0],
            constant: self.border.1,
            border: self.border.0 as u32,
            width: self.shape.width,
            height: self.shape.height,
            out_width: out.width,
            out_height: out.height,
            channels: out.channels,
            window_x,
            window_y,
            origin_x: self.window.origin_x,
            origin_y: self.window.origin_y,
            ..OrderedParams::default()
        }
    }

    /// Returns the shared memory layout of a block that sums along rows. Pieces are as long as possible, but short
    /// enough for [`FEW_BLOCKS`] blocks per multiprocessor; a step has as many rows as shared memory holds of such
    /// pieces.
    fn ordered_tile(
        &self,
        kernel: Kernel,
        chunks_of_rows: u32,
        variant: &Variant,
        machine: &Machine,
    ) -> Result<OrderedTile> {
        let (out, width, sums) = (self.window.out, self.size[0], ordered_sums(kernel));
        let most = ordered_piece(sums[0]) / BOX_CHUNK / out.channels;
        let windows = (out.width + self.window.origin_x.rem_euclid(CHUNK) as u32).div_ceil(BOX_CHUNK);
        let wanted = (FEW_BLOCKS * machine.multiprocessors).div_ceil(chunks_of_rows);
        let pieces = windows.div_ceil(most).max(wanted.min(windows.div_ceil(LEAST_PIECE)));
        let chunks = windows.div_ceil(pieces);
        // Even windows of at most one chunk reach into the chunk after the piece.
        let inputs = chunks + 1 + if width > BOX_CHUNK { (width - 1) / BOX_CHUNK } else { 0 };
        let within = machine.shared_bytes.min(SHARED);
        let of = |rows, inputs| OrderedTile::of([chunks, rows, inputs], out.channels, sums);
        let rows = [16, 8, 4, 2].into_iter().find(|rows| {
            rows * chunks * BOX_CHUNK * out.channels <= ordered_piece(sums[0]) && of(*rows, inputs).bytes <= within
        });
        let mut tile = of(rows.unwrap_or(1), inputs.min((TILE / BOX_CHUNK / out.channels).max(chunks + 1)));
        while tile.bytes > machine.shared_bytes && tile.inputs > chunks + 1 {
            tile = of(tile.rows, (tile.inputs / 2).max(chunks + 1));
        }
        if tile.bytes > machine.shared_bytes {
            return Err(variant.refused(format!("{} bytes of shared memory per block", machine.shared_bytes)));
        }
        Ok(tile)
    }
}

/// Returns the sums per sample of a kernel that sums along rows, the bytes per sum, and the bytes
/// per sample of its tile.
fn ordered_sums(kernel: Kernel) -> [u32; 3] {
    let SharedMemory::OrderedTile(sums) = kernel.facts().shared else { return [1, 4, 4] };
    sums
}

/// Returns the chunks of rows per block of the launch that sums down columns, out of `all` chunks: fewer if the grid
/// would have less than [`BLOCKS`] blocks per multiprocessor.
fn ordered_steps(all: u32, strips: u32, machine: &Machine) -> u32 {
    let most = match machine.tuning {
        Some(Tuning { rows: rows @ 1.., .. }) => rows.div_ceil(BOX_CHUNK).min(ORDERED_STEPS),
        _ => ORDERED_STEPS,
    };
    let bands = (BLOCKS * machine.multiprocessors).div_ceil(strips);
    (all / bands).clamp(1, most)
}

/// Wanted blocks per multiprocessor of the launch that sums down columns.
const BLOCKS: u32 = 8;

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, plan, untuned};
    use apron_abi::{Kernel, OrderedParams, Params};
    use apron_core::{Border, BoxFilter, Extent, LocalStd, PixelType, Problem, Region, Scale, Shape};

    fn mean(side: u32, shape: (u32, u32, u32), extent: Extent) -> (Recipe, OrderedParams) {
        let (src, dst, anchor) = (PixelType::F32, PixelType::F32, (side / 2, side / 2));
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        let (width, height, border, scale) = (side, side, Border::Replicate, Scale::Mean);
        let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
        let recipe = untuned(&Problem::from(filter), Some("boxes-ordered"), &Machine::EMULATED).unwrap();
        let Params::OrderedParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        (recipe, params)
    }

    #[test]
    fn chunks_of_rows_outside_the_image_have_totals_and_no_sums() {
        let (recipe, params) = mean(511, (4096, 4096, 1), Extent::Same);
        // Windows start at row -255, in chunk -16, and the last of them ends at row 4350, in chunk 271. Chunks between
        // are -15 to 271, of which 0 to 256 have sums along rows.
        assert_eq!((params.first_chunk, params.chunks), (-15, 287));
        assert_eq!(recipe.launches[0].blocks[1], 287);
        let buffers: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems / 4096)).collect();
        assert_eq!(buffers, [(Role::Input, 4096), (Role::Scratch, 4097), (Role::Output, 4096), (Role::Scratch, 287)]);
        // Windows of at most one chunk of rows have no totals.
        assert_eq!(mean(16, (4096, 4096, 1), Extent::Same).0.buffers.len(), 3);
        // Far from the image: the chunks of the windows, and those of the image.
        let far = Region { x: 0, y: 1_000_000, width: 16, height: 16 };
        let (recipe, params) = mean(49, (4096, 4096, 1), Extent::Region(far));
        assert_eq!((params.first_chunk, params.chunks, recipe.launches[0].blocks[1]), (62_499, 4, 261));
    }

    #[test]
    fn pieces_are_long_and_few_blocks_short() {
        let of = |side, shape| mean(side, shape, Extent::Same).1;
        // The first chunk of 4097 pixels starts a pixel before the first window; 257 chunks in
        // pieces of at most 128 (32).
        assert_eq!((of(511, (4096, 4096, 1)).tile.chunks, of(511, (4096, 4096, 4)).tile.chunks), (86, 29));
        // 17 chunks of rows of 256 pixels.
        let small = of(31, (256, 256, 1));
        assert_eq!((small.tile.chunks, small.tile.rows, small.steps), (6, 16, 1));
        assert_eq!(of(511, (4096, 4096, 1)).steps, 7);
        // Input that exceeds a tile is loaded as several tiles.
        let wide = of(20_001, (4096, 64, 1)).tile;
        assert!(wide.inputs < wide.chunks + 20_000 / 16 + 1, "{wide:?}");
    }

    #[test]
    fn deviations_have_two_planes() {
        let (shape, src, dst, border) =
            (Shape::new(100, 30, 3).unwrap(), PixelType::U8, PixelType::U16, Border::Constant(0.5));
        let problem = LocalStd { shape, src, dst, width: 5, height: 3, border, extent: Extent::Same };
        let recipe = plan(&Problem::from(problem.clone()), None, &Machine::EMULATED).unwrap();
        let buffers: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        assert_eq!(buffers, [(Role::Input, 9000), (Role::Scratch, 2 * 31 * 100 * 3), (Role::Output, 9000)]);
        let kernels: Vec<_> = recipe.launches.iter().map(|launch| launch.kernel).collect();
        assert_eq!(kernels, [Kernel::local_ordered_rows_u8_f64, Kernel::local_ordered_columns_f64_u16]);
        let wrong = LocalStd { width: 0, ..problem };
        assert!(plan(&Problem::from(wrong), None, &Machine::EMULATED).is_err());
    }
}
