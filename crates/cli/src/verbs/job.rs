//! Jobs: verbs that are given as data instead of a command line, and loops over them.

use crate::error::{Error, Result, guarded};
use crate::report::counted;
use clap::{Arg, CommandFactory};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Converts a job to the arguments of a command, so that both have one grammar. Besides options it has a verb, an image
/// `in` and a result `out`.
pub(super) fn arguments(mut job: Map<String, Value>) -> Result<Vec<OsString>> {
    let verb = text("verb", job.remove("verb").unwrap_or_default())?;
    let command = crate::Cli::command();
    let known = command.find_subcommand(&verb).ok_or_else(|| Error::Usage(format!("unknown verb '{verb}'")))?;
    let reads_image = |file: &Arg| ["input", "inputs", "words"].contains(&file.get_id().as_str());
    if verb != "info" && !known.get_positionals().any(reads_image) {
        return Err(no_job(&verb));
    }
    let mut arguments = vec!["apron".into(), OsString::from(&verb)];
    let mut files = Vec::new();
    // Verbs such as info read no file.
    if known.get_positionals().next().is_some() {
        match job.remove("in").unwrap_or_default() {
            // The only verb that takes several images together.
            Value::Array(several) if verb == "histogramdd" => {
                files.extend(several.into_iter().map(|one| text("in", one)).collect::<Result<Vec<_>>>()?);
            }
            one => files.push(text("in", one)?),
        }
    }
    // The only verb with a second input file.
    if verb == "match" {
        files.push(text("reference", job.remove("reference").unwrap_or_default())?);
    }
    // The output is an option for histograms, and the second file for filters.
    if let Some(out) = job.remove("out") {
        let out = text("out", out)?;
        if verb.starts_with("histogram") { arguments.push(format!("--out={out}").into()) } else { files.push(out) }
    }
    if verb == "pipe" {
        files.push(text("steps", job.remove("steps").unwrap_or_default())?);
    }
    for (key, value) in job {
        let option = known.get_arguments().find(|argument| is_called(argument, &key));
        let option = option.ok_or_else(|| Error::Usage(format!("{verb}: unknown key '{key}'")))?;
        match (option.get_action().takes_values(), value) {
            (false, Value::Bool(true)) => arguments.push(format!("--{key}").into()),
            (false, Value::Bool(false)) => {}
            (false, _) => return Err(Error::Usage(format!("{verb}: '{key}' must be true or false"))),
            (true, value) => arguments.push(format!("--{key}={}", text(&key, value)?).into()),
        }
    }
    // Names of files may start with a dash.
    arguments.push("--".into());
    arguments.extend(files.into_iter().map(OsString::from));
    Ok(arguments)
}

/// Returns the error for a verb that jobs cannot run.
pub(super) fn no_job(verb: &str) -> Error {
    let jobs = "a job is one of the image verbs, stats, otsu, histogram, histogram2d, histogramdd or info";
    Error::Usage(format!("'{verb}' is no job: {jobs}"))
}

/// Whether `name` is the option's name or an alias.
pub(super) fn is_called(option: &Arg, name: &str) -> bool {
    option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
}

/// Formats a value as on the command line: a list with commas, a list of rows with semicolons.
fn text(key: &str, value: Value) -> Result<String> {
    let row = |values: Vec<Value>| {
        let values = values.into_iter().map(|value| match value {
            Value::String(_) | Value::Number(_) => text(key, value),
            other => Err(Error::Usage(format!("'{key}' has {other} in a list, but must have strings or numbers"))),
        });
        values.collect::<Result<Vec<String>>>().map(|values| values.join(","))
    };
    match value {
        Value::Array(rows) if !rows.is_empty() && rows.iter().all(Value::is_array) => {
            let rows = rows.into_iter().map(|values| match values {
                Value::Array(values) => row(values),
                other => text(key, other),
            });
            Ok(rows.collect::<Result<Vec<String>>>()?.join(";"))
        }
        Value::Array(values) => row(values),
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null => Err(Error::Usage(format!("'{key}' is missing"))),
        other => Err(Error::Usage(format!("'{key}' is {other}, but must be a string, a number or a list of such"))),
    }
}

/// Runs all jobs, also after failures, with a progress bar; `tell` receives each result. A job is called a `unit`.
pub(super) fn each<J>(
    jobs: &[J],
    unit: &str,
    quiet: bool,
    mut run: impl FnMut(&J) -> Result<Value>,
    mut tell: impl FnMut(&J, Result<Value>) -> Result<()>,
) -> Result<()> {
    let mut progress = Progress::new(jobs.len(), unit, quiet);
    for job in jobs {
        progress.told(guarded(|| run(job)), |result| tell(job, result))?;
    }
    progress.ended()
}

