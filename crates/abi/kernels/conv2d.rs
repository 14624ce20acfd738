use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family { name: "conv2d", about: "Dense correlation.", lowest_target: 75, rows };

/// Returns the pairs of sample types of all dense kernels except the rungs of the ladder.
fn pairs() -> impl Iterator<Item = [&'static str; 2]> {
    ["u8", "f32"].into_iter().flat_map(|src| ["u8", "u16", "i16", "f32"].map(|dst| [src, dst]))
}

/// Pairs of sample types of the kernels that are rungs of the ladder.
const RUNGS: [[&str; 2]; 3] = [["u8", "u8"], ["u8", "f32"], ["f32", "f32"]];

/// Masks of up to `FEW_TAPS` taps, and larger ones.
const SIZES: [(&str, &str, bool); 2] = [("small", "SmallParameter", false), ("large", "Parameter", true)];

fn blocked(stage: &str, [src, dst]: [&'static str; 2], sum: &str, unrolled: bool, across: u32) -> Row {
    let body = format!("conv2d::Blocked<{src}, {dst}, {sum}, {unrolled}, {across}>");
    let row = kernel("blocked", stage, [src, dst], body, "Conv2dParams").block("[BLOCKED_BLOCK, 1]");
    row.shared(format!("SharedMemory::Blocked({across})"), 4)
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (stage, taps, large) in SIZES {
        for types in pairs() {
            let floats = types[1] == "f32";
            let (sum, across) = (if floats { "f32" } else { "f64" }, if floats && large { 16 } else { 8 });
            let row = blocked(stage, types, sum, large || floats, across).taps(taps);
            rows.push(row.residents(if floats && !large { 2 } else { 1 }));
        }
    }
    // Masks of any size, from a buffer.
    for types @ [src, dst] in pairs() {
        let (sum, across) = if dst == "f32" { ("f32", 16) } else { ("f64", 8) };
        let body = format!("conv2d::Pieces<{src}, {dst}, {across}>");
        let row = kernel("blocked", "pieces", types, body, "PiecesParams").block("[BLOCKED_BLOCK, 1]").taps("Global");
        rows.push(row.shared(format!("SharedMemory::BlockedPieces({across}, {})", super::element(sum)), 4));
    }
    // Bytes summed in f32; doubtful sums are computed again in f64.
    for dst in ["u8", "u16", "i16"] {
        rows.push(blocked("checked", ["u8", dst], "f32", false, 8).taps("SmallParameter").residents(2));
    }
    for types @ [src, dst] in pairs() {
        let body = format!("conv2d::Naive<{src}, {dst}>");
        rows.push(kernel("naive", "", types, body, "Conv2dParams").taps("Global"));
    }
    for types @ [src, dst] in RUNGS {
        let body = format!("conv2d::Constant<{src}, {dst}>");
        rows.push(kernel("constant", "", types, body, "Conv2dParams").taps("Parameter"));
    }
    let tiled = |variant, body: &str, stage, types @ [src, dst]: [&'static str; 2], taps, large: bool| {
        let row = kernel(variant, stage, types, format!("conv2d::{body}<{src}, {dst}, {large}>"), "Conv2dParams");
        let row = row.program("P4").taps(taps).block("[TILE_WIDTH, TILE_WIDTH]").shared("SharedMemory::MaskTile", 2);
        row.residents(if dst == "f32" { 2 } else { 1 })
    };
    for (stage, _, large) in SIZES {
        rows.extend(RUNGS.map(|types| tiled("tiled-symbol", "TiledSymbol", stage, types, "Symbol", large)));
    }
    for (stage, taps, large) in SIZES {
        rows.extend(pairs().map(|types| tiled("tiled", "Tiled", stage, types, taps, large)));
    }
    rows.extend(scaled());
    rows
}

/// Returns the kernels that sum in f64, with a dense mask or along rows and then columns, and the kernels that scale
/// these sums and round them once to integers.
fn scaled() -> impl Iterator<Item = Row> {
    let stage = |stage, types, body: String, params| kernel("scaled", stage, types, body, params);
    let sums = ["u8", "f32"].into_iter().flat_map(move |src| {
        let dense = stage("sums", [src, "f64"], format!("conv2d::Naive<{src}, f64>"), "Conv2dParams");
        let rows = stage("rows", [src, "f64"], format!("conv1d::Simple<{src}, f64, f64, 0>"), "Conv1dParams");
        [dense.taps("Global"), rows.taps("Global")]
    });
    let columns = stage("columns", ["f64", "f64"], "conv1d::Simple<f64, f64, f64, 1>".into(), "Conv1dParams");
    let results = ["u8", "u16", "i16"].map(|dst| {
        let body = format!("pointwise::Weighted<f64, f64, {dst}>");
        stage("results", ["f64", dst], body, "PointwiseParams").block("[POINTWISE_BLOCK, 1]")
    });
    sums.chain([columns.taps("Global")]).chain(results)
}
