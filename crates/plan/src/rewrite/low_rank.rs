//! Recipes of sums of separable correlations: the recipes of the terms, with additions between them.

use crate::kernels;
use crate::{Buffer, Launch, Recipe, Role, pointwise};
use apron_core::{LowRank, PixelType, Problem, Result, Shape};

/// Returns the recipe of a sum, from the recipes that `plan` gives for its terms.
pub(crate) fn summed(problem: &LowRank, plan: impl Fn(&Problem) -> Result<Recipe>) -> Result<Recipe> {
    let out = problem.window()?.out;
    let mut terms = problem.separables().map(|term| plan(&term.into()));
    let mut recipe = terms.next().expect("checked: there are terms")?;
    let additions = problem.terms.len() - 1;
    if additions == 0 {
        return Ok(recipe);
    }
    let first = recipe.buffers.clone();
    let output = first.iter().position(|buffer| buffer.role == Role::Output).expect("a recipe has an output");
    // Sums alternate between the output and a scratch buffer, such that the last is in the output.
    let (other, term) = (first.len(), first.len() + 1);
    recipe.buffers.extend([Buffer { role: Role::Scratch, ..first[output] }; 2]);
    let sums = |n: usize| if (additions - n).is_multiple_of(2) { output } else { other };
    moved(&mut recipe.launches, |buffer| if buffer == output { sums(0) } else { buffer });
    for (n, next) in terms.enumerate() {
        let Recipe { buffers, mut launches, .. } = next?;
        let places = buffers.into_iter().enumerate().map(|(n, buffer)| match buffer.role {
            Role::Output => term,
            // Terms share scratch buffers of equal size.
            _ if first.get(n) == Some(&buffer) => n,
            _ => {
                recipe.buffers.push(buffer);
                recipe.buffers.len() - 1
            }
        });
        let places: Vec<usize> = places.collect();
        moved(&mut launches, |buffer| places[buffer]);
        recipe.launches.append(&mut launches);
        recipe.launches.push(Launch { src: sums(n), dst: sums(n + 1), ..addition(out, term) });
    }
    recipe.why = format!("{} terms, each: {}", problem.terms.len(), recipe.why).into();
    Ok(recipe)
}

/// Renumbers the buffers of launches.
fn moved(launches: &mut [Launch], to: impl Fn(usize) -> usize) {
    for launch in launches {
        (launch.src, launch.dst) = (to(launch.src), to(launch.dst));
    }
}

/// Returns the launch that adds the term in buffer `term`.
fn addition(out: Shape, term: usize) -> Launch {
    let f32 = PixelType::F32.element();
    let kernel = kernels::find(pointwise::OPERATION, "weighted-f32", f32, f32);
    let kernel = kernel.expect("a kernel that adds f32");
    pointwise::launch(kernel, (out.samples(), out.channels), LowRank::addition(out).op, Some(term as u64))
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, untuned as plan};
    use apron_abi::Params;
    use apron_core::{Border, Error, Extent, LowRank, PixelType, Problem, Shape, Taps};

    fn sum(src: PixelType, terms: usize, taps: usize) -> Problem {
        let term = |n: usize| (Taps::new(vec![n as f32; taps]).unwrap(), Taps::new(vec![1.0; taps]).unwrap());
        let (shape, border, terms) =
            (Shape::new(40, 20, 3).unwrap(), Border::Replicate, (0..terms).map(term).collect());
        Problem::from(LowRank { shape, src, terms, border, extent: Extent::Same })
    }

    /// Returns the buffers that each launch reads, writes, and reads as a second input.
    fn ways(terms: usize) -> Vec<(usize, usize, Option<u64>)> {
        let recipe = plan(&sum(PixelType::F32, terms, 5), Some("conv1d-simple"), &Machine::EMULATED).unwrap();
        let roles: Vec<Role> = recipe.buffers.iter().map(|buffer| buffer.role).collect();
        let [input, between, output] = [Role::Input, Role::Scratch, Role::Output];
        assert_eq!(roles[..], [input, between, output, Role::Scratch, Role::Scratch][..roles.len()], "{terms}");
        let taps = recipe.launches.iter().map(|launch| launch.taps.first().copied().unwrap_or(-1.0));
        let rows: Vec<f32> =
            taps.zip(&recipe.launches).filter(|(_, launch)| launch.src == 0).map(|(tap, _)| tap).collect();
        assert_eq!(rows, (0..terms).map(|n| n as f32).collect::<Vec<_>>());
        let second = |params: &Params| if let Params::PointwiseParams(p) = params { Some(p.second) } else { None };
        recipe.launches.iter().map(|launch| (launch.src, launch.dst, second(&launch.params))).collect()
    }

    #[test]
    fn terms_are_added_in_order_and_the_last_sum_is_the_output() {
        // Terms after the first go to buffer 4; sums alternate between 2, the output, and 3.
        let term = [(0, 1, None), (1, 4, None)];
        assert_eq!(ways(1), [(0, 1, None), (1, 2, None)]);
        assert_eq!(ways(2), [&[(0, 1, None), (1, 3, None)][..], &term, &[(3, 2, Some(4))]].concat());
        let three = [&[(0, 1, None), (1, 2, None)][..], &term, &[(2, 3, Some(4))], &term, &[(3, 2, Some(4))]];
        assert_eq!(ways(3), three.concat());
    }

    #[test]
    fn samples_of_16_bits_become_f32_once() {
        let recipe = plan(&sum(PixelType::U16, 3, 5), Some("conv1d-simple"), &Machine::EMULATED).unwrap();
        assert_eq!(recipe.launches.len(), 1 + 3 * 2 + 2);
        assert_eq!(recipe.buffers.iter().filter(|buffer| buffer.role == Role::Input).count(), 1);
        assert!(recipe.why.starts_with("3 terms, each: asked for by name"), "{}", recipe.why);
    }

    #[test]
    fn the_limits_are_those_of_the_terms() {
        let refused = plan(&sum(PixelType::F32, 2, 33), Some("conv1d-tiled"), &Machine::EMULATED).unwrap_err();
        assert!(matches!(refused, Error::Unsupported { operation: "separable", .. }), "{refused}");
        let none = plan(&sum(PixelType::F32, 0, 5), None, &Machine::EMULATED).unwrap_err();
        assert!(matches!(none, Error::Parameter { parameter: "terms", .. }), "{none}");
    }
}
