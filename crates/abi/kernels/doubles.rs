use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "doubles", about: "Dense and separable masks over f64.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let dense = kernel("dense", "", ["f64", "f64"], "doubles::Dense", "DoublesParams");
    vec![dense.taps("Global").block("DOUBLES_BLOCK").residents(4)]
}
