use super::{Family, Row, element, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "paired",
    about: "Pointwise operations on one or two separable filters of an image, in one launch.",
    // Bulk asynchronous copies and their mbarriers came with sm_90.
    lowest_target: 90,
    rows,
};

/// Types of input and output.
const TYPES: [[&str; 2]; 3] = [["u8", "u8"], ["u8", "f32"], ["f32", "f32"]];

/// Channels, whether rows are multiples of 16 bytes, and sides of the windows. A window also serves parts of fewer
/// taps.
const AXES: [(u32, bool, &[u32]); 4] =
    [(1, true, &[3, 5, 7, 9, 13, 17]), (1, false, &[3, 9, 17]), (3, true, &[3, 9]), (4, true, &[3, 9])];

/// Returns the resident blocks per multiprocessor for which registers are limited, without spills.
fn residents(types: [&str; 2], side: u32, channels: u32) -> u32 {
    match (types, side) {
        (["u8", "u8"], 3) => 5,
        (["u8", "u8"], 5) => 4,
        (["f32", _], 9) if channels < 4 => 4,
        (["u8", "u8"], 7) | (_, 9 | 13) => 3,
        (_, 17) => 2,
        _ => 1,
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for types in TYPES {
        let [src, dst] = types.map(element);
        // Colours of bytes keep their type.
        for (channels, aligned, sides) in AXES.into_iter().filter(|axes| axes.0 == 1 || types[0] == types[1]) {
            for side in sides {
                let across = format!("paired_across({dst}, {side})");
                let [read, written] = types;
                let body = format!(
                    "paired::Paired<{read}, {written}, {{ {across} as usize }}, {side}, {channels}, {aligned}>"
                );
                let stage = format!("{side}-c{channels}{}", if aligned { "" } else { "-any" });
                // As the marching kernels.
                let barriers = if aligned || read == "f32" { 2 } else { 3 };
                let row = kernel("", stage, types, body, "PairedParams").taps("FewestParameter");
                let row = row.block("[MARCH_BLOCK, 1]").residents(residents(types, *side, channels));
                rows.push(row.shared(format!("pairing({src}, {dst}, {side}, {channels})"), barriers));
            }
        }
    }
    rows
}
