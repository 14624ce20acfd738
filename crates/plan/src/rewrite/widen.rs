//! Widening of 16-bit integers and floats: one more launch converts them to f32, exactly, before the kernels. A last
//! launch converts f32 results to f16.

use crate::kernels;
use crate::{Buffer, Launch, Recipe, Role, pointwise};
use apron_abi::ElementType;
use apron_core::{
    BoxFilter, Correlate, Fft, FilterProblem, LocalStd, LowRank, Paired, PixelType, PointOp, Pointwise, Problem,
    Scaled, Separable,
};

const F32: PixelType = PixelType::F32;

/// Returns whether samples of this type may be widened to f32.
fn is_wide(pixel: PixelType) -> bool {
    matches!(pixel, PixelType::U16 | PixelType::I16 | PixelType::F16)
}

/// Returns the same problem on f32 images, if it has 16-bit samples that its kernels do not take.
pub(crate) fn of_floats(problem: &Problem) -> Option<Problem> {
    let read = |pixel| if is_wide(pixel) { F32 } else { pixel };
    let written = |pixel| if pixel == PixelType::F16 { F32 } else { pixel };
    let Problem::Filter(filter) = problem else { return None };
    // Fourier transforms of several passes take only f32.
    if let FilterProblem::Fft(p) = filter
        && p.window().is_ok()
        && !crate::fft::takes_one_launch(p)
        && p.src != F32
    {
        return Some(FilterProblem::from(Fft { src: F32, ..p.clone() }).into());
    }
    let sources = [Some(filter.src()), filter.second()];
    if !sources.into_iter().flatten().any(is_wide) && filter.dst() != PixelType::F16 {
        return None;
    }
    let restated = match filter.clone() {
        FilterProblem::Correlate(p) => Correlate { src: read(p.src), dst: written(p.dst), ..p }.into(),
        FilterProblem::Separable(p) => Separable { src: read(p.src), dst: written(p.dst), ..p }.into(),
        // Its output type is an integer.
        FilterProblem::Scaled(p) => Scaled { src: read(p.src), ..p }.into(),
        FilterProblem::Fft(p) => Fft { src: read(p.src), ..p }.into(),
        FilterProblem::LowRank(p) => LowRank { src: read(p.src), ..p }.into(),
        // Integers are summed exactly by separate kernels.
        FilterProblem::Box(p) => {
            let src = if p.src == PixelType::F16 { F32 } else { p.src };
            BoxFilter { src, dst: written(p.dst), ..p }.into()
        }
        FilterProblem::LocalStd(p) => {
            let src = if p.sums_are_exact() { p.src } else { read(p.src) };
            LocalStd { src, dst: written(p.dst), ..p }.into()
        }
        FilterProblem::Paired(p) => Paired { src: read(p.src), dst: written(p.dst), ..p }.into(),
        // Alpha is copied unchanged, and casts are conversions themselves.
        FilterProblem::Pointwise(Pointwise {
            op: PointOp::Alpha | PointOp::Cast(_) | PointOp::Below { .. }, ..
        }) => {
            return None;
        }
        FilterProblem::Pointwise(p) if pointwise::widens(&p) || pointwise::is_of_f64(&p) => return None,
        FilterProblem::Pointwise(p) => {
            // For mixed types the kernels take f32 as the second.
            let (src, second, dst) = (read(p.src), p.second.map(read), written(p.dst));
            Pointwise { src, second, dst, ..p }.into()
        }
        _ => return None,
    };
    (restated != *problem).then_some(restated)
}

/// Returns the recipe for `problem`, from the recipe for f32 images, which solves `restated`.
pub(crate) fn widened(problem: &Problem, restated: &Problem, mut recipe: Recipe) -> Recipe {
    let (Problem::Filter(filter), Problem::Filter(floats)) = (problem, restated) else { return recipe };
    let mut launches = Vec::new();
    let inputs =
        [(Role::Input, Some(filter.src()), Some(floats.src())), (Role::Beside, filter.second(), floats.second())];
    for (role, pixel, read) in inputs {
        let Some(pixel) = pixel.filter(|pixel| Some(*pixel) != read) else { continue };
        let Some((floats, bits)) = exchange(&mut recipe.buffers, role, pixel) else { continue };
        launches.push(converting("widened", &recipe.buffers, bits, floats));
    }
    launches.append(&mut recipe.launches);
    if filter.dst() == PixelType::F16
        && let Some((floats, bits)) = exchange(&mut recipe.buffers, Role::Output, PixelType::F16)
    {
        launches.push(converting("narrowed", &recipe.buffers, floats, bits));
    }
    Recipe { launches, ..recipe }
}

