//! Machine code (cubin) of Apron's kernels for compute capability 9.0: a file per kernel in `cubin/FAMILY`, assembled
//! from the PTX by `cargo xtask ptx`. The driver loads a file in less than a millisecond, and would take up to a few
//! hundred to compile its PTX.
#![forbid(unsafe_code)]

use apron_packed::Pack;

/// All files.
pub static CUBIN: Pack = include!(concat!(env!("OUT_DIR"), "/pack.rs"));

#[cfg(test)]
mod tests {
    use super::CUBIN;

    #[test]
    fn a_file_is_machine_code_of_its_kernel() {
        assert!(!CUBIN.files.is_empty());
        for file in CUBIN.files {
            let code = CUBIN.read(file);
            assert!(code.starts_with(b"\x7fELF") && file.target == 90, "{}", file.name);
            let named = code.windows(file.name.len()).any(|part| part == file.name.as_bytes());
            assert!(named, "{}", file.name);
        }
    }
}
