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

/// Most taps per axis of the kernels that march over integers: `VOLUMES_MARCH_INTEGER_TAPS`.
const MARCH_INTEGER_TAPS: [u32; 3] = [5, 9, 17];

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
    let marching = |method, (src, sum): (&'static str, &str), body, (taps, blocks, ways): (u32, u32, u32)| {
        let bytes = if sum == "f64" { 8 } else { 4 };
        let row = kernel(method, taps.to_string(), [src, src], body, "VolumesMarchParams").taps("FewestParameter");
        let shared = format!("SharedMemory::Bytes(volumes_{method}_bytes({taps}, {bytes}))");
        row.block("[VOLUMES_MARCH_BLOCK, 1]").shared(shared, ways).residents(blocks)
    };
    let march = |of: (&'static str, &str, u32), taps: (u32, u32, u32)| {
        let (src, sum, down) = of;
        marching("march", (src, sum), format!("volumes::March<{src}, {sum}, {}, {down}>", taps.0), taps)
    };
    let floats = MARCH_TAPS.map(|taps| march(("f32", "f32", 4), taps));
    let integers = ["u8", "u16"].map(|src| MARCH_INTEGER_TAPS.map(|taps| march((src, "f64", 2), (taps, 1, 1))));
    let cube = CUBE_SIDES.map(|of| marching("cube", ("f32", "f32"), format!("volumes::Cube<{}>", of.0), of));
    dense.into_iter().chain(line).chain(floats).chain(integers.into_iter().flatten()).chain(cube).collect()
}
