//! `apron info`.

use crate::error::Result;
use crate::report::print;
use apron::DeviceInfo;
use serde_json::{Value, json};

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron info --json")]
pub(crate) struct Args {
    /// Report as one JSON object on stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.json {
        return print(&format!("{}\n", found()));
    }
    let threads = threads();
    match apron::devices() {
        Ok(gpus) => {
            let lines: String = gpus.iter().map(|gpu| line(gpu) + "\n").collect();
            print(&format!("{lines}cpu: {threads} threads\n"))
        }
        Err(error) => {
            let error = error.to_string().replace('\n', " ");
            print(&format!("{error}; the CPU ({threads} threads) will be used instead\n"))
        }
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Lists the GPUs, or the reason why there are none, and the number of CPU threads.
pub(super) fn found() -> Value {
    let (gpus, error) = match apron::devices() {
        Ok(gpus) => (gpus.iter().map(object).collect(), Value::Null),
        Err(error) => (Vec::new(), Value::from(error.to_string())),
    };
    json!({ "gpus": gpus, "error": error, "cpu_threads": threads() })
}

/// Returns the target of the PTX that the GPU would load, such as `sm_90`.
fn ptx(gpu: &DeviceInfo) -> Option<String> {
    apron::ptx_target(gpu).map(|target| format!("sm_{target}"))
}

/// Formats a version or a compute capability, such as 9.0.
fn dotted(major: impl std::fmt::Display, minor: impl std::fmt::Display) -> String {
    format!("{major}.{minor}")
}

fn gibibytes(gpu: &DeviceInfo) -> f64 {
    gpu.memory_bytes as f64 / (1u64 << 30) as f64
}

fn line(gpu: &DeviceInfo) -> String {
    format!(
        "gpu:{}: {}, {:.1} GiB, {} multiprocessors, compute capability {}, driver for CUDA {}, {}",
        gpu.ordinal,
        gpu.name,
        gibibytes(gpu),
        gpu.multiprocessors,
        dotted(gpu.capability / 10, gpu.capability % 10),
        dotted(gpu.cuda_version.0, gpu.cuda_version.1),
        ptx(gpu).map_or("too old for the kernels".into(), |target| format!("loads PTX for {target}")),
    )
}

fn object(gpu: &DeviceInfo) -> Value {
    json!({
        "ordinal": gpu.ordinal,
        "name": gpu.name,
        "memory_gib": (gibibytes(gpu) * 100.0).round() / 100.0,
        "multiprocessors": gpu.multiprocessors,
        "compute_capability": dotted(gpu.capability / 10, gpu.capability % 10),
        "cuda_version": dotted(gpu.cuda_version.0, gpu.cuda_version.1),
        "ptx": ptx(gpu),
    })
}
