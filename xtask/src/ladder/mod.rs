//! `cargo xtask ladder`: the tables and the plot of docs/ladder.md, from the record of the ladder's bench.

mod plot;
mod record;
mod tables;

use crate::made::{self, Made, markers};
use record::Record;

/// What `cargo bench --bench ladder` measured.
const RECORD: &str = "benches/record/h100-ladder.csv";
/// The page whose tables are made; its prose is left as it is.
const PAGE: &str = "docs/ladder.md";
const PLOT: &str = "docs/images/ladder.svg";

/// What makes the tables and the plot.
const COMMAND: &str = "cargo xtask ladder";

/// Writes the tables and the plot.
pub(crate) fn generate() -> Result<(), String> {
    made::write(files()?)
}

/// Checks that the tables and the plot are what the record gives.
pub(crate) fn check() -> Result<(), String> {
    made::compare(files()?, COMMAND)
}

/// The page and the plot as the record makes them.
fn files() -> Result<Vec<Made>, String> {
    let command = format!("`cargo bench --bench ladder -- --record {RECORD}` makes it, on a machine with a GPU");
    let record = Record::parse(&made::read(RECORD, &command)?).map_err(|error| format!("{RECORD}: {error}"))?;
    let page = made::read(PAGE, "it holds the ladder's prose, and markers for its tables")?;
    let page = fill(&page, &record).map_err(|error| format!("{PAGE}: {error}"))?;
    Ok(vec![(PAGE, page), (PLOT, plot::draw(&record)?)])
}

/// The page with every table, between `<!-- ladder:NAME -->` and `<!-- /ladder -->`, made anew.
fn fill(page: &str, record: &Record) -> Result<String, String> {
    markers::fill(page, "ladder", &tables::NAMES, |name| tables::table(record, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_made_in_its_place() {
        let record = Record::parse(record::SAMPLE).unwrap();
        let page = tables::NAMES.map(|name| format!("<!-- ladder:{name} -->\nold\n<!-- /ladder -->\n")).concat();
        let filled = fill(&page, &record).unwrap();
        for name in tables::NAMES {
            let table = tables::table(&record, name).unwrap();
            assert!(filled.contains(&format!("<!-- ladder:{name} -->\n\n{table}\n<!-- /ladder -->\n")), "{filled}");
        }
        assert!(!filled.contains("old"), "{filled}");
    }
}
