//! `apron man`: manual pages of the program and of each verb.

use crate::error::{Error, Result};
use crate::report::print;
use apron_files::OutputPath;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron man | man -l -
  apron man ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write the pages of the program and of each verb into this folder [default: the program's to stdout]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut command = crate::Cli::command();
    // Sets the full names of the verbs.
    command.build();
    let Some(folder) = &args.folder else {
        return print(&String::from_utf8_lossy(&page(&Man::new(command))?));
    };
    std::fs::create_dir_all(folder).map_err(|error| Error::input(folder, error))?;
    let verbs: Vec<_> = command.get_subcommands().filter(|verb| verb.get_name() != "help").cloned().collect();
    for command in std::iter::once(command).chain(verbs) {
        let man = Man::new(command);
        let page = page(&man)?;
        OutputPath::new(&folder.join(man.get_filename()))?.write(|file| Ok(file.write_all(&page)?))?;
    }
    Ok(())
}

fn page(man: &Man) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Error::Bug(error.to_string()))?;
    Ok(page)
}
