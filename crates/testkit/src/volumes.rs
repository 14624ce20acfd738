//! Cases of volumes: masks of three dimensions, taps along the axes, and means.

use crate::case::{Case, Data, random_image, random_taps};
use crate::casts::CASTS;
use crate::exact::{Exact, Numbers, Sum};
use crate::features::{Probe, part, values};
use crate::suite::{Scale, borders};
use apron::volumes::{self, AnyVolume, VolumeBorders, VolumeExtent, VolumeFormula, VolumeMask, VolumeWeights};
use apron::{AnyImage, Border, Cast, Device, PixelType, Result, Taps};
use apron_core::{FilterProblem, Problem, Sample, VolumeFilter, VolumeShape, each_type};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

impl Case {
    /// Filters a random volume: by a dense mask with a random anchor, or along each axis.
    pub fn volume(
        seed: u64,
        (width, height, depth, channels): (u32, u32, u32, u32),
        pixel: PixelType,
        (dense, size): (bool, [u32; 3]),
        borders: impl Into<VolumeBorders>,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = VolumeShape::new(width, height, depth, channels).expect("a valid shape").stacked();
        let anchor = size.map(|side| rng.random_range(0..side));
        let weights = match dense {
            true => {
                let mask = VolumeMask::new(size[0], size[1], size[2], random_taps(rng, size.iter().product()));
                VolumeWeights::Dense(mask.expect("a valid mask"))
            }
            false => {
                VolumeWeights::Separable(size.map(|side| Taps::from_f64(random_taps(rng, side)).expect("finite taps")))
            }
        };
        let weights = weights.with_anchor(anchor).expect("in the window");
        let (divisor, borders, extent) = (if dense { 1.0 } else { 3.0 }, borders.into(), VolumeExtent::Same);
        let (src, dst, cast, stored) = (pixel, pixel, Cast::default(), false);
        let problem = VolumeFilter { shape, depth, src, dst, weights, divisor, cast, stored, borders, extent };
        let image = random_image(rng, pixel, shape, data);
        Case { problem: Problem::Filter(problem.into()), image, second: None, chosen: None }
    }

    /// Returns the case with sums that are stored between the passes; those of a mean, if `mean`.
    fn stored(mut self, mean: bool) -> Case {
        if let Problem::Filter(FilterProblem::Volume(problem)) = &mut self.problem {
            (problem.stored, problem.divisor) = (true, 1.0);
            if let (true, anchor, [x, y, z]) = (mean, problem.weights.anchor(), problem.weights.size()) {
                let ones = [x, y, z].map(|side| Taps::new(vec![1.0; side as usize]).expect("finite taps"));
                let weights = VolumeWeights::Separable(ones).with_anchor(anchor).expect("in the window");
                (problem.weights, problem.divisor) = (weights, f64::from(x * y * z));
            }
        }
        self
    }

    /// Returns the case with sums that become integers by a cast.
    fn with_cast(mut self, cast: Cast) -> Case {
        if let Problem::Filter(FilterProblem::Volume(problem)) = &mut self.problem {
            problem.cast = cast;
        }
        self
    }
}

/// The types whose samples kernels sum in f64, but f64.
const INTEGERS: [PixelType; 8] = {
    use PixelType::*;
    [U8, I8, U16, I16, U32, I32, U64, I64]
};

