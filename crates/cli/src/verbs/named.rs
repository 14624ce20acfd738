//! The verbs of named filters, generated from the filters' definitions.

use crate::args::{Devices, FilterArgs};
use crate::complex;
use crate::error::Result;
use crate::report::Report;
use apron::Formula;
use apron::filters::{Definition, Parameter, definitions};
use apron::volumes;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};

/// The arguments of a named filter's verb.
pub(crate) struct NamedArgs {
    definition: &'static Definition,
    pub(crate) filter: FilterArgs,
    /// The parameters as text that their types can parse.
    values: Vec<(&'static str, String)>,
}

/// Finds the definition of a verb, by its name or an alias.
fn find(verb: &str) -> Option<&'static Definition> {
    definitions().find(|definition| definition.name == verb || definition.aliases.contains(&verb))
}

/// Makes the verb of a filter.
fn command(definition: &'static Definition) -> Command {
    let Definition { name, examples, source, .. } = definition;
    let heading = if examples.len() == 1 { "Example" } else { "Examples" };
    let examples: String = examples.iter().map(|example| format!("\n  apron {name} {example}")).collect();
    let source = source.replace('`', "");
    let after = format!("{}\n\nSource: {source}.\n\n{heading}:{examples}", definition.about());
    // The filter's own texts are set last, because the shared options set theirs.
    let command = FilterArgs::augment_args(Command::new(*name)).about(definition.summary()).after_help(after);
    command.visible_aliases(definition.aliases).args(definition.parameters.iter().map(option))
}

/// Makes the option of a parameter.
fn option(parameter: &'static Parameter) -> Arg {
    let option = Arg::new(parameter.name).long(parameter.name).help(parameter.help());
    if parameter.shape.is_empty() {
        return option.action(ArgAction::SetTrue);
    }
    let option = option.value_name(parameter.shape).allow_hyphen_values(true);
    let option = match parameter.choices {
        [] => option.value_parser(|text: &str| match parameter.check(text) {
            Err(wrong) if !volumes::is_value(text) => Err(wrong),
            _ => Ok(text.to_string()),
        }),
        choices => option.value_parser(PossibleValuesParser::new(choices)),
    };
    match parameter.default() {
        Some(default) => option.default_value(default),
        None => option.required(true),
    }
}

impl Subcommand for NamedArgs {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(definitions().map(self::command))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

impl FromArgMatches for NamedArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (definition, options) = matches
            .subcommand()
            .and_then(|(name, options)| Some((find(name)?, options)))
            .ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let value = |parameter: &Parameter| match parameter.shape {
            "" => Some(options.get_flag(parameter.name).to_string()),
            _ => options.get_one::<String>(parameter.name).cloned(),
        };
        let values = definition.parameters.iter().filter_map(|parameter| Some((parameter.name, value(parameter)?)));
        Ok(NamedArgs { definition, filter: FilterArgs::from_arg_matches(options)?, values: values.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Runs a named filter. Invalid parameters are found before the input is read.
pub(super) fn run(args: &NamedArgs, devices: &mut Devices) -> Result<Report> {
    let given = |name: &str| args.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let volume = &args.filter.volume;
    if volume.volume {
        let given = |name: &str| if name == "dz" { volume.dz.map(|dz| dz.to_string()) } else { given(name) };
        let formula = volumes::formula(args.definition.name, given)?;
        return super::volume::run(args.definition.name, &args.filter, &formula, None, devices);
    }
    apply(args.definition.name, &args.filter, args.definition.formula(given)?, devices)
}

/// Runs a formula with the options that all filters share.
pub(super) fn apply(
    verb: &'static str,
    filter: &FilterArgs,
    formula: Formula,
    devices: &mut Devices,
) -> Result<Report> {
    let out_type = |src| filter.out_type.unwrap_or(formula.out_type(src));
    super::filter::run_to(verb, filter, (false, complex::takes(&formula), &out_type), devices, |device, image| {
        device.apply(image, formula.clone())
    })
}
