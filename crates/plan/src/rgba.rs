//! Recipes of dense correlation with 3x3 masks over RGBA images.

use crate::conv2d::{OPERATION, params};
use crate::examples::{correlate, limit};
use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{ElementType, Family, MAX_TEXTURE, Params, RGBA_BLOCK, RGBA_MASK, SourceSpace};
use apron_core::{Border, Correlate, PixelType};

const HINT: &str = "leave the variant to the plan";

/// Plans P10, P11 and P12: one launch, 8x4 pixels per block.
fn plan(problem: &Correlate, variant: &Variant, _: &Machine) -> apron_core::Result<Steps> {
    let window = problem.window()?;
    let (shape, mask) = (problem.shape, &problem.mask);
    let refuse = |what: String| unsupported(OPERATION, format!("{what} in variant {}", variant.name), HINT);
    if shape.channels != 4 {
        return Err(refuse(format!("images of {} channels (4 are needed)", shape.channels)));
    }
    if (mask.width(), mask.height()) != (RGBA_MASK, RGBA_MASK) {
        return Err(refuse(format!("{}x{} masks (3x3 are needed)", mask.width(), mask.height())));
    }
    if problem.clamp {
        return Err(refuse("clamped sums".into()));
    }
    let types = (problem.src.element(), problem.dst.element());
    let kernel = kernels::find(variant.name, "", types.0, types.1)
        .ok_or_else(|| refuse(format!("{} to {} pixels", problem.src, problem.dst)))?;
    let facts = kernel.facts();
    let textured = facts.source == SourceSpace::Texture;
    match problem.border {
        border if textured && !matches!(border, Border::Replicate | Border::Crop) => {
            return Err(refuse(format!("border {border} (replicate or crop is needed)")));
        }
        Border::Constant(value) if !is_byte(value as f32) => {
            return Err(refuse(format!("a border of {value} (a whole number from 0 to 255 is needed)")));
        }
        _ => {}
    }
    if textured && (shape.width > MAX_TEXTURE[0] || shape.height > MAX_TEXTURE[1]) {
        let [width, height] = MAX_TEXTURE;
        return Err(refuse(format!("images of {}x{} ({width}x{height} at most)", shape.width, shape.height)));
    }

    let mut buffers = vec![Buffer { role: Role::Input, element: ElementType::U8, elems: shape.samples() }];
    if textured {
        let role = Role::Texture { width: shape.width, height: shape.height };
        buffers.push(Buffer { role, element: ElementType::U8, elems: shape.samples() });
    }
    let src = buffers.len() - 1;
    buffers.push(Buffer { role: Role::Output, element: ElementType::U8, elems: window.out.samples() });
    let launch = Launch {
        kernel,
        blocks: [window.out.width.div_ceil(RGBA_BLOCK[0]), window.out.height.div_ceil(RGBA_BLOCK[1])],
        shared_bytes: facts.shared.bytes(RGBA_MASK, RGBA_MASK),
        reserved_bytes: 0,
        src,
        dst: src + 1,
        params: Params::Conv2dParams(params(problem, &window)),
        taps: mask.taps().into(),
    };
    Ok((buffers, vec![launch]))
}

/// Returns whether the border constant is representable as a byte.
fn is_byte(value: f32) -> bool {
    value.fract() == 0.0 && (0.0..=255.0).contains(&value)
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 100,
        by_name: true,
        ..Variant::new(
            "rgba-naive",
            Family::Rgba,
            "4 channels, 3x3 masks, a constant border of 0 to 255; by name, if another takes it",
            &For(plan),
        )
        .examples(|| vec![limit(correlate(4, PixelType::U8, (3, 3)), correlate(3, PixelType::U8, (3, 3)))])
    },
    Variant {
        rank: 101,
        by_name: true,
        ..Variant::new(
            "rgba-texture",
            Family::Rgba,
            "4 channels, 3x3 masks, replicate or crop, up to 131072x65536 pixels; by name, if another takes it",
            &For(plan),
        )
        .examples(|| vec![limit(correlate(4, PixelType::U8, (3, 3)), correlate(3, PixelType::U8, (3, 3)))])
    },
    Variant {
        rank: 102,
        by_name: true,
        ..Variant::new(
            "rgba-one-loader",
            Family::Rgba,
            "4 channels, 3x3 masks, a constant border of 0 to 255; by name, if another takes it",
            &For(plan),
        )
        .examples(|| vec![limit(correlate(4, PixelType::U8, (3, 3)), correlate(3, PixelType::U8, (3, 3)))])
    },
    Variant {
        rank: 103,
        ..Variant::new(
            "rgba-cooperative",
            Family::Rgba,
            "4 channels, 3x3 masks, a constant border of 0 to 255",
            &For(plan),
        )
        .examples(|| vec![limit(correlate(4, PixelType::U8, (3, 3)), correlate(3, PixelType::U8, (3, 3)))])
    },
];