/// Runs all jobs as [`each`], `at_once` of them at a time, each on its thread; `tell` receives the results in the
/// order of the jobs, which must not depend on each other.
pub(super) fn each_at_once<J: Sync>(
    jobs: &[J],
    unit: &str,
    quiet: bool,
    at_once: usize,
    run: impl Fn(&J) -> Result<Value> + Sync,
    mut tell: impl FnMut(&J, Result<Value>) -> Result<()>,
) -> Result<()> {
    let mut progress = Progress::new(jobs.len(), unit, quiet);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (done, results) = channel();
    let work = |done: Sender<(usize, Result<Value>)>| {
        while !stopped.load(Relaxed) {
            let index = next.fetch_add(1, Relaxed);
            let Some(job) = jobs.get(index) else { return };
            // After an error of `tell`, the results are no longer received.
            let _ = done.send((index, guarded(|| run(job))));
        }
    };
    thread::scope(|scope| {
        let started = (0..at_once.min(jobs.len())).map_while(|_| {
            let done = done.clone();
            thread::Builder::new().spawn_scoped(scope, || work(done)).ok()
        });
        if started.count() == 0 {
            // No thread could be started: the jobs run on this one.
            work(done.clone());
        }
        drop(done);
        let mut early: BTreeMap<usize, Result<Value>> = BTreeMap::new();
        let mut told = 0;
        for (index, result) in results {
            early.insert(index, result);
            while let Some(result) = early.remove(&told) {
                let job = &jobs[told];
                progress.told(result, |result| tell(job, result)).inspect_err(|_| stopped.store(true, Relaxed))?;
                told += 1;
            }
        }
        progress.ended()
    })
}

/// The progress bar of jobs, and the number of those that failed.
struct Progress<'a> {
    bar: ProgressBar,
    unit: &'a str,
    jobs: usize,
    failed: usize,
}

impl Progress<'_> {
    fn new(jobs: usize, unit: &str, quiet: bool) -> Progress<'_> {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(jobs as u64) };
        if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {unit}s, {{eta}} left")) {
            bar.set_style(style);
        }
        crate::progress::notice(&bar);
        Progress { bar, unit, jobs, failed: 0 }
    }

    fn told(&mut self, result: Result<Value>, tell: impl FnOnce(Result<Value>) -> Result<()>) -> Result<()> {
        self.failed += result.is_err() as usize;
        // Printed directly: the bar would suppress the line if stderr is not a terminal.
        self.bar.suspend(|| tell(result))?;
        self.bar.inc(1);
        Ok(())
    }

    fn ended(self) -> Result<()> {
        self.bar.finish_and_clear();
        match self.failed {
            0 => Ok(()),
            failed => Err(Error::Failed(format!("{failed} of {} failed", counted(self.jobs, self.unit)))),
        }
    }
}

/// Formats the result of a job as a JSON line, which `name` identifies.
pub(super) fn outcome(name: (&str, Value), result: &Result<Value>) -> String {
    let mut object = json!({ "ok": result.is_ok() });
    let more = match result {
        Ok(report) => report.clone(),
        Err(error) => json!({ "error": error.line(), "exit": error.exit() }),
    };
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
        object.insert(name.0.into(), name.1);
    }
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_in_order_whoever_is_done_first() {
        let jobs: Vec<u64> = (0..40).collect();
        let run = |job: &u64| {
            thread::sleep(std::time::Duration::from_millis((40 - job) % 7));
            if *job == 11 { Err(Error::Usage("planted".into())) } else { Ok(json!(job)) }
        };
        for at_once in [0, 1, 8] {
            let mut told = Vec::new();
            let ended = each_at_once(&jobs, "job", true, at_once, run, |job, result| {
                assert_eq!(result.ok(), (*job != 11).then(|| json!(job)));
                told.push(*job);
                Ok(())
            });
            assert_eq!(told, jobs);
            assert!(ended.unwrap_err().line().contains("1 of 40 jobs failed"));
        }
        let mut told = 0;
        let stop = each_at_once(&jobs, "job", true, 4, run, |_, _| {
            told += 1;
            if told == 3 { Err(Error::Usage("closed".into())) } else { Ok(()) }
        });
        assert!(stop.unwrap_err().line().contains("closed") && told == 3);
    }
}
