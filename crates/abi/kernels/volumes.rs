use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "volumes",
    about: "Masks of three dimensions over volumes, and passes along an axis.",
    lowest_target: 75,
    rows,
};

/// Types of samples and sums. Other types are converted before and after.
const TYPES: [&str; 2] = ["f32", "f64"];

/// Most taps per axis of the kernels that march: `VOLUMES_MARCH_TAPS`.
const MARCH_TAPS: [u32; 4] = [3, 5, 9, 17];

fn rows() -> Vec<Row> {
    let of = |stage: &str, body: &str, sum| {
        let row = kernel("dense", stage, [sum, sum], format!("volumes::{body}<{sum}>"), "VolumesParams");
        row.taps("Global").block("VOLUMES_BLOCK")
    };
    let dense = TYPES.map(|sum| of("", "Dense", sum).residents(if sum == "f32" { 4 } else { 3 }));
    let line = TYPES.map(|sum| of("line", "Line", sum).residents(8));
    // Taps along each axis in one launch.
    let march = MARCH_TAPS.map(|taps| {
        let row =
            kernel("march", taps.to_string(), ["f32", "f32"], format!("volumes::March<{taps}>"), "VolumesMarchParams");
        let row = row.taps("FewestParameter").block("[VOLUMES_MARCH_BLOCK, 1]");
        row.shared(format!("SharedMemory::Bytes(volumes_march_bytes({taps}))"), 4).residents(if taps > 5 {
            1
        } else {
            2
        })
    });
    dense.into_iter().chain(line).chain(march).collect()
}
