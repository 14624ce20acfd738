//! Recipes of sums that are scaled before they are rounded to integers, by kernels of the family conv2d. Sums that f32
//! holds exactly take [faster ones](crate::rewrite::scale).

use crate::recipe::Steps;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, conv1d, conv2d, pointwise};
use apron_abi::{ElementType, Family, Kernel};
use apron_core::{Correlate, PointOp, Result, Scaled, Separable, Weights};

/// Element type of the sums.
const SUMS: ElementType = ElementType::F64;

/// Plans f64 sums by one launch or two, and a launch that scales and rounds them.
fn plan(problem: &Scaled, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let &Scaled { shape, src, dst, border, extent, .. } = problem;
    let find = |stage, from: ElementType, to: ElementType| {
        let missing = || variant.refused(format!("{src} to {dst} pixels"));
        Kernel::find(variant.name, stage, from, to).ok_or_else(missing)
    };
    let scratch = |elems| Buffer { role: Role::Scratch, element: SUMS, elems };
    let mut buffers = vec![Buffer { role: Role::Input, element: src.element(), elems: shape.samples() }];
    let mut launches = match problem.weights.clone() {
        Weights::Dense(mask) => {
            let dense = Correlate { shape, src, dst, mask, border, clamp: false, extent };
            let taps = dense.mask.taps().to_vec();
            vec![conv2d::launch(&dense, &window, find("sums", src.element(), SUMS)?, taps)]
        }
        Weights::Separable(taps_x, taps_y) => {
            let separable = Separable { shape, src, dst, taps_x, taps_y, border, extent };
            let kernels = [find("rows", src.element(), SUMS)?, find("columns", SUMS, SUMS)?];
            buffers.push(scratch(window.out.width as u64 * shape.height as u64 * shape.channels as u64));
            conv1d::passes(&separable, &window, kernels, conv1d::simple_blocks(&separable, &window)).into()
        }
    };
    let samples = window.out.samples();
    buffers.push(scratch(samples));
    buffers.push(Buffer { role: Role::Output, element: dst.element(), elems: samples });
    let op = PointOp::weighted(problem.factor, 0.0, problem.offset);
    let results = pointwise::launch(find("results", SUMS, dst.element())?, (samples, shape.channels), op, None);
    launches.push(Launch { src: buffers.len() - 2, dst: buffers.len() - 1, ..results });
    Ok((buffers, launches))
}

pub(crate) const VARIANTS: &[Variant] =
    &[Variant::new("conv2d-scaled", Family::Conv2d, "any mask, and any taps by axis", &For(plan))];

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, plan};
    use apron_abi::{Kernel, Params};
    use apron_core::{Border, Extent, PixelType, Problem, Scaled, Shape, Taps, Weights};

    fn planned(src: PixelType, dst: PixelType, weights: Weights) -> Recipe {
        let (shape, border, extent) = (Shape::new(40, 20, 3).unwrap(), Border::Crop, Extent::Same);
        let problem = Scaled { shape, src, dst, weights, factor: 0.25, offset: -3.0, border, extent };
        plan(&Problem::from(problem), Some("conv2d-scaled"), &Machine::EMULATED).unwrap()
    }

    /// Kernels, buffers read and written by each launch, and the buffers' roles and bytes.
    type Parts = (Vec<Kernel>, Vec<(usize, usize)>, Vec<(Role, u64)>);

    fn parts(recipe: &Recipe) -> Parts {
        let launches = &recipe.launches;
        (
            launches.iter().map(|launch| launch.kernel).collect(),
            launches.iter().map(|launch| (launch.src, launch.dst)).collect(),
            recipe.buffers.iter().map(|buffer| (buffer.role, buffer.size_bytes())).collect(),
        )
    }

    #[test]
    fn sums_of_a_mask_are_f64_until_they_are_scaled() {
        let mask = Weights::Dense("1 2 3 4; 5 6 7 8".parse().unwrap());
        let recipe = planned(PixelType::U8, PixelType::I16, mask);
        let (kernels, ways, buffers) = parts(&recipe);
        assert_eq!(kernels, [Kernel::conv2d_scaled_sums_u8_f64, Kernel::conv2d_scaled_results_f64_i16]);
        assert_eq!(ways, [(0, 1), (1, 2)]);
        let samples = 37 * 19 * 3;
        let expected = [(Role::Input, 2400), (Role::Scratch, 8 * samples), (Role::Output, 2 * samples)];
        assert_eq!(buffers, expected);
        assert_eq!(recipe.launches[0].taps[..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let Params::PointwiseParams(params) = recipe.launches[1].params else { panic!("{recipe:?}") };
        assert_eq!((params.a, params.c, params.two, params.samples), (0.25, -3.0, 0, samples));
    }

    #[test]
    fn taps_by_axis_have_two_launches_and_words_become_floats_first() {
        let taps = |count: usize| Taps::new(vec![1.0; count]).unwrap();
        let recipe = planned(PixelType::U16, PixelType::U8, Weights::Separable(taps(3), taps(5)));
        let (kernels, ways, buffers) = parts(&recipe);
        let expected = [
            Kernel::pointwise_widened_u16_f32,
            Kernel::conv2d_scaled_rows_f32_f64,
            Kernel::conv2d_scaled_columns_f64_f64,
            Kernel::conv2d_scaled_results_f64_u8,
        ];
        assert_eq!(kernels, expected);
        assert_eq!(ways, [(4, 0), (0, 1), (1, 2), (2, 3)]);
        let (between, samples) = (38 * 20 * 3, 38 * 16 * 3);
        let scratch = |bytes| (Role::Scratch, bytes);
        let expected =
            [scratch(9600), scratch(8 * between), scratch(8 * samples), (Role::Output, samples), (Role::Input, 4800)];
        assert_eq!(buffers, expected);
    }
}
