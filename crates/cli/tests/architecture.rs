//! Runs the call that docs/architecture.md traces, and compares the page with what ran.

mod common;

use apron_core::{Border, Extent, Problem, Separable, Shape, filters};
use apron_plan::{Machine, Recipe, Role};
use common::Folder;
use serde_json::Value;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/architecture.md");
const START: &str = "<!-- trace: made by APRON_UPDATE=1 cargo test -p apron-cli --test architecture -->\n";
const END: &str = "<!-- /trace -->";
/// Start of the command in the README, before the program's arguments.
const RUN: &str = "cargo run --release -- ";

#[test]
fn the_trace_is_what_runs() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let command = readme.lines().find_map(|line| line.strip_prefix(RUN)).expect("the README has a command");
    let command = command.split('#').next().unwrap().trim();
    let trace = trace(command, &report(command));
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(START).expect("the page has the trace's start");
    let (written, after) = rest.split_once(END).expect("the page has the trace's end");
    if std::env::var("APRON_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(PAGE, format!("{before}{START}{trace}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(written, trace, "run it with APRON_UPDATE=1, and look at what changed");
}

/// Runs the command in the emulator, and returns its report.
fn report(command: &str) -> Value {
    let input = Path::new(ROOT).join("assets/coffee.png");
    let words = command.split(' ').map(|word| if word == "assets/coffee.png" { input.to_str().unwrap() } else { word });
    let ended = Folder::new().run(&words.chain(["--device", "emulator", "--json"]).collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{command}: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Plans the same problem again: the report does not list kernels, but identifies the recipe.
fn recipe(report: &Value) -> Recipe {
    let number = |key: &str| report[key].as_u64().unwrap() as u32;
    let shape = Shape::new(number("width"), number("height"), number("channels")).unwrap();
    let (src, dst) = (pixel(report, "in_type"), pixel(report, "out_type"));
    let taps = filters::gaussian(3.0, 4.0).unwrap();
    let (border, extent) = (Border::default(), Extent::default());
    let problem = Separable { shape, src, dst, taps_x: taps.clone(), taps_y: taps, border, extent };
    let recipe =
        apron_plan::plan(&Problem::Filter(apron_core::FilterProblem::Separable(problem)), None, &Machine::EMULATED)
            .unwrap();
    assert_eq!((recipe.variant, recipe.grid()), (text(report, "variant"), text(report, "grid").to_string()));
    recipe
}

/// Formats the page's block in Markdown.
fn trace(command: &str, report: &Value) -> String {
    let recipe = recipe(report);
    let mut lines = vec![
        format!("`apron {command}`"),
        String::new(),
        "| | |".into(),
        "|---|---|".into(),
        format!(
            "| problem | `{}` of {}x{}x{} samples, {} to {} |",
            text(report, "operation"),
            report["width"],
            report["height"],
            report["channels"],
            text(report, "in_type"),
            text(report, "out_type")
        ),
        format!("| method | {}: {} |", text(report, "method"), text(report, "why_method")),
        format!("| variant | `{}`: {} |", recipe.variant, text(report, "why")),
    ];
    for buffer in &recipe.buffers {
        let role = match buffer.role {
            Role::Input => "input",
            Role::Output => "output",
            Role::Scratch => "scratch, on the device only",
            Role::Zeroed => "zeros",
            Role::Beside | Role::Texture { .. } => "beside the input",
        };
        lines.push(format!(
            "| buffer | {role}: {} of {}, {} bytes |",
            buffer.elems,
            buffer.element.name(),
            buffer.size_bytes()
        ));
    }
    for launch in &recipe.launches {
        let (facts, [columns, rows]) = (launch.kernel.facts(), launch.blocks);
        lines.push(format!(
            "| launch | `{}`: {columns}x{rows} blocks of {}x{} threads, {} bytes of shared memory per block, {} bytes of taps |",
            facts.entry,
            facts.block[0],
            facts.block[1],
            launch.shared_bytes,
            size_of_val(&launch.taps[..])
        ));
    }
    lines.join("\n") + "\n"
}

fn text<'r>(report: &'r Value, key: &str) -> &'r str {
    report[key].as_str().unwrap_or_else(|| panic!("no {key} in {report}"))
}

fn pixel(report: &Value, key: &str) -> apron_core::PixelType {
    text(report, key).parse().unwrap()
}
