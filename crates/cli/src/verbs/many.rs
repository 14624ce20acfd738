//! Runs a verb for one image or for several, several at a time.

use super::{Verb, job, on_files, tell, work};
use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::place::{Asked, Files, Place};
use crate::report::{Report, complain, counted, milliseconds, print};
use crate::room;
use apron::Device;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Runs a verb for each of its images, and reports.
pub(super) fn run(verb: &Verb, files: Files, common: &Common) -> Result<()> {
    let start = Instant::now();
    let asked = match files.asked()? {
        Asked::One(place) => {
            let mut devices = Devices::watched(common);
            devices.go_to(place);
            let report = work(verb, &mut devices)?;
            // Removes the progress line before the report is printed.
            drop(devices);
            return tell(&report, common);
        }
        Asked::Folder(asked) => asked,
    };
    if let Some(first) = asked.repeated.first().filter(|_| !common.quiet) {
        let others = match asked.repeated.len() - 1 {
            0 => String::new(),
            others => format!(", and {} more", counted(others, "image")),
        };
        complain(&format!("apron: warning: {}{others}: given more than once, and taken once", first.display()));
    }
    let images = &asked.pairs;
    // Opened once; each image's work is on a new stream, and several GPUs take turns.
    let gpus = Devices::new(Default::default()).get(common.device)?.members();
    let turn = AtomicUsize::new(0);
    let mut failures = Vec::new();
    let on_image = |(input, output): &(PathBuf, PathBuf)| {
        let first = turn.fetch_add(1, Ordering::Relaxed);
        let on_gpu = |gpu: &Device| {
            let mut devices = Devices::of(gpu.separate()?);
            devices.go_to(Place::Files { input: input.clone(), output: output.clone(), format: None });
            work(verb, &mut devices).map(|report| report.value())
        };
        // An image that one GPU fails at goes to the next.
        for nth in 0..gpus.len() - 1 {
            let gpu = &gpus[(first + nth) % gpus.len()];
            match on_gpu(gpu) {
                Err(error) if error.is_of_device() => {
                    complain(&format!("apron: warning: {}: {}; another GPU takes it", input.display(), error.line()));
                }
                other => return other,
            }
        }
        on_gpu(&gpus[(first + gpus.len() - 1) % gpus.len()])
    };
    let told = |(input, _): &(PathBuf, PathBuf), result| {
        let input = input.display().to_string();
        if common.json {
            return print(&job::outcome(("input", input.into()), &result));
        }
        failures.extend(result.err().map(|error| match error.line() {
            // Errors of files name the file already.
            line if line.starts_with(&input) => format!("apron: {line}"),
            line => format!("apron: {input}: {line}"),
        }));
        Ok(())
    };
    let at_once = room::images_at_once(images.iter().map(|(input, _)| input.as_path()), common.memory);
    let ended = job::each_at_once(images, "image", common.quiet || common.json, at_once, on_image, told);
    // After the progress bar, and so together.
    failures.iter().for_each(|line| complain(line));
    if !common.quiet && !common.json && ended.is_ok() {
        complain(&format!("{}, total {:.1} ms", counted(images.len(), "image"), milliseconds(start.elapsed())));
    }
    ended
}

/// Runs a verb that reads one image, without output to the terminal.
pub(super) fn alone(verb: &Verb, devices: &mut Devices) -> Result<Report> {
    if let Some((files, _)) = on_files(verb) {
        // Checked before a folder is created.
        if files.are_many() {
            return Err(Error::Usage("a job has one image and one result".into()));
        }
        if let Asked::One(place) = files.asked()? {
            devices.go_to(place);
        }
    }
    work(verb, devices)
}
