use super::{Family, Row, kernel, odd};

pub(crate) const FAMILY: Family = Family {
    name: "patch",
    about: "Correlation with small masks for small images, by threads that share nothing.",
    // Their code is long, and was never measured on older GPUs.
    lowest_target: 90,
    rows,
};

/// Even sides of dense masks.
const EVEN: [u32; 3] = [2, 4, 6];

/// Returns the largest side of the mask; odd sides start at 3.
fn largest(method: &str, src: &str, channels: u32) -> u32 {
    match (channels, method, src) {
        (1, "separable", "f32" | "u8") => 9,
        (1, ..) => 7,
        (3, ..) => 5,
        _ => 3,
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for src in ["f32", "u8", "u16"] {
        // Integers are summed in f64.
        let samples = if src == "f32" { src.into() } else { format!("samples::Doubles<{src}>") };
        for (method, body) in [("separable", "Separable"), ("dense", "Dense")] {
            for channels in [1, 3, 4] {
                let largest = largest(method, src, channels);
                let even = EVEN.into_iter().filter(|side| method == "dense" && *side < largest);
                for side in odd(3, largest).chain(even) {
                    let sums = format!("march::{body}<{samples}, 4, {side}, {channels}>");
                    let body = format!("patch::Patch<{sums}, {samples}, {side}, {channels}>");
                    let row = kernel(method, format!("{side}-c{channels}"), [src, src], body, "MarchParams");
                    let shared = format!("SharedMemory::Bytes(patch_bytes({side}, {channels}))");
                    rows.push(row.taps("FewestParameter").block("PATCH_BLOCK").shared(shared, 0));
                }
            }
        }
    }
    rows
}
