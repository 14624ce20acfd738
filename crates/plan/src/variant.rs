//! The implementations of each operation by kernels.

use crate::recipe::Steps;
use crate::{conv1d, conv2d, histogram, rgba};
use apron_abi::Family;
use apron_core::{ByteHistogram, Correlate, Problem, Result, Separable};

/// An implementation of an operation by kernels.
#[derive(Debug)]
pub struct Variant {
    /// The operation, as [`Problem::operation`] names it.
    pub operation: &'static str,
    /// Its name, as `--variant` takes it.
    pub name: &'static str,
    /// Its kernels' family; their variant in the kernel table is `name`.
    pub family: Family,
    /// What it takes, beside the types of its kernels.
    pub limits: &'static str,
    planner: Planner,
}

#[derive(Debug)]
enum Planner {
    Correlate(fn(&Correlate, &Variant) -> Result<Steps>),
    Separable(fn(&Separable, &Variant) -> Result<Steps>),
    Histogram(fn(&ByteHistogram) -> Result<Steps>),
}

impl Variant {
    /// The buffers and launches by which it solves `problem`.
    ///
    /// # Panics
    /// For a problem of another operation.
    pub(crate) fn steps(&self, problem: &Problem) -> Result<Steps> {
        match (&self.planner, problem) {
            (Planner::Correlate(planner), Problem::Correlate(problem)) => planner(problem, self),
            (Planner::Separable(planner), Problem::Separable(problem)) => planner(problem, self),
            (Planner::Histogram(planner), Problem::ByteHistogram(problem)) => planner(problem),
            _ => panic!("{} is no variant of {}", self.name, problem.operation()),
        }
    }
}

/// The variants of an operation, the preferred one first.
pub fn variants(operation: &str) -> impl Iterator<Item = &'static Variant> {
    VARIANTS.iter().filter(move |variant| variant.operation == operation)
}

/// Every variant, those of an operation with the preferred one first.
pub static VARIANTS: &[Variant] = &[
    Variant {
        operation: conv1d::OPERATION,
        name: "simple",
        family: Family::Conv1d,
        limits: "up to 4096 taps an axis",
        planner: Planner::Separable(conv1d::simple),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "tiled",
        family: Family::Conv1d,
        limits: "up to 32 taps an axis",
        planner: Planner::Separable(conv1d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "tiled",
        family: Family::Conv2d,
        limits: "masks up to 64x64",
        planner: Planner::Correlate(conv2d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "tiled-symbol",
        family: Family::Conv2d,
        limits: "masks up to 64x64",
        planner: Planner::Correlate(conv2d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "constant",
        family: Family::Conv2d,
        limits: "masks up to 4096 taps, rows counted in fours",
        planner: Planner::Correlate(conv2d::constant),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "naive",
        family: Family::Conv2d,
        limits: "any mask",
        planner: Planner::Correlate(conv2d::naive),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-naive",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-texture",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, border replicate or crop, up to 131072x65536 pixels",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-one-loader",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-cooperative",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "partials",
        family: Family::Histogram,
        limits: "256 bins, channels together or apart",
        planner: Planner::Histogram(histogram::partials),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use apron_abi::Kernel;

    #[test]
    fn every_kernel_belongs_to_a_variant_and_every_variant_has_kernels() {
        let known = |family, name| VARIANTS.iter().filter(|v| (v.family, v.name) == (family, name)).count();
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            assert_eq!(known(facts.family, facts.variant), 1, "{}", facts.entry);
        }
        for variant in VARIANTS {
            let mut facts = Kernel::ALL.iter().map(|kernel| kernel.facts());
            assert!(facts.any(|facts| (facts.family, facts.variant) == (variant.family, variant.name)), "{variant:?}");
            let same = VARIANTS.iter().filter(|v| (v.operation, v.name) == (variant.operation, variant.name));
            assert_eq!(same.count(), 1, "{variant:?}");
        }
    }
}
