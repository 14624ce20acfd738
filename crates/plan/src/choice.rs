//! Selection of a variant: the fastest measured one that takes the problem.

use crate::rewrite::widen;
use crate::tuning::{Ranked, Row, Table, Time, Work};
use crate::{Machine, Recipe, recipe, unsupported};
use apron_core::{Error, PixelType, Problem, Result};

/// Plans with the first variant, in the order of their measured times, that takes the problem.
pub(crate) fn by_table(table: &Table, problem: &Problem, machine: &Machine) -> Result<Recipe> {
    let work = Work::of(problem);
    let ranking = table.ranking(&work, machine);
    // f16 is ranked by the times of f32, which include no conversions: all variants that read f16 themselves come
    // first.
    let of_f16 = [work.src, work.dst].contains(&PixelType::F16);
    let (mut refusal, mut faster) = (None, 0);
    for &Ranked { variant, ref measured, tuning } in ranking.iter() {
        let planned = match recipe(problem, variant, tuning, machine) {
            // The time was measured with widening and the f32 kernels.
            Some(Err(refused @ Error::Unsupported { .. })) if measured.is_some() && !of_f16 => {
                match widen::of_floats(problem) {
                    Some(floats) => recipe(&floats, variant, tuning, machine)
                        .map(|recipe| recipe.map(|recipe| widen::widened(problem, &floats, recipe))),
                    None => Some(Err(refused)),
                }
            }
            planned => planned,
        };
        let Some(planned) = planned else { continue };
        match planned {
            Ok(recipe) => {
                let measured = measured.as_ref().map(|measured| (table.row_of(measured), &measured.time));
                return Ok(Recipe { why: why(&work, measured, faster).into(), ..recipe });
            }
            // If no variant takes the problem, the error of the best one is reported.
            Err(error @ Error::Unsupported { .. }) => refusal = refusal.or(Some(error)),
            Err(error) => return Err(error),
        }
        faster += usize::from(measured.is_some());
    }
    let operation = problem.operation();
    Err(refusal.unwrap_or_else(|| unsupported(operation, "kernels for it".into(), "use --device cpu")))
}

/// Explains in words why a variant was chosen; `faster` counts the faster ones that refused the problem.
fn why(asked: &Work, measured: Option<(&Row, &Time)>, faster: usize) -> String {
    let Some((row, time)) = measured else {
        return "the first in order that takes it: not measured for such problems".into();
    };
    let (work, ms, gpu) = (row.work, time.ms, &row.gpu);
    let nearest = if work == *asked { "" } else { "the nearest workload, " };
    if row.times.iter().filter(|other| other.ms < ms).count() > faster {
        return format!(
            "fastest by estimate, from {work}, which the nearest workload's row does not have: {ms:.4} ms on {gpu}"
        );
    }
    let but = if faster > 0 { format!(" ({faster} faster: refused)") } else { String::new() };
    format!("measured fastest of {}{but} for {nearest}{work}: {ms:.4} ms on {gpu}", row.times.len())
}

#[cfg(test)]
mod tests {
    use crate::plan_from;
    use crate::tuning::{TABLE, Table};
    use crate::{Machine, Recipe, VARIANTS};
    use apron_abi::{Kernel, KernelFacts, Params};
    use apron_core::{
        Bins, Border, ByteHistogram, Correlate, EdgeHistogram, Extent, Mask, PixelType, Problem, Separable,
    };
    use apron_core::{Shape, Taps};

    /// Invented times of the dense variants: tiles win on small images, marching on large ones.
    const TIMES: &str = "\
gpu,target,multiprocessors,operation,src,dst,sums,channels,side,width,height,times
Some GPU,90,132,correlate,f32,f32,any,yes,1,5,256,256,conv2d-tiled=0.002;march-dense=0.003@16x4;conv2d-blocked=0.005;conv2d-naive=0.009
Some GPU,90,132,correlate,f32,f32,any,yes,1,5,8192,8192,march-dense=0.2@249x5;conv2d-blocked=0.5;conv2d-tiled=0.9;conv2d-naive=2
Some GPU,90,132,correlate,f32,f32,any,yes,1,9,8192,8192,conv2d-blocked=0.6;march-dense=0.7@64x3;conv2d-tiled=0.9
Some GPU,90,132,correlate,u8,u8,any,yes,1,5,8192,8192,conv2d-tiled=0.5;conv2d-constant=0.6
";

    fn dense(src: PixelType, image: (u32, u32), mask: (u32, u32)) -> Correlate {
        Correlate {
            shape: Shape::new(image.0, image.1, 1).unwrap(),
            src,
            dst: src,
            mask: Mask::new(mask.0, mask.1, vec![1.0; (mask.0 * mask.1) as usize]).unwrap(),
            border: Border::Replicate,
            clamp: false,
            extent: Extent::Same,
        }
    }

