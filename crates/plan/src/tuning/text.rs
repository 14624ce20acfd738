//! Rows as lines of text.

use super::work::square_side;
use super::{Line, Row, Time, Work};
use crate::{Tuning, VARIANTS, Variant};
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// Values of the column `sums`.
const ANY: &str = "any";
const EXACT: &str = "exact";
/// Values of the column `aligned`.
const ALIGNED: &str = "yes";
const UNALIGNED: &str = "no";

/// The variants by operation and name. A linear search is too slow: the table holds thousands of names, and a
/// program reads it when it makes its first plan.
static BY_NAME: LazyLock<HashMap<(&str, &str), &Variant>> =
    LazyLock::new(|| VARIANTS.iter().map(|variant| ((variant.operation, variant.name), *variant)).collect());

/// Parses a row from a line.
pub(super) fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').collect();
    let [gpu, target, multiprocessors, operation, src, dst, sums, aligned, channels, side, width, height, times] =
        cells[..]
    else {
        return None;
    };
    let operation = BY_NAME.get(&(operation, times.split('=').next()?))?.operation;
    let whole = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let time = |text: &str| {
        let (variant, ms) = text.split_once('=')?;
        let (ms, tuning) = ms.split_once('@').map_or((ms, None), |(ms, tuning)| (ms, Some(tuning)));
        let tuning = match tuning.map(|tuning| tuning.split_once('x').unwrap_or(("0", tuning))) {
            Some((rows, residents)) => Some(Tuning { rows: rows.parse().ok()?, residents: whole(residents)? }),
            None => None,
        };
        let variant = BY_NAME.get(&(operation, variant))?.name;
        Some(Time { variant, ms: ms.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0)?, tuning })
    };
    let line = match side.split_once('x') {
        Some((taps, "1")) => Some((Line::Row, whole(taps)?)),
        Some(("1", taps)) => Some((Line::Column, whole(taps)?)),
        _ => None,
    };
    Some(Row {
        gpu: gpu.into(),
        target: whole(target)?,
        multiprocessors: whole(multiprocessors)?,
        work: Work {
            operation,
            src: src.parse().ok()?,
            dst: dst.parse().ok()?,
            exact: [ANY, EXACT].iter().position(|of| *of == sums)? == 1,
            aligned: [UNALIGNED, ALIGNED].iter().position(|of| *of == aligned)? == 1,
            channels: whole(channels)?,
            line,
            side: line.map_or_else(|| whole(side), |(_, taps)| Some(square_side(taps as f64)))?,
            width: whole(width)?,
            height: whole(height)?,
        },
        times: times.split(';').map(time).collect::<Option<_>>()?,
    })
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows > 0 { write!(f, "{}x{}", self.rows, self.residents) } else { write!(f, "{}", self.residents) }
    }
}

