use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "conv1d",
    about: "Passes of separable correlation, along rows or columns.",
    lowest_target: 75,
    rows,
};

/// Returns the type of sums: f32 for results in f32, f64 for integers.
fn sum(dst: &str) -> &'static str {
    if dst == "f32" { "f32" } else { "f64" }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for src in ["u8", "f32"] {
        for dst in ["u8", "u16", "i16", "f32"] {
            let fused = kernel("fused", "", [src, dst], format!("conv1d::Fused<{src}, {dst}>"), "FusedParams");
            let fused = fused.taps("SmallParameter").block("[FUSED_BLOCK, 1]").shared("SharedMemory::FusedRows", 2);
            rows.push(fused.residents(if dst == "f32" { 6 } else { 4 }));
        }
    }
    // Two launches: along rows from samples into sums, then along columns from these sums.
    let passes = || {
        let along_rows = ["u8", "f32"].into_iter().flat_map(|src| ["f32", "f64"].map(|sum| (0, [src, sum], sum)));
        along_rows.chain(["u8", "u16", "i16", "f32"].map(|dst| (1, [sum(dst), dst], sum(dst))))
    };
    for (program, taps, long) in [("P2", "Parameter", ""), ("-", "Global", "long-")] {
        for (axis, types @ [src, dst], sum) in passes() {
            let stage = format!("{long}{}", ["rows", "columns"][axis]);
            let body = format!("conv1d::Simple<{src}, {dst}, {sum}, {axis}>");
            rows.push(kernel("simple", stage, types, body, "Conv1dParams").program(program).taps(taps));
        }
    }
    // Masks of a single row or column, from samples to results. Between f32 and from u8 to f32 along rows, and from f32
    // along columns, they are passes of separable filters.
    let alone = [0, 1].into_iter().flat_map(|axis| {
        let of = |src: &'static str| ["u8", "u16", "i16", "f32"].map(|dst| [src, dst]);
        let types = of("u8").into_iter().chain(of("f32")).chain([["u16", "u16"], ["i16", "i16"]]);
        let is_pass = move |[src, dst]: [&str; 2]| dst == "f32" && (axis == 0 || src == "f32");
        types.filter(move |types| !is_pass(*types)).map(move |types| (axis, types, sum(types[1])))
    });
    for (axis, types @ [src, dst], sum) in passes().chain(alone) {
        let (stage, name) = [("rows", "Rows"), ("columns", "Columns")][axis];
        let body = format!("conv1d::Blocked{name}<{src}, {sum}, {dst}>");
        let blocked = kernel("blocked", stage, types, body, "Conv1dParams");
        let bytes = format!("SharedMemory::Bytes(blocked_{stage}_bytes(size_of::<{sum}>() as u32))");
        let blocked = blocked.taps("Global").block("[BLOCKED_LINE_BLOCK, 1]").shared(bytes, 3 - axis as u32);
        rows.push(blocked.residents(if sum == "f32" { 4 } else { 2 }));
    }
    for (axis, types @ [src, dst], sum) in passes() {
        let body = format!("conv1d::Tiled<{src}, {dst}, {sum}, {axis}>");
        let tiled = kernel("tiled", ["rows", "columns"][axis], types, body, "Conv1dParams").program("P3");
        let bytes = format!("SharedMemory::Bytes(TILE_WIDTH * TILE_WIDTH * size_of::<{sum}>() as u32)");
        let tiled = tiled.taps("SmallParameter").block("[TILE_WIDTH, TILE_WIDTH]").shared(bytes, 1);
        rows.push(tiled.residents(if sum == "f32" { 2 } else { 1 }));
    }
    rows
}
