//! The ladder's tables, in Markdown.

use super::record::{Record, Row};
use crate::made::markdown::{code, significant, table as markdown};

/// All tables; each of the first four is for the workloads whose names start with its name.
pub(super) const NAMES: [&str; 6] = ["separable", "dense", "rgba", "histogram", "nvcc", "machine"];

/// Makes the table of this name.
pub(super) fn table(record: &Record, name: &str) -> Result<String, String> {
    match name {
        "nvcc" => Ok(beside_nvcc(record)),
        "machine" => Ok(record.facts().line()),
        _ if NAMES.contains(&name) => workloads(record, name),
        _ => Err(format!("no table is called '{name}'; known are {}", NAMES.join(", "))),
    }
}

/// Makes a table for each workload of a family, under its name.
fn workloads(record: &Record, family: &str) -> Result<String, String> {
    let works = record.works().filter(|rows| rows[0].work.split(' ').next() == Some(family));
    let tables: Vec<String> = works.map(|rows| format!("**{}**\n\n{}", rows[0].work, ladder(rows))).collect();
    if tables.is_empty() { Err(format!("the record has no workload '{family} ...'")) } else { Ok(tables.join("\n")) }
}

fn ladder(rows: &[Row]) -> String {
    let serial = rows.iter().find(|row| row.is_serial());
    // A histogram updates counters, and does no multiplications.
    let (computed, unit) = if rows[0].work.starts_with("histogram") { ("Gupdate/s", 1e9) } else { ("TFLOP/s", 1e12) };
    let predicted = rows.iter().any(|row| row.predicted_ms.is_some());
    let mut header = vec!["level", "program", "variant"];
    header.extend(predicted.then_some("predicted, ms"));
    header.extend(["measured, ms", "times as fast as the level before"]);
    header.extend(serial.map(|_| "as the serial program"));
    header.extend(["GB/s", computed]);
    let before = std::iter::once(None).chain(rows.iter().map(Some));
    let lines = rows.iter().zip(before).map(|(row, before)| {
        let faster = |than: &Row| significant(than.ms / row.ms, 3);
        let mut cells = vec![row.level.clone(), row.program.clone(), code(&row.variant)];
        let prediction = || row.predicted_ms.map_or(String::new(), |ms| significant(ms, 2));
        cells.extend(predicted.then(prediction));
        cells.push(significant(row.ms, 4));
        cells.push(before.map_or(String::new(), faster));
        cells.extend(serial.map(|serial| if row.is_serial() { String::new() } else { faster(serial) }));
        let seconds = row.ms / 1e3;
        cells.push(significant(row.bytes as f64 / seconds / 1e9, 3));
        cells.push(significant(row.operations as f64 / seconds / unit, 3));
        cells
    });
    markdown(&header, 3, lines)
}

fn beside_nvcc(record: &Record) -> String {
    let twins = record.rows().iter().filter_map(|row| Some((row, row.twin_ms?)));
    let lines = twins.map(|(row, twin)| {
        let times = [significant(row.ms, 4), significant(twin, 4), significant(row.ms / twin, 3)];
        [row.work.clone(), code(&row.variant)].into_iter().chain(times).collect()
    });
    markdown(&["work", "variant", "Apron, ms", "nvcc, ms", "ratio"], 2, lines)
}

#[cfg(test)]
mod tests {
    use super::super::record::SAMPLE;
    use super::*;

    fn made(name: &str) -> String {
        table(&Record::parse(SAMPLE).unwrap(), name).unwrap()
    }

    #[test]
    fn a_ladder_compares_each_level_with_the_one_before_and_with_the_serial_program() {
        let expected = "\
**separable f32 64x64 radius 8**

| level | program | variant | predicted, ms | measured, ms | times as fast as the level before | as the serial program | GB/s | TFLOP/s |
|---|---|---|---:|---:|---:|---:|---:|---:|
| serial | P1 | `serial` |  | 200.0 |  |  | 0.00500 | 0.0000100 |
| all cores | - | `parallel` |  | 20.50 | 9.76 | 9.76 | 0.0488 | 0.0000976 |
| GPU | P2 | `simple` | 0.40 | 0.5000 | 41.0 | 400 | 2.00 | 0.00400 |
";
        assert_eq!(made("separable"), expected);
        assert!(made("rgba").contains("| 0.01250 | 80000 | 80000 | 80.0 |"), "{}", made("rgba"));
    }

    #[test]
    fn a_ladder_without_a_serial_program_has_no_column_for_it() {
        let expected = "\
| level | program | variant | measured, ms | times as fast as the level before | GB/s | TFLOP/s |
|---|---|---|---:|---:|---:|---:|
| shared tile | P4 | `conv2d-tiled-symbol` | 2.000 |  | 0.500 | 0.00100 |
| mask in the launch | P4 | `conv2d-tiled` | 4.000 | 0.500 | 0.250 | 0.000500 |
";
        assert!(made("dense").ends_with(expected), "{}", made("dense"));
    }

    #[test]
    fn histograms_count_updates() {
        let table = made("histogram");
        assert!(table.contains("| Gupdate/s |"), "{table}");
        assert!(
            table.ends_with("| P6+P7 | `histogram-partials` | 0.02120 | 3061423 | 3061423 | 47.2 | 47.2 |\n"),
            "{table}"
        );
    }

    #[test]
    fn twins_and_the_machine() {
        let expected = "\
| work | variant | Apron, ms | nvcc, ms | ratio |
|---|---|---:|---:|---:|
| dense f32 64x64 mask 5x5 | `conv2d-tiled-symbol` | 2.000 | 2.500 | 0.800 |
| dense f32 64x64 mask 5x5 | `conv2d-tiled` | 4.000 | 2.000 | 2.00 |
| histogram u8 64x64 256 bins | `histogram-partials` | 0.02120 | 0.02120 | 1.00 |
";
        assert_eq!(made("nvcc"), expected);
        let expected = "GPU: Some GPU; CUDA 13.0 (driver 580.1); SM 1980 MHz of at most 1980 MHz; nvcc 13.0; \
                        CPU: Some CPU, 16 threads; 2026-11-21.\n";
        assert_eq!(made("machine"), expected);
    }

    #[test]
    fn a_table_that_cannot_be_made_is_named() {
        let record = Record::parse(SAMPLE).unwrap();
        assert!(table(&record, "speed").unwrap_err().contains("'speed'; known are separable, "));
        let record = Record::parse(&SAMPLE.replace("rgba u8", "rgb u8")).unwrap();
        assert_eq!(table(&record, "rgba").unwrap_err(), "the record has no workload 'rgba ...'");
    }
}
