//! `histogram --plot`: the histogram as a PNG or SVG picture.

mod letters;

use crate::bars::short;
use crate::error::{Error, Result};
use apron::Histogram;
use apron_files::{OutputPath, Trouble, extension, write_rgb_png};
use letters::Lettered;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::io::Write;
use std::path::Path;

const SIZE: (u32, u32) = (960, 540);
/// Most steps of a curve: more than there are columns of pixels.
const STEPS: usize = 1024;

/// Where a plot goes, and how it is drawn.
pub(crate) struct Plot<'a> {
    path: OutputPath<'a>,
    svg: bool,
    log: bool,
}

impl<'a> Plot<'a> {
    pub(crate) fn new(path: &'a Path, log: bool) -> Result<Plot<'a>> {
        let svg = match extension(path).as_str() {
            "svg" => true,
            "png" => false,
            other => {
                let path = path.display();
                return Err(Error::Usage(format!("{path}: unknown extension '{other}' of --plot; known are png, svg")));
            }
        };
        Ok(Plot { path: OutputPath::new(path)?, svg, log })
    }

    pub(crate) fn write(&self, histogram: &Histogram) -> Result<()> {
        let written = self.path.write(|file| {
            if self.svg {
                let mut text = String::new();
                draw(SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), histogram, self.log)?;
                file.write_all(text.as_bytes())?;
                return Ok(());
            }
            let mut rgb = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
            let backend = Lettered(BitMapBackend::with_buffer(&mut rgb, SIZE));
            draw(backend.into_drawing_area(), histogram, self.log)?;
            write_rgb_png(file, SIZE, &rgb)
        });
        Ok(written?)
    }
}

fn draw<B: DrawingBackend>(area: DrawingArea<B, Shift>, histogram: &Histogram, log: bool) -> Result<(), Trouble> {
    area.fill(&WHITE).map_err(trouble)?;
    let edges = histogram.edges();
    let across = edges[0]..edges[histogram.bins()];
    let top = histogram.counts().iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut chart = ChartBuilder::on(&area);
    chart.margin(16).margin_top(34).margin_right(28).x_label_area_size(34).y_label_area_size(92);
    if log {
        // Between 0 and 1 there are no counts, and a logarithmic axis has no 0.
        let chart = chart.build_cartesian_2d(across, (0.5..top * 1.5).log_scale()).map_err(trouble)?;
        draw_curves(chart, histogram, 0.5)?;
    } else {
        let chart = chart.build_cartesian_2d(across, 0.0..top * 1.05).map_err(trouble)?;
        draw_curves(chart, histogram, 0.0)?;
    }
    area.draw(&Text::new("count", (20, 10), label())).map_err(trouble)?;
    let channels = histogram.channels();
    for channel in 0..if channels > 1 { channels } else { 0 } {
        let left = SIZE.0 as i32 - 28 - 92 * (channels - channel) as i32;
        let key = Rectangle::new([(left, 10), (left + 14, 24)], colour(channel, channels).mix(0.7).filled());
        area.draw(&key).map_err(trouble)?;
        area.draw(&Text::new(name(channel, channels), (left + 22, 10), label())).map_err(trouble)?;
    }
    area.present().map_err(trouble)
}

/// The axes, and a filled curve a channel, which starts at `base`.
fn draw_curves<B, Y>(
    mut chart: ChartContext<'_, B, Cartesian2d<RangedCoordf64, Y>>,
    histogram: &Histogram,
    base: f64,
) -> Result<(), Trouble>
where
    B: DrawingBackend,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .axis_style(RGBColor(120, 120, 120))
        .x_labels(9)
        .y_labels(7)
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .label_style(label())
        .draw()
        .map_err(trouble)?;
    for channel in 0..histogram.channels() {
        let colour = colour(channel, histogram.channels());
        let fill = colour.mix(if histogram.channels() == 1 { 0.55 } else { 0.25 });
        let points = steps(histogram.edges(), histogram.channel(channel), base);
        chart.draw_series(AreaSeries::new(points, base, fill).border_style(colour)).map_err(trouble)?;
    }
    Ok(())
}

fn label() -> TextStyle<'static> {
    ("sans-serif", 16).into_font().color(&RGBColor(60, 60, 60))
}

/// What pictures have in their channels.
fn name(channel: u32, channels: u32) -> &'static str {
    match (channel, channels) {
        (0, 1 | 2) => "grey",
        (0, _) => "red",
        (1, 3..) => "green",
        (2, _) => "blue",
        _ => "alpha",
    }
}

/// Red, green, blue and, for alpha, grey; a channel alone, or with alpha alone, is blue-grey.
fn colour(channel: u32, channels: u32) -> RGBColor {
    match (channel, channels) {
        (0, 1 | 2) => RGBColor(52, 84, 128),
        (0, _) => RGBColor(205, 40, 40),
        (1, 3..) => RGBColor(30, 150, 50),
        (2, _) => RGBColor(40, 70, 215),
        _ => RGBColor(128, 128, 128),
    }
}

/// The outline of the bins: up or down at each edge. Where there are more bins than can be seen,
/// the largest of each group stands for it, so that no peak is lost.
fn steps(edges: &[f64], counts: &[u64], base: f64) -> Vec<(f64, f64)> {
    let groups = counts.len().min(STEPS);
    let at = |group: usize| group * counts.len() / groups;
    let step = |group| {
        let largest = counts[at(group)..at(group + 1)].iter().copied().max().unwrap_or(0);
        let height = (largest as f64).max(base);
        [(edges[at(group)], height), (edges[at(group + 1)], height)]
    };
    (0..groups).flat_map(step).collect()
}

/// Errors of backends, whose types are many, as text.
fn trouble(error: impl std::fmt::Display) -> Trouble {
    format!("drawing: {error}").into()
}
