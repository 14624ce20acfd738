//! The recipe of statistics of float samples.

use crate::kernels;
use crate::recipe::Steps;
use crate::recipe::launch;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Recipe, Role, unsupported};
use apron_abi::{
    ElementType, FOUND_NUMBERS, Family, Kernel, Params, SUMMED_PARTS, SUMMED_ROWS, StatisticsParams, TOTALS_BLOCK,
    TOTALS_BLOCKS, TOTALS_WORDS, TotalsParams,
};
use apron_core::{FloatStatistics, PixelType, Result, Shape};

const OPERATION: &str = "stats";

/// Plans row sums and the mean, then sums of squared deviations: only the final numbers leave the device.
fn row_sums(problem: &FloatStatistics, variant: &Variant, _: &Machine) -> Result<Steps> {
    let (shape, src, apart) = (problem.shape, problem.src, problem.channels());
    let of_rows = |stage| {
        let kernel = kernels::find(variant.kernels, stage, src.element(), ElementType::F64);
        kernel.ok_or_else(|| unsupported(OPERATION, format!("{src} pixels"), "integers are counted"))
    };
    let samples = shape.row_samples() as u32;
    let (count, height) = (problem.count() as f64, shape.height);
    let params = StatisticsParams { found: 2, count, height, samples, row_stride: samples, apart };
    let params = Params::StatisticsParams(params);
    let blocks = height.div_ceil(SUMMED_ROWS);
    let fold = |kernel| Launch { src: 1, dst: 2, ..launch(kernel, apart, params) };
    let launches = vec![
        launch(of_rows("rows")?, blocks, params),
        fold(Kernel::statistics_row_sums_means_f64_f64),
        launch(of_rows("row-squares")?, blocks, params),
        fold(Kernel::statistics_row_sums_squares_f64_f64),
    ];
    let numbers = |role, elems| Buffer { role, element: ElementType::F64, elems };
    let buffers = vec![
        Buffer { role: Role::Input, element: src.element(), elems: shape.samples() },
        numbers(Role::Scratch, (SUMMED_PARTS * apart) as u64 * height as u64),
        numbers(Role::Output, (FOUND_NUMBERS * apart) as u64),
    ];
    Ok((buffers, launches))
}

/// Returns the recipe of the exact sums of integers of 32 or 64 bits, of `apart` channels: the words of
/// [`IntegerTotals`](apron_abi::IntegerTotals) of each block, all blocks of a channel after the other.
/// `None` for other types.
pub fn integer_totals(shape: Shape, src: PixelType, apart: u32) -> Option<Recipe> {
    let kernel = match src {
        PixelType::U32 => Kernel::statistics_row_sums_totals_u32_u64,
        PixelType::I32 => Kernel::statistics_row_sums_totals_i32_u64,
        PixelType::U64 => Kernel::statistics_row_sums_totals_u64_u64,
        PixelType::I64 => Kernel::statistics_row_sums_totals_i64_u64,
        _ => return None,
    };
    let pixels = shape.samples() / apart as u64;
    let blocks = pixels.div_ceil(16 * TOTALS_BLOCK as u64).clamp(1, TOTALS_BLOCKS as u64) as u32;
    let params = Params::TotalsParams(TotalsParams { pixels, apart, blocks });
    let buffer = |role, element, elems| Buffer { role, element, elems };
    Some(Recipe {
        operation: OPERATION,
        variant: kernel.facts().variant,
        why: "integers of 32 and 64 bits are summed exactly".into(),
        buffers: vec![
            buffer(Role::Input, src.element(), shape.samples()),
            buffer(Role::Output, ElementType::U64, (apart * blocks * TOTALS_WORDS) as u64),
        ],
        launches: vec![Launch { blocks: [blocks, apart], ..launch(kernel, blocks, params) }],
        images: 1,
    })
}

pub(crate) const VARIANTS: &[Variant] = &[Variant::new(
    "statistics-row-sums",
    Family::Statistics,
    "f16, f32 and f64 in order; integers of 32 and 64 bits exactly",
    &For(row_sums),
)];

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, untuned as plan};
    use apron_abi::Params;
    use apron_core::{FloatStatistics, PixelType, Shape};

    #[test]
    fn only_four_numbers_a_channel_leave_the_device() {
        let (shape, src) = (Shape::new(100, 70, 3).unwrap(), PixelType::F16);
        let problem = FloatStatistics { shape, src, per_channel: true };
        let recipe = plan(&problem.into(), None, &Machine::EMULATED).unwrap();
        let buffers: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        assert_eq!(buffers, [(Role::Input, 21000), (Role::Scratch, 3 * 3 * 70), (Role::Output, 12)]);
        let ways: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst, launch.blocks[0])).collect();
        assert_eq!(ways, [(0, 1, 3), (1, 2, 3), (0, 1, 3), (1, 2, 3)]);
        let gaps = recipe.with_row_stride(shape, 304).unwrap();
        let Params::StatisticsParams(params) = gaps.launches[2].params_at(&[7, 77, 777]) else { panic!() };
        assert_eq!((params.found, params.count, params.samples, params.row_stride), (777, 7000.0, 300, 304));
    }
}
