//! `apron completions`: scripts by which a shell completes verbs and options.

use crate::error::Result;
use crate::report::print;
use clap::{Arg, CommandFactory, ValueHint};
use clap_complete::Shell;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron completions bash > ~/.local/share/bash-completion/completions/apron
  apron completions zsh > ~/.zfunc/_apron
  apron completions fish > ~/.config/fish/completions/apron.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    let mut command = crate::Cli::command().mut_subcommands(|verb| verb.mut_args(without_files));
    clap_complete::generate(args.shell, &mut command, "apron", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Lets shells offer no names of files for an option whose values are neither that nor a few words.
fn without_files(option: Arg) -> Arg {
    let values = option.get_action().takes_values() && !option.is_positional();
    let takes_file = option.get_value_names().is_some_and(|names| names.iter().any(|name| name.contains("FILE")));
    let is_open = option.get_value_hint() == ValueHint::Unknown && option.get_possible_values().is_empty();
    if values && is_open && !takes_file { option.value_hint(ValueHint::Other) } else { option }
}
