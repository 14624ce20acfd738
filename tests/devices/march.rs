//! Marching kernels on images higher than a block's ring. The suite's images are lower.

use apron::{Border, Device, PixelType};
use apron_core::{FilterProblem, Problem};
use apron_plan::{Machine, Tuning};
use apron_testkit::{Case, Data};

/// Computes the case's result with one block of 60 rows per strip.
fn marched(case: &Case, variant: &str) -> Vec<u8> {
    let tuning = Some(Tuning { rows: 60, residents: 1 });
    let machine = Machine { multiprocessors: 1, tuning, ..Machine::EMULATED };
    let recipe = apron_plan::plan(&case.problem, Some(variant), &machine).unwrap();
    assert_eq!(recipe.launches[0].blocks[1], 1, "one block down the image");
    apron_emulator::execute(&recipe, &case.image.bytes()).unwrap()
}

fn expected(case: &Case) -> Vec<u8> {
    let device = Device::reference();
    let filter = match &case.problem {
        Problem::Filter(FilterProblem::Correlate(p)) => device.correlate(&case.image, p.mask.clone()).border(p.border),
        Problem::Filter(FilterProblem::Separable(p)) => {
            device.separable(&case.image, p.taps_x.clone(), p.taps_y.clone()).border(p.border)
        }
        other => panic!("{other:?} is no filter"),
    };
    filter.run().unwrap().download_any().unwrap().bytes().to_vec()
}

const BYTES: (PixelType, PixelType) = (PixelType::U8, PixelType::U8);
const WORDS: (PixelType, PixelType) = (PixelType::U16, PixelType::U16);

#[test]
fn a_ring_is_gone_round_several_times() {
    for (n, side) in [3, 7, 9, 17].into_iter().enumerate() {
        let (taps, border) = ((side, side), [Border::Reflect, Border::Wrap, Border::Constant(9.0)][n % 3]);
        for (types, separable, dense) in [
            (BYTES, "march-separable", "march-dense"),
            (BYTES, "march-separable-f64", "march-dense-f64"),
            (WORDS, "march-separable-f64", "march-dense-f64"),
        ] {
            let case = Case::separable(n as u64, (48, 60, 3), types, taps, border, Data::Uniform).averaging();
            assert!(marched(&case, separable) == expected(&case), "{separable}: {case}");
            if side <= 7 {
                let case = Case::correlate(n as u64, (48, 60, 3), types, taps, border, Data::Uniform).averaging();
                assert!(marched(&case, dense) == expected(&case), "{dense}: {case}");
            }
        }
    }
}

#[test]
fn rows_start_anywhere_in_a_word() {
    use Border::{Constant, Crop, Reflect, Reflect101, Replicate, Wrap};
    let borders = [Reflect, Wrap, Constant(9.0), Reflect101, Replicate, Crop];
    let mut n = 0;
    for (width, channels) in [(16, 1), (17, 1), (18, 1), (19, 1), (9, 2), (7, 3), (23, 3), (5, 4), (531, 4), (2049, 1)]
    {
        for side in [3, 5, 9] {
            n += 1;
            let (shape, border) = ((width, 33, channels), borders[n % borders.len()]);
            for (types, separable, dense) in [
                (BYTES, "march-separable", "march-dense"),
                (BYTES, "march-separable-f64", "march-dense-f64"),
                (WORDS, "march-separable-f64", "march-dense-f64"),
            ] {
                // There are no variants with f64 sums for two channels, and for unaligned rows of
                // bytes no more than these.
                let in_f64 = separable.ends_with("f64");
                if channels == 2 && in_f64 {
                    continue;
                }
                let all = !in_f64 || types == WORDS || width * channels % 16 == 0;
                let has_separable = all || matches!((channels, side), (1, 3) | (3, 3 | 5) | (4, 5 | 9));
                let has_dense = all || matches!((channels, side), (1, 3) | (3 | 4, 5));
                let case = Case::separable(n as u64, shape, types, (side, side), border, Data::Uniform).averaging();
                if width >= side && has_separable {
                    assert!(marched(&case, separable) == expected(&case), "{separable}: {case}");
                }
                if side <= 5 && has_dense {
                    let case = Case::correlate(n as u64, shape, types, (side, side), border, Data::Uniform).averaging();
                    assert!(marched(&case, dense) == expected(&case), "{dense}: {case}");
                }
            }
        }
    }
}
