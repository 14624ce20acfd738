//! `cargo xtask speed`: the README's table of speeds and its picture, from the record of `apron bench`.

mod plot;
mod record;
mod table;

use crate::made::{self, Made, markers};
use record::Record;

/// What `apron bench --peers` measured.
const RECORD: &str = "benches/record/h100-speed.csv";
/// The page whose table is made; its prose is left as it is.
const PAGE: &str = "README.md";
const PLOT: &str = "docs/images/speed.svg";
/// What makes the table and the picture.
const COMMAND: &str = "cargo xtask speed";
/// The kind of the page's markers: `<!-- speed:NAME -->` and `<!-- /speed -->`.
const KIND: &str = "speed";

/// Writes the table and the picture.
pub(crate) fn generate() -> Result<(), String> {
    match files()? {
        Some(files) => made::write(files),
        None => Err(format!("{RECORD}: no file; `apron bench --peers --record {RECORD}` makes it, with a GPU")),
    }
}

/// Checks that the table and the picture are what the record gives.
pub(crate) fn check() -> Result<(), String> {
    match files()? {
        Some(files) => made::compare(files, COMMAND),
        None => {
            println!("note: there is no {RECORD} yet, and nothing made of it");
            Ok(())
        }
    }
}

/// The page and the picture as the record makes them; none where there is neither a record nor a place for it.
fn files() -> Result<Option<Vec<Made>>, String> {
    let page = made::read(PAGE, "it has the markers of the table")?;
    let record = match made::read(RECORD, "the page has markers for what it gives") {
        Ok(text) => Record::parse(&text).map_err(|error| format!("{RECORD}: {error}"))?,
        Err(error) => return if page.contains(&format!("<!-- {KIND}:")) { Err(error) } else { Ok(None) },
    };
    let page = fill(&page, &record).map_err(|error| format!("{PAGE}: {error}"))?;
    Ok(Some(vec![(PAGE, page), (PLOT, plot::draw(&record)?)]))
}

/// The page with all that is marked made anew.
fn fill(page: &str, record: &Record) -> Result<String, String> {
    markers::fill(page, KIND, &table::NAMES, |name| table::part(record, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gets_its_table_and_machine() {
        let record = Record::parse(record::SAMPLE).unwrap();
        let page = "<!-- speed:table -->\n<!-- /speed -->\nprose\n<!-- speed:machine -->old<!-- /speed -->\n";
        let filled = fill(page, &record).unwrap();
        assert!(filled.contains("| work |") && filled.contains("Some GPU") && !filled.contains("old"), "{filled}");
        assert!(fill("<!-- speed:table -->\n<!-- /speed -->", &record).unwrap_err().contains("speed:machine"));
    }
}
