//! Generates the kernel table from the families' axes.

#[path = "kernels/mod.rs"]
mod kernels;

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=kernels");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("kernels.rs"), kernels::generated()).expect("OUT_DIR is writable");
}
