//! Pictures of a scan: times over the number of the ladder, both logarithmic, a line for each series.

use super::Climbed;
use crate::error::{Error, Result};
use crate::plot::load_font;
use apron_files::{OutputPath, Trouble};
use plotters::prelude::*;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

const SIZE: (u32, u32) = (900, 560);

/// Draws a picture of each group into a folder.
pub(super) fn draw(folder: &Path, ladders: &[Climbed]) -> Result<()> {
    load_font()?;
    std::fs::create_dir_all(folder).map_err(|error| Error::Failed(format!("{}: {error}", folder.display())))?;
    let mut groups: Vec<&str> = ladders.iter().map(|ladder| ladder.group).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let of_group: Vec<&Climbed> = ladders.iter().filter(|ladder| ladder.group == group).collect();
        let path = folder.join(format!("{}.svg", group.replace(' ', "-")));
        let svg = chart(group, &of_group).map_err(|error| Error::Bug(format!("{group}: {error}")))?;
        OutputPath::new(&path)?.write(|file| Ok::<_, Trouble>(file.write_all(svg.as_bytes())?))?;
    }
    Ok(())
}

fn chart(title: &str, ladders: &[&Climbed]) -> std::result::Result<String, String> {
    let said = |error: &dyn Display| error.to_string();
    let points = || ladders.iter().flat_map(|ladder| &ladder.points);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    // Numbers from 1: a ladder may begin with 0.
    let place = |at: u32| f64::from(at) + if title == "by border" || title == "composed" { 1.0 } else { 0.0 };
    let (left, right) = ends(&mut points().map(|point| place(point.at)));
    let (low, high) = ends(&mut points().map(|point| point.cost.ms));
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(|error| said(&error))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{title}: kernels, ms"), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(60)
        .build_cartesian_2d((left * 0.9..right * 1.1).log_scale(), (low * 0.8..high * 1.3).log_scale())
        .map_err(|error| said(&error))?;
    chart.configure_mesh().light_line_style(WHITE).draw().map_err(|error| said(&error))?;
    for (index, ladder) in ladders.iter().enumerate() {
        let color = Palette99::pick(index).stroke_width(2);
        let line = ladder.points.iter().map(|point| (place(point.at), point.cost.ms));
        let drawn = chart.draw_series(LineSeries::new(line, color).point_size(2)).map_err(|error| said(&error))?;
        drawn.label(&ladder.series).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
    }
    let mut labels = chart.configure_series_labels();
    let labels = labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).border_style(BLACK);
    labels.draw().map_err(|error| said(&error))?;
    drop(chart);
    drop(area);
    Ok(svg)
}
