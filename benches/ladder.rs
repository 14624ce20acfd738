//! The ladder: every program of the articles, from the serial ones to the last on the GPU, timed in one run: `cargo
//! bench --bench ladder -- --record benches/record/h100-ladder.csv`.
//!
//! The record goes to the file after `--record`, otherwise to standard output; `cargo xtask ladder` generates the
//! tables and the plot of docs/ladder.md from it. If `nvcc` is on the PATH, the same algorithms in CUDA C (twins) are
//! timed, too. `APRON_PEERS` names the folder of their sources, for machines where this checkout has another path.

mod common;

use apron::{Device, Result};
use apron_abi::Kernel;
use apron_testkit::machine;
use apron_testkit::nvcc;
use common::{Solved, Work, median};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workload, and the programs that solve it, each a step up from the previous one.
struct Ladder {
    work: Work,
    /// The serial program; `None` for a ladder of GPU rungs only.
    serial: Option<&'static str>,
    rungs: &'static [Rung],
    /// Source of the CUDA C twin, and its arguments for this workload.
    twin: Option<(&'static str, Vec<u64>)>,
}

/// A program on the GPU.
struct Rung {
    /// What the program adds to the previous one.
    level: &'static str,
    variant: &'static str,
    /// Predicted time on an H100 in milliseconds, computed before anything was measured: see docs/ladder.md.
    predicted: Option<f64>,
    /// Whether the CUDA C twin is the same algorithm.
    twin: bool,
}

const fn rung(level: &'static str, variant: &'static str, predicted: f64) -> Rung {
    Rung { level, variant, predicted: Some(predicted), twin: false }
}

impl Rung {
    const fn twinned(self) -> Rung {
        Rung { twin: true, ..self }
    }

    const fn not_predicted(self) -> Rung {
        Rung { predicted: None, ..self }
    }
}

const SEPARABLE: &[Rung] = &[rung("GPU", "conv1d-simple", 0.28), rung("shared tile", "conv1d-tiled", 0.20)];
const SHARED_TILE: Rung = rung("shared tile", "conv2d-tiled-symbol", 2.4).twinned();
const MASK_IN_LAUNCH: Rung = rung("mask in the launch", "conv2d-tiled", 2.4).twinned();
const DENSE: &[Rung] =
    &[rung("GPU", "conv2d-naive", 8.1), rung("constant memory", "conv2d-constant", 7.0), SHARED_TILE, MASK_IN_LAUNCH];
const DENSE_TILED: &[Rung] = &[SHARED_TILE.not_predicted(), MASK_IN_LAUNCH.not_predicted()];
const RGBA: &[Rung] = &[
    rung("GPU", "rgba-naive", 0.33),
    rung("texture", "rgba-texture", 0.30),
    rung("tile by one thread", "rgba-one-loader", 2.1),
    rung("tile by all threads", "rgba-cooperative", 0.35),
];
const HISTOGRAM: &[Rung] = &[rung("shared partials", "histogram-partials", 0.036).twinned()];

fn ladders() -> Vec<Ladder> {
    let dense = |serial, rungs, mask: [u32; 2]| {
        let side = 2048;
        let [width, height] = mask;
        let arguments = [side, side, width, height].map(u64::from).to_vec();
        Ladder { work: Work::dense(side, width, height), serial, rungs, twin: Some(("conv2d_tiled", arguments)) }
    };
    let side = 8192;
    vec![
        Ladder { work: Work::separable(4096, 8), serial: Some("P1"), rungs: SEPARABLE, twin: None },
        dense(Some("P5"), DENSE, [64, 64]),
        dense(None, DENSE_TILED, [64, 32]),
        dense(None, DENSE_TILED, [5, 5]),
        Ladder { work: Work::rgba(4096), serial: Some("P9"), rungs: RGBA, twin: None },
        Ladder {
            work: Work::histogram(side),
            serial: Some("-"),
            rungs: HISTOGRAM,
            twin: Some(("histogram256", vec![side as u64 * side as u64, 1])),
        },
    ]
}

fn main() {
    if !common::measured() {
        check_table();
        return println!("the ladder is measured by `cargo bench --bench ladder` only");
    }
    // Opened first, so that nothing is measured if the record cannot be written.
    let mut record: Box<dyn std::io::Write> = match path_of_record() {
        Some(path) => {
            Box::new(File::create(&path).unwrap_or_else(|error| panic!("--record {}: {error}", path.display())))
        }
        None => Box::new(std::io::stdout()),
    };
    let gpu = common::gpu();
    let nvcc = gpu.is_some() && nvcc::version().is_some();
    if !nvcc {
        eprintln!("twins left out: no nvcc or no GPU");
    }
    let mut rows = String::from("work,level,program,variant,bytes,operations,predicted_ms,ms,twin_ms\n");
    for ladder in ladders() {
        climb(&ladder, gpu.as_ref(), nvcc, &mut rows);
    }
    // Queried directly after the measurements, while the GPU still has its clock under load.
    let mut text = String::new();
    for (key, value) in machine::facts(gpu.as_ref().map(|_| 0)) {
        let _ = writeln!(text, "# {key}: {value}");
    }
    text.push_str(&rows);
    record.write_all(text.as_bytes()).expect("the record is written");
}

/// Returns the path after `--record`.
fn path_of_record() -> Option<PathBuf> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--record");
    arguments.next()?;
    Some(arguments.next().expect("a path after --record").into())
}

