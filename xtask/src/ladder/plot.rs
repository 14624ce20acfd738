//! The ladder as a picture: one panel per workload, one bar per program, time on a logarithmic axis.

use super::record::{Record, Row};
use crate::made::markdown::significant;
use crate::made::picture::*;
use plotters::prelude::*;

const WIDTH: i32 = 900;
/// Columns: end of the names, start of the bars, and end of the longest bar; times follow the bars.
const NAMES: i32 = 196;
const LEFT: i32 = 206;
const RIGHT: i32 = 806;
/// Height above the first panel: title, machine, legend.
const TOP: i32 = 84;
/// Heights of a panel's title, of a row, of a bar, and of the gap between panels.
const TITLE: i32 = 28;
const ROW: i32 = 25;
const BAR: i32 = 17;
const GAP: i32 = 14;
/// Height below the last panel: the axis.
const BOTTOM: i32 = 34;

const SERIAL: RGBColor = GREY_BAR;
const CPU: RGBColor = BLUE_BAR;
const GPU: RGBColor = GREEN_BAR;

/// Draws the plot, as SVG.
pub(super) fn draw(record: &Record) -> Result<String, String> {
    let rows = record.rows().len() as i32;
    let panels = record.works().count() as i32;
    let height = TOP + rows * ROW + panels * (TITLE + GAP) + BOTTOM;
    let axis = Axis::over(record.rows());
    svg(WIDTH, height, |area| picture(area, record, &axis, height))
}

/// A logarithmic axis over whole decades.
struct Axis {
    /// Powers of ten, in milliseconds.
    low: i32,
    high: i32,
}

impl Axis {
    fn over(rows: &[Row]) -> Axis {
        let powers = || rows.iter().map(|row| row.ms.log10());
        let (least, most) = (powers().fold(f64::INFINITY, f64::min), powers().fold(f64::NEG_INFINITY, f64::max));
        // Leaves some length for the shortest bar.
        Axis { low: (least - 0.1).floor() as i32, high: most.ceil() as i32 }
    }

    /// Returns the column of a time.
    fn column(&self, ms: f64) -> i32 {
        let share = (ms.log10() - self.low as f64) / (self.high - self.low) as f64;
        LEFT + ((RIGHT - LEFT) as f64 * share).round() as i32
    }

    /// Returns the powers of ten on the axis, each with its column and label.
    fn ticks(&self) -> impl Iterator<Item = (i32, String)> {
        (self.low..=self.high).map(|power| {
            let name = if power < 3 {
                format!("{:.*} ms", (-power).max(0) as usize, 10f64.powi(power))
            } else {
                format!("{} s", 10f64.powi(power - 3))
            };
            (self.column(10f64.powi(power)), name)
        })
    }
}

fn picture(area: &Area<'_>, record: &Record, axis: &Axis, height: i32) -> Drawn {
    text(area, "Time of each program, on a logarithmic axis: shorter is faster", (16, 20), bold(20, INK))?;
    let machine = ["gpu", "cpu", "date"].iter().filter_map(|key| record.facts().get(key));
    text(area, &machine.collect::<Vec<_>>().join("; "), (16, 42), plain(16, PALE))?;
    for (column, colour, name) in [(16, SERIAL, "serial"), (96, CPU, "all CPU cores"), (226, GPU, "GPU")] {
        bar(area, (column, column + 14), 64, 12, colour)?;
        text(area, name, (column + 20, 64), plain(16, INK))?;
    }
    let mut top = TOP;
    for rows in record.works() {
        text(area, &rows[0].work, (16, top + TITLE / 2), bold(17, INK))?;
        top += TITLE;
        let bottom = top + rows.len() as i32 * ROW;
        for (column, _) in axis.ticks() {
            area.draw(&PathElement::new([(column, top), (column, bottom)], GRID))?;
        }
        for row in rows {
            let middle = top + ROW / 2;
            if row.program != "-" {
                text(area, &row.program, (16, middle), plain(16, PALE))?;
            }
            text(area, &row.variant, (NAMES, middle), named(INK))?;
            let end = axis.column(row.ms);
            bar(area, (LEFT, end), middle, BAR, colour(row))?;
            text(area, &format!("{} ms", significant(row.ms, 4)), (end + 6, middle), plain(16, INK))?;
            top += ROW;
        }
        top += GAP;
    }
    for (column, name) in axis.ticks() {
        text(area, &name, (column, height - BOTTOM + 6), centred())?;
    }
    Ok(())
}

fn colour(row: &Row) -> RGBColor {
    if row.is_serial() {
        SERIAL
    } else if row.is_cpu() {
        CPU
    } else {
        GPU
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::SAMPLE;
    use super::*;

    #[test]
    fn every_program_has_a_bar_with_its_name_and_time() {
        let record = Record::parse(SAMPLE).unwrap();
        let svg = draw(&record).unwrap();
        assert!(svg.starts_with("<svg width=\"900\"") && svg.trim_end().ends_with("</svg>"), "{svg}");
        let lines: Vec<&str> = svg.lines().map(str::trim).collect();
        for row in record.rows() {
            for word in [row.work.clone(), row.variant.clone(), format!("{} ms", significant(row.ms, 4))] {
                assert!(lines.contains(&word.as_str()), "{word}: {svg}");
            }
        }
        let bars = |colour: RGBColor| {
            let fill = format!("fill=\"#{:02X}{:02X}{:02X}\"", colour.0, colour.1, colour.2);
            lines.iter().filter(|line| line.starts_with("<rect") && line.contains(&fill)).count()
        };
        // Each with one more in the legend.
        assert_eq!([bars(SERIAL), bars(CPU), bars(GPU)], [4, 2, 6], "{svg}");
    }

    #[test]
    fn the_axis_holds_every_time_in_whole_decades() {
        let record = Record::parse(SAMPLE).unwrap();
        let axis = Axis::over(record.rows());
        assert_eq!((axis.low, axis.high), (-3, 5));
        assert_eq!((axis.column(1e-3), axis.column(10.0), axis.column(1e5)), (LEFT, (LEFT + RIGHT) / 2, RIGHT));
        let names: Vec<_> = axis.ticks().map(|(_, name)| name).collect();
        let expected = ["0.001 ms", "0.01 ms", "0.1 ms", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"];
        assert_eq!(names, expected);
    }
}