/// Turns the buffer with a role into f32 scratch memory, and gives the role to a new buffer with the same number of
/// elements; returns the indices of both.
fn exchange(buffers: &mut Vec<Buffer>, role: Role, pixel: PixelType) -> Option<(usize, usize)> {
    let floats = buffers.iter().position(|buffer| buffer.role == role)?;
    buffers[floats].role = Role::Scratch;
    buffers.push(Buffer { role, element: pixel.element(), elems: buffers[floats].elems });
    Some((floats, buffers.len() - 1))
}

/// Returns the launch that converts buffer `src` to the element type of buffer `dst`.
fn converting(stage: &str, buffers: &[Buffer], src: usize, dst: usize) -> Launch {
    let (from, to) = (buffers[src].element, buffers[dst].element);
    // Bytes have no kernel that only converts.
    let stage = if from == ElementType::U8 { "weighted-f32" } else { stage };
    let kernel = kernels::find(pointwise::OPERATION, stage, from, to);
    let kernel = kernel.expect("a kernel for each type of 8 and 16 bits");
    Launch { src, dst, ..pointwise::launch(kernel, (buffers[src].elems, 1), PointOp::AS_IT_IS, None) }
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, plan};
    use apron_core::{
        Border, BoxFilter, Extent, LocalStd, PixelType, PointOp, Pointwise, Problem, Scale, Separable, Shape, Taps,
    };

    #[test]
    fn a_refusal_names_the_samples_that_were_given() {
        let taps = || Taps::new(vec![1.0 / 3.0; 3]).unwrap();
        let (shape, src, border, extent) = (Shape::new(20, 10, 1).unwrap(), PixelType::U16, Border::Wrap, Extent::Same);
        let problem = Separable { shape, src, dst: src, taps_x: taps(), taps_y: taps(), border, extent };
        let error = plan(&problem.into(), Some("words-tensor-axes"), &Machine::EMULATED).unwrap_err().to_string();
        assert!(error.contains("u16 to u16"), "{error}");
    }

    #[test]
    fn one_launch_more_makes_floats() {
        let shape = Shape::new(20, 10, 3).unwrap();
        let (src, dst, border, extent) = (PixelType::U16, PixelType::I16, Border::Constant(0.5), Extent::Same);
        // With a border constant of a half the sums are not exact.
        let problem = Problem::from(LocalStd { shape, src, dst, width: 3, height: 3, border, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        let roles: Vec<Role> = recipe.buffers.iter().map(|buffer| buffer.role).collect();
        assert_eq!(roles, [Role::Scratch, Role::Scratch, Role::Output, Role::Input]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(3, 0), (0, 1), (1, 2)]);
        assert_eq!((recipe.buffers[0].size_bytes(), recipe.buffers[3].size_bytes()), (2400, 1200));
        // Rows with a stride are packed first: the conversion reads contiguous samples.
        assert!(recipe.with_row_stride(shape, 64).is_none());
    }

    #[test]
    fn floats_of_16_bits_are_made_at_the_end() {
        let shape = Shape::new(20, 10, 3).unwrap();
        let (border, extent, f16) = (Border::Crop, Extent::Same, PixelType::F16);
        let recipe = |src, dst| {
            // Smaller windows of f32 take one launch.
            let problem = Problem::from(LocalStd { shape, src, dst, width: 17, height: 1, border, extent });
            plan(&problem, None, &Machine::EMULATED).unwrap()
        };
        let ways =
            |recipe: &Recipe| -> Vec<_> { recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect() };
        let both = recipe(f16, f16);
        assert_eq!(ways(&both), [(3, 0), (0, 1), (1, 2), (2, 4)]);
        let roles: Vec<_> = both.buffers.iter().map(|buffer| (buffer.role, buffer.size_bytes())).collect();
        let scratch = |bytes| (Role::Scratch, bytes);
        let expected =
            [scratch(2400), scratch(2 * 11 * 4 * 3 * 8), scratch(480), (Role::Input, 1200), (Role::Output, 240)];
        assert_eq!(roles, expected);
        assert_eq!(ways(&recipe(PixelType::U8, f16)), [(0, 1), (1, 2)]);
        assert_eq!(ways(&recipe(f16, PixelType::U8)), [(3, 0), (0, 1), (1, 2)]);
        // f16 converted to f32: a single launch.
        let op = PointOp::weighted(2.0, 0.0, 1.0);
        let alone = Problem::from(Pointwise { shape, src: f16, second: None, dst: PixelType::F32, op });
        assert_eq!(ways(&plan(&alone, None, &Machine::EMULATED).unwrap()), [(0, 1)]);
    }

    #[test]
    fn gray_i16_has_the_kernels_of_u16() {
        let taps = |count| Taps::new(vec![0.25; count]).unwrap();
        for (count, channels, variant, launches) in
            [(3, 1, "march-separable-f64", 1), (17, 1, "march-separable-f64", 1), (65, 1, "conv1d-blocked", 3)]
        {
            let (shape, src) = (Shape::new(4096, 4096, channels).unwrap(), PixelType::I16);
            let (taps_x, taps_y, border, extent) = (taps(count), taps(count), Border::Reflect, Extent::Same);
            let problem = Problem::from(Separable { shape, src, dst: src, taps_x, taps_y, border, extent });
            let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
            assert_eq!((recipe.variant, recipe.launches.len()), (variant, launches), "{count}");
        }
    }

    #[test]
    fn gray_f16_marches_where_there_is_a_kernel_for_it() {
        let taps = |count| Taps::new(vec![0.25; count]).unwrap();
        let planned = |count, width, channels, border, dst| {
            let (shape, src, extent) = (Shape::new(width, 512, channels).unwrap(), PixelType::F16, Extent::Same);
            let problem = Separable { shape, src, dst, taps_x: taps(count), taps_y: taps(count), border, extent };
            let recipe = plan(&Problem::from(problem), None, &Machine::EMULATED).unwrap();
            (recipe.variant, recipe.launches.len())
        };
        let (f16, wrap) = (PixelType::F16, Border::Wrap);
        for (count, width, launches) in [(3, 512, 1), (9, 511, 1), (17, 512, 1), (17, 511, 3), (19, 512, 3)] {
            assert_eq!(planned(count, width, 1, wrap, f16).1, launches, "{count} {width}");
        }
        assert_eq!(planned(3, 512, 1, wrap, f16).0, "march-separable");
        assert_eq!((planned(3, 512, 3, wrap, f16).1, planned(3, 512, 1, wrap, PixelType::F32).1), (3, 2));
        // The border's constant is of f32: 0.3 is no f16.
        let constant = |value| planned(3, 512, 1, Border::Constant(value), f16).1;
        assert_eq!([constant(0.25), constant(0.3), constant(65505.0)], [1, 3, 3]);
    }

    #[test]
    fn boxes_of_16_bits_are_of_integers_or_widened() {
        let (shape, border, extent, scale) = (Shape::new(20, 10, 1).unwrap(), Border::Wrap, Extent::Same, Scale::Mean);
        let planned = |src, dst| {
            let problem = BoxFilter { shape, src, dst, width: 3, height: 3, anchor: (1, 1), border, scale, extent };
            plan(&Problem::from(problem), None, &Machine::EMULATED)
        };
        let launches = |src, dst| planned(src, dst).unwrap().launches.len();
        assert_eq!((launches(PixelType::U16, PixelType::U16), launches(PixelType::I16, PixelType::F32)), (1, 1));
        assert_eq!((launches(PixelType::U16, PixelType::F16), launches(PixelType::F16, PixelType::F16)), (2, 3));
        assert!(planned(PixelType::F16, PixelType::U16).is_err());
    }

    #[test]
    fn both_images_of_a_pointwise_operation() {
        let (shape, op) = (Shape::new(20, 10, 1).unwrap(), PointOp::weighted(1.0, -1.0, 0.0));
        let of = |src, second| {
            let problem = Problem::from(Pointwise { shape, src, second, dst: PixelType::U16, op });
            plan(&problem, None, &Machine::EMULATED).unwrap()
        };
        assert_eq!(of(PixelType::I16, Some(PixelType::U16)).launches.len(), 3);
        assert_eq!(of(PixelType::I16, Some(PixelType::F32)).launches.len(), 2);
        let beside = of(PixelType::U8, Some(PixelType::U16));
        assert_eq!((beside.launches.len(), beside.launches[1].params_at(&[1, 2, 3, 4])), {
            let of_floats = of(PixelType::U8, Some(PixelType::F32));
            (2, of_floats.launches[0].params_at(&[1, 2, 3, 4]))
        });
    }
}
