//! Recipes of operations on values: counts by slices, tables, and equalised histograms.

use crate::histogram::{check_counters, launch, one_launch, rounds};
use crate::recipe::Steps;
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BYTE_BINS, ElementType, EqualizeParams, HistogramCellsParams, HistogramMergeParams, HistogramValuesParams, Kernel,
    LOOKUP_BLOCK, LookupParams, MERGE_BLOCK, Params, SIMPLE_BLOCK, SLICE_CELLS, SLICES_BLOCK, TilesParams, WIDE_SLICES,
};
use apron_core::{ByteHistogram, CellHistogram, Lookup, PixelType, Result, Shape, Tone};

pub(crate) const LOOKUP: &str = "lookup";
pub(crate) const EQUALIZE: &str = "equalize";
pub(crate) const CLAHE: &str = "clahe";

/// Pixels that a thread should have to count before another block is worth its row.
const PIXELS_PER_THREAD: u64 = 16;
/// Blocks of the slices' kernels that a multiprocessor has room for.
pub(crate) const RESIDENTS: u32 = 2;
/// Of those that count by value, which have more on their way.
const VALUES_RESIDENTS: u32 = 1;
/// Most counts in the rows of all columns of blocks together.
const MAX_ROW_CELLS: u64 = 1 << 26;

/// Rows of counts, each by a column of blocks with a slice of the cells each, and their sum.
pub(crate) fn slices(tone: &Tone, machine: &Machine) -> Result<Steps> {
    let Tone::Cells(problem) = tone else { unreachable!("of counts") };
    let (pixels, channels, apart) = (problem.shape.pixels(), problem.shape.channels, problem.channels());
    let cells = problem.cells() as u64 * apart as u64;
    let (low, edges, last) = match (&problem.edges, problem.src.values()) {
        (Some(edges), None) => {
            let (lower, last) = edges.in_f32();
            (0, lower, last)
        }
        (_, values) => (values.map_or(0, |(low, _)| low), Vec::new(), 0.0),
    };
    let kernel = counting(problem)?;
    let samples = problem.shape.samples();
    let (rows, params) = if !problem.masked && problem.src != PixelType::F32 {
        // The kernel's threads then meet the same channels in all that they read.
        let rows = (rows_of(samples, cells, VALUES_RESIDENTS, machine) / apart).max(1) * apart;
        let rounds = rounds(samples, samples / 8, rows, SLICES_BLOCK)?;
        let params = HistogramValuesParams { samples, rounds, channels: apart, reserved: 0 };
        (rows, Params::HistogramValuesParams(params))
    } else {
        let (beside, bins) = (if problem.masked { MASK } else { 0 }, problem.cells() as u32);
        let params = HistogramCellsParams { pixels, beside, low, bins, channels, apart, last, reserved: 0 };
        (rows_of(pixels, cells, RESIDENTS, machine), Params::HistogramCellsParams(params))
    };
    let counting = launch(kernel, rows, params);
    let slices = cells.div_ceil(SLICE_CELLS as u64) as u32;
    let counting = Launch { blocks: [rows, slices], taps: edges, ..counting };
    check_counters(samples, rows)?;
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows, bins: cells as u32 });
    let sums = launch(Kernel::histogram_slices_sums_u32_u64, (cells as u32).div_ceil(MERGE_BLOCK), params);
    let launches = vec![counting, Launch { src: 1, dst: 2, ..sums }];
    let mut buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: samples },
        Buffer { role: Role::Scratch, element: ElementType::U32, elems: rows as u64 * cells },
        Buffer { role: Role::Output, element: ElementType::U64, elems: cells },
    ];
    if problem.masked {
        buffers.push(Buffer { role: Role::Beside, element: ElementType::U8, elems: pixels });
    }
    Ok((buffers, launches))
}

/// How many columns of blocks count so many cells.
pub(crate) fn rows_of(pixels: u64, cells: u64, residents: u32, machine: &Machine) -> u32 {
    let enough = pixels.div_ceil(SLICES_BLOCK as u64 * PIXELS_PER_THREAD);
    let slices = cells.div_ceil(SLICE_CELLS as u64);
    let most = ((machine.multiprocessors * residents) as u64 / slices).min(MAX_ROW_CELLS / cells);
    enough.clamp(1, most.max(1)) as u32
}

/// The mask's buffer in recipes that have one.
const MASK: u64 = 3;

fn counting(problem: &CellHistogram) -> Result<Kernel> {
    let stage = if problem.masked { "masked" } else { "all" };
    let kernel = Kernel::find("histogram-slices", stage, problem.src.element(), ElementType::U32);
    // Bytes without a mask have kernels of their own, which count faster.
    kernel.ok_or_else(|| {
        let what = format!("{} pixels, {}", problem.src, if problem.masked { "masked" } else { "without a mask" });
        unsupported("histogram", what, "use --device cpu")
    })
}

