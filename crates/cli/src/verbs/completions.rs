//! `apron completions`: scripts by which a shell completes verbs and options.

use crate::error::Result;
use crate::report::print;
use clap::CommandFactory;
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
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "apron", &mut script);
    print(&String::from_utf8_lossy(&script))
}