#[cfg(test)]
mod tests {
    use crate::Machine;
    use crate::{Role, plan};
    use apron_abi::SourceSpace;
    use apron_core::{Border, Correlate, Error, Extent, Mask, PixelType, Problem, Shape};

    fn problem() -> Correlate {
        Correlate {
            shape: Shape::new(17, 9, 4).unwrap(),
            src: PixelType::U8,
            dst: PixelType::U8,
            mask: Mask::new(3, 3, [1.0; 9]).unwrap().normalized().unwrap(),
            border: Border::Replicate,
            clamp: false,
            extent: Extent::Same,
        }
    }

    #[test]
    fn blocks_of_8x4_cover_the_output() {
        for (variant, shared) in [("rgba-naive", 0), ("rgba-one-loader", 240), ("rgba-cooperative", 240)] {
            let recipe = plan(&problem().into(), Some(variant), &Machine::EMULATED).unwrap();
            let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
            assert_eq!((launch.blocks, launch.shared_bytes), ([3, 3], shared), "{variant}");
            assert_eq!((launch.src, launch.dst, recipe.buffers.len()), (0, 1, 2));
        }
    }

    #[test]
    fn the_texture_is_a_copy_of_the_input() {
        let recipe = plan(&problem().into(), Some("rgba-texture"), &Machine::EMULATED).unwrap();
        assert_eq!(recipe.buffers[1].role, Role::Texture { width: 17, height: 9 });
        assert_eq!((recipe.launches[0].src, recipe.launches[0].dst), (1, 2));
        assert_eq!(recipe.launches[0].kernel.facts().source, SourceSpace::Texture);
    }

    #[test]
    fn a_constant_border_may_be_any_byte() {
        for value in [0.0, 1.0, 255.0] {
            let problem = Correlate { border: Border::Constant(value), ..problem() };
            assert!(plan(&Problem::from(problem), Some("rgba-cooperative"), &Machine::EMULATED).is_ok(), "{value}");
        }
    }

    #[test]
    fn what_the_kernels_cannot_do_is_refused_with_the_limit() {
        let odd = |shape: (u32, u32, u32)| Shape::new(shape.0, shape.1, shape.2).unwrap();
        let refused = [
            ("rgba-naive", Correlate { shape: odd((8, 8, 3)), ..problem() }, "3 channels"),
            ("rgba-naive", Correlate { mask: Mask::new(3, 1, [1.0; 3]).unwrap(), ..problem() }, "3x1"),
            ("rgba-naive", Correlate { dst: PixelType::F32, ..problem() }, "u8 to f32"),
            ("rgba-naive", Correlate { dst: PixelType::F32, clamp: true, ..problem() }, "clamped"),
            ("rgba-cooperative", Correlate { border: Border::Constant(0.5), ..problem() }, "0.5"),
            ("rgba-one-loader", Correlate { border: Border::Constant(256.0), ..problem() }, "256"),
            ("rgba-texture", Correlate { border: Border::Wrap, ..problem() }, "wrap"),
            ("rgba-texture", Correlate { shape: odd((3, 65537, 4)), ..problem() }, "65536"),
        ];
        for (variant, problem, part) in refused {
            let error = plan(&Problem::from(problem), Some(variant), &Machine::EMULATED).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(part) && text.contains(variant), "{text}");
        }
    }
}
