use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family =
    Family { name: "rgba", about: "3x3 masks over RGBA images of 8 bits a channel.", lowest_target: 75, rows };

fn rows() -> Vec<Row> {
    let row = |variant, program, body: &str| {
        let row = kernel(variant, "", ["u8", "u8"], format!("rgba::{body}"), "Conv2dParams").program(program);
        row.taps("SmallParameter").block("RGBA_BLOCK")
    };
    let tile = |row: Row| row.shared("SharedMemory::Bytes(RGBA_TILE_BYTES)", 1).residents(32);
    vec![
        row("naive", "P10", "Naive"),
        row("texture", "P10", "Texture").texture(),
        tile(row("one-loader", "P11", "OneLoader")),
        tile(row("cooperative", "P12", "Cooperative")),
    ]
}
