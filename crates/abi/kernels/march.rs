use super::{Family, Row, element, kernel, odd};

pub(crate) const FAMILY: Family = Family {
    name: "march",
    about: "Correlation with small masks, dense or separable, at the speed of memory: blocks walk down strips.",
    // Bulk asynchronous copies and their mbarriers came with sm_90.
    lowest_target: 90,
    rows,
};

/// The axes of a variant: its sample type, and sides of the mask by channels.
struct Axes {
    variant: &'static str,
    src: &'static str,
    sides: fn(channels: u32) -> u32,
    channels: &'static [u32],
    /// Whether there is also a kernel for rows whose length is no multiple of 16 bytes.
    any: fn(side: u32, channels: u32) -> bool,
}

/// Even sides of dense masks, over one channel of f32 and 16-bit integers, and one or four of u8 with sums in f64.
const EVEN: [u32; 2] = [6, 8];

/// Every variant's axes; `sides` gives the largest odd side of the mask, from 3 on.
const AXES: [Axes; 12] = [
    Axes {
        variant: "separable",
        src: "f32",
        sides: |channels| if channels == 1 { 65 } else { 17 },
        channels: &[1, 3, 4],
        // Rows of four f32 channels are multiples of 16 bytes.
        any: |side, channels| channels < 4 && side <= 33,
    },
    Axes {
        variant: "dense",
        src: "f32",
        sides: |channels| if channels == 1 { 15 } else { 7 },
        channels: &[1, 3, 4],
        any: |_, channels| channels < 4,
    },
    Axes { variant: "separable", src: "u8", sides: |_| 17, channels: &[1, 2, 3, 4], any: |_, _| true },
    Axes { variant: "dense", src: "u8", sides: |_| 7, channels: &[1, 2, 3, 4], any: |_, _| true },
    // Other variants are faster for the rest of unaligned rows: docs/decisions/tuning.md.
    Axes {
        variant: "separable-f64",
        src: "u8",
        sides: |_| 17,
        channels: &[1, 3, 4],
        any: |side, channels| match channels {
            1 => side < 5,
            3 => side < 9,
            _ => (5..17).contains(&side),
        },
    },
    Axes {
        variant: "dense-f64",
        src: "u8",
        sides: |_| 7,
        channels: &[1, 3, 4],
        any: |side, channels| if channels == 1 { side != 5 } else { side > 3 },
    },
    Axes { variant: "separable-f64", src: "u16", sides: |_| 17, channels: &[1, 3, 4], any: |_, _| true },
    Axes { variant: "dense-f64", src: "u16", sides: |_| 7, channels: &[1, 3, 4], any: |_, _| true },
    // Rows of several i16 channels take other variants.
    Axes { variant: "separable-f64", src: "i16", sides: |_| 17, channels: &[1], any: |_, _| true },
    Axes { variant: "dense-f64", src: "i16", sides: |_| 7, channels: &[1], any: |_, _| true },
    // Other f16 is converted to f32 and back.
    Axes { variant: "separable", src: "Half", sides: |_| 17, channels: &[1], any: |side, _| side <= 9 },
    Axes { variant: "dense", src: "Half", sides: |_| 7, channels: &[1], any: |_, _| true },
];

/// Returns the resident blocks per multiprocessor for which registers are limited: the fastest measured choice that
/// does not spill.
fn residents(variant: &str, src: &str, side: u32) -> u32 {
    match (variant, src, side) {
        (_, "f32" | "Half", 0..=17 | 33) => 1,
        (_, "f32", ..=61) => 3,
        (_, "f32", _) => 2,
        ("separable", _, 3 | 5 | 9) | ("dense", _, 3 | 7) => 4,
        ("separable", _, 17) => 2,
        ("separable-f64" | "dense-f64", _, 3) => 4,
        ("separable-f64", _, 15..) | ("dense-f64", _, 6..) => 2,
        _ => 3,
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for Axes { variant, src, sides, channels, any } in AXES {
        let (method, sums) = match variant.split_once('-') {
            Some((method, _)) => (method, "Doubles"),
            None => (variant, "Floats"),
        };
        let (body, dense) = if method == "dense" { ("Dense", true) } else { ("Separable", false) };
        let samples = if sums == "Doubles" { format!("samples::Doubles<{src}>") } else { src.into() };
        for &channels in channels {
            let even = match (variant, src, channels) {
                ("dense", "f32", 1) | ("dense-f64", _, 1) | ("dense-f64", "u8", 4) => &EVEN[..],
                _ => &[],
            };
            for side in odd(3, sides(channels)).chain(even.iter().copied()) {
                for aligned in [true, false].into_iter().filter(|aligned| *aligned || any(side, channels)) {
                    let across = format!("march_across({}, MarchSums::{sums}, {dense}, {side})", element(src));
                    let body =
                        format!("march::{body}<{samples}, {{ {across} as usize }}, {side}, {channels}, {aligned}>");
                    let stage = format!("{side}-c{channels}{}", if aligned { "" } else { "-any" });
                    let shared = format!("marching({}, MarchSums::{sums}, {dense}, {side}, {channels})", element(src));
                    // With several samples per word, unaligned rows take one more barrier, before their border samples
                    // are filled in.
                    let barriers = if aligned || src == "f32" { 2 } else { 3 };
                    let row = kernel(variant, stage, [src, src], body, "MarchParams").taps("SmallParameter");
                    let row = row.block("[MARCH_BLOCK, 1]").shared(shared, barriers);
                    rows.push(row.residents(residents(variant, src, side)));
                }
            }
        }
    }
    rows
}
