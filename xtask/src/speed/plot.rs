//! The times as a plot: per workload a bar for Apron's time and one for the best other library's, both divided by the
//! machine's limit.

use super::record::{Record, Row};
use crate::made::markdown::significant;
use crate::made::picture::*;
use plotters::prelude::*;

const WIDTH: i32 = 960;
/// Columns: end of the names, start of the bars, and end of the longest bar; times follow the bars.
const NAMES: i32 = 316;
const LEFT: i32 = 326;
const RIGHT: i32 = 766;
/// Height above the first bar: title, machine, legend.
const TOP: i32 = 92;
/// Heights of a row, of a bar, and of the gap between workloads.
const ROW: i32 = 19;
const BAR: i32 = 14;
const GAP: i32 = 7;
/// Height below the last bar: the axis.
const BOTTOM: i32 = 34;

/// Draws the plot, as SVG.
pub(super) fn draw(record: &Record) -> Result<String, String> {
    let heights = record.rows.iter().map(|row| GAP + ROW * (1 + row.best_peer().is_some() as i32));
    let height = TOP + heights.sum::<i32>() + BOTTOM;
    svg(WIDTH, height, |area| picture(area, record, &Axis::over(&record.rows), height))
}

/// A logarithmic axis between powers of two.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    fn over(rows: &[Row]) -> Axis {
        let peers = rows.iter().filter_map(|row| Some(row.best_peer()?.1 / row.limit_ms));
        let powers: Vec<f64> = rows.iter().map(Row::times_the_limit).chain(peers).map(f64::log2).collect();
        let (least, most) =
            powers.iter().fold((0.0, 0.0), |(least, most): (f64, f64), power| (least.min(*power), most.max(*power)));
        // Keeps the limit itself away from the edge.
        Axis { low: least.floor().min(-1.0) as i32, high: most.ceil().max(1.0) as i32 }
    }

    /// Returns the column of a time, given as a multiple of the limit.
    fn column(&self, times: f64) -> i32 {
        let share = (times.log2() - self.low as f64) / (self.high - self.low) as f64;
        LEFT + ((RIGHT - LEFT) as f64 * share).round() as i32
    }
}

fn picture(area: &Area<'_>, record: &Record, axis: &Axis, height: i32) -> Drawn {
    text(
        area,
        "Time as times of the machine's limit, on a logarithmic axis: shorter is faster",
        (16, 20),
        bold(20, INK),
    )?;
    let machine = ["gpu", "driver", "date"].iter().filter_map(|key| record.facts.get(key));
    text(area, &machine.collect::<Vec<_>>().join("; "), (16, 44), plain(16, PALE))?;
    for (column, colour, name) in [(16, GREEN_BAR, "Apron"), (106, GREY_BAR, "best other library")] {
        bar(area, (column, column + 14), 68, 12, colour)?;
        text(area, name, (column + 20, 68), plain(16, INK))?;
    }
    let bottom = height - BOTTOM;
    for power in axis.low..=axis.high {
        let (times, colour) = (2f64.powi(power), if power == 0 { INK } else { GRID });
        let column = axis.column(times);
        area.draw(&PathElement::new([(column, TOP), (column, bottom)], colour))?;
        text(area, &if power == 0 { "limit".into() } else { format!("{times} x") }, (column, bottom + 14), centred())?;
    }
    let mut middle = TOP + (GAP + ROW) / 2;
    for row in &record.rows {
        text(area, &row.work, (NAMES, middle), right(15, INK))?;
        let end = axis.column(row.times_the_limit());
        bar(area, (LEFT, end), middle, BAR, GREEN_BAR)?;
        let said = format!("{} ms, {} x {}", significant(row.ms, 3), significant(row.times_the_limit(), 3), row.limit);
        text(area, &said, (end + 6, middle), plain(15, INK))?;
        if let Some((name, ms)) = row.best_peer() {
            middle += ROW;
            let end = axis.column(ms / row.limit_ms);
            bar(area, (LEFT, end), middle, BAR, GREY_BAR)?;
            text(area, &format!("{name} {} ms", significant(ms, 3)), (end + 6, middle), plain(15, PALE))?;
        }
        middle += ROW + GAP;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::record::SAMPLE;
    use super::*;

    #[test]
    fn every_workload_has_a_bar_and_its_best_peer_another() {
        let svg = draw(&Record::parse(SAMPLE).unwrap()).unwrap();
        let lines: Vec<&str> = svg.lines().map(str::trim).collect();
        for words in ["separable f32 64x64 radius 8", "0.250 ms, 1.25 x copy", "CuPy 1.00 ms", "CUB 0.0200 ms", "limit"]
        {
            assert!(lines.contains(&words), "{words}: {svg}");
        }
        assert!(!svg.contains("NPP"), "{svg}");
        let bars = |colour: RGBColor| {
            let fill = format!("fill=\"#{:02X}{:02X}{:02X}\"", colour.0, colour.1, colour.2);
            lines.iter().filter(|line| line.starts_with("<rect") && line.contains(&fill)).count()
        };
        // Each with one more in the legend.
        assert_eq!([bars(GREEN_BAR), bars(GREY_BAR)], [4, 3], "{svg}");
    }

    #[test]
    fn the_axis_holds_every_time_and_the_limit() {
        let axis = Axis::over(&Record::parse(SAMPLE).unwrap().rows);
        // 0.625 to 5 times the limit.
        assert_eq!((axis.low, axis.high), (-1, 3));
        assert_eq!((axis.column(0.5), axis.column(2.0), axis.column(8.0)), (LEFT, (LEFT + RIGHT) / 2, RIGHT));
    }
}
