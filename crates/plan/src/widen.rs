//! Integers of 16 bits: filtered as the f32 that they are exactly, which one more launch makes of them.

use crate::{Buffer, Launch, Recipe, Role, pointwise};
use apron_abi::{ElementType, Family, Kernel};
use apron_core::{Correlate, LocalStd, PixelType, PointOp, Pointwise, Problem, Separable};

const F32: PixelType = PixelType::F32;

/// The same problem for images of f32, where one is of integers of 16 bits that its kernels do not take.
pub(crate) fn of_floats(problem: &Problem) -> Option<Problem> {
    let is_wide = |pixel| matches!(pixel, PixelType::U16 | PixelType::I16);
    let float = |pixel| if is_wide(pixel) { F32 } else { pixel };
    Some(match problem {
        Problem::Correlate(p) if is_wide(p.src) => Problem::Correlate(Correlate { src: F32, ..p.clone() }),
        Problem::Separable(p) if is_wide(p.src) => Problem::Separable(Separable { src: F32, ..p.clone() }),
        Problem::LocalStd(p) if is_wide(p.src) => Problem::LocalStd(LocalStd { src: F32, ..p.clone() }),
        Problem::Pointwise(p) if is_wide(p.src) || p.second.is_some_and(is_wide) => {
            // Kernels of two types have the one of f32 behind.
            let second = p.second.map(float);
            Problem::Pointwise(Pointwise { src: float(p.src), second, ..p.clone() })
        }
        _ => return None,
    })
}

/// The recipe for `problem`, from the one for images of f32.
pub(crate) fn widened(problem: &Problem, mut recipe: Recipe) -> Recipe {
    let second = if let Problem::Pointwise(p) = problem { p.second } else { None };
    let src = problem.filtered().map(|(_, pixel)| pixel);
    let mut launches = Vec::new();
    for (role, pixel) in [(Role::Input, src), (Role::Beside, second)] {
        let Some(pixel) = pixel.filter(|pixel| matches!(pixel, PixelType::U16 | PixelType::I16)) else { continue };
        let Some(floats) = recipe.buffers.iter().position(|buffer| buffer.role == role) else { continue };
        let elems = recipe.buffers[floats].elems;
        recipe.buffers[floats].role = Role::Scratch;
        recipe.buffers.push(Buffer { role, element: pixel.element(), elems });
        let kernel = Kernel::find(Family::Pointwise, "pointwise", "widened", pixel.element(), ElementType::F32);
        let kernel = kernel.expect("a kernel for each integer of 16 bits");
        let src = recipe.buffers.len() - 1;
        let launch = pointwise::launch(kernel, elems, PointOp::weighted(1.0, 0.0, 0.0), None);
        launches.push(Launch { src, dst: floats, ..launch });
    }
    launches.append(&mut recipe.launches);
    Recipe { launches, ..recipe }
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, plan};
    use apron_core::{Border, Extent, LocalStd, PixelType, PointOp, Pointwise, Problem, Shape};

    #[test]
    fn one_launch_more_makes_floats() {
        let shape = Shape::new(20, 10, 3).unwrap();
        let (src, dst, border, extent) = (PixelType::U16, PixelType::I16, Border::Wrap, Extent::Same);
        let problem = Problem::LocalStd(LocalStd { shape, src, dst, width: 3, height: 3, border, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        let roles: Vec<Role> = recipe.buffers.iter().map(|buffer| buffer.role).collect();
        assert_eq!(roles, [Role::Scratch, Role::Scratch, Role::Output, Role::Input]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
        assert_eq!(ways, [(3, 0), (0, 1), (1, 2)]);
        assert_eq!((recipe.buffers[0].size_bytes(), recipe.buffers[3].size_bytes()), (2400, 1200));
        // Rows with gaps are packed first: the first launch knows no rows.
        assert!(recipe.with_row_stride(shape, 64).is_none());
    }

    #[test]
    fn both_images_of_a_pointwise_operation() {
        let (shape, op) = (Shape::new(20, 10, 1).unwrap(), PointOp::weighted(1.0, -1.0, 0.0));
        let of = |src, second| {
            let problem = Problem::Pointwise(Pointwise { shape, src, second, dst: PixelType::U16, op });
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
