//! PTX of the kernels of the family `march`, as in the crate `apron-ptx`, which has those of all other families.
#![forbid(unsafe_code)]

use apron_packed::Pack;

/// All files.
pub static PTX: Pack = include!(concat!(env!("OUT_DIR"), "/pack.rs"));

#[cfg(test)]
mod tests {
    use super::PTX;

    #[test]
    fn all_need_the_newer_target() {
        assert!(!PTX.files.is_empty());
        for file in PTX.files {
            let text = String::from_utf8(PTX.read(file)).unwrap();
            assert_eq!((text.matches(".entry ").count(), file.target), (1, 90), "{}", file.name);
            assert!(text.contains(&format!(".visible .entry {}(", file.name)), "{}", file.name);
        }
        assert!(PTX.newest("march_dense_3_c1_f32_f32", 80).is_none());
        assert!(PTX.newest("march_dense_3_c1_f32_f32", 120).is_some());
    }
}
