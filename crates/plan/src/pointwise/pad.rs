//! Recipes of padding.

use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{Family, PAD_ROWS, PadParams, Params, SIMPLE_BLOCK};
use apron_core::{Pad, Result};

/// Plans one launch, four samples of one column per thread.
fn plan(problem: &Pad, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (shape, out, element) = (problem.shape, window.out, problem.pixel.element());
    let kernel = kernels::find(variant.name, "", element.bits(), element.bits());
    let ((border_x, constants_x), (border_y, constants_y)) = (problem.borders.x.mode(), problem.borders.y.mode());
    let bits = |constants: [f64; 4]| constants.map(|value| problem.pixel.bits(value));
    let params = PadParams {
        row_stride: shape.row_samples() as u32,
        width: shape.width,
        height: shape.height,
        out_width: out.width,
        out_height: out.height,
        channels: shape.channels,
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        border_x: border_x as u32,
        border_y: border_y as u32,
        constants_x: bits(constants_x),
        constants_y: bits(constants_y),
    };
    let buffers = vec![
        Buffer { role: Role::Input, element, elems: shape.samples() },
        Buffer { role: Role::Output, element, elems: out.samples() },
    ];
    let launch = Launch {
        kernel: kernel.expect("a kernel for each size of samples"),
        blocks: [(out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]), out.height.div_ceil(SIMPLE_BLOCK[1] * PAD_ROWS)],
        shared_bytes: 0,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::PadParams(params),
        taps: [].into(),
    };
    Ok((buffers, vec![launch]))
}

pub(crate) const VARIANTS: &[Variant] =
    &[Variant::new("pointwise-pad", Family::Pointwise, "all pixels, any region and borders", &For(plan))];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Recipe};
    use apron_abi::Kernel;
    use apron_core::{Border, Borders, Constants, PixelType, Problem, Region, Shape};

    fn planned(pixel: PixelType, borders: Borders) -> Result<Recipe> {
        let (shape, region) = (Shape::new(100, 30, 3).unwrap(), Region { x: -2, y: 1, width: 96, height: 33 });
        crate::plan(&Problem::from(Pad { shape, pixel, borders, region }), None, &Machine::EMULATED)
    }

    #[test]
    fn samples_are_moved_by_their_size() {
        let constants = Constants::new(&[-1.0, 2.0, -0.0]).unwrap();
        for (pixel, kernel, bytes, bits) in [
            (PixelType::I16, Kernel::pointwise_pad_u16_u16, 2, [0xffff, 2, 0]),
            (PixelType::F16, Kernel::pointwise_pad_u16_u16, 2, [0xbc00, 0x4000, 0x8000]),
            (PixelType::F32, Kernel::pointwise_pad_u32_u32, 4, [0xbf80_0000, 0x4000_0000, 0x8000_0000]),
        ] {
            let recipe = planned(pixel, Borders::by_axis(Border::Wrap, constants)).unwrap();
            let launch = &recipe.launches[0];
            assert_eq!((recipe.launches.len(), launch.kernel, launch.blocks), (1, kernel, [9, 2]));
            let sizes: Vec<u64> = recipe.buffers.iter().map(Buffer::size_bytes).collect();
            assert_eq!(sizes, [9000 * bytes, 96 * 33 * 3 * bytes]);
            let Params::PadParams(params) = launch.params else { panic!("{recipe:?}") };
            assert_eq!((params.origin_x, params.origin_y, params.constants_y[..3].to_vec()), (-2, 1, bits.to_vec()));
            assert_eq!((params.border_x, params.border_y), (4, 0));
            // Rows with a stride are read in place.
            assert!(recipe.with_row_stride(Shape::new(100, 30, 3).unwrap(), 304).is_some());
        }
        let recipe = planned(PixelType::U8, Border::Constant(255.0).into()).unwrap();
        let Params::PadParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        assert_eq!((recipe.launches[0].kernel, params.constants_x), (Kernel::pointwise_pad_u8_u8, [255; 4]));
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        assert!(planned(PixelType::U8, Border::Constant(0.5).into()).is_err());
        assert!(planned(PixelType::U8, Border::Crop.into()).is_err());
    }
}
