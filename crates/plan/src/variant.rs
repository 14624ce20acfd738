//! The type of variants: implementations of operations by kernels. Each family lists its own.

use crate::Machine;
use crate::examples::Example;
use crate::machine::Tuning;
use crate::recipe::Steps;
use apron_abi::Family;
use apron_core::{Error, Kind, Problem, Result};
use std::any::TypeId;
use std::fmt;

/// An implementation of an operation by kernels.
#[derive(Debug)]
pub struct Variant {
    /// The operation, as [`Problem::operation`] names it.
    pub operation: &'static str,
    /// Its name, as `--variant` takes it.
    pub name: &'static str,
    /// The family of its kernels.
    pub family: Family,
    /// The variant of its kernels in the kernel table: `name`, except for variants that use the kernels of another.
    pub kernels: &'static str,
    /// The problems that it takes, in addition to the types of its kernels.
    pub limits: &'static str,
    /// Returns problems at its limits, which the suite solves; none for a variant that takes all problems of its kind.
    pub examples: fn() -> Vec<Example>,
    /// Order in which the variants of an operation are tried if nothing was measured.
    pub rank: u8,
    /// Whether the variant is chosen only if no other takes the problem: for programs of the source articles that were
    /// never the fastest in a sweep of all variants, and are timed no more. By name it runs like any other.
    pub by_name: bool,
    /// Whether a sweep times the variant, if other variants solve problems of its kind. False where the problem alone
    /// decides between them, or where the table's keys cannot describe the problem.
    pub(crate) swept: bool,
    /// The grids that a sweep tries.
    pub(crate) grids: Grids,
    /// The planner, typed by the problems that it solves.
    pub(crate) planner: &'static dyn Planner,
}

/// The grid parameters that a sweep tries, in all combinations: output rows per block, and resident blocks per
/// multiprocessor. Empty where the grid follows from the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grids {
    pub(crate) rows: &'static [u32],
    pub(crate) residents: &'static [u32],
}

impl Grids {
    const NONE: Grids = Grids { rows: &[], residents: &[] };

    /// Grids whose rows per block follow from the number of blocks.
    pub(crate) const fn of_residents(residents: &'static [u32]) -> Grids {
        Grids { rows: &[0], residents }
    }

    /// Returns whether the grid has no free parameters.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.residents.is_empty()
    }

    /// Returns all combinations.
    pub(crate) fn all(&self) -> impl Iterator<Item = Tuning> {
        let Grids { rows, residents } = *self;
        rows.iter().flat_map(move |&rows| residents.iter().map(move |&residents| Tuning { rows, residents }))
    }
}

/// Plans buffers and launches for problems of one kind.
pub(crate) trait Planner: fmt::Debug + Sync {
    /// Returns the type of the problems.
    fn kind(&self) -> TypeId;

    /// Plans the buffers and launches for a problem; `None` for a problem of another kind.
    fn steps(&self, problem: &Problem, variant: &Variant, machine: &Machine) -> Option<Result<Steps>>;
}

/// The planner for problems of one type.
pub(crate) struct For<P>(pub(crate) fn(&P, &Variant, &Machine) -> Result<Steps>);

impl<P: Kind> fmt::Debug for For<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<P>())
    }
}

impl<P: Kind> Planner for For<P> {
    fn kind(&self) -> TypeId {
        TypeId::of::<P>()
    }

    fn steps(&self, problem: &Problem, variant: &Variant, machine: &Machine) -> Option<Result<Steps>> {
        P::of(problem).map(|problem| self.0(problem, variant, machine))
    }
}

impl Variant {
    /// Returns a variant whose kernels have its name and whose grid follows from the problem; its rank is 0.
    pub(crate) const fn new<P: Kind>(
        name: &'static str,
        family: Family,
        limits: &'static str,
        planner: &'static For<P>,
    ) -> Variant {
        let (operation, kernels, grids, examples) = (P::OPERATION, name, Grids::NONE, Vec::new as fn() -> _);
        let (rank, by_name, swept) = (0, false, true);
        Variant { operation, name, family, kernels, limits, rank, by_name, swept, examples, grids, planner }
    }

    /// Sets the examples: problems at the variant's limits.
    pub(crate) const fn examples(self, examples: fn() -> Vec<Example>) -> Variant {
        Variant { examples, ..self }
    }

    /// Excludes the variant from the sweep.
    pub(crate) const fn unswept(self) -> Variant {
        Variant { swept: false, ..self }
    }

    /// Returns the error for a problem outside its limits.
    pub(crate) fn refused(&self, what: String) -> Error {
        unsupported(self.operation, format!("{what} in variant {}", self.name), "leave the variant to the plan")
    }
}

/// The device in error messages: recipes run on the GPU and in the emulator.
const DEVICE: &str = "gpu";

/// Returns the error for a problem outside a variant's limits.
pub(crate) fn unsupported(operation: &'static str, what: String, hint: &str) -> Error {
    Error::Unsupported { operation, device: DEVICE.into(), what, hint: hint.into() }
}
