use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "fft", about: "Correlation by Fourier transforms of tiles.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let tile = |src| {
        let row = kernel("tile", "", [src, "f32"], format!("fft::Tile<{src}>"), "FftParams").taps("Global");
        row.block("[FFT_BLOCK, 1]").shared("SharedMemory::Bytes(FFT_BLOCK_BYTES)", 4).residents(2)
    };
    ["f32", "u8"].map(tile).into()
}
