use super::{Family, Row, kernel};

pub(crate) const FAMILY: Family = Family {
    name: "limits",
    about: "No operation's: kernels that measure what the machine can do.",
    lowest_target: 75,
    rows,
};

fn rows() -> Vec<Row> {
    let rows = vec![
        kernel("read", "", ["u32", "u32"], "limits::Read", "LimitsReadParams"),
        kernel("ffma", "", ["f32", "f32"], "limits::Ffma", "LimitsFfmaParams"),
    ];
    rows.into_iter().map(|row| row.block("[LIMITS_BLOCK, 1]")).collect()
}
