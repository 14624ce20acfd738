//! PTX of Apron's kernels, except those of the family `march`: a file per kernel in `ptx/FAMILY`, compiled from
//! `kernels-gpu` by `cargo xtask ptx`.
//!
//! `NAME.sm_75.ptx` runs on GPUs of compute capability 7.5 and newer; `NAME.sm_90.ptx` exists for kernels that need
//! 9.0, or have a different version for it.
#![forbid(unsafe_code)]

use apron_packed::Pack;

/// All files.
pub static PTX: Pack = include!(concat!(env!("OUT_DIR"), "/pack.rs"));

#[cfg(test)]
mod tests {
    use super::PTX;

    #[test]
    fn a_file_is_one_kernel_of_its_name_and_target() {
        assert!(!PTX.files.is_empty());
        for file in PTX.files {
            let text = String::from_utf8(PTX.read(file)).unwrap();
            assert_eq!(text.matches(".entry ").count(), 1, "{}", file.name);
            assert!(text.contains(&format!(".visible .entry {}(", file.name)), "{}", file.name);
            assert!(text.contains(&format!("\n.target sm_{}\n", file.target)), "{}", file.name);
        }
    }

    #[test]
    fn a_gpu_gets_the_newest_that_it_runs() {
        let targets =
            |name| [70, 75, 80, 90, 120].map(|capability| PTX.newest(name, capability).map(|file| file.target));
        let [none, first, .., last] = targets("conv2d_naive_u8_u8");
        assert_eq!((none, first), (None, Some(75)));
        assert!(last.is_some());
        assert_eq!(targets("no_such_kernel"), [None; 5]);
        assert!(PTX.find("conv2d_naive_u8_u8", 80).is_none());
    }
}
