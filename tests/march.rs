//! Marching through images that are higher than a block's ring, which the suite's are not: few blocks run there.
#![allow(missing_docs)]

use apron::{AnyImage, Border, Device, PixelType};
use apron_core::Problem;
use apron_plan::{Machine, Tuning};
use apron_testkit::{Case, Data};

/// The case's bytes, by one block of 60 rows for each strip.
fn marched(case: &Case, variant: &str) -> Vec<u8> {
    let tuning = Some(Tuning { rows: 60, residents: 1 });
    let machine = Machine { multiprocessors: 1, tuning, ..Machine::EMULATED };
    let recipe = apron_plan::plan(&case.problem, Some(variant), &machine).unwrap();
    assert_eq!(recipe.launches[0].blocks[1], 1, "one block down the image");
    let AnyImage::U8(image) = &case.image else { panic!("bytes were asked for") };
    apron_emulator::execute(&recipe, image.packed().as_ref()).unwrap()
}

fn expected(case: &Case) -> Vec<u8> {
    let device = Device::reference();
    let filter = match &case.problem {
        Problem::Correlate(p) => device.correlate(&case.image, p.mask.clone()).border(p.border),
        Problem::Separable(p) => device.separable(&case.image, p.taps_x.clone(), p.taps_y.clone()).border(p.border),
        other => panic!("{other:?} is no filter"),
    };
    let AnyImage::U8(image) = filter.out_type(PixelType::U8).run().unwrap().download_any().unwrap() else {
        panic!("bytes were asked for")
    };
    image.into_packed()
}

#[test]
fn a_ring_is_gone_round_several_times() {
    let types = (PixelType::U8, PixelType::U8);
    for (n, side) in [3, 7, 9, 17].into_iter().enumerate() {
        let (taps, border) = ((side, side), [Border::Reflect, Border::Wrap, Border::Constant(9.0)][n % 3]);
        let separable = Case::separable(n as u64, (48, 60, 3), types, taps, border, Data::Uniform).averaging();
        assert!(marched(&separable, "march-separable") == expected(&separable), "{separable}");
        if side <= 7 {
            let dense = Case::correlate(n as u64, (48, 60, 3), types, taps, border, Data::Uniform).averaging();
            assert!(marched(&dense, "march-dense") == expected(&dense), "{dense}");
        }
    }
}

#[test]
fn rows_start_anywhere_in_a_word() {
    use Border::{Constant, Crop, Reflect, Reflect101, Replicate, Wrap};
    let borders = [Reflect, Wrap, Constant(9.0), Reflect101, Replicate, Crop];
    let types = (PixelType::U8, PixelType::U8);
    let mut n = 0;
    for (width, channels) in [(16, 1), (17, 1), (18, 1), (19, 1), (9, 2), (7, 3), (23, 3), (5, 4), (531, 4), (2049, 1)]
    {
        for side in [3, 5, 9] {
            n += 1;
            let (shape, border) = ((width, 33, channels), borders[n % borders.len()]);
            let separable = Case::separable(n as u64, shape, types, (side, side), border, Data::Uniform).averaging();
            if width >= side {
                assert!(marched(&separable, "march-separable") == expected(&separable), "{separable}");
            }
            if side <= 5 {
                let dense = Case::correlate(n as u64, shape, types, (side, side), border, Data::Uniform).averaging();
                assert!(marched(&dense, "march-dense") == expected(&dense), "{dense}");
            }
        }
    }
}
