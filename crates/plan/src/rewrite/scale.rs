//! Scaled sums that f32 holds exactly: any kernel of f32 results takes them, and one more launch
//! scales and rounds them.

use crate::rewrite::rounding;
use crate::{Buffer, Launch, Recipe, Role, kernels, pointwise};
use apron_core::{FilterProblem, PixelType, PointOp, Problem, Result, Scaled, Separable, Weights};

const F32: PixelType = PixelType::F32;

/// Returns the problem of the sums alone, in f32, if all sums are exact there: for bytes under taps of few bits, such
/// as means and Gaussians in fractions of 256.
pub(crate) fn exact_sums(problem: &Scaled) -> Option<Problem> {
    let (_, constant) = problem.border.mode();
    let is_byte = constant.fract() == 0.0 && (0.0..=255.0).contains(&constant);
    if problem.src != PixelType::U8 || !is_byte {
        return None;
    }
    let slack = match &problem.weights {
        Weights::Dense(mask) => rounding::dense_slack(mask.taps()),
        Weights::Separable(x, y) => rounding::separable_slack(x.taps(), y.taps()),
    };
    let sums: FilterProblem = match problem.sums() {
        FilterProblem::Separable(sums) => Separable { dst: F32, ..sums }.into(),
        FilterProblem::Correlate(sums) => apron_core::Correlate { dst: F32, ..sums }.into(),
        _ => return None,
    };
    (slack == 0.0).then(|| sums.into())
}

/// Returns the recipe for `problem`, from that of its sums in f32.
pub(crate) fn scaled(problem: &Scaled, mut recipe: Recipe) -> Result<Recipe> {
    let out = problem.window()?.out;
    let sums = recipe.buffers.iter().position(|buffer| buffer.role == Role::Output).expect("a recipe has an output");
    recipe.buffers[sums].role = Role::Scratch;
    let results = recipe.buffers.len();
    recipe.buffers.push(Buffer { role: Role::Output, element: problem.dst.element(), elems: out.samples() });
    let kernel = kernels::find(pointwise::OPERATION, "weighted-f32", F32.element(), problem.dst.element());
    let kernel = kernel.expect("a kernel that scales f32 to each type of integers");
    let op = PointOp::weighted(problem.factor, 0.0, problem.offset);
    let launch = pointwise::launch(kernel, (out.samples(), out.channels), op, None);
    recipe.launches.push(Launch { src: sums, dst: results, ..launch });
    recipe.why = format!("sums that f32 holds exactly: {}", recipe.why).into();
    Ok(recipe)
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, plan};
    use apron_abi::{Kernel, Params};
    use apron_core::{Border, Extent, Mask, PixelType, Problem, Scaled, Shape, Taps, Weights};

    fn planned(src: PixelType, border: Border, weights: Weights) -> Recipe {
        let (shape, extent) = (Shape::new(400, 200, 3).unwrap(), Extent::Same);
        let problem = Scaled { shape, src, dst: PixelType::U16, weights, factor: 0.5, offset: -3.0, border, extent };
        plan(&Problem::from(problem), None, &Machine::EMULATED).unwrap()
    }

    fn gaussian(most: f32) -> Weights {
        let taps = || Taps::new([most, 64.0, 96.0, 64.0, 16.0].map(|tap| tap / 256.0).to_vec()).unwrap();
        Weights::Separable(taps(), taps())
    }

    #[test]
    fn exact_sums_take_the_fast_kernels_and_one_launch_more() {
        let recipe = planned(PixelType::U8, Border::Replicate, gaussian(16.0));
        assert!(recipe.variant != "conv2d-scaled" && recipe.why.starts_with("sums that f32 holds exactly: "));
        let last = recipe.launches.last().unwrap();
        assert_eq!((last.kernel, last.dst), (Kernel::pointwise_weighted_f32_f32_u16, recipe.buffers.len() - 1));
        let Params::PointwiseParams(params) = last.params else { panic!("{recipe:?}") };
        assert_eq!((params.a, params.c, params.two), (0.5, -3.0, 0));
        let outputs = recipe.buffers.iter().filter(|buffer| buffer.role == Role::Output);
        assert_eq!(outputs.map(|buffer| buffer.size_bytes()).collect::<Vec<_>>(), [2 * 400 * 200 * 3]);
    }

    #[test]
    fn others_are_summed_in_f64() {
        let mask = |tap| Weights::Dense(Mask::new(2, 1, [tap, 1.0]).unwrap());
        for (src, border, weights) in [
            // One part more than f32 holds: (257 / 256)^2 * 255 in parts of 2^16.
            (PixelType::U8, Border::Replicate, gaussian(17.0)),
            (PixelType::U8, Border::Replicate, mask(0.1)),
            (PixelType::U8, Border::Constant(0.5), mask(2.0)),
            (PixelType::U8, Border::Constant(256.0), mask(2.0)),
            (PixelType::U16, Border::Replicate, mask(2.0)),
        ] {
            assert_eq!(planned(src, border, weights).variant, "conv2d-scaled");
        }
        assert_ne!(planned(PixelType::U8, Border::Constant(255.0), mask(2.0)).variant, "conv2d-scaled");
    }
}
