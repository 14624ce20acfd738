//! Embeds the kernels' PTX and the machine code beside it: the committed files, or with the feature
//! `rust-cuda` PTX that this compiler makes of the same sources.

use apron_abi::Family;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let entries: String = ptx_files(&root, &out)
        .iter()
        .map(|(family, target, path)| {
            let cubin = path.with_extension("cubin");
            let code = if cubin.exists() { format!("Some(include_bytes!({cubin:?}))") } else { "None".into() };
            let text = format!("include_str!({path:?})");
            format!("Ptx {{ family: Family::{family:?}, target: {target}, text: {text}, machine_code: {code} }},\n")
        })
        .collect();
    fs::write(out.join("ptx.rs"), format!("&[\n{entries}]\n")).expect("OUT_DIR is writable");
}

/// Family, target and path of each `{family}.sm_{target}.ptx` under `kernels-gpu/ptx`.
#[cfg(not(feature = "rust-cuda"))]
fn ptx_files(root: &Path, _out: &Path) -> Vec<(Family, u32, PathBuf)> {
    let folder = root.join("kernels-gpu/ptx");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).expect("kernels-gpu/ptx is there").flatten() {
        let name = entry.file_name().into_string().expect("PTX files have plain names");
        let Some((family, target)) = name.strip_suffix(".ptx").and_then(|stem| stem.split_once(".sm_")) else {
            continue;
        };
        let family = Family::ALL.into_iter().find(|known| known.name() == family).expect("a family's PTX file");
        found.push((family, target.parse().expect("a PTX file names its target"), entry.path()));
    }
    found.sort_by(|a, b| a.2.cmp(&b.2));
    found
}

/// One file from Rust-CUDA holds every family.
#[cfg(feature = "rust-cuda")]
fn ptx_files(root: &Path, out: &Path) -> Vec<(Family, u32, PathBuf)> {
    let kernels = root.join("kernels-gpu");
    println!("cargo:rerun-if-changed={}", kernels.join("src").display());
    let ptx = out.join("rust-cuda.ptx");
    cuda_builder::CudaBuilder::new(&kernels)
        .arch(cuda_builder::NvvmArch::Compute75)
        .build_args(&["--features", "rust-cuda"])
        .copy_to(&ptx)
        .build()
        .expect("Rust-CUDA compiles the kernels (its compiler is set up as the README says)");
    Family::ALL.into_iter().map(|family| (family, 75, ptx.clone())).collect()
}
