use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "local", about: "Statistics of windows: the local standard deviation.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let along_rows =
        ["u8", "f32"].map(|src| kernel("sums", "rows", [src, "f64"], format!("local::Rows<{src}>"), "LocalParams"));
    let down_columns = ["u8", "u16", "i16", "f32"]
        .map(|dst| kernel("sums", "columns", ["f64", dst], format!("local::Columns<{dst}>"), "LocalParams"));
    along_rows.into_iter().chain(down_columns).collect()
}
