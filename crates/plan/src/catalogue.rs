//! The variants of all families.

use crate::machine::Tuning;
use crate::variant::Variant;
use crate::{
    boxes, conv1d, conv2d, fft, histogram, local, lookup, march, paired, patch, pointwise, rgba, statistics, volumes,
    words,
};
use std::sync::LazyLock;

/// The variants of each family that solves problems.
const FAMILIES: &[&[Variant]] = &[
    march::VARIANTS,
    paired::VARIANTS,
    patch::VARIANTS,
    words::VARIANTS,
    conv1d::VARIANTS,
    conv2d::VARIANTS,
    conv2d::scaled::VARIANTS,
    boxes::VARIANTS,
    rgba::VARIANTS,
    histogram::bytes::VARIANTS,
    histogram::edges::VARIANTS,
    histogram::slices::VARIANTS,
    histogram::weighted::VARIANTS,
    histogram::joint::VARIANTS,
    local::VARIANTS,
    fft::VARIANTS,
    pointwise::VARIANTS,
    pointwise::pad::VARIANTS,
    lookup::VARIANTS,
    statistics::VARIANTS,
    volumes::VARIANTS,
    volumes::planes::VARIANTS,
    volumes::stored::VARIANTS,
];

/// All variants, grouped by operation; within an operation in the order of their ranks, which holds where nothing was
/// [measured](crate::tuning).
pub static VARIANTS: LazyLock<Vec<&'static Variant>> = LazyLock::new(|| {
    let mut all: Vec<&Variant> = FAMILIES.iter().copied().flatten().collect();
    let mut operations: Vec<&str> = Vec::new();
    for variant in &all {
        if !operations.contains(&variant.operation) {
            operations.push(variant.operation);
        }
    }
    all.sort_by_key(|variant| (operations.iter().position(|known| *known == variant.operation), variant.rank));
    all
});

/// The variants of an operation, in the order of [`VARIANTS`].
pub fn variants(operation: &str) -> impl Iterator<Item = &'static Variant> {
    VARIANTS.iter().copied().filter(move |variant| variant.operation == operation)
}

/// Returns the grids that a sweep tries for the variant of this name; empty where the grid follows from the problem.
pub fn candidates(variant: &str) -> Vec<Tuning> {
    let known = VARIANTS.iter().find(|known| known.name == variant);
    known.map_or(Vec::new(), |variant| variant.grids.all().collect())
}

impl Variant {
    /// Returns whether no other variant solves problems of its kind, so that there is nothing to choose or measure.
    pub fn is_alone(&self) -> bool {
        VARIANTS.iter().filter(|other| other.planner.kind() == self.planner.kind()).count() == 1
    }

    /// Returns whether a sweep times it.
    pub fn is_swept(&self) -> bool {
        self.swept && !self.by_name && !self.is_alone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use apron_abi::Kernel;
    use apron_core::{Error, PixelType, Problem};

    fn is_refused(problem: &Problem, variant: &Variant) -> bool {
        match crate::plan(problem, Some(variant.name), &Machine::EMULATED) {
            Ok(_) => false,
            Err(Error::Unsupported { .. }) => true,
            Err(error) => panic!("{}: {error}", variant.name),
        }
    }

    #[test]
    fn every_variant_takes_what_its_limits_say_and_no_more() {
        for variant in VARIANTS.iter() {
            for example in (variant.examples)() {
                for problem in [&example.within, &example.beyond] {
                    assert_eq!(problem.operation(), variant.operation, "{}: {problem:?}", variant.name);
                }
                assert!(!is_refused(&example.within, variant), "{}: {:?}", variant.name, example.within);
                assert!(is_refused(&example.beyond, variant), "{}: {:?}", variant.name, example.beyond);
            }
        }
    }

    /// f64 has variants that take nothing else.
    #[test]
    fn a_variant_without_examples_takes_those_of_all_others() {
        let (unlimited, limited): (Vec<&Variant>, Vec<&Variant>) =
            VARIANTS.iter().partition(|variant| (variant.examples)().is_empty());
        for variant in unlimited {
            let others = limited.iter().filter(|other| other.planner.kind() == variant.planner.kind());
            let examples = others.flat_map(|other| (other.examples)());
            for problem in examples.flat_map(|example| [example.within, example.beyond]) {
                let is_taken = problem.src() == PixelType::F64 || !is_refused(&problem, variant);
                assert!(is_taken, "{}: {problem:?}", variant.name);
            }
        }
    }

    #[test]
    fn every_kernel_belongs_to_a_variant_and_every_variant_has_kernels() {
        let known = |family, name| VARIANTS.iter().filter(|v| (v.family, v.name) == (family, name)).count();
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let expected = usize::from(facts.family.has_variants());
            assert_eq!(known(facts.family, facts.variant), expected, "{}", facts.entry);
        }
        for variant in VARIANTS.iter() {
            let mut facts = Kernel::ALL.iter().map(|kernel| kernel.facts());
            let own = (variant.family, variant.kernels);
            assert!(facts.any(|facts| (facts.family, facts.variant) == own), "{variant:?}");
            let same = VARIANTS.iter().filter(|v| (v.operation, v.name) == (variant.operation, variant.name));
            assert_eq!(same.count(), 1, "{variant:?}");
            let same = VARIANTS
                .iter()
                .filter(|other| (other.planner.kind(), other.rank) == (variant.planner.kind(), variant.rank));
            assert_eq!(same.count(), 1, "of one rank: {variant:?}");
        }
    }
}
