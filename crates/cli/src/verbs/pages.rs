//! Page by page: each image of a file is read, filtered and written before the next one is read.

use super::image::Known;
use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::report::Report;
use apron::AnyImage;
use apron_files::ImageOutput;
use std::path::Path;

/// Turns an image into a result. The text is the start of the line that shows the progress.
pub(super) type OnImage<'a> =
    dyn FnMut(AnyImage<'static>, Known, &str, &mut Devices) -> Result<(Report, AnyImage<'static>)> + 'a;

/// Runs `on` for each page of a file, also of complex numbers if `complex` says so, and writes the results as the pages
/// of another. The report is that of the first page, with the times of all.
pub(super) fn run(
    common: &Common,
    input: &Path,
    (output, complex): (&ImageOutput<'_>, bool),
    devices: &mut Devices,
    on: &mut OnImage<'_>,
) -> Result<Report> {
    let mut file = common.open_pages(input, complex)?;
    let pages = file.pages();
    let mut draft = output.pages(pages)?;
    let mut sum: Option<Report> = None;
    for page in 1..=pages {
        let at = format!("page {page} of {pages}: ");
        let mut one = || {
            devices.at(format!("{at}reading {}", input.display()));
            let (image, metadata) = common.read_one(&mut file, page)?;
            let (report, result) = on(image, Known { complex: metadata.complex, images: pages }, &at, devices)?;
            draft.write(&result, &metadata)?;
            Ok(report)
        };
        let report = one().map_err(|error| Error::Page { page, error: Box::new(error) })?;
        match &mut sum {
            Some(sum) => sum.add(&report),
            None => sum = Some(report),
        }
    }
    draft.finish()?;
    let mut report = sum.ok_or(Error::NoImage)?;
    report.ran.pages = Some(pages);
    Ok(report)
}