/// A table in a buffer, looked up.
pub(crate) fn table(tone: &Tone, machine: &Machine) -> Result<Steps> {
    let Tone::Lookup(Lookup { shape, tables }) = tone else { unreachable!("of tables") };
    let elems = *tables as u64 * BYTE_BINS as u64;
    let buffers = vec![
        bytes(Role::Input, shape.samples()),
        bytes(Role::Output, shape.samples()),
        Buffer { role: Role::Beside, element: ElementType::U8, elems },
    ];
    Ok((buffers, vec![looking(*shape, *tables, 2, machine)]))
}

fn bytes(role: Role, elems: u64) -> Buffer {
    Buffer { role, element: ElementType::U8, elems }
}

/// The launch that looks the first buffer's bytes up, in tables in a buffer, and writes the second.
fn looking(shape: Shape, tables: u32, table: u64, machine: &Machine) -> Launch {
    let samples = shape.samples();
    // As many threads as a multiprocessor holds.
    let most = machine.multiprocessors as u64 * (2048 / LOOKUP_BLOCK) as u64;
    let blocks = (samples / 16).div_ceil(LOOKUP_BLOCK as u64).clamp(1, most);
    let params = Params::LookupParams(LookupParams { samples, table, tables, reserved: 0 });
    launch(Kernel::lookup_table_u8_u8, blocks as u32, params)
}

/// The histogram, the table that follows from it, and the image looked up in that: nothing leaves the device.
pub(crate) fn equalize(tone: &Tone, machine: &Machine) -> Result<Steps> {
    let Tone::Equalize(problem) = tone else { unreachable!("of an image") };
    let (shape, channels) = (problem.shape, problem.shape.channels);
    let (mut buffers, mut launches) = one_launch(&ByteHistogram { shape, per_channel: true }, machine)?;
    let Some(counts) = buffers.iter_mut().find(|buffer| buffer.role == Role::Output) else {
        return Err(unsupported(EQUALIZE, "histograms".into(), "use --device cpu"));
    };
    counts.role = Role::Scratch;
    let (table, output) = (buffers.len(), buffers.len() + 1);
    let params = Params::EqualizeParams(EqualizeParams { channels });
    let counts = launches[0].dst;
    buffers.push(bytes(Role::Scratch, (channels * BYTE_BINS) as u64));
    buffers.push(bytes(Role::Output, shape.samples()));
    launches.push(Launch { src: counts, dst: table, ..launch(Kernel::lookup_equalize_table_u64_u8, channels, params) });
    launches.push(Launch { dst: output, ..looking(shape, channels, table as u64, machine) });
    Ok((buffers, launches))
}

/// Most bytes of counts and tables of 16-bit samples.
const MAX_WIDE_BYTES: u64 = 1 << 30;

