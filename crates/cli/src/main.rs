//! The command line `apron`: filters and histograms of images, on a GPU if there is one.
#![deny(unsafe_code)]

mod args;
mod bars;
mod complex;
mod error;
mod input;
mod keys;
mod limits;
#[allow(unsafe_code)] // implements GlobalAlloc
mod memory;
mod offers;
mod output;
mod place;
mod plot;
mod progress;
mod report;
mod room;
mod signals;
mod threads;
mod verbs;
mod volume;
mod words;

use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: memory::Memory = memory::Memory;

/// Convolution and histograms of images, on a GPU if there is one.
#[derive(Parser)]
#[command(name = "apron", version, after_help = verbs::EXAMPLES)]
struct Cli {
    /// Log on stderr what runs, by which variant, and why; as APRON_LOG=debug
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    verb: verbs::Verb,
}

/// Starts the log on stderr: what runs and why, or the levels that `APRON_LOG` sets.
fn start_log(verbose: bool) {
    let mut log = env_logger::Builder::new();
    if verbose {
        log.filter_module("apron", log::LevelFilter::Debug);
    } else {
        log.filter_level(log::LevelFilter::Warn).parse_env("APRON_LOG");
    }
    log.target(env_logger::Target::Pipe(Box::new(progress::Aside)));
    log.init();
}

/// Touches a part of the main thread's stack in advance. The system grows the stack on demand, and if a limit on memory
/// forbids that, ends the program by a signal; other lack of memory is an error.
#[inline(never)]
fn use_stack() {
    std::hint::black_box([0u8; 1 << 19]);
}

fn main() -> ExitCode {
    use_stack();
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        // A panic is reported as one line, like every other error.
        std::panic::set_hook(Box::new(|_| {}));
    }
    let result = match Cli::try_parse() {
        Ok(cli) => {
            start_log(cli.verbose);
            signals::watch();
            threads::start();
            error::guarded(|| verbs::run(&cli.verb))
        }
        // Help and the version arrive as errors of exit code 0.
        Err(said) if said.exit_code() == 0 => report::print(&said.render().to_string()),
        // Without a verb: the help, as an error.
        Err(said) if said.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            report::complain(said.render().to_string().trim_end());
            return ExitCode::from(2);
        }
        Err(wrong) => Err(error::usage(&wrong)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(&format!("apron: {}", error.line()));
            ExitCode::from(error.exit())
        }
    }
}
