//! Cases of histograms, statistics and operations on values. Their second inputs are derived from the image's shape.

use crate::case::{Case, Data, SINGLES, random_image};
use crate::check::{Errors, Expected};
use crate::suite::Scale;
use apron::{
    AnyImage, Binning, Bins, Device, Edges, HistogramBuilder, Image, LookupBuilder, PixelType, Result, Shape, Source,
    Statistics, Weights,
};
use apron_core::{
    CellHistogram, Clahe, Columns, CountProblem, Equalize, FloatStatistics, JointHistogram, Lookup, MapProblem,
    MeasureProblem, Problem, WeightedBins,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Returns a mask that selects about two pixels of three, with values other than 1 as well.
fn roi(shape: Shape) -> Image<'static, u8> {
    let rng = &mut StdRng::seed_from_u64(shape.pixels());
    let bytes: Vec<u8> = (0..shape.pixels()).map(|_| [0, 1, 200][rng.random_range(0..3)]).collect();
    Image::new(shape.width, shape.height, 1, bytes).expect("the image's shape")
}

/// Returns random tables for an image.
fn tables(problem: &Lookup) -> Vec<u8> {
    let rng = &mut StdRng::seed_from_u64(problem.shape.pixels());
    (0..256 * problem.tables).map(|_| rng.random()).collect()
}

fn binning(problem: &CellHistogram) -> Binning {
    match &problem.edges {
        Some(edges) => Binning::Between(edges.clone()),
        None => Binning::Even(Bins::of_values(problem.src).expect("integers without edges")),
    }
}

/// Builds the histogram that solves a problem.
pub(crate) fn histogram_of<'a>(device: &'a Device, problem: &CellHistogram, image: Source<'a>) -> HistogramBuilder<'a> {
    let histogram = device.histogram(image).binning(binning(problem)).per_channel(problem.per_channel);
    if problem.masked { histogram.roi_mask(Source::Host(AnyImage::U8(roi(problem.shape)))) } else { histogram }
}

/// Builds the operation that solves a problem.
pub(crate) fn image_of<'a>(device: &'a Device, problem: &MapProblem, image: &'a AnyImage<'_>) -> LookupBuilder<'a> {
    match problem {
        MapProblem::Lookup(problem) => device.lookup(image, tables(problem)),
        MapProblem::Equalize(_) => device.equalize(image),
        MapProblem::Clahe(problem) => device.clahe(image, problem.clip, problem.tiles),
    }
}

/// Computes the numbers that solve a problem; also returns the variant that ran.
pub(crate) fn numbers_of(
    device: &Device,
    problem: &MeasureProblem,
    image: &AnyImage<'_>,
    variant: Option<&str>,
) -> Result<(Vec<f64>, String)> {
    match problem {
        MeasureProblem::Statistics(problem) => {
            let statistics = device.statistics(image).per_channel(problem.per_channel).variant(variant);
            let (statistics, report) = statistics.run_reported()?;
            Ok((numbers(&statistics), report.variant))
        }
        MeasureProblem::Weighted(problem) => {
            let (binning, apart) = (Binning::Between(problem.edges.clone()), problem.per_channel);
            let weights = weights(problem);
            let sums = |weights: Weights<'_>| {
                let sums = device.weighted_histogram(image, weights).binning(binning).per_channel(apart);
                sums.variant(variant).run_reported()
            };
            let (histogram, report) = match problem.single {
                true => {
                    let singles = weights.iter().map(|&weight| weight as f32).collect::<Vec<_>>();
                    sums((&Image::new(problem.shape.width, problem.shape.height, 1, singles)?).into())?
                }
                false => sums((&weights).into())?,
            };
            Ok((histogram.sums, report.variant))
        }
        MeasureProblem::Joint(problem) => {
            // All cases are pixels, whose columns are channels.
            let counting = device.histogramdd(image).columns(problem.columns.picked()).bins_of(problem.edges.clone());
            let (histogram, report) = counting.variant(variant).run_reported()?;
            Ok((counts(&histogram.cells), report.variant))
        }
    }
}

