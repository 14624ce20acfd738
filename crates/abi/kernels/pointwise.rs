use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "pointwise",
    about: "Pointwise operations on one or two images, and padding.",
    lowest_target: 75,
    rows,
};

const DST: [&str; 4] = ["u8", "u16", "i16", "f32"];

fn rows() -> Vec<Row> {
    let row = |stage: &str, types, body: String| {
        kernel("", stage, types, format!("pointwise::{body}"), "PointwiseParams").block("[POINTWISE_BLOCK, 1]")
    };
    let weighted =
        |stage: &str, src, second: &str, dst| row(stage, [src, dst], format!("Weighted<{src}, {second}, {dst}>"));
    let mut rows = Vec::new();
    for (second, src) in [("u8", "u8"), ("f32", "u8"), ("f32", "f32")] {
        rows.extend(DST.map(|dst| weighted(&format!("weighted-{second}"), src, second, dst)));
    }
    // From any type to f64, and back; operations on two images take f64.
    rows.extend(["u8", "u16", "i16", "Half", "f32", "f64"].map(|src| weighted("weighted-f64", src, "f64", "f64")));
    rows.extend(["u8", "u16", "i16", "Half", "f32"].map(|dst| weighted("weighted-f64", "f64", "f64", dst)));
    // Conversions between the sample types without filters and those in which filters are computed.
    let cast = |src, dst| row("cast", [src, dst], format!("Cast<{src}, {dst}>"));
    rows.extend(["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "Bool"].map(|dst| cast("f64", dst)));
    rows.extend([("i8", "i16"), ("i16", "i8"), ("Bool", "u8")].map(|(src, dst)| cast(src, dst)));
    rows.extend(["u32", "i32", "u64", "i64"].map(|src| row("cast", [src, "f64"], format!("Below<{src}>"))));
    let convert = |stage: &str, src, dst| row(stage, [src, dst], format!("Convert<{src}, {dst}>"));
    rows.extend(["u16", "i16", "Half"].map(|src| convert("widened", src, "f32")));
    rows.push(convert("narrowed", "f32", "Half"));
    rows.extend(DST.map(|dst| row("magnitude", ["f32", dst], format!("Magnitude<f32, {dst}>"))));
    rows.push(row("magnitude", ["f64", "f64"], "Magnitude<f64, f64>".into()));
    rows.push(row("direction", ["f32", "f32"], "Direction<f32>".into()));
    rows.push(row("direction", ["f64", "f32"], "Direction<f64>".into()));
    rows.push(row("product", ["f64", "f64"], "Product".into()));
    rows.push(row("deviation", ["f64", "f64"], "Deviation".into()));
    // Kernels that only copy samples copy them as unsigned integers of the same size.
    rows.extend(["u8", "u16", "u32", "u64"].map(|bits| row("alpha", [bits, bits], format!("Alpha<{bits}>"))));
    let pad = |bits| kernel("pad", "", [bits, bits], format!("pointwise::Pad<{bits}>"), "PadParams");
    rows.extend(["u8", "u16", "u32", "u64"].map(pad));
    rows
}
