use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "fft", about: "Correlation by Fourier transforms of tiles.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let tile = |src| {
        let row = kernel("tile", "", [src, "f32"], format!("fft::Tile<{src}>"), "FftParams").taps("Global");
        row.block("[FFT_BLOCK, 1]").shared("SharedMemory::Bytes(FFT_BLOCK_BYTES)", 4).residents(2)
    };
    let pass = |stage: &str, body: &str, stages: u32, barriers| {
        let body = format!("fft::{body}<{stages}>");
        let row =
            kernel("passes", format!("{stage}-{}", 1 << stages), ["f32", "f32"], body, "FftParams").taps("Global");
        row.block("[FFT_BLOCK, 1]").shared("SharedMemory::Bytes(FFT_BLOCK_BYTES)", barriers).residents(2)
    };
    let mut rows: Vec<Row> = ["f32", "u8"].map(tile).into();
    rows.extend((7..=10).map(|stages| pass("columns", "Columns", stages, 1)));
    rows.extend((6..=9).map(|stages| pass("rows", "Rows", stages, 2)));
    rows.extend((7..=10).map(|stages| pass("back", "Back", stages, 1)));
    rows
}
