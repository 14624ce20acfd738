//! `apron verify`.

use crate::error::{Error, Result};
use apron::DeviceName;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron verify --device gpu")]
pub(crate) struct Args {
    /// The device to check: auto, gpu[:N], cpu, emulator or reference
    #[arg(long, default_value = "auto")]
    pub(crate) device: DeviceName,
    /// Seed of the random cases [default: another each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Report as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Report nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let _ = (args.device, args.seed, args.json, args.quiet);
    Err(Error::Failed("verify: not yet".into()))
}
