use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "doubles", about: "Dense and separable masks over f64.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let of = |stage: &str, body: &str| {
        let row = kernel("dense", stage, ["f64", "f64"], format!("doubles::{body}"), "DoublesParams");
        row.taps("Global").block("DOUBLES_BLOCK")
    };
    vec![of("", "Dense").residents(3), of("line", "Line").residents(8)]
}