/// Adds the cases.
pub(crate) fn volumes(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    // Tiles of 128 samples and 32 rows: whole ones, barely another, and volumes within one.
    let sizes = [(128, 32, 3), (129, 33, 2), (65, 3, 31), (7, 40, 5), (1, 1, 9), (1, 9, 1), (67, 1, 1)];
    for (n, (width, height, depth)) in sizes.into_iter().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let is_small = width < 5 || height < 4 || depth < 3;
            let border = if border == Border::Crop && is_small { Border::Wrap } else { border };
            let pixel = if (n + m) % 2 == 0 { PixelType::F32 } else { PixelType::F64 };
            let (size, data) = ((width, height, depth, (n + m) as u32 % 4 + 1), [Data::Uniform, Data::Special][m % 2]);
            let other = VolumeBorders::by_axis(border, Border::Reflect, Border::Constant(0.7));
            cases.push(Case::volume(next(), size, pixel, (true, [5, 4, 3]), border, data));
            cases.push(Case::volume(next(), size, pixel, (false, [5, 3, 2]), border, data));
            cases.push(Case::volume(next(), size, pixel, (m % 2 == 0, [2, 1, 4]), other, Data::Uniform));
        }
    }
    // The taps that each of the marching kernels takes, fewer, and one more; several parts of the planes. In the
    // emulator a few planes more than taps: it takes a second for some ten million products.
    let depths = if scale == Scale::Full { [30, 20, 50] } else { [19, 18, 20] };
    let marched =
        |n: usize, rows: u32| [(70, 37, depths[0], 1), (64, rows, depths[1], 1), (30, 65, depths[2], 1)][n % 3];
    let alike = (3..=17).step_by(2).map(|taps| (false, [taps; 3]));
    let taps = [[2, 3, 3], [5, 4, 2], [3, 2, 17], [17, 16, 2], [15, 13, 17], [18, 3, 3]].map(|size| (false, size));
    let masks = [[3, 3, 3], [5, 5, 5], [2, 5, 4], [4, 1, 5], [5, 3, 1], [6, 3, 3]].map(|size| (true, size));
    for (n, weights) in alike.chain(taps).chain(masks).enumerate() {
        let (border, shape) = (borders()[n % 6], marched(n, 32));
        cases.push(Case::volume(next(), shape, PixelType::F32, weights, border, Data::Uniform));
        cases.push(Case::volume(next(), shape, PixelType::F32, weights, Border::Constant(-0.3), Data::Special));
    }
    let sizes = [[5, 4, 2], [9, 9, 9], [3, 2, 17], [17, 16, 2], [17, 17, 17], [11, 13, 2], [5, 5, 5], [10, 7, 12]];
    for (n, size) in sizes.into_iter().enumerate() {
        let shape = marched(n, 16);
        for pixel in [PixelType::U8, PixelType::U16, PixelType::I16] {
            // The kernels take constants that are samples.
            let constant = if pixel == PixelType::I16 { -3000.0 } else { 3.0 };
            for border in [borders()[n % 6], Border::Constant(constant), Border::Constant(2.5)] {
                cases.push(Case::volume(next(), shape, pixel, (false, size), border, Data::Uniform));
            }
        }
    }
    for (n, pixel) in INTEGERS.into_iter().enumerate() {
        for (m, cast) in CASTS.into_iter().enumerate() {
            let weights = [(true, [3, 2, 3]), (false, [5, 1, 1]), (false, [1, 6, 1]), (false, [1, 1, 4])][(n + m) % 4];
            let (border, shape) = (borders()[(n + m) % 6], [(131, 34, 5, 1), (23, 40, 6, 3)][m % 2]);
            cases.push(Case::volume(next(), shape, pixel, weights, border, Data::Uniform).with_cast(cast));
        }
    }
    // Masks of one plane: tiles of 256 samples, four rows at a time; the sides of the kernels, filled, and one more.
    let sizes = [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 6, 1], [7, 3, 1], [1, 3, 1], [3, 2, 1], [8, 3, 1], [7, 1, 1]];
    let types = [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F64];
    for (n, (size, pixel)) in sizes.into_iter().flat_map(|size| types.map(|pixel| (size, pixel))).enumerate() {
        for (m, channels) in [1, 3, 2, 4].into_iter().enumerate() {
            let shape = [(300, 33, 2, channels), (61, 70, 5, channels), (129, 9, 1, channels)][(n + m) % 3];
            let border =
                [Border::Constant(2.5), Border::Reflect, Border::Wrap, Border::Reflect101, Border::Crop][(n + m) % 5];
            let other = VolumeBorders::by_axis(Border::Constant(9.0), Border::Constant(-3.25), Border::Wrap);
            let borders = if m == 3 { other } else { border.into() };
            let case = Case::volume(next(), shape, pixel, (true, size), borders, Data::Uniform);
            cases.push(case.with_cast(CASTS[(n / 4 + m) % 4]));
        }
    }
    // Masks of several planes whose sums are cast.
    for (n, pixel) in types.into_iter().take(3).enumerate() {
        for (m, cast) in CASTS.into_iter().enumerate() {
            let (size, border) =
                ([[3, 2, 3], [5, 4, 2]][(n + m) % 2], [borders()[n + m], Border::Constant(3.0)][m % 2]);
            let case = Case::volume(next(), (70, 33, 6, 1), pixel, (true, size), border, Data::Uniform);
            cases.push(case.with_cast(cast));
        }
    }
    // Sums that are stored: tiles of 256 samples, less the halo, and 32 rows.
    let sizes = [[3, 5, 1], [17, 8, 1], [1, 9, 1], [2, 3, 4], [9, 1, 5], [33, 13, 3], [130, 2, 1], [7, 40, 1]];
    let types = [PixelType::U8, PixelType::F64, PixelType::U16, PixelType::I16, PixelType::I32, PixelType::F32];
    for (n, (size, pixel)) in sizes.into_iter().flat_map(|size| types.map(|pixel| (size, pixel))).enumerate() {
        let (cast, channels) = (CASTS[n % 4], [1, 3, 1, 2, 4][n % 5]);
        let shape = [(300, 33, 2, channels), (61, 70, 5, channels), (129, 9, 1, channels)][n % 3];
        let border =
            [Border::Constant(2.5), Border::Reflect, Border::Wrap, Border::Reflect101, Border::Replicate][n % 5];
        let borders = VolumeBorders::by_axis(border, borders()[n % 4], Border::Reflect);
        let case = Case::volume(next(), shape, pixel, (false, size), borders, Data::Uniform).with_cast(cast);
        cases.push(case.stored(n % 3 == 1));
    }
    // More columns than rows in shared memory have places for, more taps than constant memory, and several channels.
    for (n, (pixel, weights)) in [
        (PixelType::F64, (false, [40, 37, 1])),
        (PixelType::I32, (true, [33, 9, 2])),
        (PixelType::F64, (true, [9, 9, 9])),
        (PixelType::F32, (false, [1, 1, 1030])),
        (PixelType::U8, (true, [65, 1, 1])),
        (PixelType::F64, (false, [600, 1, 8])),
    ]
    .into_iter()
    .enumerate()
    {
        for channels in 1..=4 {
            let border = [Border::Wrap, Border::Reflect101, Border::Constant(7.0)][n % 3];
            cases.push(Case::volume(next(), (41, 19, 3, channels), pixel, weights, border, Data::Uniform));
        }
    }
    if scale == Scale::Full {
        for (n, size) in [(300, 200, 40, 1), (101, 67, 60, 3)].into_iter().enumerate() {
            let border = borders()[n];
            cases.push(Case::volume(next(), size, PixelType::F32, (true, [3, 3, 3]), border, Data::Uniform));
            cases.push(Case::volume(next(), size, PixelType::F32, (false, [17, 17, 17]), border, Data::Uniform));
            cases.push(Case::volume(next(), size, PixelType::F64, (false, [9, 1, 33]), border, Data::Uniform));
        }
    }
}

