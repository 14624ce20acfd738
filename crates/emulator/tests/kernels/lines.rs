//! Masks of a single row or column, with expected sums computed by hand.

use apron_core::{Border, Correlate, Extent, Mask, PixelType, Problem, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

fn problem(shape: (u32, u32), pixel: PixelType, mask: Mask) -> Problem {
    let shape = Shape::new(shape.0, shape.1, 1).unwrap();
    let (src, dst, border, extent) = (pixel, pixel, Border::Constant(0.0), Extent::Same);
    Problem::from(Correlate { shape, src, dst, mask, border, clamp: false, extent })
}

#[test]
fn one_pass_has_the_sums_of_the_mask() {
    let taps = [2.0, -1.0, 0.5];
    // Along the row: 2 * left - 1 * own + 0.5 * right.
    let samples = [1.0f32, 4.0, f32::INFINITY, -2.0, 8.0];
    let expected = [1.0f32, f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, -12.0];
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    for (shape, mask) in [((5, 1), Mask::new(3, 1, taps)), ((1, 5), Mask::new(1, 3, taps))] {
        let recipe = plan(&problem(shape, PixelType::F32, mask.unwrap()), None, &Machine::EMULATED).unwrap();
        assert_eq!((recipe.variant, recipe.launches.len()), ("conv1d-line", 1));
        let found = execute(&recipe, &bytes).unwrap();
        let found: Vec<f32> = found.chunks(4).map(|sum| f32::from_ne_bytes(sum.try_into().unwrap())).collect();
        assert_eq!(found, expected, "{shape:?}");
    }
    // Sums of 0.5, 4.5, -3, 118 and -192 round half to even, and saturate.
    let (samples, expected) = ([1u8, 3, 11, 4, 200], [0u8, 4, 0, 118, 0]);
    // Padded with zeros, the taps along the row are as many as `conv1d-line` requires.
    let mut long = [0.0; 25];
    long[11..14].copy_from_slice(&taps);
    for (shape, mask) in [((5, 1), Mask::new(25, 1, long)), ((1, 5), Mask::new(1, 3, taps))] {
        let problem = problem(shape, PixelType::U8, mask.unwrap());
        for variant in ["words-line", "conv1d-line"] {
            let recipe = plan(&problem, Some(variant), &Machine::EMULATED).unwrap();
            assert_eq!(execute(&recipe, &samples).unwrap(), expected, "{variant} {shape:?}");
        }
        // Where f64 is slow, only `conv1d-line` takes bytes.
        let slow = Machine { f64_ratio: 64, ..Machine::EMULATED };
        assert!(plan(&problem, Some("words-line"), &slow).is_err());
        assert_eq!(plan(&problem, None, &slow).unwrap().variant, "conv1d-line");
    }
}

#[test]
fn a_sum_that_underflows_below_zero_keeps_its_sign() {
    // A second pass with a tap of 1 would make it +0.
    let mask = Mask::new(2, 1, [0.0, -1e-30]).unwrap();
    let recipe = plan(&problem((2, 1), PixelType::F32, mask), None, &Machine::EMULATED).unwrap();
    let bytes: Vec<u8> = [1e-30f32, 1e-30].iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    let found = execute(&recipe, &bytes).unwrap();
    assert!(found.chunks(4).any(|sum| sum == (-0.0f32).to_ne_bytes()), "{found:?}");
}
