//! Kernels over tiles of packed samples, with rows and windows that start anywhere in a 32-bit word, for masks of every
//! shape.

use apron::Border::{self, Constant, Crop, Reflect, Reflect101, Replicate, Wrap};
use apron::{Device, Error, PixelType};
use apron_core::{FilterProblem, Problem};
use apron_testkit::{Case, Data};

const TYPES: [PixelType; 3] = [PixelType::U8, PixelType::U16, PixelType::F32];
const BORDERS: [Border; 6] = [Reflect, Wrap, Constant(9.0), Reflect101, Replicate, Crop];
/// Width, height, channels: rows of whole 32-bit words and other rows, several blocks across and down, and few pixels.
const SHAPES: [(u32, u32, u32); 9] = [
    (300, 40, 1),
    (131, 37, 1),
    (258, 70, 1),
    (3, 2, 1),
    (65, 20, 2),
    (45, 66, 3),
    (86, 35, 3),
    (33, 40, 4),
    (1, 50, 4),
];

/// Compares a case on a device with the reference; returns whether the variant supports it.
fn holds(device: &Device, case: &Case, variant: &str) -> bool {
    let run = |device: &Device, variant: Option<&str>| {
        let filter = match &case.problem {
            Problem::Filter(FilterProblem::Correlate(p)) => {
                device.correlate(&case.image, p.mask.clone()).border(p.border)
            }
            Problem::Filter(FilterProblem::Separable(p)) => {
                device.separable(&case.image, p.taps_x.clone(), p.taps_y.clone()).border(p.border)
            }
            other => panic!("{other:?} is no filter"),
        };
        filter.variant(variant).run()?.download_any()
    };
    let found = match run(device, Some(variant)) {
        // An image this small contains no whole window.
        Err(Error::NoWindow { .. }) => return false,
        found => found.unwrap_or_else(|error| panic!("{variant} on {}: {case}: {error}", device.name())),
    };
    let expected = run(&Device::reference(), None).unwrap();
    assert!(found.bytes() == expected.bytes(), "{variant} on {}: {case}", device.name());
    true
}

fn hold_everywhere(device: &Device) {
    let mut held = [0; 3];
    for (n, shape) in SHAPES.into_iter().enumerate() {
        for (k, taps) in [(1, 1), (2, 5), (9, 9), (4, 3), (17, 2), (7, 21), (15, 15)].into_iter().enumerate() {
            let seed = (n * 7 + k) as u64;
            let border = BORDERS[(n + k) % BORDERS.len()];
            // Every type is combined with every shape; the emulator is slow.
            let pixel = TYPES[(n + k) % TYPES.len()];
            let types = (pixel, pixel);
            let dense = Case::correlate(seed, shape, types, taps, border, Data::Uniform).averaging();
            let separable = Case::separable(seed, shape, types, taps, border, Data::Uniform).averaging();
            held[0] += usize::from(pixel != PixelType::F32 && holds(device, &dense, "words-dense"));
            held[1] += usize::from(holds(device, &dense, "words-dense-small"));
            held[2] += usize::from(holds(device, &separable, "words-separable"));
        }
    }
    assert!(held[0] >= 30 && held[1] >= 50 && held[2] >= 50, "{held:?} cases");
}

#[test]
fn words_start_anywhere_on_the_emulator() {
    hold_everywhere(&Device::emulator());
}

#[test]
fn words_start_anywhere_on_the_gpu() {
    if let Some(device) = apron_testkit::gpu_or_skip("words start anywhere") {
        hold_everywhere(&device);
    }
}