/// Returns what computes the exact result at a sample of the output, whose planes lie one below the other; where sums
/// are stored between passes, that of the last pass over what the reference stores before it.
pub(crate) fn exact(problem: &VolumeFilter, stack: &AnyImage<'_>) -> impl Fn(u32, u32, u32) -> Exact + use<> {
    let (stages, last) = problem.stages().expect("checked by the caller");
    let mut before: Option<AnyImage<'_>> = None;
    for stage in stages {
        let image = apron_reference::any::filter(&stage.into(), before.as_ref().unwrap_or(stack), None);
        before = Some(image.expect("the reference solves it"));
    }
    of_sums(&last, before.as_ref().unwrap_or(stack))
}

/// As [`exact`], of sums that are stored once.
fn of_sums(problem: &VolumeFilter, stack: &AnyImage<'_>) -> impl Fn(u32, u32, u32) -> Exact + use<> {
    let window = problem.window().expect("checked by the caller");
    let (out, sides) = (window.out, problem.volume().expect("checked by the caller").sides());
    let (numbers, channels) = (Numbers::of(problem.sums()), stack.shape().channels as usize);
    let modes = problem.borders.axes().map(|border| border.mode_of(problem.sums()));
    let samples: Vec<f64> = each_type!(stack, stack => stack.packed().iter().map(|sample| sample.to_f64()).collect());
    let size = problem.weights.size();
    // A dense mask is one tap along each axis but x, per row of taps.
    let (taps, is_dense) = match &problem.weights {
        VolumeWeights::Dense(mask) => ([mask.taps_for::<f64>(problem.sums()), Vec::new(), Vec::new()], true),
        VolumeWeights::Separable(taps) => (taps.each_ref().map(|taps| taps.taps_for::<f64>(problem.sums())), false),
    };
    let total = |axis: usize| taps[axis].iter().map(|tap| tap.abs()).sum::<f64>();
    let [along_x, along_y, along_z] = size.map(f64::from);
    let count = problem.weights.count() as usize;
    let roundings = if is_dense { count as f64 } else { (along_x * total(1) + along_y) * total(2) + along_z };
    let (denormals, divisor) = (roundings * numbers.denormal, problem.divisor);
    move |x, y, channel| {
        let at = [x, y % out.height, y / out.height];
        let place = |axis: usize, offset: u32| {
            let (mode, constant) = modes[axis];
            let place = mode.map((at[axis] + offset) as i32 + window.origin[axis], sides[axis] as i32);
            place.map(|place| place as usize).ok_or(constant)
        };
        let columns: Vec<Result<usize, f64>> = (0..size[0]).map(|i| place(0, i)).collect();
        // The sum along x of the samples times the taps of a row.
        let row = |taps: &[f64], j: u32, k: u32| {
            let row = place(2, k).and_then(|z| Ok(z * sides[1] as usize + place(1, j)?));
            let sample = |column: &Result<usize, f64>| match (row, column) {
                (Ok(row), Ok(x)) => samples[(row * sides[0] as usize + x) * channels + channel as usize],
                (Err(constant), _) => constant,
                (Ok(_), Err(constant)) => *constant,
            };
            let mut sum = Sum::default();
            columns.iter().zip(taps).for_each(|(column, &tap)| sum.add(tap, Sum::of(sample(column))));
            sum
        };
        let (mut sum, mut fits) = (Sum::default(), true);
        for k in 0..size[2] {
            let mut plane = Sum::default();
            for j in 0..size[1] {
                let (taps_x, tap_y) = match is_dense {
                    true => (&taps[0][((k * size[1] + j) * size[0]) as usize..], 1.0),
                    false => (&taps[0][..], taps[1][j as usize]),
                };
                let row = row(taps_x, j, k);
                fits &= is_dense || row.magnitude <= numbers.largest;
                plane.add(tap_y, row);
            }
            fits &= is_dense || plane.magnitude <= numbers.largest;
            sum.add(if is_dense { 1.0 } else { taps[2][k as usize] }, plane);
        }
        let magnitude = if fits { sum.magnitude } else { f64::NAN };
        let Exact { value, bound } = numbers.exact(count + 1, sum.value(), magnitude, denormals, false);
        Exact { value: value / divisor, bound: bound / divisor.abs() + numbers.denormal }
    }
}

