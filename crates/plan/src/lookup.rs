//! Recipes of table lookups: by a given table, of histogram equalisation, and of CLAHE.

use crate::examples::{limit, shape};
use crate::histogram::bytes;
use crate::recipe::{Steps, launch};
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BYTE_BINS, ElementType, EqualizeParams, Family, Kernel, LOOKUP_BLOCK, LookupParams, Params, SIMPLE_BLOCK,
    TilesParams, WIDE_SLICES,
};
use apron_core::{ByteHistogram, Clahe, Equalize, Lookup, PixelType, Result, Shape};

const EQUALIZE: &str = "equalize";
const CLAHE: &str = "clahe";

/// Plans the lookup of every byte in a given table.
fn table(problem: &Lookup, _: &Variant, machine: &Machine) -> Result<Steps> {
    let &Lookup { shape, tables } = problem;
    let elems = tables as u64 * BYTE_BINS as u64;
    let buffers = vec![
        of_bytes(Role::Input, shape.samples()),
        of_bytes(Role::Output, shape.samples()),
        Buffer { role: Role::Beside, element: ElementType::U8, elems },
    ];
    Ok((buffers, vec![looking(shape, tables, 2, machine)]))
}

fn of_bytes(role: Role, elems: u64) -> Buffer {
    Buffer { role, element: ElementType::U8, elems }
}

/// Returns the launch that looks up the bytes of buffer 0 in the tables of buffer `table` and writes buffer 1.
fn looking(shape: Shape, tables: u32, table: u64, machine: &Machine) -> Launch {
    let samples = shape.samples();
    // At most as many threads as the multiprocessors hold.
    let most = machine.multiprocessors as u64 * (2048 / LOOKUP_BLOCK) as u64;
    let blocks = (samples / 16).div_ceil(LOOKUP_BLOCK as u64).clamp(1, most);
    let params = Params::LookupParams(LookupParams { samples, table, tables, reserved: 0 });
    launch(Kernel::lookup_table_u8_u8, blocks as u32, params)
}

/// Plans the histogram, the table computed from it, and the lookup; the intermediate results stay on the device.
fn equalize(problem: &Equalize, _: &Variant, machine: &Machine) -> Result<Steps> {
    let (shape, channels) = (problem.shape, problem.shape.channels);
    let (mut buffers, mut launches) = bytes::counted(&ByteHistogram { shape, per_channel: true }, machine)?;
    let Some(counts) = buffers.iter_mut().find(|buffer| buffer.role == Role::Output) else {
        return Err(unsupported(EQUALIZE, "histograms".into(), "use --device cpu"));
    };
    counts.role = Role::Scratch;
    let (table, output) = (buffers.len(), buffers.len() + 1);
    let params = Params::EqualizeParams(EqualizeParams { channels });
    let counts = launches[0].dst;
    buffers.push(of_bytes(Role::Scratch, (channels * BYTE_BINS) as u64));
    buffers.push(of_bytes(Role::Output, shape.samples()));
    launches.push(Launch { src: counts, dst: table, ..launch(Kernel::lookup_equalize_table_u64_u8, channels, params) });
    launches.push(Launch { dst: output, ..looking(shape, channels, table as u64, machine) });
    Ok((buffers, launches))
}

/// Most bytes of scratch memory for counts and tables of 16-bit samples.
const MAX_WIDE_BYTES: u64 = 1 << 30;

/// Plans the tables of all tiles, then each pixel interpolated between the tables of the tiles around it.
fn tiles(problem: &Clahe, _: &Variant, _: &Machine) -> Result<Steps> {
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
        return Ok((vec![image(Role::Input), of_bytes(Role::Scratch, entries), image(Role::Output)], launches));
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

fn of_words(tiles: (u32, u32)) -> Clahe {
    Clahe { shape: shape(20, 1), src: PixelType::U16, clip: 2.0, tiles }
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant::new("lookup-table", Family::Lookup, "u8 pixels; a table for all channels or one for each", &For(table)),
    Variant::new("lookup-equalize", Family::Lookup, "u8 pixels; 32 KiB of shared memory a channel", &For(equalize)),
    Variant::new(
        "lookup-tiles",
        Family::Lookup,
        "u8 and u16 pixels, tiles below 2^32 pixels; of u16 up to 2730, channels counted apart",
        &For(tiles),
    )
    .examples(|| vec![limit(of_words((2730, 1)), of_words((2731, 1)))]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, untuned as plan};
    use apron_core::{Clahe, Equalize, Problem};

    fn recipe(problem: impl Into<Problem>) -> Recipe {
        plan(&problem.into(), None, &Machine::EMULATED).unwrap()
    }

    #[test]
    fn an_equalised_image_does_not_leave_the_device() {
        let shape = Shape::new(640, 480, 3).unwrap();
        let recipe = recipe(Equalize { shape });
        let roles: Vec<Role> = recipe.buffers.iter().map(|buffer| buffer.role).collect();
        assert_eq!(roles, [Role::Input, Role::Zeroed, Role::Scratch, Role::Scratch, Role::Output]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(0, 2), (2, 3), (0, 4)]);
    }

    #[test]
    fn tiles_have_tables_in_a_buffer_between() {
        let (shape, src) = (Shape::new(100, 50, 3).unwrap(), PixelType::U8);
        let recipe = recipe(Clahe { shape, src, clip: 2.0, tiles: (8, 4) });
        let roles: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        assert_eq!(roles, [(Role::Input, 15000), (Role::Scratch, 8 * 4 * 3 * 256), (Role::Output, 15000)]);
        assert_eq!(recipe.launches.iter().map(|launch| launch.blocks).collect::<Vec<_>>(), [[32, 3], [4, 7]]);
        let Params::TilesParams(params) = recipe.launches[1].params_at(&[7, 77, 777]) else { panic!() };
        assert_eq!((params.tables, params.tile_width, params.tile_height, params.limit), (77, 13, 13, 1));
    }

    #[test]
    fn tiles_of_16_bits_are_counted_by_slices() {
        let (shape, src) = (Shape::new(100, 50, 3).unwrap(), PixelType::U16);
        let clahe = |tiles| Problem::from(Clahe { shape, src, clip: 2.0, tiles });
        let recipe = plan(&clahe((8, 4)), None, &Machine::EMULATED).unwrap();
        let roles: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        let entries = 8 * 4 * 3 * 65536;
        let scratch = [(Role::Scratch, entries), (Role::Scratch, entries)];
        assert_eq!(roles, [[(Role::Input, 15000)].as_slice(), &scratch, &[(Role::Output, 15000)]].concat());
        assert_eq!(recipe.launches.iter().map(|launch| launch.blocks).collect::<Vec<_>>(), [[32, 12], [32, 3], [4, 7]]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(0, 1), (1, 2), (0, 3)]);
        // 2730 tables are the limit, and 52 x 52 tiles of 3 channels have 8112.
        let error = plan(&clahe((52, 52)), None, &Machine::EMULATED).unwrap_err();
        assert!(error.to_string().contains("--device cpu"), "{error}");
    }
}
