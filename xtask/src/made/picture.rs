//! Building blocks of bar charts.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(crate) const INK: RGBColor = RGBColor(36, 41, 47);
pub(crate) const PALE: RGBColor = RGBColor(101, 109, 118);
pub(crate) const GRID: RGBColor = RGBColor(225, 228, 232);
pub(crate) const GREY_BAR: RGBColor = RGBColor(150, 157, 165);
pub(crate) const BLUE_BAR: RGBColor = RGBColor(76, 120, 168);
pub(crate) const GREEN_BAR: RGBColor = RGBColor(58, 143, 92);

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws on a white background, as SVG.
pub(crate) fn svg(width: i32, height: i32, paint: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        let painted = area.fill(&WHITE).map_err(Into::into).and_then(|()| paint(&area));
        let presented = painted.and_then(|()| area.present().map_err(Into::into));
        presented.map_err(|error| format!("drawing the picture: {error}"))?;
    }
    Ok(svg)
}

/// Draws a filled bar between two columns, vertically centred on `middle`.
pub(crate) fn bar(area: &Area<'_>, columns: (i32, i32), middle: i32, height: i32, colour: RGBColor) -> Drawn {
    let top = middle - height / 2;
    area.draw(&Rectangle::new([(columns.0, top), (columns.1, top + height)], colour.filled()))?;
    Ok(())
}

/// Draws text, vertically centred.
pub(crate) fn text(area: &Area<'_>, words: &str, place: (i32, i32), style: TextStyle<'_>) -> Drawn {
    area.draw(&Text::new(words, place, style))?;
    Ok(())
}

fn styled(font: FontDesc<'static>, colour: RGBColor, across: HPos) -> TextStyle<'static> {
    font.color(&colour).pos(Pos::new(across, VPos::Center))
}

/// Returns the style of left-aligned text.
pub(crate) fn plain(size: i32, colour: RGBColor) -> TextStyle<'static> {
    styled(("sans-serif", size).into_font(), colour, HPos::Left)
}

/// Returns the style of bold, left-aligned text.
pub(crate) fn bold(size: i32, colour: RGBColor) -> TextStyle<'static> {
    styled(("sans-serif", size).into_font().style(FontStyle::Bold), colour, HPos::Left)
}

/// Returns the style of right-aligned text in a monospaced font.
pub(crate) fn named(colour: RGBColor) -> TextStyle<'static> {
    styled(("monospace", 16).into_font(), colour, HPos::Right)
}

/// Returns the style of right-aligned text.
pub(crate) fn right(size: i32, colour: RGBColor) -> TextStyle<'static> {
    styled(("sans-serif", size).into_font(), colour, HPos::Right)
}

/// Returns the style of an axis's labels.
pub(crate) fn centred() -> TextStyle<'static> {
    styled(("sans-serif", 15).into_font(), PALE, HPos::Center)
}