    fn correlate(src: PixelType, image: (u32, u32), mask: (u32, u32)) -> Problem {
        dense(src, image, mask).into()
    }

    fn planned(problem: &Problem, machine: &Machine) -> Recipe {
        plan_from(&Table::parse(TIMES), problem, None, machine).unwrap()
    }

    fn chosen(src: PixelType, image: (u32, u32), mask: (u32, u32)) -> (&'static str, String) {
        let recipe = planned(&correlate(src, image, mask), &Machine::EMULATED);
        (recipe.variant, recipe.why.into())
    }

    #[test]
    fn the_fastest_is_chosen_and_the_words_say_by_what() {
        use PixelType::F32;
        let (variant, why) = chosen(F32, (8192, 8192), (5, 5));
        assert_eq!(variant, "march-dense");
        assert_eq!(why, "measured fastest of 4 for correlate f32 8192x8192 mask 5x5: 0.2000 ms on Some GPU");
        let (variant, why) = chosen(F32, (256, 256), (5, 5));
        assert_eq!(variant, "conv2d-tiled");
        assert!(why.ends_with("of 4 for correlate f32 256x256 mask 5x5: 0.0020 ms on Some GPU"), "{why}");
    }

    #[test]
    fn what_was_not_measured_goes_by_the_nearest() {
        use PixelType::{F32, U8};
        // Between two measured sizes the geometric mean decides: 1448 x 1448.
        assert_eq!(chosen(F32, (1440, 1440), (5, 5)).0, "conv2d-tiled");
        let (variant, why) = chosen(F32, (1456, 1456), (5, 5));
        assert_eq!(variant, "march-dense");
        assert!(why.contains("of 4 for the nearest workload, correlate f32 8192x8192 mask 5x5"), "{why}");
        // 7 is nearer to 9 than to 5, by ratio; 6 is not. The side of a mask is the square root of its number of taps.
        assert_eq!(chosen(F32, (8192, 8192), (7, 7)).0, "conv2d-blocked");
        assert_eq!(chosen(F32, (8192, 8192), (5, 7)).1.matches("mask 5x5").count(), 1);
        assert_eq!(chosen(F32, (8192, 8192), (3, 27)).1.matches("mask 9x9").count(), 1);
        // Sizes are compared per multiprocessor: the same image is larger for a smaller GPU.
        let problem = correlate(F32, (1440, 1440), (5, 5));
        assert_eq!(planned(&problem, &Machine { multiprocessors: 66, ..Machine::EMULATED }).variant, "march-dense");
        // Rows of other types are never used.
        assert_eq!(chosen(U8, (256, 256), (5, 5)).0, "march-dense");
    }

    #[test]
    fn lines_go_by_rows_of_lines_in_the_same_direction() {
        let table = Table::parse(&format!(
            "{}Some GPU,90,132,correlate,u8,u8,any,yes,1,3,8192,8192,conv2d-tiled=0.5;words-tensor=0.6\n\
             Some GPU,90,132,correlate,u8,u8,any,yes,1,9x1,8192,8192,words-tensor=0.1;words-line=0.2\n\
             Some GPU,90,132,correlate,u8,u8,any,yes,1,1x9,8192,8192,words-line=0.1;words-tensor=0.3\n",
            TIMES.split_inclusive('\n').next().unwrap()
        ));
        let chosen = |mask| {
            let problem = correlate(PixelType::U8, (8192, 8192), mask);
            plan_from(&table, &problem, None, &Machine::EMULATED).unwrap()
        };
        assert_eq!(
            [(9, 1), (17, 1), (1, 9), (1, 5)].map(|mask| chosen(mask).variant),
            ["words-tensor", "words-tensor", "words-line", "words-line"]
        );
        assert!(chosen((9, 1)).why.contains("correlate u8 8192x8192 mask 9x1:"), "{}", chosen((9, 1)).why);
        // No row of lines gives a time for a square.
        assert!(!chosen((3, 3)).why.contains("x1"), "{}", chosen((3, 3)).why);
    }

