//! The ladder as a picture: a panel a workload, a bar a program, time on a logarithmic axis.

use super::record::{Record, Row};
use super::tables::significant;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: i32 = 900;
/// Columns where names end, and where bars start and may end; their times come behind.
const NAMES: i32 = 196;
const LEFT: i32 = 206;
const RIGHT: i32 = 806;
/// Above the first panel: title, machine, legend.
const TOP: i32 = 84;
/// Heights of a panel's title, of a row and of its bar, and between panels.
const TITLE: i32 = 28;
const ROW: i32 = 25;
const BAR: i32 = 17;
const GAP: i32 = 14;
/// Below the last panel: the axis.
const BOTTOM: i32 = 34;

const INK: RGBColor = RGBColor(36, 41, 47);
const PALE: RGBColor = RGBColor(101, 109, 118);
const GRID: RGBColor = RGBColor(225, 228, 232);
const SERIAL: RGBColor = RGBColor(150, 157, 165);
const CPU: RGBColor = RGBColor(76, 120, 168);
const GPU: RGBColor = RGBColor(58, 143, 92);

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The picture, as SVG.
pub(super) fn draw(record: &Record) -> Result<String, String> {
    let rows = record.rows().len() as i32;
    let panels = record.works().count() as i32;
    let height = TOP + rows * ROW + panels * (TITLE + GAP) + BOTTOM;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        let axis = Axis::over(record.rows());
        picture(&area, record, &axis, height).map_err(|error| format!("drawing the plot: {error}"))?;
    }
    Ok(svg)
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
        // The shortest bar is still one.
        Axis { low: (least - 0.1).floor() as i32, high: most.ceil() as i32 }
    }

    /// The column of a time.
    fn column(&self, ms: f64) -> i32 {
        let share = (ms.log10() - self.low as f64) / (self.high - self.low) as f64;
        LEFT + ((RIGHT - LEFT) as f64 * share).round() as i32
    }

    /// The powers of ten on it, each with its column and name.
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

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn picture(area: &Area<'_>, record: &Record, axis: &Axis, height: i32) -> Drawn {
    area.fill(&WHITE)?;
    text(area, "Time of each program, on a logarithmic axis: shorter is faster", (16, 20), bold(20, INK))?;
    let machine = ["gpu", "cpu", "date"].iter().filter_map(|key| record.fact(key));
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
    area.present()?;
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

/// A filled bar from column to column, around a middle row.
fn bar(area: &Area<'_>, columns: (i32, i32), middle: i32, height: i32, colour: RGBColor) -> Drawn {
    let top = middle - height / 2;
    area.draw(&Rectangle::new([(columns.0, top), (columns.1, top + height)], colour.filled()))?;
    Ok(())
}

fn text(area: &Area<'_>, words: &str, place: (i32, i32), style: TextStyle<'_>) -> Drawn {
    area.draw(&Text::new(words, place, style))?;
    Ok(())
}

fn styled(font: FontDesc<'static>, colour: RGBColor, across: HPos) -> TextStyle<'static> {
    font.color(&colour).pos(Pos::new(across, VPos::Center))
}

fn plain(size: i32, colour: RGBColor) -> TextStyle<'static> {
    styled(("sans-serif", size).into_font(), colour, HPos::Left)
}

fn bold(size: i32, colour: RGBColor) -> TextStyle<'static> {
    styled(("sans-serif", size).into_font().style(FontStyle::Bold), colour, HPos::Left)
}

/// Of variants, which end where the bars begin.
fn named(colour: RGBColor) -> TextStyle<'static> {
    styled(("monospace", 16).into_font(), colour, HPos::Right)
}

/// Of the axis.
fn centred() -> TextStyle<'static> {
    styled(("sans-serif", 15).into_font(), PALE, HPos::Center)
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
        // One more of each in the legend.
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
