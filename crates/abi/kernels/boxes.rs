use super::{Family, Row, kernel, ordered, sliding};

pub(crate) const FAMILY: Family =
    Family { name: "boxes", about: "Box filters: sums over windows, all samples alike.", lowest_target: 75, rows };

const DST: [&str; 4] = ["u8", "u16", "i16", "f32"];

fn rows() -> Vec<Row> {
    let chunks = |stage: String, types, body: String| {
        let row = kernel("chunks", stage, types, body, "BoxParams").block("[BOX_BLOCK, 1]");
        row.shared("SharedMemory::BoxTile", 4).residents(3)
    };
    let mut rows = Vec::new();
    for channels in 1..=4 {
        let strip = if channels == 1 { 128 } else { 64 };
        let body = format!("boxes::Floats<{channels}, {strip}>");
        rows.push(chunks(format!("c{channels}"), ["f32", "f32"], body).residents(if channels == 1 { 3 } else { 2 }));
    }
    // Window sums of 16 bits, two per word, or of 32 bits; strips of 128 or 64 words of 4 bytes.
    for (stage, wide, strip) in [("small", false, 128), ("large", true, 128), ("narrow", true, 64)] {
        for dst in ["u8", "f32"] {
            for (suffix, rgba) in [("", false), ("-rgba", true)] {
                let body = format!("boxes::Bytes<{dst}, {wide}, {rgba}, {strip}>");
                rows.push(chunks(format!("{stage}{suffix}"), ["u8", dst], body));
            }
        }
    }
    for (stage, large) in [("small", false), ("large", true)] {
        let row = kernel("strips", stage, ["u8", "u8"], format!("boxes::Strips<{large}>"), "BoxParams");
        let row = row.block("[BOX_STRIP / BOX_BYTES, 1]").shared("SharedMemory::BoxTile", 4);
        rows.push(row.residents(16));
    }
    // One warp per block, or several, for each type and number of channels.
    for (stage, src, channels, warps, size) in [
        ("means", "u8", 1, 1, 1),
        ("wide", "u8", 1, 4, 1),
        ("wide", "u16", 1, 4, 2),
        ("wide", "i16", 1, 4, 2),
        ("large", "u16", 1, 8, 2),
        ("large", "i16", 1, 8, 2),
        ("rgba", "u8", 4, 8, 1),
    ] {
        let body = format!("windows::Prefix<{src}, boxes::Means<{}>, {channels}, {warps}>", stage == "large");
        let row = kernel("prefix", stage, [src, src], body, "PrefixParams");
        let row = row.shared(format!("SharedMemory::Bytes(prefix_layout({warps}, {channels}, {size})[2])"), 5);
        let (block, residents) = match warps {
            1 => ("[32, 1]", 16),
            4 => ("[128, 1]", 4),
            _ => ("[256, 1]", 2),
        };
        rows.push(row.block(block).residents(residents));
    }
    for src in ["u8", "u16", "i16"] {
        let body = format!("boxes::PrefixTotals<{src}>");
        rows.push(kernel("prefix", "totals", [src, "u32"], body, "PrefixParams").block("[PREFIX_TOTALS, 1]"));
    }
    sliding(&mut rows, &["u8", "u16", "i16"].map(|src| (src, &["u32", "u64"][..])), ("boxes::Scaled", 1));
    ordered(&mut rows, &["f32"], ("f32", "boxes::Scaled", 1), &["f32"]);
    ordered(&mut rows, &["f64"], ("f64", "boxes::Scaled", 1), &["f64"]);
    rows.push(kernel("simple", "rows", ["u8", "u32"], "boxes::SimpleRows", "BoxParams"));
    for dst in DST {
        rows.push(kernel("simple", "columns", ["u32", dst], format!("boxes::SimpleColumns<{dst}>"), "BoxParams"));
    }
    rows
}
