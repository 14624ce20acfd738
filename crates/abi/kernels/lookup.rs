use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "lookup", about: "Tables for the values of samples.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let tiles = |stage, types, body: &str| kernel("tiles", stage, types, format!("lookup::{body}"), "TilesParams");
    vec![
        // Tables of 4 channels, one word of 32 bits per entry.
        kernel("table", "", ["u8", "u8"], "lookup::Table", "LookupParams")
            .block("[LOOKUP_BLOCK, 1]")
            .shared("SharedMemory::Bytes(4 * BYTE_BINS * 4)", 1),
        kernel("equalize", "table", ["u64", "u8"], "lookup::Equalize", "EqualizeParams")
            .block("[BYTE_BINS, 1]")
            .shared("SharedMemory::Bytes(8 * BYTE_BINS)", 1),
        tiles("tables", ["u8", "u8"], "Tiles").block("[BYTE_BINS, 1]").shared("SharedMemory::Bytes(4 * BYTE_BINS)", 2),
        tiles("blend", ["u8", "u8"], "Blend<u8>"),
        tiles("counts", ["u16", "u32"], "Counts")
            .block("[SLICES_BLOCK, 1]")
            .shared("SharedMemory::Bytes(SLICE_CELLS * 4)", 2),
        // Two words of 32 bits per warp.
        tiles("wide-tables", ["u32", "u16"], "WideTables")
            .block("[WIDE_BLOCK, 1]")
            .shared("SharedMemory::Bytes(WIDE_BLOCK / 32 * 8)", 2),
        tiles("blend", ["u16", "u16"], "Blend<u16>"),
    ]
}
