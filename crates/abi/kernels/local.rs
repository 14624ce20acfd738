use super::{Family, Row, kernel, sliding};

pub(crate) const FAMILY: Family =
    Family { name: "local", about: "Statistics of windows: the local standard deviation.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let along_rows =
        ["u8", "f32"].map(|src| kernel("sums", "rows", [src, "f64"], format!("local::Rows<{src}>"), "LocalParams"));
    let down_columns = ["u8", "u16", "i16", "f32"]
        .map(|dst| kernel("sums", "columns", ["f64", dst], format!("local::Columns<{dst}>"), "LocalParams"));
    let mut rows: Vec<Row> = along_rows.into_iter().chain(down_columns).collect();
    // Squares of 16 bits need 64.
    let sums: [(&str, &[&str]); 3] = [("u8", &["u32", "u64"]), ("u16", &["u64"]), ("i16", &["u64"])];
    sliding(&mut rows, &sums, ("local::Deviation", 2));
    rows
}
