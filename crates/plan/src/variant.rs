//! The type of an implementation of an operation by kernels. Each family lists its own.

use crate::Machine;
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
    /// Its kernels' family.
    pub family: Family,
    /// Their variant in the kernel table: `name`, but for variants that use the kernels of another.
    pub kernels: &'static str,
    /// What it takes, beside the types of its kernels.
    pub limits: &'static str,
    /// Where nothing was measured, variants of an operation are tried in the order of their ranks.
    pub rank: u8,
    /// Whether the plan takes another variant, if one takes the problem: so it is with programs of the source articles
    /// that were never the fastest. Asked for by name it runs as any other.
    pub by_name: bool,
    /// What a sweep tries for its grid.
    pub(crate) grids: Grids,
    /// Typed by the problems that it solves.
    pub(crate) planner: &'static dyn Planner,
}

/// The numbers that a variant's grid leaves open, to be tried each with each: output rows per block, and blocks per
/// multiprocessor. Nothing where the grid follows from the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grids {
    pub(crate) rows: &'static [u32],
    pub(crate) residents: &'static [u32],
}

impl Grids {
    const NONE: Grids = Grids { rows: &[], residents: &[] };

    /// Of grids whose rows follow from the number of blocks.
    pub(crate) const fn of_residents(residents: &'static [u32]) -> Grids {
        Grids { rows: &[0], residents }
    }

    /// Whether nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.residents.is_empty()
    }

    /// All pairs.
    pub(crate) fn all(&self) -> impl Iterator<Item = Tuning> {
        let Grids { rows, residents } = *self;
        rows.iter().flat_map(move |&rows| residents.iter().map(move |&residents| Tuning { rows, residents }))
    }
}

/// Makes recipes' buffers and launches of problems of one kind.
pub(crate) trait Planner: fmt::Debug + Sync {
    /// The kind of problems.
    fn kind(&self) -> TypeId;

    /// The buffers and launches for a problem; `None` for one of another kind.
    fn steps(&self, problem: &Problem, variant: &Variant, machine: &Machine) -> Option<Result<Steps>>;
}

/// The planner for problems of a kind.
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
    /// A variant whose kernels have its name, and whose grid follows from the problem; the first of its operation.
    pub(crate) const fn new<P: Kind>(
        name: &'static str,
        family: Family,
        limits: &'static str,
        planner: &'static For<P>,
    ) -> Variant {
        let (operation, kernels, grids) = (P::OPERATION, name, Grids::NONE);
        Variant { operation, name, family, kernels, limits, rank: 0, by_name: false, grids, planner }
    }

    /// The error for a problem beyond its limits.
    pub(crate) fn refused(&self, what: String) -> Error {
        unsupported(self.operation, format!("{what} in variant {}", self.name), "leave the variant to the plan")
    }
}

/// The device that errors name: recipes run on the GPU and in the emulator.
const DEVICE: &str = "gpu";

/// A problem beyond a variant's limits.
pub(crate) fn unsupported(operation: &'static str, what: String, hint: &str) -> Error {
    Error::Unsupported { operation, device: DEVICE.into(), what, hint: hint.into() }
}
