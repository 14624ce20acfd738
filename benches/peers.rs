//! Our kernels beside the same algorithms compiled by nvcc, in one run: `cargo bench --bench peers`.
//!
//! Needs a GPU, and `nvcc` on the PATH; says so and ends where one is missing. The folder of the
//! peers' sources can be given in `APRON_PEERS`, for machines without this checkout.

mod common;

use apron::{Border, Device, Image, Mask};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Width, height and mask of the articles' dense correlations.
const DENSE: [(u32, u32, u32, u32); 3] = [(2048, 2048, 64, 64), (2048, 2048, 64, 32), (2048, 2048, 5, 5)];

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("peers are measured by `cargo bench --bench peers` only");
        return;
    }
    let Some(gpu) = common::gpu() else { return };
    let folder = std::env::var_os("APRON_PEERS");
    let folder = folder.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers"), PathBuf::from);
    let twin = match compile(&folder.join("conv2d_tiled.cu")) {
        Ok(twin) => twin,
        Err(error) => return println!("peers left out: {error}"),
    };
    println!("{:<28} {:>10} {:>10} {:>7}", "P4, f32, 1 channel", "ours ms", "nvcc ms", "ratio");
    for (width, height, mask_width, mask_height) in DENSE {
        // In turn, and the best of three medians of each: the clock rises while the GPU works.
        let rounds = (0..3).map(|_| {
            (ours(&gpu, width, height, mask_width, mask_height), theirs(&twin, width, height, mask_width, mask_height))
        });
        let (ours, theirs) = rounds.fold((f64::MAX, f64::MAX), |best, now| (best.0.min(now.0), best.1.min(now.1)));
        let work = format!("{width}x{height} mask {mask_width}x{mask_height}");
        println!("{work:<28} {ours:>10.4} {theirs:>10.4} {:>7.3}", ours / theirs);
    }
}

/// The program that nvcc makes of `source`.
fn compile(source: &Path) -> Result<PathBuf, String> {
    let program = std::env::temp_dir().join(format!("apron-peer-{}", std::process::id()));
    let nvcc = Command::new("nvcc").args(["-O3", "-arch=native", "-o"]).arg(&program).arg(source).output();
    let output = nvcc.map_err(|error| format!("nvcc: {error}"))?;
    if output.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn theirs(twin: &Path, width: u32, height: u32, mask_width: u32, mask_height: u32) -> f64 {
    let arguments = [width, height, mask_width, mask_height].map(|n| n.to_string());
    let output = Command::new(twin).args(arguments).output().expect("the peer starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("the peer prints milliseconds")
}

/// The median time of 20 runs after 5, in milliseconds.
fn ours(gpu: &Device, width: u32, height: u32, mask_width: u32, mask_height: u32) -> f64 {
    let image: Image<f32> = common::image_f32(width.max(height));
    let taps: Vec<f32> = (0..mask_width * mask_height).map(|i| (i as f32 * 0.37).sin()).collect();
    let mask = Mask::new(mask_width, mask_height, taps).expect("a valid mask");
    let image = gpu.upload(&image).expect("memory for the image");
    let mut times: Vec<f64> = (0..25)
        .map(|_| {
            let run = gpu.correlate(&image, mask.clone()).border(Border::Constant(0.0)).variant("tiled").run();
            run.and_then(|image| image.report()).expect("the kernel runs").kernels.as_secs_f64() * 1e3
        })
        .skip(5)
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
