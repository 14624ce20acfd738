use super::{Family, Row, element, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "words",
    about: "Correlation with any masks, dense or separable, over the image's own 32-bit words.",
    // Their code is long, and was never measured on older GPUs.
    lowest_target: 90,
    rows,
};

/// A method's tiles: sample types, outputs per thread across and down, barriers per thread.
struct Tile {
    variant: &'static str,
    types: &'static [&'static str],
    body: fn(samples: &str, channels: u32) -> String,
    shared: &'static str,
    outputs: [u32; 2],
    barriers: u32,
    /// Minimum resident blocks per multiprocessor.
    residents: u32,
}

const TILES: [Tile; 3] = [
    Tile {
        variant: "dense",
        types: &["u8", "u16", "i16"],
        body: |samples, channels| format!("words::Dense<{samples}, 4, 4, {channels}>"),
        shared: "Words",
        outputs: [4, 4],
        barriers: 1,
        residents: 2,
    },
    Tile {
        variant: "dense-small",
        types: &["u8", "u16", "i16", "f32"],
        body: |samples, channels| format!("words::Dense<{samples}, 4, 1, {channels}>"),
        shared: "Words",
        outputs: [4, 1],
        barriers: 1,
        residents: 1,
    },
    Tile {
        variant: "separable",
        types: &["u8", "u16", "i16", "f32"],
        body: |samples, channels| format!("words::Separable<{samples}, {channels}>"),
        shared: "WordsAndSums",
        outputs: [4, 2],
        barriers: 2,
        residents: 1,
    },
];

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for Tile { variant, types, body, shared, outputs: [across, down], barriers, residents } in TILES {
        for &src in types {
            let samples = if src == "f32" { src.into() } else { format!("samples::Doubles<{src}>") };
            for channels in 1..=4 {
                let stage = format!("c{channels}");
                let row = kernel(variant, stage, [src, src], body(&samples, channels), "Conv2dParams");
                let memory =
                    format!("SharedMemory::{shared}({}, {channels}, words_rows({across}, {down}))", element(src));
                let row = row.taps("SmallParameter").block("[BLOCKED_BLOCK, 1]").shared(memory, barriers);
                rows.push(row.residents(residents));
            }
        }
    }
    // Matrix products: masks of few taps as a small parameter, others with longer rows.
    let sizes = [(1, "SmallParameter", "[tensor_block(1), 1]"), (2, "Parameter", "[tensor_block(2), 1]")];
    for (pairs, taps, block) in sizes {
        // There are no kernels for two digits with long rows, nor for one to three digits with u16: such masks are
        // rare.
        let bytes: &[u32] = if pairs == 1 { &[1, 2, 3] } else { &[1, 3] };
        for (src, digits) in [("u8", bytes), ("u16", &[4])] {
            let at_once = format!("{{ tensor_rows({}) as usize }}", element(src));
            for digits in digits {
                let body = format!("words::TensorRows<samples::Doubles<{src}>, {pairs}, {digits}, {at_once}>");
                let row = kernel("tensor", format!("p{pairs}-d{digits}"), [src, src], body, "TensorParams").taps(taps);
                let shared = format!("SharedMemory::Tensor({}, {pairs}, {digits})", element(src));
                let row = row.block(block).shared(shared, 2);
                rows.push(row.residents(if pairs == 1 { 3 } else { 1 }));
            }
        }
    }
    // Masks of up to 3, 5, 7 and 9 rows: for bytes, the digits are in registers; for u16, in shared memory.
    for (pairs, residents) in [(2, 6), (3, 5), (4, 4), (5, 4)] {
        let wide: &[u32] = if pairs >= 4 { &[4] } else { &[] };
        for (src, digits) in [("u8", &[1, 3][..]), ("u16", wide)] {
            for digits in digits {
                let body = format!("words::TensorPairs<samples::Doubles<{src}>, {pairs}, {digits}>");
                let row = kernel("tensor-pairs", format!("p{pairs}-d{digits}"), [src, src], body, "TensorParams");
                let shared = format!("SharedMemory::TensorPairs({}, {pairs}, {digits})", element(src));
                let row = row.taps("SmallParameter").block("[TENSOR_PAIRS_BLOCK, 1]").shared(shared, 2);
                rows.push(row.residents(residents));
            }
        }
    }
    // Separable taps: of up to 17 rows by windows of 32 bytes, of more with any number of windows.
    for (windows, pairs, residents) in [(1, 1, 3), (2, 1, 3), (3, 1, 3), (0, 2, 2)] {
        let stage = if windows > 0 { format!("w{windows}") } else { format!("p{pairs}") };
        let body = format!("words::TensorAxes<{windows}, {pairs}>");
        let row = kernel("tensor-axes", stage, ["u8", "u8"], body, "TensorParams").taps("SmallParameter");
        let shared = format!("SharedMemory::TensorAxes({}, {pairs})", if windows > 0 { windows } else { 2 });
        rows.push(row.block("[TENSOR_AXES_BLOCK, 1]").shared(shared, 2).residents(residents));
    }
    // Masks of one row or column; rows of several channels only where bytes make images of them.
    for src in ["u8", "u16", "i16"] {
        let samples = format!("samples::Doubles<{src}>");
        let mut line = |stage: String, body: String, channels: u32, residents: u32| {
            let row =
                kernel("line", stage, [src, src], body, "Conv2dParams").taps("SmallParameter").block("LINE_BLOCK");
            rows.push(row.shared(format!("SharedMemory::Bytes(line_bytes({channels}))"), 1).residents(residents));
        };
        for &channels in if src == "u8" { &[1, 3, 4][..] } else { &[1] } {
            line(
                format!("rows-c{channels}"),
                format!("words::LineRows<{samples}, {channels}, {{ line_rows({channels}) as usize }}>"),
                channels,
                2,
            );
        }
        line("columns".into(), format!("words::LineColumns<{samples}>"), 1, if src == "u8" { 3 } else { 2 });
    }
    rows
}