/// Returns the parts of the table of features: small calls on volumes of each type.
pub(crate) fn probes() -> Vec<(String, Probe)> {
    let types = PixelType::ALL.map(|pixel| {
        let probe = move |device: &Device| filtered(device, pixel, volumes::gaussian([1.5, 0.8, 1.0], [0; 3], 4.0)?);
        part(&pixel.to_string(), probe)
    });
    let others = [
        part("masks of three dimensions", |device| {
            let taps: Vec<f64> = (0..60).map(|tap| f64::from(tap * 37 % 101) / 64.0 - 0.5).collect();
            filtered(device, PixelType::F32, VolumeFormula::dense(VolumeMask::new(3, 4, 5, taps)?))
        }),
        part("means and deviations in windows", |device| {
            let mean = filtered(device, PixelType::U8, volumes::mean([3, 4, 2])?)?;
            Ok([mean, filtered(device, PixelType::U16, volumes::deviation([2, 3, 3])?)?].concat())
        }),
        part("derivatives", |device| {
            let sobel = filtered(device, PixelType::I16, volumes::sobel(2)?)?;
            Ok([sobel, filtered(device, PixelType::F64, volumes::gaussian_gradient([1.0; 3], 3.0)?)?].concat())
        }),
    ];
    types.into_iter().chain(others).collect()
}

fn filtered(device: &Device, pixel: PixelType, formula: VolumeFormula) -> Result<Vec<f64>> {
    let shape = VolumeShape::new(13, 9, 6, 1)?;
    let stack = random_image(&mut StdRng::seed_from_u64(7), pixel, shape.stacked(), Data::Uniform);
    let volume = AnyVolume::new(stack, shape.depth)?;
    Ok(values(&device.filter_volume(&volume, formula).run()?.into_host()?.stack()))
}
