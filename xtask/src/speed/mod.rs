//! `cargo xtask speed`: the tables of times in docs/speed.md and in the README, and their plot, from the record of
//! `apron bench` and the times of whole commands.

mod jobs;
mod plot;
mod record;
mod table;

use crate::made::{self, Made, markers};
use jobs::Job;
use record::Record;

/// The record of `apron bench --peers`.
const RECORD: &str = "benches/record/h100-speed.csv";
/// Times of whole commands.
const JOBS: &str = "benches/record/h100-jobs.csv";
/// Pages with generated tables, and the marked places of each; their prose stays as it is.
const PAGES: [(&str, &[&str]); 2] = [("docs/speed.md", &["table", "machine", "jobs"]), ("README.md", &["selection"])];
const PLOT: &str = "docs/images/speed.svg";
/// The command that generates the tables and the plot.
const COMMAND: &str = "cargo xtask speed";
/// Kind of the pages' markers: `<!-- speed:NAME -->` and `<!-- /speed -->`.
const KIND: &str = "speed";

/// Generates the tables and the plot.
pub(crate) fn generate() -> Result<(), String> {
    made::write(files()?)
}

/// Checks that the tables and the plot match the records.
pub(crate) fn check() -> Result<(), String> {
    made::compare(files()?, COMMAND)
}

/// Generates the pages and the plot from the records.
fn files() -> Result<Vec<Made>, String> {
    let command = format!("`apron bench --peers --record {RECORD}` makes it, on a machine with a GPU");
    let record = Record::parse(&made::read(RECORD, &command)?).map_err(|error| format!("{RECORD}: {error}"))?;
    let jobs = made::read(JOBS, "it has the times of whole commands")?;
    let jobs = jobs::parse(&jobs).map_err(|error| format!("{JOBS}: {error}"))?;
    let filled = PAGES.iter().map(|(name, places)| {
        let page = made::read(name, "it has the markers of the tables")?;
        Ok((*name, fill(&page, places, &record, &jobs).map_err(|error| format!("{name}: {error}"))?))
    });
    filled.chain([plot::draw(&record).map(|picture| (PLOT, picture))]).collect()
}

/// Regenerates the marked places of a page.
fn fill(page: &str, places: &[&str], record: &Record, jobs: &[Job]) -> Result<String, String> {
    markers::fill(page, KIND, places, |name| match name {
        "table" => Ok(table::speeds(&record.rows)),
        "machine" => Ok(table::machine(record)),
        "selection" => table::selection(record, jobs),
        "jobs" => Ok(jobs::commands(jobs)),
        _ => Err(format!("nothing is called '{name}'")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gets_its_table_and_machine() {
        let record = Record::parse(record::SAMPLE).unwrap();
        let filled = |page| fill(page, PAGES[0].1, &record, &jobs::parse(jobs::SAMPLE).unwrap());
        let page = "<!-- speed:table -->\n<!-- /speed -->\nprose\n<!-- speed:machine -->old<!-- /speed -->\n\
                    <!-- speed:jobs --><!-- /speed -->\n";
        let text = filled(page).unwrap();
        assert!(text.contains("| work |") && text.contains("Some GPU") && text.contains("| command |"), "{text}");
        assert!(!text.contains("old"), "{text}");
        assert!(filled("<!-- speed:table -->\n<!-- /speed -->").unwrap_err().contains("speed:jobs"));
        assert!(filled("<!-- speed:speed -->\n<!-- /speed -->").unwrap_err().contains("'speed'"));
    }
}
