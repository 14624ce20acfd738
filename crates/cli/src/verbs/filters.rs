//! `apron filters`: lists the named filters.

use crate::error::Result;
use crate::report::{aligned, print};
use apron::filters::{Allowed, Definition, Parameter, definitions};
use serde_json::{Value, json};

#[derive(clap::Args)]
#[command(after_help = "\
A line for each filter: its verb, what it computes, and the same in OpenCV, SciPy or scikit-image. With
--json also its parameters and examples.

Example:
  apron filters --json")]
pub(crate) struct Args {
    /// Report as one JSON object on stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.json {
        let filters: Vec<Value> = definitions().map(object).collect();
        return print(&format!("{}\n", json!({ "filters": filters })));
    }
    let rows = definitions()
        .map(|definition| vec![definition.name.into(), definition.summary(), definition.source.replace('`', "")]);
    print(&aligned(&rows.collect::<Vec<_>>()))
}

fn object(definition: &Definition) -> Value {
    json!({
        "name": definition.name,
        "aliases": definition.aliases,
        "summary": definition.summary(),
        "about": definition.about(),
        "source": definition.source,
        "examples": definition.examples,
        "parameters": definition.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "help": parameter.help(),
        "default": parameter.default(),
        "unit": (!parameter.unit.is_empty()).then_some(parameter.unit),
        "allowed": (parameter.allowed != Allowed::Any).then(|| parameter.allowed.to_string()),
        "choices": parameter.choices,
        "flag": parameter.shape.is_empty(),
    })
}