impl Work {
    /// Returns width and height of the mask: of a line, or of a square.
    fn mask(&self) -> String {
        match self.line {
            Some((Line::Row, taps)) => format!("{taps}x1"),
            Some((Line::Column, taps)) => format!("1x{taps}"),
            None => format!("{0}x{0}", self.side),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Work { operation, src, dst, exact, aligned, channels, side, width, height, .. } = self;
        write!(f, "{operation} {src} ")?;
        if src != dst {
            write!(f, "to {dst} ")?;
        }
        write!(f, "{width}x{height}")?;
        if *channels > 1 {
            write!(f, "x{channels}")?;
        }
        if *operation == "histogram" {
            write!(f, " {side} bins")?
        } else {
            write!(f, " mask {}", self.mask())?
        }
        if *exact {
            write!(f, ", exact sums")?;
        }
        if *aligned { Ok(()) } else { write!(f, ", unaligned rows") }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { gpu, target, multiprocessors, work, times } = self;
        let Work { operation, src, dst, exact, aligned, channels, line, side, width, height } = work;
        let side = if line.is_some() { work.mask() } else { side.to_string() };
        let time = |time: &Time| {
            let tuning = time.tuning.map_or(String::new(), |tuning| format!("@{tuning}"));
            format!("{}={:.5}{tuning}", time.variant, time.ms)
        };
        let times: Vec<String> = times.iter().map(time).collect();
        write!(f, "{},{target},{multiprocessors},{operation},{src},{dst},", gpu.replace(',', " "))?;
        write!(f, "{},{},", if *exact { EXACT } else { ANY }, if *aligned { ALIGNED } else { UNALIGNED })?;
        write!(f, "{channels},{side},{width},{height},{}", times.join(";"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{COLUMNS, TABLE, TEXT, Table, candidates};
    use super::*;

    pub(in crate::tuning) const ROW: &str = "Some GPU,90,132,separable,u8,f32,any,yes,3,17,8192,100,conv1d-fused=0.20801@4;march-separable=0.21000@16x4;conv1d-simple=1.5";

    #[test]
    fn the_committed_table_is_sound() {
        let mut lines = TEXT.lines().skip_while(|line| line.starts_with('#'));
        assert_eq!(lines.next(), Some(COLUMNS));
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
        for line in &lines {
            let row = row(line).unwrap_or_else(|| panic!("malformed: {line}"));
            assert_eq!(row.to_string(), *line);
            assert!(row.times.windows(2).all(|pair| pair[0].ms <= pair[1].ms), "not by time: {line}");
            assert_ne!(row.gpu, "emulator", "times of the emulator: {line}");
            let same = lines.iter().filter_map(|line| super::row(line));
            let same = same.filter(|other| (&other.gpu, other.work) == (&row.gpu, row.work));
            assert_eq!(same.count(), 1, "twice: {line}");
            for time in &row.times {
                assert_eq!(time.tuning.is_some(), !candidates(time.variant).is_empty(), "{}: {line}", time.variant);
            }
        }
        assert_eq!(TABLE.rows().len(), lines.len());
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let read = row(ROW).unwrap();
        assert_eq!(read.time("conv1d-fused").unwrap().tuning, Some(Tuning { rows: 0, residents: 4 }));
        assert_eq!(read.time("march-separable").unwrap().tuning, Some(Tuning { rows: 16, residents: 4 }));
        assert_eq!(read.time("conv1d-simple"), Some(&Time { variant: "conv1d-simple", ms: 1.5, tuning: None }));
        assert_eq!(read.work.to_string(), "separable u8 to f32 8192x100x3 mask 17x17");
        assert_eq!(row(&read.to_string()), Some(read.clone()));
        let exact = Row { work: Work { exact: true, ..read.work }, ..read.clone() };
        assert_eq!(row(&exact.to_string()), Some(exact.clone()));
        assert_eq!(exact.work.to_string(), "separable u8 to f32 8192x100x3 mask 17x17, exact sums");
        let unaligned = Row { work: Work { aligned: false, ..read.work }, ..read.clone() };
        assert_eq!(row(&unaligned.to_string()), Some(unaligned.clone()));
        assert_eq!(unaligned.work.to_string(), "separable u8 to f32 8192x100x3 mask 17x17, unaligned rows");
        for (line, mask) in [(Line::Row, "17x1"), (Line::Column, "1x17")] {
            let line = Row { work: Work { line: Some((line, 17)), side: 4, ..read.work }, ..read.clone() };
            assert_eq!(row(&line.to_string()), Some(line.clone()));
            assert_eq!(line.work.to_string(), format!("separable u8 to f32 8192x100x3 mask {mask}"));
        }
        let odd = Row { gpu: "A, B".into(), ..read };
        assert_eq!(row(&odd.to_string()).unwrap().gpu, "A  B");
    }

    #[test]
    fn malformed_rows_are_left_out() {
        for (part, by) in [
            ("separable", "blur"),
            ("conv1d-fused", "fast"),
            ("u8", "u7"),
            ("any", "some"),
            ("yes", "perhaps"),
            ("90", "0"),
            ("17", "x"),
            ("17", "17x17"),
            ("17", "1x0"),
            ("1.5", "0"),
            ("1.5", "inf"),
            ("1.5", "-1"),
            ("@4", "@0"),
            ("@16x4", "@16"),
            ("16x4", "16x4x2"),
            ("0.20801@4", "0.2@"),
            (",8192", ""),
            (",conv1d-fused", ",1,conv1d-fused"),
        ] {
            let line = ROW.replacen(part, by, 1);
            let expected = part == "@16x4";
            assert_eq!(row(&line).is_some(), expected, "{line}");
        }
        assert_eq!(Table::parse(&format!("# gpu: x\n{COLUMNS}\n{ROW}\n\n{ROW}\nmore\n")).rows().len(), 2);
    }
}
