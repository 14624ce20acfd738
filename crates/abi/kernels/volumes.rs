use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "volumes",
    about: "Masks of three dimensions over volumes, and passes along an axis.",
    lowest_target: 75,
    rows,
};

/// Types of samples and sums. Other types are converted before and after.
const TYPES: [&str; 2] = ["f32", "f64"];

/// Taps per axis of the kernels that march, `VOLUMES_MARCH_TAPS`, their blocks per multiprocessor, and their ways through the
/// planes: one for as many taps, one for fewer.
const MARCH_TAPS: [(u32, u32, u32); 8] =
    [(3, 2, 1), (5, 2, 1), (7, 1, 1), (9, 1, 2), (11, 1, 1), (13, 1, 1), (15, 1, 1), (17, 1, 2)];

/// Most sides of the masks of the kernels that march, `VOLUMES_CUBE_SIDES`, their blocks per multiprocessor, and their ways
/// through the planes: one for masks of this side, one for others.
const CUBE_SIDES: [(u32, u32, u32); 2] = [(3, 2, 1), (5, 1, 2)];

fn rows() -> Vec<Row> {
    let of = |stage: &str, body: &str, sum| {
        let row = kernel("dense", stage, [sum, sum], format!("volumes::{body}<{sum}>"), "VolumesParams");
        row.taps("Global").block("VOLUMES_BLOCK")
    };
    let dense = TYPES.map(|sum| of("", "Dense", sum).residents(if sum == "f32" { 4 } else { 3 }));
    let line = TYPES.map(|sum| of("line", "Line", sum).residents(8));
    let marching = |method, body: &str, (taps, blocks, ways): (u32, u32, u32), shared: &str| {
        let body = format!("volumes::{body}<{taps}>");
        let row = kernel(method, taps.to_string(), ["f32", "f32"], body, "VolumesMarchParams");
        let row = row.taps("FewestParameter").block("[VOLUMES_MARCH_BLOCK, 1]");
        row.shared(format!("SharedMemory::Bytes({shared}({taps}))"), ways).residents(blocks)
    };
    let march = MARCH_TAPS.map(|of| marching("march", "March", of, "volumes_march_bytes"));
    let cube = CUBE_SIDES.map(|of| marching("cube", "Cube", of, "volumes_cube_bytes"));
    dense.into_iter().chain(line).chain(march).chain(cube).collect()
}