    #[test]
    fn a_variant_that_the_nearest_row_lacks_goes_by_its_own_nearest_row() {
        // 9x9 is the nearest row; conv2d-tiled has a time for 5x5 only: 9/5 of it is 0.54 ms.
        let rows = |naive: f64| {
            Table::parse(&format!(
                "{}Some GPU,90,132,correlate,f32,f32,any,yes,1,5,256,256,conv2d-tiled=0.3;conv2d-naive=0.4\n\
                 Some GPU,90,132,correlate,f32,f32,any,yes,1,9,256,256,conv2d-naive={naive};conv2d-blocked=9\n",
                TIMES.split_inclusive('\n').next().unwrap()
            ))
        };
        let problem = correlate(PixelType::F32, (256, 256), (8, 8));
        // The variants without times, which come first, refuse the problem on this machine.
        let machine = Machine { target: 75, ..Machine::EMULATED };
        let chosen = |naive| plan_from(&rows(naive), &problem, None, &machine).unwrap();
        assert_eq!(chosen(0.5).variant, "conv2d-naive");
        let estimated = chosen(0.6);
        assert_eq!(
            (estimated.variant, estimated.why.contains("correlate f32 256x256 mask 5x5")),
            ("conv2d-tiled", true)
        );
    }

    #[test]
    fn a_faster_variant_that_does_not_take_the_problem_is_passed_over() {
        // The marching kernels need sm_90.
        let problem = correlate(PixelType::F32, (8191, 8192), (5, 5));
        let recipe = planned(&problem, &Machine { target: 75, ..Machine::EMULATED });
        assert_eq!(recipe.variant, "conv2d-blocked");
        assert!(recipe.why.starts_with("measured fastest of 4 (1 faster: refused) for the nearest"), "{}", recipe.why);
    }

    #[test]
    fn a_variant_of_floats_is_chosen_where_it_is_faster_than_those_of_the_type() {
        let times = |times: &str| {
            format!(
                "{}Some GPU,90,132,separable,u16,u16,any,yes,1,33,2048,2048,{times}\n",
                TIMES.split_inclusive('\n').next().unwrap()
            )
        };
        let taps = Taps::new(vec![1.0 / 33.0; 33]).unwrap();
        let (src, shape) = (PixelType::U16, Shape::new(2048, 2048, 1).unwrap());
        let (taps_x, taps_y, border, extent) = (taps.clone(), taps, Border::Wrap, Extent::Same);
        let problem = Problem::from(Separable { shape, src, dst: src, taps_x, taps_y, border, extent });
        for (faster, launches) in
            [("words-separable=0.1;conv1d-fused=0.2@4", 1), ("conv1d-fused=0.1@4;words-separable=0.2", 2)]
        {
            let recipe = plan_from(&Table::parse(&times(faster)), &problem, None, &Machine::EMULATED).unwrap();
            assert_eq!((recipe.launches.len(), &faster[..recipe.variant.len()]), (launches, recipe.variant));
            assert!(recipe.why.starts_with("measured fastest of 2 for"), "{}", recipe.why);
        }
    }

    #[test]
    fn a_variant_that_was_not_measured_keeps_its_place() {
        // For bytes, `march-dense` precedes the measured variants, and `conv2d-naive` follows them.
        let bytes = correlate(PixelType::U8, (8192, 8192), (5, 5));
        let recipe = planned(&bytes, &Machine::EMULATED);
        assert_eq!((recipe.variant, recipe.why.contains("not measured")), ("march-dense", true));
        // With too little shared memory per block for `march-dense`.
        let recipe = planned(&bytes, &Machine { shared_bytes: 5_300, ..Machine::EMULATED });
        assert_eq!(recipe.variant, "conv2d-tiled");
        assert!(recipe.why.starts_with("measured fastest of 2 for"), "{}", recipe.why);
        let untuned = crate::untuned(&bytes, None, &Machine::EMULATED).unwrap();
        assert_eq!(untuned.variant, "march-dense");
    }

    #[test]
    fn the_numbers_of_the_grid_are_those_that_were_measured() {
        let rows = |image, side, variant, machine: &Machine| {
            let problem = correlate(PixelType::F32, image, (side, side));
            let recipe = plan_from(&Table::parse(TIMES), &problem, variant, machine).unwrap();
            let launch = recipe.launches[0].clone();
            let Params::MarchParams(params) = launch.params else { panic!("{recipe:?}") };
            (params.rows, (launch.shared_bytes + launch.reserved_bytes) / 1024)
        };
        let (large, march) = ((8192, 8192), Some("march-dense"));
        assert_eq!(rows(large, 5, None, &Machine::EMULATED), (200, 44));
        assert_eq!(rows(large, 9, march, &Machine::EMULATED), (64, 75));
        // With too little shared memory for `conv2d-blocked`, which is faster.
        assert_eq!(rows(large, 9, None, &Machine { shared_bytes: 30_000, ..Machine::EMULATED }).0, 64);
        let tuning = Some(crate::Tuning { rows: 8, residents: 6 });
        assert_eq!(rows(large, 5, None, &Machine { tuning, ..Machine::EMULATED }), (8, 37));
        let tuning = Some(crate::Tuning { rows: 0, residents: 4 });
        assert_eq!(rows(large, 5, None, &Machine { tuning, ..Machine::EMULATED }), (249, 56));
        // No row has three channels: the nearest one, of one channel, has march-dense first.
        let rgb = Shape::new(8192, 8192, 3).unwrap();
        let problem = Problem::from(Correlate { shape: rgb, ..dense(PixelType::F32, large, (5, 5)) });
        assert_eq!(planned(&problem, &Machine::EMULATED).variant, "march-dense");
    }

