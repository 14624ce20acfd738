use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "volumes",
    about: "Masks of three dimensions over volumes, and passes along an axis.",
    lowest_target: 75,
    rows,
};

/// Types of samples that are summed as they are read. Others are converted before and after.
const TYPES: [&str; 7] = ["f32", "f64", "u8", "u16", "i16", "i32", "i64"];

/// Those of which masks may have any number of taps.
const SUMS: [&str; 2] = ["f32", "f64"];

/// Returns the type of the sums of samples of a type.
fn sums_of(src: &str) -> &'static str {
    if src == "f32" { "f32" } else { "f64" }
}

fn rows() -> Vec<Row> {
    let of = |stage: &str, body: &str, src| {
        let body = format!("volumes::{body}<{src}, {}, {src}>", sums_of(src));
        let row = kernel("dense", stage, [src, src], body, "VolumesParams");
        row.taps("SmallParameter").block("VOLUMES_BLOCK")
    };
    let dense = SUMS.map(|src| of("", "Dense", src).taps("Global").residents(if src == "f32" { 4 } else { 3 }));
    let rows = TYPES.map(|src| {
        let shared = format!("SharedMemory::RowsTile({})", if src == "f32" { 4 } else { 8 });
        of("rows", "Rows", src).block("VOLUMES_ROWS_BLOCK").shared(shared, 4).residents(3)
    });
    let columns = TYPES.map(|src| of("columns", "Columns", src).residents(4));
    let march = |src: &'static str, of: &Marching| {
        marching("march", src, format!("volumes::March<{src}, {}, {}>", of.taps, of.down), of)
    };
    let cube = |src: &'static str, of: &Marching| {
        let row = marching("cube", src, format!("volumes::Cube<{src}, {}, {}>", of.taps, of.down), of);
        // Taps of f64 are two words each.
        if sums_of(src) == "f64" && of.taps == 5 { row.taps("SmallParameter") } else { row }
    };
    let floats = MARCH.iter().map(|of| march("f32", of));
    let integers = ["u8", "u16", "i16"].into_iter().flat_map(|src| MARCH_INTEGERS.iter().map(move |of| march(src, of)));
    let plane = |src: &'static str, &(method, dense, taps): &(&'static str, bool, u32)| {
        let body = format!("volumes::Plane<{src}, {taps}, {dense}>");
        let row = kernel(method, taps.to_string(), [src, src], body, "VolumesParams").taps("FewestParameter");
        let row = row
            .block("[VOLUMES_PLANE_COLUMNS, 1]")
            .shared("SharedMemory::Bytes(volumes_plane_bytes())", if dense && src == "f64" { 3 } else { 1 });
        row.residents(if dense && taps == 7 { 2 } else { 3 })
    };
    let stored = ["u8", "u16", "i16", "f64"].map(|src| {
        let row = kernel("stored", "", [src, src], format!("volumes::Stored<{src}>"), "VolumesParams");
        let row = row.taps("SmallParameter").block("VOLUMES_ROWS_BLOCK");
        row.shared("SharedMemory::Bytes(volumes_stored_bytes(FEW_TAPS as u32 / 2))", 3).residents(3)
    });
    let cubes = CUBES.iter().flat_map(|(src, of)| of.iter().map(move |of| cube(src, of)));
    let planes = PLANES.iter().map(|of| plane("f64", of));
    let planes_of_integers =
        ["u8", "u16", "i16"].into_iter().flat_map(|src| PLANES[3..].iter().map(move |of| plane(src, of)));
    dense
        .into_iter()
        .chain(rows)
        .chain(columns)
        .chain(floats)
        .chain(integers)
        .chain(cubes)
        .chain(planes)
        .chain(planes_of_integers)
        .chain(stored)
        .collect()
}

/// A kernel that marches through the planes.
struct Marching {
    /// Taps along each axis.
    taps: u32,
    /// Output rows per thread.
    down: u32,
    /// Blocks per multiprocessor.
    residents: u32,
    /// Barriers in the PTX: one for each loop over the planes (for `taps` taps, and for fewer), and more where the
    /// compiler unrolls a loop in part.
    barriers: [u32; 2],
}

const fn of(taps: u32, down: u32, residents: u32, barriers: u32) -> Marching {
    Marching { taps, down, residents, barriers: [barriers; 2] }
}

/// Those over f32: `VOLUMES_MARCH_TAPS`.
const MARCH: [Marching; 8] = [
    of(3, 4, 2, 1),
    of(5, 4, 2, 1),
    Marching { barriers: [4, 3], ..of(7, 2, 1, 4) },
    of(9, 2, 1, 5),
    of(11, 2, 1, 3),
    of(13, 2, 1, 3),
    of(15, 2, 1, 3),
    of(17, 2, 1, 4),
];

/// Those over integers, whose sums are f64: `VOLUMES_MARCH_INTEGER_TAPS`.
const MARCH_INTEGERS: [Marching; 4] = [of(5, 4, 2, 1), of(9, 4, 2, 1), of(13, 2, 1, 3), of(17, 2, 1, 1)];

/// Those for masks of three dimensions: `VOLUMES_CUBE_SIDES`.
const CUBES: [(&str, [Marching; 2]); 5] = [
    ("f32", [of(3, 4, 2, 3), of(5, 4, 1, 2)]),
    ("f64", [of(3, 4, 2, 3), of(5, 2, 1, 4)]),
    ("u8", [of(3, 4, 2, 3), of(5, 2, 1, 3)]),
    ("u16", [of(3, 4, 2, 3), of(5, 2, 1, 3)]),
    ("i16", [of(3, 4, 2, 3), of(5, 2, 1, 3)]),
];

/// Those over planes: `VOLUMES_PLANE_TAPS`, of f64 alone, and `VOLUMES_PLANE_SIDES`.
const PLANES: [(&str, bool, u32); 6] = [
    ("plane-taps", false, 5),
    ("plane-taps", false, 9),
    ("plane-taps", false, 17),
    ("plane-mask", true, 3),
    ("plane-mask", true, 5),
    ("plane-mask", true, 7),
];

fn marching(method: &'static str, src: &'static str, body: String, of: &Marching) -> Row {
    let &Marching { taps, down, residents, barriers } = of;
    let sum = if src == "f32" { 4 } else { 8 };
    let block = match (sum, down) {
        (4, 4) => "[volumes_march_block(4, 4), 1]",
        (4, _) => "[volumes_march_block(4, 2), 1]",
        (_, 4) => "[volumes_march_block(8, 4), 1]",
        _ => "[volumes_march_block(8, 2), 1]",
    };
    let row = kernel(method, taps.to_string(), [src, src], body, "VolumesMarchParams").taps("FewestParameter");
    let bytes = match (method, src) {
        ("march", _) => format!("volumes_march_bytes({taps}, {sum})"),
        (_, "f64") => format!("volumes_tiles_bytes({taps}, 8, 8)"),
        _ => format!("volumes_tiles_bytes({taps}, {sum}, 4)"),
    };
    let shared = format!("SharedMemory::Bytes({bytes})");
    row.block(block).shared(shared, barriers[0]).barriers(barriers).residents(residents)
}
