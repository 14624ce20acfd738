//! `histogram --plot`: the histogram as a PNG or SVG picture.

use crate::bars::short;
use crate::error::{Error, Result};
use apron::{Histogram, WeightedHistogram};
use apron_files::{Complete, OutputPath, Trouble, extension, write_rgb_png};
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::io::Write;
use std::path::Path;

const SIZE: (u32, u32) = (960, 540);
/// The registered font of all text; an SVG uses the viewer's.
const FONT: &str = "sans-serif";
/// Maximum number of steps of a curve: more than the plot has columns of pixels.
const STEPS: usize = 1024;

/// Registers the font: without it no text can be drawn or measured.
pub(crate) fn load_font() -> Result<()> {
    let font = include_bytes!("font/DejaVuSans-ASCII.ttf");
    register_font(FONT, FontStyle::Normal, font).map_err(|_| Error::Bug("the font of plots cannot be read".into()))
}

/// The file of a plot, and how it is drawn.
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
            _ if path == Path::new("-") => {
                let what = "--plot is -, but must be a file whose extension, .png or .svg, says the format";
                return Err(Error::Usage(what.into()));
            }
            other => {
                let path = path.display();
                return Err(Error::Usage(format!("{path}: unknown extension '{other}' of --plot; known are png, svg")));
            }
        };
        load_font()?;
        Ok(Plot { path: OutputPath::new(path)?, svg, log })
    }

    /// Draws the counts of a histogram, to a file that is yet to be published.
    pub(crate) fn complete(&self, histogram: &Histogram) -> Result<Complete<'_>> {
        let channel = |channel| histogram.channel(channel).iter().map(|&count| count as f64).collect();
        let channels = (0..histogram.channels()).map(channel).collect();
        self.curves(&Curves { what: "count", edges: histogram.edges(), channels })
    }

    /// Draws the sums of a weighted histogram, as [`complete`](Self::complete) does counts.
    pub(crate) fn complete_sums(&self, histogram: &WeightedHistogram) -> Result<Complete<'_>> {
        let channels = histogram.sums.chunks(histogram.edges.bins()).map(<[f64]>::to_vec).collect();
        self.curves(&Curves { what: "sum", edges: histogram.edges.values(), channels })
    }

    fn curves(&self, curves: &Curves<'_>) -> Result<Complete<'_>> {
        let written = self.path.complete(|file| {
            if self.svg {
                let mut text = String::new();
                draw(SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), curves, self.log)?;
                file.write_all(text.as_bytes())?;
                return Ok(());
            }
            let mut rgb = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
            draw(BitMapBackend::with_buffer(&mut rgb, SIZE).into_drawing_area(), curves, self.log)?;
            write_rgb_png(file, SIZE, &rgb)
        });
        Ok(written?)
    }
}

/// The data of a plot: one curve per channel.
struct Curves<'a> {
    /// Name of the values.
    what: &'static str,
    /// Edges of the bins.
    edges: &'a [f64],
    /// One value per bin, by channel.
    channels: Vec<Vec<f64>>,
}

fn draw<B: DrawingBackend>(area: DrawingArea<B, Shift>, curves: &Curves<'_>, log: bool) -> Result<(), Trouble> {
    area.fill(&WHITE).map_err(trouble)?;
    let across = curves.edges[0]..curves.edges[curves.edges.len() - 1];
    // Counts are integers; sums may all be negative, or not finite.
    let values = || curves.channels.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, top) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let top = if low == top { 1.0 } else { top };
    let mut chart = ChartBuilder::on(&area);
    chart.margin(16).margin_top(34).margin_right(28).x_label_area_size(34).y_label_area_size(92);
    if log {
        // There are no counts between 0 and 1, and a logarithmic axis has no 0.
        let chart = chart.build_cartesian_2d(across, (0.5..top * 1.5).log_scale()).map_err(trouble)?;
        draw_curves(chart, curves, 0.5)?;
    } else {
        let chart = chart.build_cartesian_2d(across, low * 1.05..top * 1.05).map_err(trouble)?;
        draw_curves(chart, curves, 0.0)?;
    }
    area.draw(&Text::new(curves.what, (20, 10), label())).map_err(trouble)?;
    let channels = curves.channels.len() as u32;
    for channel in 0..if channels > 1 { channels } else { 0 } {
        let left = SIZE.0 as i32 - 28 - 92 * (channels - channel) as i32;
        let key = Rectangle::new([(left, 10), (left + 14, 24)], colour(channel, channels).mix(0.7).filled());
        area.draw(&key).map_err(trouble)?;
        area.draw(&Text::new(name(channel, channels), (left + 22, 10), label())).map_err(trouble)?;
    }
    area.present().map_err(trouble)
}

/// Draws the axes, and a filled curve per channel from `base` up.
fn draw_curves<B, Y>(
    mut chart: ChartContext<'_, B, Cartesian2d<RangedCoordf64, Y>>,
    curves: &Curves<'_>,
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
    let channels = curves.channels.len() as u32;
    for (channel, values) in (0..).zip(&curves.channels) {
        let colour = colour(channel, channels);
        let fill = colour.mix(if channels == 1 { 0.55 } else { 0.25 });
        let points = steps(curves.edges, values, base);
        chart.draw_series(AreaSeries::new(points, base, fill).border_style(colour)).map_err(trouble)?;
    }
    Ok(())
}

fn label() -> TextStyle<'static> {
    (FONT, 16).into_font().color(&RGBColor(60, 60, 60))
}

/// Returns the name of a channel.
fn name(channel: u32, channels: u32) -> &'static str {
    match (channel, channels) {
        (0, 1 | 2) => "grey",
        (0, _) => "red",
        (1, 3..) => "green",
        (2, _) => "blue",
        _ => "alpha",
    }
}

/// Returns the colour of a channel: red, green, blue and, for alpha, grey; blue-grey for a grey channel.
fn colour(channel: u32, channels: u32) -> RGBColor {
    match (channel, channels) {
        (0, 1 | 2) => RGBColor(52, 84, 128),
        (0, _) => RGBColor(205, 40, 40),
        (1, 3..) => RGBColor(30, 150, 50),
        (2, _) => RGBColor(40, 70, 215),
        _ => RGBColor(128, 128, 128),
    }
}

/// Returns the outline of the bins: a vertical step at each edge, and on a logarithmic axis nothing below `base`. If
/// there are more bins than columns, the value farthest from 0 stands for its group, so that no peak is lost.
fn steps(edges: &[f64], values: &[f64], base: f64) -> Vec<(f64, f64)> {
    let groups = values.len().min(STEPS);
    let at = |group: usize| group * values.len() / groups;
    let step = |group| {
        let group_values = values[at(group)..at(group + 1)].iter().copied().filter(|value| value.is_finite());
        let farthest = group_values.fold(0.0, |one: f64, other| if other.abs() > one.abs() { other } else { one });
        let height = if base > 0.0 { farthest.max(base) } else { farthest };
        [(edges[at(group)], height), (edges[at(group + 1)], height)]
    };
    (0..groups).flat_map(step).collect()
}

/// Converts errors of the plotting backends to text.
fn trouble(error: impl std::fmt::Display) -> Trouble {
    format!("drawing: {error}").into()
}