fn counts(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

/// Returns weights of many magnitudes, whose sums depend on their order; some are infinite if the number of pixels is a
/// multiple of 5.
fn weights(problem: &WeightedBins) -> Vec<f64> {
    let (shape, single) = (problem.shape, problem.single);
    let rng = &mut StdRng::seed_from_u64(shape.pixels());
    let infinite = shape.pixels().is_multiple_of(5);
    let weight = |pixel: u64| {
        let weight = rng.random_range(-1.0f64..1.0) * 10f64.powi(rng.random_range(-8..9));
        let weight = if single { f64::from(weight as f32) } else { weight };
        if infinite && pixel % 97 == 96 { f64::INFINITY } else { weight }
    };
    (0..shape.pixels()).map(weight).collect()
}

fn numbers(statistics: &[Statistics]) -> Vec<f64> {
    statistics.iter().flat_map(|of| [of.min, of.max, of.mean, of.std]).collect()
}

/// Computes the counts by the serial reference.
pub(crate) fn expected_counts(problem: &CountProblem, image: &AnyImage<'static>) -> Result<Expected> {
    let (binning, apart, roi) = match problem {
        CountProblem::Bytes(problem) => (Bins::default().into(), problem.per_channel, None),
        CountProblem::Edges(problem) => (problem.bins.into(), problem.per_channel, None),
        CountProblem::Cells(problem) => {
            (binning(problem), problem.per_channel, problem.masked.then(|| roi(problem.shape)))
        }
    };
    let histogram = apron_reference::any::histogram(image, &binning, apart, roi.as_ref())?;
    Ok(Expected::Counts(histogram.counts().to_vec()))
}

/// Computes the image by the serial reference.
pub(crate) fn expected_image(problem: &MapProblem, image: &AnyImage<'static>) -> Result<Expected> {
    let image = match (problem, image) {
        (MapProblem::Lookup(problem), AnyImage::U8(image)) => {
            AnyImage::U8(apron_reference::lookup(image, &tables(problem)))
        }
        (MapProblem::Equalize(_), AnyImage::U8(image)) => AnyImage::U8(apron_reference::equalize(image)),
        (MapProblem::Clahe(problem), AnyImage::U8(image)) => AnyImage::U8(apron_reference::clahe(image, problem)?),
        (MapProblem::Clahe(problem), AnyImage::U16(image)) => AnyImage::U16(apron_reference::clahe(image, problem)?),
        (problem, _) => panic!("no image of another type: {problem:?}"),
    };
    Ok(Expected::Image(image, Errors::default()))
}

/// Computes the numbers by the serial reference.
pub(crate) fn expected_numbers(problem: &MeasureProblem, image: &AnyImage<'static>) -> Result<Expected> {
    Ok(Expected::Numbers(match problem {
        MeasureProblem::Statistics(problem) => numbers(&apron_reference::any::statistics(image, problem.per_channel)?),
        MeasureProblem::Weighted(p) => {
            let (binning, weights) = (Binning::Between(p.edges.clone()), weights(p));
            apron_reference::any::weighted(image, &binning, p.per_channel, &weights)?.sums
        }
        MeasureProblem::Joint(p) => {
            let binning: Vec<Binning> = p.edges.iter().cloned().map(Binning::Between).collect();
            counts(&apron_reference::any::joint(image, &p.columns, &binning)?.cells)
        }
    }))
}

fn case(seed: u64, pixel: PixelType, data: Data, problem: impl Into<Problem>) -> Case {
    let problem = problem.into();
    let image = random_image(&mut StdRng::seed_from_u64(seed), pixel, problem.shape(), data);
    Case { problem, image, second: None, chosen: None }
}

/// Returns the edges of `bins` bins of random widths; from three bins on the second is empty, and the last has no upper
/// end.
fn uneven(rng: &mut StdRng, (low, high): (f64, f64), bins: usize) -> Edges {
    let mut edges: Vec<f64> = (0..bins).map(|_| rng.random_range(low..high)).chain([f64::INFINITY]).collect();
    edges.sort_by(f64::total_cmp);
    if bins > 2 {
        edges[1] = edges[2];
    }
    Edges::new(edges).expect("sorted")
}

/// Makes a histogram of random samples; for f32 in `bins` bins of random widths, some of them empty, the last without
/// an upper end.
fn cells(seed: u64, shape: Shape, src: PixelType, bins: usize, per_channel: bool, masked: bool, data: Data) -> Case {
    let edges = (src == PixelType::F32).then(|| uneven(&mut StdRng::seed_from_u64(seed), (-1.1, 1.1), bins));
    case(seed, src, data, CellHistogram { shape, src, edges, per_channel, masked })
}

/// Types that are counted directly; 16-bit floats are converted to f32.
fn counted() -> [PixelType; 4] {
    [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F32]
}

/// Adds every kernel, every number of channels, lengths around a thread's samples, more bins than a slice has.
pub(crate) fn cases(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let shape = |width, height, channels| Shape::new(width, height, channels).expect("a valid shape");
    let sizes = [(1, 1), (3, 1), (67, 33), (129, 65)];
    for (n, src) in counted().into_iter().enumerate() {
        for (m, (width, height)) in sizes.into_iter().enumerate() {
            let (shape, apart) = (shape(width, height, (n + m) as u32 % 4 + 1), m % 2 == 0);
            let data = if m == 2 { Data::Special } else { Data::Uniform };
            cases.push(cells(next(), shape, src, 300, apart, true, data));
            if src != PixelType::U8 {
                cases.push(cells(next(), shape, src, 300, !apart, false, data));
            }
        }
    }
    // More bins than a slice has, of random widths and of one width.
    for (n, data) in [Data::Uniform, Data::Constant, Data::Special, Data::Uniform].into_iter().enumerate() {
        for masked in [false, true] {
            let (shape, src, per_channel) = (shape(70, 90, n as u32 + 1), PixelType::F32, n % 2 == 1);
            cases.push(cells(next(), shape, src, 20_000, per_channel, masked, data));
            let bins = Bins { count: 17_001, range: Some((-0.9, 1.0)) };
            let edges = bins.edges(src, || (0.0, 1.0)).expect("a range");
            let problem = CellHistogram { shape, src, edges: Some(edges), per_channel, masked };
            cases.push(case(next(), src, data, problem));
        }
    }
    cases.push(cells(next(), shape(33, 21, 1), PixelType::U16, 0, false, false, Data::Constant));
    let small = [(1, 1), (3, 1), (5, 1), (16, 1), (67, 33)];
    for channels in 1..=4 {
        for (width, height) in small {
            let shape = shape(width, height, channels);
            for tables in if channels == 1 { vec![1] } else { vec![1, channels] } {
                let problem = Lookup { shape, tables };
                cases.push(case(next(), PixelType::U8, Data::Uniform, problem));
            }
            for data in [Data::Uniform, Data::Constant] {
                cases.push(case(next(), PixelType::U8, data, Equalize { shape }));
                for (clip, tiles) in [(2.0, (2, 3)), (0.0, (1, 1)), (40.0, (8, 1)), (0.3, (3, 4))] {
                    let problem = Clahe { shape, src: PixelType::U8, clip, tiles };
                    cases.push(case(next(), PixelType::U8, data, problem));
                }
            }
        }
    }
    // Clip limits that redistribute no, few and many counts; tiles that are extended by reflection, and tiles of one
    // pixel.
    for (n, (clip, tiles)) in [(2.0, (2, 2)), (0.0, (1, 1)), (60000.0, (2, 1)), (0.3, (1, 3))].into_iter().enumerate() {
        for (m, (width, height)) in [(1, 1), (5, 1), (23, 17)].into_iter().enumerate() {
            for data in [Data::Uniform, Data::Constant] {
                let (shape, src) = (shape(width, height, (n + m) as u32 % 3 + 1), PixelType::U16);
                cases.push(case(next(), src, data, Clahe { shape, src, clip, tiles }));
            }
        }
    }
    // More counts above the limit than there are values.
    let problem = Clahe { shape: shape(301, 233, 1), src: PixelType::U16, clip: 1.0, tiles: (1, 1) };
    cases.push(case(next(), PixelType::U16, Data::Constant, problem));
    statistics(scale, next, cases);
    weighted(scale, next, cases);
    joint(scale, next, cases);
    if scale == Scale::Full {
        for src in counted() {
            cases.push(cells(next(), shape(2049, 1031, 3), src, 70_000, true, true, Data::Uniform));
        }
        for channels in 1..=4 {
            let shape = shape(1031, 2049, channels);
            cases.push(case(next(), PixelType::U8, Data::Uniform, Lookup { shape, tables: channels }));
            cases.push(case(next(), PixelType::U8, Data::Uniform, Equalize { shape }));
            let problem = Clahe { shape, src: PixelType::U8, clip: 3.0, tiles: (8, 8) };
            cases.push(case(next(), PixelType::U8, Data::Uniform, problem));
            for (data, clip, tiles) in [(Data::Uniform, 2.0, (8, 8)), (Data::Constant, 0.5, (2, 1))] {
                let problem = Clahe { shape, src: PixelType::U16, clip, tiles };
                cases.push(case(next(), PixelType::U16, data, problem));
            }
        }
    }
}

/// Adds partial tiles, whole ones and several of them, blocks of some rows and of all, more rows than are folded at a
/// time.
fn statistics(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut push = |width, height, channels, data| {
        for src in [PixelType::F32, PixelType::F16] {
            let shape = Shape::new(width, height, channels).expect("a valid shape");
            let per_channel = (width + height + channels) % 2 == 0;
            for per_channel in if channels == 1 { vec![per_channel] } else { vec![false, true] } {
                let problem = FloatStatistics { shape, src, per_channel };
                cases.push(case(next(), src, data, problem));
            }
        }
    };
    for channels in 1..=4 {
        for (n, (width, height)) in [(1, 1), (1, 40), (101, 1), (97, 33)].into_iter().enumerate() {
            push(width, height, channels, if n == 0 { Data::Constant } else { Data::Uniform });
        }
        push(24, 5, channels, Data::Special);
    }
    push(3, 300, 3, Data::Uniform);
    if scale == Scale::Full {
        for channels in 1..=4 {
            push(1031, 1029, channels, Data::Uniform);
        }
        push(2049, 517, 1, Data::Special);
    }
}

/// Returns a range somewhat wider than the values of a type.
fn around(src: PixelType) -> (f64, f64) {
    src.values().map_or((-1.1, 1.1), |(low, values)| (low as f64 - 9.5, low as f64 + values as f64 * 1.1))
}

/// Adds every type and number of channels, a single bin and more bins than a block takes, several blocks of samples.
fn weighted(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut push = |width, height, channels, src, bins, per_channel, data| {
        let (seed, shape) = (next(), Shape::new(width, height, channels).expect("a valid shape"));
        let edges = uneven(&mut StdRng::seed_from_u64(seed), around(src), bins);
        // Alternates between f32 images and f64 numbers as weights.
        let single = cases.len() % 2 == 1;
        cases.push(case(seed, src, data, WeightedBins { shape, src, edges, per_channel, single }));
    };
    for (n, src) in SINGLES.into_iter().enumerate() {
        for (m, (width, height)) in [(1, 1), (5, 1), (1, 6), (53, 21)].into_iter().enumerate() {
            let (channels, data) = ((n + m) as u32 % 4 + 1, [Data::Uniform, Data::Special][m / 3]);
            push(width, height, channels, src, [1, 3, 7, 300][m], m % 2 == n % 2, data);
        }
        push(9, 5, 2, src, 4, n % 2 == 0, Data::Constant);
    }
    push(301, 229, 1, PixelType::U8, 20, false, Data::Uniform);
    push(199, 111, 3, PixelType::F32, 3, false, Data::Uniform);
    if scale == Scale::Full {
        for (n, src) in SINGLES.into_iter().enumerate() {
            push(1031, 517, n as u32 % 4 + 1, src, [256, 1000, 5000][n % 3], n % 2 == 0, Data::Uniform);
        }
        push(2049, 1031, 1, PixelType::F32, 256, false, Data::Special);
    }
}

/// Adds every type, one to eight columns of few cells and of more than a slice has, and the same channel twice.
fn joint(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut push = |width, height, channels: u32, src, bins: &[usize], data| {
        let (seed, shape) = (next(), Shape::new(width, height, channels).expect("a valid shape"));
        let rng = &mut StdRng::seed_from_u64(seed);
        let edges = bins.iter().map(|&bins| uneven(rng, around(src), bins)).collect();
        let picked = bins.iter().map(|_| rng.random_range(0..channels)).collect();
        let columns = Columns::new(channels, picked).expect("channels of the image");
        cases.push(case(seed, src, data, JointHistogram { shape, src, columns, edges, weights: None }));
    };
    for (n, src) in SINGLES.into_iter().chain([PixelType::F64]).enumerate() {
        for (m, (width, height)) in [(1, 1), (5, 1), (1, 6), (53, 21), (19, 7)].into_iter().enumerate() {
            let data = [Data::Uniform, Data::Special][m / 3];
            let bins = [&[1, 1][..], &[3, 40], &[300], &[16, 2, 9], &[3, 1, 2, 3, 2, 4, 1, 2]][m];
            push(width, height, (n + m) as u32 % 4 + 1, src, bins, data);
        }
        push(9, 5, 2, src, &[4, 4], Data::Constant);
    }
    push(61, 47, 3, PixelType::F32, &[150, 151], Data::Uniform);
    // More cells than are counted by slices.
    push(61, 47, 3, PixelType::U8, &[260, 260], Data::Uniform);
    push(31, 47, 3, PixelType::F32, &[60, 60, 70], Data::Uniform);
    if scale == Scale::Full {
        for (n, src) in SINGLES.into_iter().enumerate() {
            push(1031, 1029, n as u32 % 4 + 1, src, &[256, 300], Data::Uniform);
        }
    }
}
