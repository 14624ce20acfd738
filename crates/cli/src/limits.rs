//! Checks work that could take minutes or gigabytes against `--max-pixels`, before memory is allocated.

use crate::args::{Common, FilterArgs};
use crate::report::complain;
use apron::{Error, Extent, Formula, PixelType, Result, Shape};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Allowed products of taps and samples per allowed pixel: enough for a mask of 256x256 taps on the largest image.
const PRODUCTS: u64 = 1 << 16;

/// Number of products from which a run warns before it starts: a minute or more on the processors of a desktop
/// computer.
const MANY: u64 = 1_000_000_000_000;

/// Warns of work that may take long, once in a run: pages are many calls.
pub(crate) fn warn(products: u64, common: &Common) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if products > MANY && !common.quiet && !TOLD.swap(true, Relaxed) {
        let many = products as f64;
        complain(&format!(
            "apron: warning: this filter is up to {many:.1e} products of taps and samples, and may take long"
        ));
    }
}

/// Checks the pixels of full output, and the products of taps and samples, against the limit for each of some images,
/// and warns of many products.
pub(crate) fn filter(
    verb: &'static str,
    (shape, images): (Shape, u32),
    formula: &Formula,
    args: &FilterArgs,
) -> Result<()> {
    let ((width, height), taps) = (formula.window(), formula.taps());
    let most = args.common.max_pixels;
    let extent = args.extent()?;
    let out = match extent {
        Extent::Full => {
            [(shape.width, width), (shape.height, height)].map(|(side, more)| side as u64 + more as u64 - 1)
        }
        Extent::Region(region) => [region.width.into(), region.height.into()],
        _ => [shape.width.into(), shape.height.into()],
    };
    let pixels = out[0].saturating_mul(out[1]);
    if extent == Extent::Full && pixels > most {
        let limit = format!("up to {most} pixels, or what --max-pixels says");
        return Err(Error::parameter(verb, "full output", format!("{}x{}", out[0], out[1]), limit));
    }
    let products = pixels.saturating_mul(shape.channels.into()).saturating_mul(taps);
    let limit = most.saturating_mul(PRODUCTS);
    if products > limit {
        let value = format!("{} a sample, and so {products} products", taps);
        let limit = format!("small enough for {limit} products, {PRODUCTS} per pixel of --max-pixels");
        return Err(Error::parameter(verb, "number of taps", value, limit));
    }
    warn(products.saturating_mul(images.into()), &args.common);
    Ok(())
}

/// Checks the size of the tables of all tiles, one entry per value of the type, against the limit.
pub(crate) fn tiles((across, down): (u32, u32), shape: Shape, pixel: PixelType, common: &Common) -> Result<()> {
    let values = if pixel == PixelType::U8 { 1 << 8 } else { 1 << 16 };
    let tables = (across as u64 * down as u64).saturating_mul(u64::from(shape.channels) * values);
    if tables <= common.max_pixels {
        return Ok(());
    }
    let value = format!("{across}x{down}, whose tables have {tables} values");
    let limit = format!("small enough for tables of {} values, or what --max-pixels says", common.max_pixels);
    Err(Error::parameter("clahe", "tiles", value, limit))
}
