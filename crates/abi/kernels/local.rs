use super::{Family, Row, kernel, ordered, sliding};

pub(crate) const FAMILY: Family =
    Family { name: "local", about: "Statistics of windows: the local standard deviation.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    // Squares of 16 bits need 64.
    let sums: [(&str, &[&str]); 3] = [("u8", &["u32", "u64"]), ("u16", &["u64"]), ("i16", &["u64"])];
    sliding(&mut rows, &sums, ("local::Deviation", 2));
    ordered(&mut rows, &["u8", "f32", "f64"], ("f64", "local::Deviation", 2), &["u8", "u16", "i16", "f32", "f64"]);
    // One warp per block, or several.
    for (stage, src, sum, warps, size) in [
        ("narrow", "u8", "u32", 1, 1),
        ("wide", "u8", "u32", 4, 1),
        ("wide", "u16", "u64", 4, 2),
        ("wide", "i16", "u64", 4, 2),
    ] {
        let body = format!("windows::Prefix<{src}, local::Deviations<{sum}>, 1, {warps}>");
        let row = kernel("prefix", stage, [src, src], body, "PrefixParams");
        let row = row.shared(format!("SharedMemory::Bytes(deviations_layout({warps}, {size})[2])"), 5);
        let (block, residents) = if warps == 1 { ("[32, 1]", 16) } else { ("[128, 1]", 4) };
        rows.push(row.block(block).residents(residents));
    }
    // f16 is converted to f32; other types take the two launches above.
    for (src, bytes) in [("f32", 4), ("f64", 8)] {
        let row = kernel("tiled", "", [src, src], format!("local::Tiled<{src}, {src}>"), "OrderedParams");
        rows.push(row.block("[LOCAL_BLOCK, 1]").shared(format!("SharedMemory::LocalTile({bytes})"), 2).residents(3));
    }
    rows
}
