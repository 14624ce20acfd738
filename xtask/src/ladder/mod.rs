//! `cargo xtask ladder`: the tables and the plot of docs/ladder.md, from the record of the ladder's bench.

mod plot;
mod record;
mod tables;

use crate::made::{self, Made, markers};
use record::Record;

/// The record of `cargo bench --bench ladder`.
const RECORD: &str = "benches/record/h100-ladder.csv";
/// The page with generated tables; its prose stays as it is.
const PAGE: &str = "docs/ladder.md";
const PLOT: &str = "docs/images/ladder.svg";

/// The command that generates the tables and the plot.
const COMMAND: &str = "cargo xtask ladder";

/// Generates the tables and the plot.
pub(crate) fn generate() -> Result<(), String> {
    made::write(files()?)
}

/// Checks that the tables and the plot match the record.
pub(crate) fn check() -> Result<(), String> {
    made::compare(files()?, COMMAND)
}

/// Generates the page and the plot from the record.
fn files() -> Result<Vec<Made>, String> {
    let command = format!("`cargo bench --bench ladder -- --record {RECORD}` makes it, on a machine with a GPU");
    let record = Record::parse(&made::read(RECORD, &command)?).map_err(|error| format!("{RECORD}: {error}"))?;
    let page = made::read(PAGE, "it holds the ladder's prose, and markers for its tables")?;
    let page = fill(&page, &record).map_err(|error| format!("{PAGE}: {error}"))?;
    Ok(vec![(PAGE, page), (PLOT, plot::draw(&record)?)])
}

/// Regenerates every table of the page, between `<!-- ladder:NAME -->` and `<!-- /ladder -->`.
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
