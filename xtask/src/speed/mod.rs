//! `cargo xtask speed`: the tables of speeds in docs/speed.md and in the README, and their picture, from the record of
//! `apron bench` and the times of whole commands beside it.

mod jobs;
mod plot;
mod record;
mod table;

use crate::made::{self, Made, markers};
use jobs::Job;
use record::Record;

/// What `apron bench --peers` measured.
const RECORD: &str = "benches/record/h100-speed.csv";
/// Times of whole commands.
const JOBS: &str = "benches/record/h100-jobs.csv";
/// The pages whose tables are made, with what each has marked places for; their prose is left as it is.
const PAGES: [(&str, &[&str]); 2] = [("docs/speed.md", &["table", "machine", "jobs"]), ("README.md", &["selection"])];
const PLOT: &str = "docs/images/speed.svg";
/// What makes the tables and the picture.
const COMMAND: &str = "cargo xtask speed";
/// The kind of the pages' markers: `<!-- speed:NAME -->` and `<!-- /speed -->`.
const KIND: &str = "speed";

/// Writes the tables and the picture.
pub(crate) fn generate() -> Result<(), String> {
    made::write(files()?)
}

/// Checks that the tables and the picture are what the records give.
pub(crate) fn check() -> Result<(), String> {
    made::compare(files()?, COMMAND)
}

/// The pages and the picture as the records make them.
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

/// The page with all that is marked made anew.
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
