//! Images from files, as the options say.

use crate::args::Common;
use crate::error::Result;
use crate::report::complain;
use apron::AnyImage;
use std::path::Path;

/// Reads the image that a verb works on: the page that was asked for. Of several pages the first is read with a warning if
/// none was asked for.
pub(crate) fn read(path: &Path, common: &Common) -> Result<AnyImage<'static>> {
    let page = apron_files::read_page(path, common.page.unwrap_or(1), common.max_pixels)?;
    if page.pages > 1 && common.page.is_none() {
        warn(path, page.pages, "; --page N reads another", common);
    }
    Ok(page.image)
}

/// Reads an image that a verb takes beside that one: the first page.
pub(crate) fn read_beside(path: &Path, common: &Common) -> Result<AnyImage<'static>> {
    let page = apron_files::read_page(path, 1, common.max_pixels)?;
    if page.pages > 1 {
        warn(path, page.pages, "", common);
    }
    Ok(page.image)
}

fn warn(path: &Path, pages: u32, hint: &str, common: &Common) {
    if !common.quiet {
        complain(&format!("apron: warning: {}: page 1 of {pages} is read{hint}", path.display()));
    }
}
