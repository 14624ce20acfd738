use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family { name: "histogram", about: "Histograms.", lowest_target: 75, rows };

/// Returns a kernel that counts cells by slices of counters.
fn slices(
    variant: &'static str,
    stage: &'static str,
    types: [&'static str; 2],
    body: String,
    params: &'static str,
) -> Row {
    let row = kernel(variant, stage, types, body, params).block("[SLICES_BLOCK, 1]");
    row.shared("SharedMemory::Bytes(SLICE_CELLS * 4)", 2)
}

/// Returns a kernel that adds to totals in global memory.
fn scattered(variant: &'static str, stage: &'static str, src: &'static str, masked: bool) -> Row {
    let body = format!("histogram::Scattered<{src}, {masked}>");
    let row = kernel(variant, stage, [src, "u64"], body, "HistogramScatterParams");
    // The taps are the edges of the bins.
    let row = row.taps("Global").block("[SCATTER_BLOCK, 1]");
    row.shared("SharedMemory::Bytes(SCATTER_KEPT * 8)", 3)
}

fn extremes(variant: &'static str, masked: bool) -> Row {
    let body = format!("histogram::Extremes<{masked}>");
    let row = kernel(variant, "extremes", ["f32", "f32"], body, "HistogramExtremesParams");
    // A pair of f32 per thread.
    row.block("[EXTREMES_BLOCK, 1]").shared("SharedMemory::Bytes(EXTREMES_BLOCK * 8)", 9)
}

fn rows() -> Vec<Row> {
    let columns = |variant, channels, dst, body: &str, params| {
        let body = format!("histogram::{body}<{channels}>");
        let row = kernel(variant, format!("c{channels}"), ["u8", dst], body, params).block("[COLUMNS_BLOCK, 1]");
        row.shared(format!("SharedMemory::Bytes({channels} * BYTE_BINS * HISTOGRAM_COLUMNS * 4)"), 2)
    };
    let mut rows = Vec::new();
    for channels in 1..=4 {
        let row = columns("columns", channels, "u32", "Columns", "HistogramPartialParams");
        rows.push(row.residents(if channels == 1 { 2 } else { 1 }));
    }
    for channels in 1..=4 {
        rows.push(columns("one-launch", channels, "u64", "OneLaunch", "HistogramTotalsParams"));
    }

    let partial = kernel("partials", "partials", ["u8", "u32"], "histogram::Partial", "HistogramPartialParams");
    let partial = partial.program("P6").block("[PARTIAL_BLOCK, 1]");
    rows.push(partial.shared("SharedMemory::Bytes(PARTIAL_ROWS * BYTE_BINS * 4)", 2));
    let merge = kernel("partials", "merge", ["u32", "u64"], "histogram::Merge", "HistogramMergeParams");
    let merge = merge.program("P7").block("[MERGE_BLOCK, 1]");
    rows.push(merge.shared("SharedMemory::Bytes(MERGE_BLOCK * 8)", 9));

    for (variant, body, src) in [
        ("nearest-edge", "Nearest", "f32"),
        ("nearest-edge", "Nearest", "u16"),
        ("nearest-edge", "Nearest", "i16"),
        ("edge-search", "Search", "f32"),
    ] {
        let body = format!("histogram::Edges<histogram::{body}, {src}>");
        let row = kernel(variant, "count", [src, "u64"], body, "HistogramEdgesParams").taps("Global");
        rows.push(row.block("[EDGES_BLOCK, 1]").shared("SharedMemory::Edges", 2));
    }
    rows.push(extremes("nearest-edge", false));

    rows.push(extremes("slices", true));
    for (stage, src, body) in
        [("all", "u16", "ByValue<u16>"), ("all", "i16", "ByValue<i16>"), ("upper-halves", "f32", "ByUpperHalf")]
    {
        let body = format!("histogram::Values<histogram::{body}>");
        rows.push(slices("slices", stage, [src, "u32"], body, "HistogramValuesParams"));
    }
    let body = "histogram::Values<histogram::InRange>".into();
    rows.push(slices("slices", "range", ["u32", "u32"], body, "HistogramValuesParams"));
    let bins = kernel("slices", "bins", ["f64", "f32"], "histogram::Places", "HistogramPlacesParams");
    // The taps are the edges of the bins.
    rows.push(bins.taps("Global").block("[BINS_BLOCK, 1]"));
    let digits = kernel("slices", "digits", ["f32", "u64"], "histogram::Digits", "HistogramDigitsParams");
    let digits = digits.block("[SLICES_BLOCK, 1]");
    // The sets of the upper halves of one channel, and the counters of one prefix.
    rows.push(digits.shared("SharedMemory::Bytes((set_words(UPPER_HALVES) + DIGITS) * 4)", 2));
    let ranks = kernel("slices", "ranks", ["u64", "u32"], "histogram::Ranks", "HistogramRanksParams");
    // The taps are the ranks.
    let ranks = ranks.taps("Global").block("[RANKS_BLOCK, 1]");
    rows.push(ranks.shared("SharedMemory::Bytes(RANKS_BYTES)", 3).residents(1));
    let body = "histogram::Values<histogram::ByPlace>".into();
    let places = slices("slices", "places", ["f32", "u32"], body, "HistogramValuesParams");
    // The taps are the edges of the bins.
    rows.push(places.taps("Global"));
    let cells = |src, stage, masked| {
        let body = format!("histogram::Slices<{src}, {masked}>");
        let row = slices("slices", stage, [src, "u32"], body, "HistogramCellsParams");
        // For f32, the taps are the edges of the bins.
        row.taps(if src == "f32" { "Global" } else { "None" })
    };
    rows.push(cells("f32", "all", false));
    rows.extend(["u8", "u16", "i16", "f32"].map(|src| cells(src, "masked", true)));
    for (stage, masked) in [("scattered", false), ("scattered-masked", true)] {
        rows.push(scattered("slices", stage, "f32", masked));
    }
    let sums = |variant, types @ [src, dst]: [&'static str; 2]| {
        let body = format!("histogram::Sums<{src}, {dst}>");
        kernel(variant, "sums", types, body, "HistogramMergeParams").block("[MERGE_BLOCK, 1]")
    };
    rows.push(sums("slices", ["u32", "u64"]));

    for src in ["u8", "u16", "i16", "Half", "f32"] {
        let row = kernel("weighted", "bins", [src, "u32"], format!("histogram::Bins<{src}>"), "HistogramBinsParams");
        rows.push(row.taps("Global").block("[BINS_BLOCK, 1]"));
    }
    for (stage, weight) in [("weights", "f64"), ("f32-weights", "f32")] {
        let body = format!("histogram::Weights<{weight}>");
        let row = kernel("weighted", stage, ["u32", "f64"], body, "HistogramWeightsParams");
        // Bin and weight of each sample of a batch, 4 and 8 bytes.
        rows.push(row.block("[WEIGHTS_BLOCK, 1]").shared("SharedMemory::Bytes(WEIGHTS_BATCH * 12)", 2));
    }
    rows.push(sums("weighted", ["f64", "f64"]));

    for src in ["u8", "u16", "i16", "Half", "f32", "f64"] {
        let row = kernel("joint", "cells", [src, "u32"], format!("histogram::Cells<{src}>"), "HistogramJointParams");
        // The taps are the edges of the bins, column by column.
        rows.push(row.taps("Global").block("[BINS_BLOCK, 1]"));
    }
    let body = "histogram::Slices<u32, false>".into();
    rows.push(slices("joint", "counts", ["u32", "u32"], body, "HistogramCellsParams"));
    rows.push(scattered("joint", "scattered", "u32", false));
    let body = "histogram::Joint".into();
    rows.push(slices("joint", "slices", ["f32", "u32"], body, "HistogramJointParams").taps("Global"));
    rows
}
