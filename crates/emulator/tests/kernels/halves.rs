//! Filters whose kernels read and write f16, with expected bits computed by hand.

use apron_core::{Border, Correlate, Extent, Mask, PixelType, Problem, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

#[test]
fn results_round_once_to_f16() {
    // 1, 2^-24, 65504, -2^-14, 3 * 2^-24, 0, -0 and 2049, which is between two f16: 2048.
    let samples: [u16; 8] = [0x3c00, 0x0001, 0x7bff, 0x8400, 0x0003, 0x0000, 0x8000, 0x6800];
    // Half of them: 2^-25 and 1.5 * 2^-24 are ties between subnormal numbers; sums start at +0.
    let halved = [0x3800, 0x0000, 0x77ff, 0x8200, 0x0002, 0x0000, 0x0000, 0x6400];
    // 131008 is beyond all f16.
    let doubled = [0x4000, 0x0002, 0x7c00, 0x8800, 0x0006, 0x0000, 0x0000, 0x6c00];
    for (tap, expected) in [(0.5, halved), (2.0, doubled)] {
        let mut taps = [0.0; 9];
        taps[4] = tap;
        let (shape, mask) = (Shape::new(8, 1, 1).unwrap(), Mask::new(3, 3, taps).unwrap());
        let (src, border, extent) = (PixelType::F16, Border::Constant(0.0), Extent::Same);
        let problem = Problem::from(Correlate { shape, src, dst: src, mask, border, clamp: false, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        assert_eq!((recipe.variant, recipe.launches.len()), ("march-dense", 1));
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
        let found = execute(&recipe, &bytes).unwrap();
        let found: Vec<u16> = found.chunks(2).map(|half| u16::from_ne_bytes([half[0], half[1]])).collect();
        assert_eq!(found, expected, "{tap}");
    }
}
