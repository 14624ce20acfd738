//! Results of a sweep: times as text, and the table.

use super::sweep::Found;
use crate::report::aligned;
use apron::Machine;
use apron_plan::tuning::{COLUMNS, Row};
use apron_plan::{VARIANTS, variants};
use serde_json::{Value, json};

/// The results of a sweep.
pub(super) struct Sweep {
    pub(super) device: String,
    /// Name of the GPU.
    pub(super) gpu: String,
    pub(super) machine: Machine,
    /// Facts about the machine and the run.
    pub(super) facts: Vec<(String, String)>,
    pub(super) found: Vec<Found>,
}

impl Sweep {
    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        self.found.iter().filter_map(|found| Some(format!("{}: {}", found.work, found.failure.as_ref()?)))
    }

    /// Formats the tuning table.
    pub(super) fn table(&self) -> String {
        let facts: String = self.facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
        let rows = self.found.iter().filter(|found| !found.times.is_empty()).map(|found| {
            let Machine { target, multiprocessors, .. } = self.machine;
            let (gpu, work, times) = (self.gpu.clone(), found.work, found.times.clone());
            format!("{}\n", Row { gpu, target, multiprocessors, work, times })
        });
        format!("{facts}{COLUMNS}\n{}", rows.collect::<String>())
    }

    /// Formats the times as text: per operation a line per workload, with a column per variant.
    pub(super) fn text(&self) -> String {
        let mut operations: Vec<&str> = VARIANTS.iter().map(|variant| variant.operation).collect();
        operations.dedup();
        let matrices = operations.iter().map(|operation| self.matrix(operation)).filter(|rows| rows.len() > 1);
        let matrices = matrices.map(|rows| aligned(&rows));
        let failures: String = self.failures().map(|failure| format!("FAILED {failure}\n")).collect();
        let changes: Vec<String> = self.found.iter().filter_map(change).collect();
        let changes = match changes.len() {
            0 => "The present table chooses the same.\n".into(),
            _ => format!("Where the present table chooses otherwise:\n{}", aligned_lines(&changes)),
        };
        let matrices = matrices.collect::<Vec<_>>().join("\n");
        format!("Milliseconds of kernels:\n\n{matrices}\n{failures}{changes}\nThe table:\n\n{}", self.table())
    }

    fn matrix(&self, operation: &str) -> Vec<Vec<String>> {
        let names: Vec<&str> = variants(operation).map(|variant| variant.name).collect();
        let headings = ["workload"].into_iter().chain(names.iter().copied()).chain(["fastest", "grid"]);
        let mut rows = vec![headings.map(String::from).collect()];
        for found in self.found.iter().filter(|found| found.work.operation == operation) {
            let time = |name: &&str| found.times.iter().find(|time| time.variant == *name);
            let cells = names.iter().map(|name| time(name).map_or("-".into(), |time| format!("{:.4}", time.ms)));
            let best = found.times.first();
            let grid = best.and_then(|time| time.tuning).map_or("-".into(), |tuning| tuning.to_string());
            let fastest = best.map_or("-".into(), |time| time.variant.to_string());
            rows.push([found.work.to_string()].into_iter().chain(cells).chain([fastest, grid]).collect());
        }
        rows
    }

    pub(super) fn json(&self) -> Value {
        let facts = self.facts.iter().map(|(key, value)| (key.clone(), Value::from(value.clone())));
        json!({
            "device": self.device,
            "machine": Value::Object(facts.collect()),
            "workloads": self.found.iter().map(object).collect::<Vec<_>>(),
            "failed": self.failures().count(),
            "table": self.table(),
        })
    }
}

/// Describes the change if the present table chooses another variant than the fastest.
fn change(found: &Found) -> Option<String> {
    let best = found.times.first()?;
    let now = found.times.iter().find(|time| time.variant == found.now)?;
    let more = (now.ms / best.ms - 1.0) * 100.0;
    (best.variant != now.variant)
        .then(|| format!("{}: {} takes {more:.1} % more than {}", found.work, now.variant, best.variant))
}

fn aligned_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

fn object(found: &Found) -> Value {
    let work = &found.work;
    let times = found.times.iter().map(|time| {
        json!({
            "variant": time.variant,
            "ms": time.ms,
            "rows": time.tuning.map(|tuning| tuning.rows),
            "residents": time.tuning.map(|tuning| tuning.residents),
        })
    });
    json!({
        "work": work.to_string(),
        "operation": work.operation,
        "src": work.src.to_string(),
        "dst": work.dst.to_string(),
        "exact": work.exact,
        "channels": work.channels,
        "side": work.side,
        "width": work.width,
        "height": work.height,
        "now": found.now,
        "times": times.collect::<Vec<_>>(),
        "failure": found.failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::Tuning;
    use apron_plan::tuning::{Table, Time, Work};

    fn sweep() -> Sweep {
        let works = super::super::works::works(true).unwrap();
        let work = |operation| works.iter().map(|(_, problem)| Work::of(problem)).find(|w| w.operation == operation);
        let work = |operation| work(operation).unwrap();
        let time = |variant, ms, tuning| Time { variant, ms, tuning };
        let numbers = Some(Tuning { rows: 16, residents: 4 });
        let times = vec![time("march-dense", 0.125, numbers), time("conv2d-blocked", 0.1875, None)];
        let found = vec![
            Found { work: work("correlate"), now: "conv2d-blocked", times, failure: None },
            Found {
                work: work("separable"),
                now: "conv1d-fused",
                times: Vec::new(),
                failure: Some("a differs".into()),
            },
        ];
        let facts = vec![("date".into(), "today".into())];
        Sweep { device: "gpu:0".into(), gpu: "Some GPU".into(), machine: Machine::EMULATED, facts, found }
    }

    #[test]
    fn the_table_is_what_plans_read() {
        let table = sweep().table();
        assert!(table.starts_with(&format!("# date: today\n{COLUMNS}\n")), "{table}");
        let table_read = Table::parse(&table);
        let rows = table_read.rows();
        // Workloads that failed are left out.
        assert_eq!((rows.len(), table.lines().count()), (1, 3), "{table}");
        assert_eq!((rows[0].gpu.as_str(), rows[0].target, rows[0].multiprocessors), ("Some GPU", 90, 132));
        assert_eq!((rows[0].work, &rows[0].times), (sweep().found[0].work, &sweep().found[0].times));
    }

    #[test]
    fn a_line_a_workload_and_what_would_change() {
        let text = sweep().text();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
        let cells: Vec<&str> = line("correlate f32 48x32 mask 3x3").split_whitespace().skip(5).collect();
        assert_eq!(cells[..9], ["-", "-", "0.1250", "-", "-", "-", "-", "-", "0.1875"]);
        assert_eq!(cells[cells.len() - 2..], ["march-dense", "16x4"]);
        assert_eq!(cells.len(), variants("correlate").count() + 2);
        assert!(text.contains("mask 3x3: conv2d-blocked takes 50.0 % more than march-dense\n"), "{text}");
        assert!(text.contains("FAILED separable f32 48x32 mask 3x3: a differs\n"), "{text}");
        assert!(!text.contains("chooses the same") && !text.contains("histogram-edge-search"), "{text}");
        let json = sweep().json();
        assert_eq!((&json["failed"], &json["workloads"][0]["times"][0]["rows"]), (&json!(1), &json!(16)));
    }
}