/// The tables of all tiles, and the image by those of the tiles around each pixel.
pub(crate) fn tiles(tone: &Tone, _: &Machine) -> Result<Steps> {
    let Tone::Clahe(problem) = tone else { unreachable!("of an image") };
    problem.check()?;
    if problem.area() > u32::MAX as u64 {
        return Err(unsupported(CLAHE, format!("tiles of {} pixels", problem.area()), "use --device cpu"));
    }
    let (shape, (across, down), (tile_width, tile_height)) = (problem.shape, problem.tiles, problem.tile());
    let wide = problem.src == PixelType::U16;
    let params = Params::TilesParams(TilesParams {
        tables: if wide { 2 } else { 1 },
        width: shape.width,
        height: shape.height,
        channels: shape.channels,
        across,
        down,
        tile_width,
        tile_height,
        limit: problem.limit().unwrap_or(u32::MAX),
        scale: problem.scale(),
        inverse_x: 1.0 / tile_width as f32,
        inverse_y: 1.0 / tile_height as f32,
        reserved: 0,
    });
    let tiles = across * down;
    let entries = tiles as u64 * shape.channels as u64 * problem.values() as u64;
    let on = |kernel, blocks| Launch { blocks, ..launch(kernel, 1, params) };
    let pixels = [shape.width.div_ceil(SIMPLE_BLOCK[0]), shape.height.div_ceil(SIMPLE_BLOCK[1])];
    let buffer = |role, element, elems| Buffer { role, element, elems };
    let image = |role| buffer(role, problem.src.element(), shape.samples());
    if !wide {
        let launches = vec![
            on(Kernel::lookup_tiles_tables_u8_u8, [tiles, shape.channels]),
            Launch { dst: 2, ..on(Kernel::lookup_tiles_blend_u8_u8, pixels) },
        ];
        return Ok((vec![image(Role::Input), bytes(Role::Scratch, entries), image(Role::Output)], launches));
    }
    let (counts, tables) =
        (buffer(Role::Scratch, ElementType::U32, entries), buffer(Role::Scratch, ElementType::U16, entries));
    let scratch = counts.size_bytes() + tables.size_bytes();
    if scratch > MAX_WIDE_BYTES {
        let what = format!("{scratch} bytes of counts and tables for {across}x{down} tiles (at most {MAX_WIDE_BYTES})");
        return Err(unsupported(CLAHE, what, "take fewer tiles, or use --device cpu"));
    }
    let launches = vec![
        on(Kernel::lookup_tiles_counts_u16_u32, [tiles, shape.channels * WIDE_SLICES]),
        Launch { src: 1, dst: 2, ..on(Kernel::lookup_tiles_wide_tables_u32_u16, [tiles, shape.channels]) },
        Launch { dst: 3, ..on(Kernel::lookup_tiles_blend_u16_u16, pixels) },
    ];
    Ok((vec![image(Role::Input), counts, tables, image(Role::Output)], launches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, untuned as plan};
    use apron_core::{Clahe, Edges, Equalize, Problem};

    fn recipe(tone: Tone) -> Recipe {
        plan(&Problem::Tone(tone), None, &Machine::EMULATED).unwrap()
    }

    fn cells(shape: (u32, u32, u32), src: PixelType, bins: usize, per_channel: bool, masked: bool) -> Recipe {
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        let edges = (0..=bins).map(|edge| edge as f64).collect();
        let edges = (src == PixelType::F32).then(|| Edges::new(edges).unwrap());
        recipe(Tone::Cells(CellHistogram { shape, src, edges, per_channel, masked }))
    }

    #[test]
    fn every_cell_has_a_slice_and_few_rows_are_enough_for_few_pixels() {
        let blocks = |recipe: Recipe| (recipe.launches[0].blocks, recipe.launches[1].blocks);
        assert_eq!(blocks(cells((10, 10, 1), PixelType::U16, 0, false, false)), ([1, 4], [256, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::U16, 0, false, false)), ([33, 4], [256, 1]));
        // A multiple of the channels.
        assert_eq!(blocks(cells((8192, 8192, 3), PixelType::I16, 0, true, false)), ([9, 12], [768, 1]));
        assert_eq!(blocks(cells((8192, 8192, 4), PixelType::I16, 0, true, true)), ([16, 16], [1024, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::U8, 0, true, true)), ([264, 1], [1, 1]));
        let many = blocks(cells((8192, 8192, 1), PixelType::F32, 1 << 24, false, false));
        assert_eq!(many, ([1, 1024], [1 << 16, 1]));
    }

    #[test]
    fn a_mask_is_a_buffer_beside_the_image() {
        let masked = cells((20, 10, 3), PixelType::U16, 0, true, true);
        assert_eq!(masked.buffers[3], Buffer { role: Role::Beside, element: ElementType::U8, elems: 200 });
        let Params::HistogramCellsParams(params) = masked.launches[0].params_at(&[7, 77, 777, 7777]) else { panic!() };
        assert_eq!((params.beside, params.apart, params.low, params.bins), (7777, 3, 0, 65536));
        assert_eq!(cells((20, 10, 3), PixelType::U16, 0, true, false).buffers.len(), 3);
    }

    #[test]
    fn an_equalised_image_does_not_leave_the_device() {
        let shape = Shape::new(640, 480, 3).unwrap();
        let recipe = recipe(Tone::Equalize(Equalize { shape }));
        let roles: Vec<Role> = recipe.buffers.iter().map(|buffer| buffer.role).collect();
        assert_eq!(roles, [Role::Input, Role::Zeroed, Role::Scratch, Role::Scratch, Role::Output]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(0, 2), (2, 3), (0, 4)]);
    }

    #[test]
    fn tiles_have_tables_in_a_buffer_between() {
        let (shape, src) = (Shape::new(100, 50, 3).unwrap(), PixelType::U8);
        let recipe = recipe(Tone::Clahe(Clahe { shape, src, clip: 2.0, tiles: (8, 4) }));
        let roles: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        assert_eq!(roles, [(Role::Input, 15000), (Role::Scratch, 8 * 4 * 3 * 256), (Role::Output, 15000)]);
        assert_eq!(recipe.launches.iter().map(|launch| launch.blocks).collect::<Vec<_>>(), [[32, 3], [4, 7]]);
        let Params::TilesParams(params) = recipe.launches[1].params_at(&[7, 77, 777]) else { panic!() };
        assert_eq!((params.tables, params.tile_width, params.tile_height, params.limit), (77, 13, 13, 1));
    }

    #[test]
    fn tiles_of_16_bits_are_counted_by_slices() {
        let (shape, src) = (Shape::new(100, 50, 3).unwrap(), PixelType::U16);
        let clahe = |tiles| Problem::Tone(Tone::Clahe(Clahe { shape, src, clip: 2.0, tiles }));
        let recipe = plan(&clahe((8, 4)), None, &Machine::EMULATED).unwrap();
        let roles: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        let entries = 8 * 4 * 3 * 65536;
        let scratch = [(Role::Scratch, entries), (Role::Scratch, entries)];
        assert_eq!(roles, [[(Role::Input, 15000)].as_slice(), &scratch, &[(Role::Output, 15000)]].concat());
        assert_eq!(recipe.launches.iter().map(|launch| launch.blocks).collect::<Vec<_>>(), [[32, 12], [32, 3], [4, 7]]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(0, 1), (1, 2), (0, 3)]);
        // 2730 tables are the most, and 52 x 52 tiles have 8112.
        let error = plan(&clahe((52, 52)), None, &Machine::EMULATED).unwrap_err();
        assert!(error.to_string().contains("--device cpu"), "{error}");
    }
}
