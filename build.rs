//! With the feature `rust-cuda`, compiles the kernels by Rust-CUDA. Without it, does nothing: the PTX of rustc's own
//! backend is in `crates/ptx` and `crates/ptx-march`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "rust-cuda")]
    rust_cuda();
}

/// Compiles every family into one PTX file, for sm_75.
#[cfg(feature = "rust-cuda")]
fn rust_cuda() {
    use std::env::var_os;
    use std::path::PathBuf;

    let root = PathBuf::from(var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let kernels = root.join("kernels-gpu");
    println!("cargo:rerun-if-changed={}", kernels.join("src").display());
    cuda_builder::CudaBuilder::new(&kernels)
        .arch(cuda_builder::NvvmArch::Compute75)
        .build_args(&["--features", "rust-cuda"])
        .copy_to(out.join("rust-cuda.ptx"))
        .build()
        .expect("Rust-CUDA compiles the kernels (its compiler is set up as CONTRIBUTING.md says)");
}
