use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "statistics", about: "Statistics of samples, summed in a fixed order.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (stage, squares) in [("rows", false), ("row-squares", true)] {
        for (src, held) in [("f32", 4), ("Half", 4), ("f64", 8)] {
            let body = format!("statistics::Rows<{src}, {squares}>");
            let row = kernel("row-sums", stage, [src, "f64"], body, "StatisticsParams").block("[SUMMED_ROWS, 4]");
            rows.push(row.shared(format!("SharedMemory::Bytes(summed_bytes({held}))"), 2));
        }
    }
    for src in ["u32", "i32", "u64", "i64"] {
        let body = format!("statistics::Totals<{src}>");
        let row = kernel("row-sums", "totals", [src, "u64"], body, "TotalsParams").block("[TOTALS_BLOCK, 1]");
        rows.push(row.shared("SharedMemory::Bytes(TOTALS_BLOCK * TOTALS_WORDS * 8)", 9));
    }
    for (stage, squares, barriers) in [("means", false, 3), ("squares", true, 2)] {
        let body = format!("statistics::Fold<{squares}>");
        let row = kernel("row-sums", stage, ["f64", "f64"], body, "StatisticsParams").block("[FOLD_BLOCK, 1]");
        rows.push(row.shared("SharedMemory::Bytes(FOLD_BLOCK * 8)", barriers));
    }
    rows
}
