//! Lookup of kernels.

use apron_abi::{ElementType, Kernel};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Variant, stage, and element types of input and output.
type Key<'a> = (&'a str, &'a str, ElementType, ElementType);

static KERNELS: LazyLock<HashMap<Key<'static>, Kernel>> = LazyLock::new(|| {
    let of = |kernel: &Kernel| {
        let facts = kernel.facts();
        ((facts.variant, facts.stage, facts.src, facts.dst), *kernel)
    };
    // Of kernels with equal keys the first wins, as in Kernel::find.
    Kernel::ALL.iter().rev().map(of).collect()
});

/// As [`Kernel::find`], but by hash instead of a linear search.
pub(crate) fn find(variant: &str, stage: &str, src: ElementType, dst: ElementType) -> Option<Kernel> {
    let kernels: &HashMap<Key<'_>, Kernel> = &KERNELS;
    kernels.get(&(variant, stage, src, dst)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_what_the_kernel_table_finds() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let [found, known] =
                [find, Kernel::find].map(|find| find(facts.variant, facts.stage, facts.src, facts.dst));
            assert_eq!(found, known);
        }
        assert_eq!(find("conv2d-tiled", "no such stage", ElementType::F32, ElementType::F32), None);
    }
}
