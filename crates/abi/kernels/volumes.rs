use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "volumes",
    about: "Masks of three dimensions over volumes, and passes along an axis.",
    lowest_target: 75,
    rows,
};

/// Types of samples and sums. Other types are converted before and after.
const TYPES: [&str; 2] = ["f32", "f64"];

fn rows() -> Vec<Row> {
    let of = |stage: &str, body: &str, sum| {
        let row = kernel("dense", stage, [sum, sum], format!("volumes::{body}<{sum}>"), "VolumesParams");
        row.taps("Global").block("VOLUMES_BLOCK")
    };
    let dense = TYPES.map(|sum| of("", "Dense", sum).residents(if sum == "f32" { 4 } else { 3 }));
    let line = TYPES.map(|sum| of("line", "Line", sum).residents(8));
    dense.into_iter().chain(line).collect()
}