    #[test]
    fn other_grids_have_as_many_blocks_a_multiprocessor_as_was_measured() {
        let shape = Shape::new(8192, 8192, 1).unwrap();
        let taps_x = Taps::new(vec![1.0; 33]).unwrap();
        let (src, dst, border, taps_y) = (PixelType::F32, PixelType::F32, Border::Replicate, taps_x.clone());
        let bins = Bins { count: 256, range: Some((0.0, 1.0)) };
        for (variant, problem) in [
            (
                "conv1d-fused",
                Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent: Extent::Same }),
            ),
            ("histogram-columns", Problem::from(ByteHistogram { shape, per_channel: false })),
            (
                "histogram-nearest-edge",
                Problem::from(EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel: false }),
            ),
        ] {
            let blocks = |residents| {
                let machine = Machine { tuning: Some(crate::Tuning { rows: 0, residents }), ..Machine::EMULATED };
                let recipe = crate::untuned(&problem, Some(variant), &machine).unwrap();
                recipe.launches[0].blocks.iter().product::<u32>()
            };
            assert!((100..=132).contains(&blocks(1)), "{variant}: {}", blocks(1));
            assert!((200..=264).contains(&blocks(2)), "{variant}: {}", blocks(2));
        }
    }

    #[test]
    fn programs_of_the_articles_that_never_won_are_left_out() {
        for variant in VARIANTS.iter().filter(|variant| !variant.is_alone()) {
            let mut kernels = Kernel::ALL.iter().map(|kernel| kernel.facts());
            let of_it = |facts: &KernelFacts| (facts.family, facts.variant) == (variant.family, variant.kernels);
            let is_program = kernels.any(|facts| of_it(facts) && facts.program != "-");
            let mut rows = TABLE.rows().iter().filter(|row| row.work.operation == variant.operation);
            let wins = rows.any(|row| row.times[0].variant == variant.name);
            assert_eq!(variant.by_name, is_program && !wins, "{variant:?}: program {is_program}, wins {wins}");
            assert_eq!(variant.by_name, variant.limits.ends_with("; by name, if another takes it"), "{variant:?}");
        }
    }

    #[test]
    fn a_program_that_is_asked_for_by_name_alone_runs_where_no_other_does() {
        let times =
            "Some GPU,90,132,correlate,f32,f32,any,yes,1,5,256,256,conv2d-tiled-symbol=0.001;conv2d-tiled=0.002";
        let problem = correlate(PixelType::F32, (256, 256), (5, 5));
        let recipe = |variant| plan_from(&Table::parse(times), &problem, variant, &Machine::EMULATED).unwrap();
        assert_ne!(recipe(None).variant, "conv2d-tiled-symbol");
        assert_eq!(recipe(Some("conv2d-tiled-symbol")).variant, "conv2d-tiled-symbol");
        // Blocks with little shared memory have no room for one histogram per lane.
        let histogram = Problem::from(ByteHistogram { shape: Shape::new(64, 64, 4).unwrap(), per_channel: true });
        let small = Machine { shared_bytes: 16 * 1024, ..Machine::EMULATED };
        let chosen = plan_from(&Table::default(), &histogram, None, &small).unwrap();
        assert_eq!(chosen.variant, "histogram-partials");
    }

    #[test]
    fn any_numbers_give_a_grid() {
        let problem = correlate(PixelType::F32, (8192, 8192), (5, 5));
        for (rows, residents) in [(0, 0), (0, 1), (u32::MAX, u32::MAX), (1, 33), (249, 1)] {
            let tuning = Some(crate::Tuning { rows, residents });
            for machine in [Machine::EMULATED, Machine { shared_bytes: 99 * 1024, ..Machine::EMULATED }] {
                let recipe = plan_from(&Table::default(), &problem, None, &Machine { tuning, ..machine }).unwrap();
                let launch = &recipe.launches[0];
                assert!(launch.shared_bytes + launch.reserved_bytes <= machine.shared_bytes, "{launch:?}");
                assert!(launch.blocks.iter().all(|blocks| *blocks > 0), "{launch:?}");
            }
        }
    }
}
