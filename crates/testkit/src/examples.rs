//! Cases at the limits of variants, from the examples in their entries.

use crate::case::{Case, Data, random_image};
use crate::suite::borders;
use apron::Border;
use apron_core::{FilterProblem, Problem};
use apron_plan::{Machine, VARIANTS, Variant};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Cases of each variant in the suite, at least.
const CASES: usize = 20;

/// Most products of an example in the suite, for the emulator.
const PRODUCTS: u64 = 1 << 21;

impl Case {
    /// Makes a case of a filter of random samples; `None` for problems that are no filters.
    pub(crate) fn of(seed: u64, problem: &Problem) -> Option<Case> {
        let Problem::Filter(filter) = problem else { return None };
        let rng = &mut StdRng::seed_from_u64(seed);
        let image = random_image(rng, filter.src(), filter.shape(), Data::Uniform);
        let second = filter.second().map(|pixel| random_image(rng, pixel, filter.shape(), Data::Uniform));
        Some(Case { problem: problem.clone(), image, second, chosen: None })
    }

    /// Sets the border of a filter whose weights are random or a mean; other problems stay unchanged.
    fn beside(mut self, border: Border) -> Case {
        match self.filter_mut() {
            Some(FilterProblem::Correlate(problem)) => problem.border = border,
            Some(FilterProblem::Separable(problem)) => problem.border = border,
            Some(FilterProblem::Box(problem)) => problem.border = border,
            Some(FilterProblem::LocalStd(problem)) => problem.border = border,
            Some(FilterProblem::Paired(problem)) => problem.border = border,
            _ => {}
        }
        self
    }
}

/// Makes a case of each of a variant's examples that are filters, except those that would take the emulator seconds.
pub fn examples(variant: &Variant, seed: u64) -> impl Iterator<Item = Case> {
    let cases = (variant.examples)().into_iter().zip(seed..);
    let cases = cases.filter_map(|(example, seed)| Case::of(seed, &example.within));
    cases.filter(|case| case.products() <= PRODUCTS)
}

fn is_taken(variant: &Variant, case: &Case) -> bool {
    apron_plan::plan(&case.problem, Some(variant.name), &Machine::EMULATED).is_ok()
}

/// Adds the examples of all variants and, for variants that take few of the cases, more examples with other borders and
/// random taps.
pub(crate) fn limits(cases: &mut Vec<Case>, mut next: impl FnMut() -> u64) {
    for variant in VARIANTS.iter() {
        let examples: Vec<Case> = examples(variant, next()).collect();
        let of_operation = cases.iter().filter(|case| case.problem.operation() == variant.operation);
        let taken = of_operation.filter(|case| is_taken(variant, case)).take(CASES).count() + examples.len();
        let mut borders = borders().into_iter().cycle();
        for example in examples.iter().cycle().take(CASES.saturating_sub(taken)) {
            let seed = next();
            let rng = &mut StdRng::seed_from_u64(seed);
            let Some(stated) = Case::of(seed, &example.problem) else { continue };
            let of_border = borders.next().map_or(stated.clone(), |border| stated.clone().beside(border));
            let of_taps = of_border.clone().each_tap(|_, _| rng.random_range(-1.0..1.0));
            cases.extend([of_taps, of_border, stated].into_iter().find(|case| is_taken(variant, case)));
        }
        cases.extend(examples);
    }
}
