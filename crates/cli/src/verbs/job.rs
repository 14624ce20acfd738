//! Jobs: verbs that are given as data instead of a command line, and loops over them.

use crate::error::{Error, Result, guarded};
use crate::report::counted;
use clap::{Arg, CommandFactory};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::ffi::OsString;

/// Converts a job to the arguments of a command, so that both have one grammar. Besides options it has a verb, an image
/// `in` and a result `out`.
pub(super) fn arguments(mut job: Map<String, Value>) -> Result<Vec<OsString>> {
    let verb = text("verb", job.remove("verb").unwrap_or_default())?;
    let command = crate::Cli::command();
    let known = command.find_subcommand(&verb).ok_or_else(|| Error::Usage(format!("unknown verb '{verb}'")))?;
    let mut arguments = vec!["apron".into(), OsString::from(&verb)];
    let mut files = Vec::new();
    // Verbs such as info read no file.
    if known.get_positionals().next().is_some() {
        files.push(text("in", job.remove("in").unwrap_or_default())?);
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
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(jobs.len() as u64) };
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {unit}s, {{eta}} left")) {
        bar.set_style(style);
    }
    let mut failed = 0;
    for job in jobs {
        let result = guarded(|| run(job));
        failed += result.is_err() as usize;
        // Printed directly: the bar would suppress the line if stderr is not a terminal.
        bar.suspend(|| tell(job, result))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    match failed {
        0 => Ok(()),
        _ => Err(Error::Failed(format!("{failed} of {} failed", counted(jobs.len(), unit)))),
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