/// Checks that the plan knows every rung, and that every program of the kernel table has a rung; needs no GPU.
fn check_table() {
    let ladders = ladders();
    let mut climbed = BTreeSet::new();
    for Ladder { work, rungs, .. } in &ladders {
        for rung in *rungs {
            let recipe = apron_plan::plan(&work.problem, Some(rung.variant), &apron_plan::Machine::EMULATED);
            let recipe = recipe.unwrap_or_else(|error| panic!("{}: {}: {error}", work.text, rung.variant));
            climbed.extend(recipe.launches.iter().map(|launch| launch.kernel.facts().program));
        }
    }
    let programs = Kernel::ALL.iter().map(|kernel| kernel.facts().program);
    let missing: BTreeSet<_> = programs.filter(|program| !climbed.contains(program)).collect();
    assert!(missing.is_empty(), "programs without a rung: {missing:?}");
}

/// Times a ladder from the first rung; every result is compared once with the CPU's, bit for bit.
fn climb(ladder: &Ladder, gpu: Option<&Device>, nvcc: bool, rows: &mut String) {
    let Ladder { work, serial, rungs, twin } = ladder;
    if serial.is_none() && gpu.is_none() {
        return;
    }
    let mut row = |level: &str, program: &str, variant: &str, times: [Option<f64>; 3]| {
        let (bytes, operations) = (work.bytes(), work.operations());
        let [predicted, ms, twin] = times.map(|time| time.map_or(String::new(), |ms| format!("{ms:.5}")));
        let row = format!("{},{level},{program},{variant},{bytes},{operations},{predicted},{ms},{twin}", work.text);
        eprintln!("{row}");
        rows.push_str(&row);
        rows.push('\n');
    };
    let image = work.image();
    let cpu = || work.solve(&Device::cpu(), &image, None);
    let expected = cpu().and_then(Solved::bits).expect("the CPU takes everything");
    if let Some(program) = serial {
        // One run if it is slow, else three.
        let mut times = Vec::new();
        while times.len() < 3 && times.iter().sum::<f64>() < 5e3 {
            let solved = work.serial(&image).expect("the reference takes everything");
            times.push(milliseconds(&solved));
            assert!(solved.bits().expect("on the host") == expected, "{}: the CPU's result is wrong", work.text);
        }
        row("serial", program, "serial", [None, Some(median(times)), None]);
        row("all cores", "-", "parallel", [None, Some(median_of_20(cpu)), None]);
    }
    let Some(gpu) = gpu else { return };
    let image = gpu.upload(&image).expect("memory for the image");
    let twin = twin.as_ref().filter(|_| nvcc).and_then(|(source, arguments)| Some((Twin::compile(source)?, arguments)));
    for Rung { level, variant, predicted, twin: twinned } in *rungs {
        let run = || work.solve(gpu, &image, Some(variant));
        let found = run().and_then(Solved::bits);
        let found = found.unwrap_or_else(|error| panic!("{}: {variant}: {error}", work.text));
        assert!(found == expected, "{}: the result of {variant} is wrong", work.text);
        // Alternately, with the best of three medians each, since the clock rises under load.
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            ours = ours.min(median_of_20(run));
            if let Some((twin, arguments)) = twin.as_ref().filter(|_| *twinned) {
                theirs = theirs.min(twin.time(arguments));
            }
        }
        let times = [*predicted, Some(ours), theirs.is_finite().then_some(theirs)];
        row(level, &program(work, variant), variant, times);
    }
}

/// Returns the median of 20 runs after 5 warm-up runs, in milliseconds. GPU runs are timed by their report's events,
/// which exclude uploads and allocations; see [`Solved::time`].
fn median_of_20(run: impl Fn() -> Result<Solved>) -> f64 {
    let times = (0..25).map(|_| milliseconds(&run().expect("it ran when it was checked")));
    median(times.skip(5).collect())
}

fn milliseconds(solved: &Solved) -> f64 {
    solved.time().expect("the work is done").as_secs_f64() * 1e3
}

/// Returns the articles' programs of a variant's kernels, such as `P6+P7`.
fn program(work: &Work, variant: &str) -> String {
    let recipe = apron_plan::plan(&work.problem, Some(variant), &apron_plan::Machine::EMULATED)
        .expect("it ran when it was checked");
    let mut programs: Vec<_> = recipe.launches.iter().map(|launch| launch.kernel.facts().program).collect();
    programs.dedup();
    programs.join("+")
}

/// The same algorithm in CUDA C, compiled by nvcc.
struct Twin(PathBuf);

impl Drop for Twin {
    fn drop(&mut self) {
        // Errors are ignored: a file that remains in the temporary folder is harmless.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Twin {
    /// Compiles the twin of this name; `None`, with a printed reason, if that fails.
    fn compile(name: &str) -> Option<Twin> {
        let folder = std::env::var_os("APRON_PEERS");
        let folder = folder.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers"), PathBuf::from);
        let twin = Twin(std::env::temp_dir().join(format!("apron-{name}-{}", std::process::id())));
        let compiled = nvcc::compile(&folder.join(name).with_extension("cu"), &twin.0, &[]);
        compiled.map_err(|why| eprintln!("twin {name} left out: {why}")).is_ok().then_some(twin)
    }

    /// Returns the median of 20 runs after 5 warm-up runs, in milliseconds.
    fn time(&self, arguments: &[u64]) -> f64 {
        let output = Command::new(&self.0).args(arguments.iter().map(u64::to_string)).output();
        let output = output.expect("the twin starts");
        assert!(output.status.success(), "the twin failed: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("the twin prints milliseconds")
    }
}
