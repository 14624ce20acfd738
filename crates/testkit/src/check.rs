//! Runs a case, and compares its result with the expected one.

use crate::case::Case;
use crate::exact::{self, Exact};
use apron::{
    AnyImage, Device, DeviceName, Error, Extent, FilterBuilder, HistogramBuilder, Image, Pixel, PixelType, Result,
    Shape, Source,
};
use apron_core::{CountProblem, FilterProblem, PointOp, Pointwise, Problem, Sample, each_type};
use apron_plan::Machine;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The operation.
    pub operation: &'static str,
    /// The variant that ran.
    pub variant: String,
    /// Shape, types, mask and border.
    pub case: String,
    /// Blocks and threads of each launch, if kernels ran.
    pub geometry: String,
    /// Largest distance from the exact result; for integers and counts, from the reference.
    pub largest_error: f64,
    /// Largest allowed distance over the whole image.
    pub bound: f64,
    /// Largest ratio of a sample's distance to its allowed distance.
    pub error_to_bound: f64,
    /// The first mismatch, or the error; `None` for success.
    pub failure: Option<String>,
}

/// The expected result of a case.
#[derive(Debug)]
pub enum Expected {
    /// The image, compared bit for bit, and its distance from the exact result, which an equal image shares.
    Image(AnyImage<'static>, Errors),
    /// The counts, which must be equal.
    Counts(Vec<u64>),
    /// The numbers, compared bit for bit.
    Numbers(Vec<f64>),
}

/// Distances of f32 or f64 samples from the exact result. Integers are exact, and have none.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    largest: f64,
    bound: f64,
    /// Largest ratio of a sample's distance to its allowed distance.
    to_bound: f64,
    /// The first sample whose distance exceeds the allowed one.
    beyond: Option<String>,
}

impl Errors {
    fn of(problem: &FilterProblem, case: &Case, image: &AnyImage<'_>) -> Errors {
        let mut errors = Errors::default();
        // Integers are the reference's, but for casts, which are checked in whole numbers of 128 bits.
        let casts = matches!(problem, FilterProblem::Pointwise(Pointwise { op: PointOp::Cast(_), .. }));
        if !casts && !matches!(image, AnyImage::F32(_) | AnyImage::F64(_)) {
            return errors;
        }
        let (shape, largest) = (image.shape(), if let AnyImage::F32(_) = image { f32::MAX as f64 } else { f64::MAX });
        let (row, channels) = (shape.row_samples(), shape.channels as usize);
        let exact: Box<dyn Fn(u32, u32, u32) -> Exact> = match problem {
            FilterProblem::Fft(problem) => Box::new(crate::fft::exact(problem, &case.image)),
            FilterProblem::Volume(problem) => Box::new(crate::volumes::exact(problem, &case.image)),
            _ => Box::new(|x, y, channel| exact::filter(problem, case, x, y, channel)),
        };
        for index in (0..shape.samples() as usize).step_by(exact::stride(problem)) {
            let (x, y, channel) = (index % row / channels, index / row, index % channels);
            let exact = exact(x as u32, y as u32, channel as u32);
            if exact.value.is_nan() {
                continue;
            }
            let found = each_type!(image, image => image.row(y as u32)[index % row].to_f64());
            // A sum beyond the type is infinite.
            let most = exact.value.abs() + exact.bound;
            if found.is_infinite() && most > largest && (found > 0.0) == (exact.value > 0.0) {
                continue;
            }
            let error = (found - exact.value).abs();
            errors.largest = errors.largest.max(error);
            errors.bound = errors.bound.max(exact.bound);
            errors.to_bound = errors.to_bound.max(error / exact.bound);
            if error.is_nan() || error > exact.bound {
                let place = place(shape, index);
                errors.beyond = Some(format!("{place}: {found} is not within {:e} of {}", exact.bound, exact.value));
                break;
            }
        }
        errors
    }
}

/// Number of products above which the serial reference would take many seconds.
const SERIAL_PRODUCTS: u64 = 400_000_000;

impl Case {
    /// Whether the serial reference would take too long, so that the parallel CPU computes the expected result.
    pub fn is_large(&self) -> bool {
        self.products() > SERIAL_PRODUCTS
    }

    /// Returns the products that the serial reference computes.
    pub(crate) fn products(&self) -> u64 {
        let taps = match self.filter() {
            Some(FilterProblem::Correlate(problem)) => problem.mask.taps().len() as u64,
            // Stages of butterflies.
            Some(FilterProblem::Fft(_)) => 64,
            Some(FilterProblem::Separable(problem)) => (problem.taps_x.len() + problem.taps_y.len()) as u64,
            Some(FilterProblem::LowRank(problem)) => {
                let taps = problem.separables().map(|term| (term.taps_x.len() + term.taps_y.len()) as u64);
                taps.sum()
            }
            Some(FilterProblem::Scaled(problem)) => exact::taps(&problem.sums()),
            Some(FilterProblem::Paired(problem)) => {
                let filters = problem.parts().filter_map(|part| problem.filter(part));
                filters.map(|filter| filter.size()).map(|(width, height)| (width + height) as u64).sum()
            }
            Some(FilterProblem::Box(problem)) => (problem.width + problem.height) as u64,
            Some(FilterProblem::LocalStd(problem)) => problem.width as u64 * problem.height as u64,
            Some(FilterProblem::Volume(problem)) => problem.weights.count(),
            Some(FilterProblem::Pointwise(_) | FilterProblem::Pad(_)) | None => 1,
        };
        self.image.shape().samples() * taps
    }
}

impl Expected {
    /// Computes the result by the serial reference; for a [large](Case::is_large) case by the parallel CPU, which the
    /// suite compares with the reference, bit for bit, at all other sizes.
    ///
    /// # Errors
    /// Errors of the case's problem.
    pub fn of(case: &Case) -> Result<Expected> {
        let filter = match (&case.problem, &case.image) {
            (Problem::Count(CountProblem::Bytes(problem)), AnyImage::U8(image)) => {
                return Ok(Expected::Counts(apron_reference::byte_histogram(image, problem.per_channel)));
            }
            (Problem::Count(problem), image) => return crate::values::expected_counts(problem, image),
            (Problem::Map(problem), image) => return crate::values::expected_image(problem, image),
            (Problem::Measure(problem), image) => return crate::values::expected_numbers(problem, image),
            (Problem::Filter(filter), _) => filter,
        };
        if let (FilterProblem::Correlate(p), AnyImage::U8(image)) = (filter, &case.image)
            && case.chosen.is_none()
            && (p.shape.channels, p.mask.width(), p.mask.height(), p.dst) == (4, 3, 3, PixelType::U8)
            && !p.clamp
            && p.extent == Extent::Same
        {
            return apron_reference::rgba3x3(image, &p.mask, p.border)
                .map(|image| Expected::Image(AnyImage::U8(image), Errors::default()));
        }
        let device = if case.is_large() { Device::cpu() } else { Device::reference() };
        let (image, _) = run(&device, case, None)?;
        let errors = Errors::of(filter, case, &image);
        Ok(Expected::Image(image, errors))
    }
}

/// Runs `case` on `device` by `variant` (or the default one), and compares the result with the expected one.
pub fn check(device: &Device, case: &Case, variant: Option<&str>, expected: &Expected) -> Outcome {
    let mut outcome = Outcome {
        operation: case.solved().operation(),
        variant: variant.unwrap_or("").into(),
        case: case.to_string(),
        geometry: device.machine().map_or("-".into(), |machine| geometry(case, variant, &machine)),
        largest_error: 0.0,
        bound: 0.0,
        error_to_bound: 0.0,
        failure: None,
    };
    let compared = match expected {
        Expected::Counts(counts) => histogram(device, case, variant, counts, &mut outcome),
        Expected::Numbers(expected) => numbers(device, case, variant, expected, &mut outcome),
        Expected::Image(image, errors) => filter(device, case, variant, image, errors, &mut outcome),
    };
    match compared {
        Ok(mismatch) => outcome.failure = mismatch,
        Err(error) => outcome.failure = Some(error.to_string()),
    }
    outcome
}

/// Runs `case` on `device` by every variant that supports it.
pub fn check_all(device: &Device, case: &Case) -> Vec<Outcome> {
    let expected = Expected::of(case);
    let outcomes = variants(device, case).into_iter().map(|variant| match &expected {
        Ok(expected) => check(device, case, variant, expected),
        Err(error) => Outcome {
            operation: case.problem.operation(),
            variant: variant.unwrap_or("").into(),
            case: case.to_string(),
            geometry: "-".into(),
            largest_error: 0.0,
            bound: 0.0,
            error_to_bound: 0.0,
            failure: Some(format!("the reference: {error}")),
        },
    });
    outcomes.collect()
}

/// Runs [`check_all`] for many cases, on all cores; outcomes come in the order of the cases, while others still run.
pub fn check_each<'a>(
    device: &'a Device,
    cases: impl IntoIterator<Item = Case, IntoIter: 'a>,
) -> impl Iterator<Item = Outcome> + 'a {
    let mut cases = cases.into_iter();
    // In batches, since cases hold their images; many in each, since a batch ends with the slowest of its cases.
    let batch = 64 * rayon::current_num_threads();
    std::iter::from_fn(move || {
        let some: Vec<Case> = cases.by_ref().take(batch).collect();
        (!some.is_empty()).then(|| some.par_iter().map(|case| check_all(device, case)).collect::<Vec<_>>())
    })
    .flatten()
    .flatten()
}

/// Returns the variants by which a device can run a case: all that support it, or the only one of a host device. None
/// on the CPU if the CPU itself computes the expected result.
pub fn variants(device: &Device, case: &Case) -> Vec<Option<&'static str>> {
    match device.name() {
        DeviceName::Cpu if case.is_large() => Vec::new(),
        DeviceName::Gpu(_) | DeviceName::Gpus(_) | DeviceName::Emulator => {
            let machine = device.machine().expect("a device that runs kernels");
            if case.chosen.is_some() {
                let recipe = apron_plan::plan(&case.solved(), None, &machine);
                return if let Err(Error::Unsupported { .. }) = recipe { Vec::new() } else { vec![None] };
            }
            eligible(&case.problem, &machine).map(Some).collect()
        }
        _ => vec![None],
    }
}

/// Returns the variants that support a problem.
pub fn eligible(problem: &Problem, machine: &Machine) -> impl Iterator<Item = &'static str> {
    let all = apron_plan::variants(problem.operation()).map(|variant| variant.name);
    all.filter(|name| !matches!(apron_plan::plan(problem, Some(name), machine), Err(Error::Unsupported { .. })))
}

/// Formats the blocks and threads of the planned launches.
fn geometry(case: &Case, variant: Option<&str>, machine: &Machine) -> String {
    apron_plan::plan(&case.solved(), variant, machine).map_or("-".into(), |recipe| recipe.grid())
}

/// Builds the filter that solves a problem for an image.
///
/// # Panics
/// For a filter without weights, and for one that is given by a mask only.
pub fn filter_of<'a>(device: &'a Device, problem: &FilterProblem, image: impl Into<Source<'a>>) -> FilterBuilder<'a> {
    match problem {
        FilterProblem::Correlate(p) => {
            device.correlate(image, &p.mask).border(p.border).extent(p.extent).out_type(p.dst).clamp(p.clamp)
        }
        FilterProblem::Separable(p) => {
            device.separable(image, &p.taps_x, &p.taps_y).border(p.border).extent(p.extent).out_type(p.dst)
        }
        FilterProblem::Box(p) => {
            device.box_filter(image, p.width, p.height).border(p.border).extent(p.extent).out_type(p.dst)
        }
        other => panic!("no filter with weights: {other:?}"),
    }
}

/// Builds the histogram that solves a problem for an image.
pub fn histogram_of<'a>(
    device: &'a Device,
    problem: &CountProblem,
    image: impl Into<Source<'a>>,
) -> HistogramBuilder<'a> {
    match problem {
        CountProblem::Bytes(problem) => device.histogram(image).per_channel(problem.per_channel),
        CountProblem::Edges(problem) => device.histogram(image).bins(problem.bins).per_channel(problem.per_channel),
        CountProblem::Cells(problem) => crate::values::histogram_of(device, problem, image.into()),
    }
}

fn run(device: &Device, case: &Case, variant: Option<&str>) -> Result<(AnyImage<'static>, String)> {
    let problem = match &case.problem {
        Problem::Filter(problem) => problem,
        Problem::Map(problem) => {
            let image = crate::values::image_of(device, problem, &case.image).variant(variant).run()?;
            return Ok((image.download_any()?, image.report()?.variant));
        }
        Problem::Count(_) | Problem::Measure(_) => panic!("numbers are no image"),
    };
    let Some(method) = case.chosen else {
        let second = case.second.as_ref().map(Source::from);
        let image = device.solve_with(problem, &case.image, second, variant)?;
        return Ok((image.download_any()?, image.report()?.variant));
    };
    let image = filter_of(device, problem, &case.image).variant(variant).run()?;
    let report = image.report()?;
    if report.method != Some(method) {
        let what = format!("method {:?} was chosen ({}), but expected {method}", report.method, report.why_method);
        return Err(Error::Mismatch { operation: report.operation, what });
    }
    Ok((image.download_any()?, report.variant))
}

fn filter(
    device: &Device,
    case: &Case,
    variant: Option<&str>,
    expected: &AnyImage<'_>,
    errors: &Errors,
    outcome: &mut Outcome,
) -> Result<Option<String>> {
    let (result, ran) = run(device, case, variant)?;
    outcome.variant = ran;
    if let Some(mismatch) = first_mismatch(&result, expected) {
        return Ok(Some(format!("against the reference: {mismatch}")));
    }
    outcome.largest_error = errors.largest;
    outcome.bound = errors.bound;
    outcome.error_to_bound = errors.to_bound;
    Ok(errors.beyond.clone())
}

fn histogram(
    device: &Device,
    case: &Case,
    variant: Option<&str>,
    expected: &[u64],
    outcome: &mut Outcome,
) -> Result<Option<String>> {
    let Problem::Count(problem) = &case.problem else { panic!("only histograms have counts") };
    let request = histogram_of(device, problem, &case.image).variant(variant);
    let (histogram, report) = request.run_reported()?;
    outcome.variant = report.variant;
    let wrong = histogram.counts().iter().zip(expected).position(|(found, expected)| found != expected);
    Ok(wrong.map(|index| {
        let (channel, bin) = (index / histogram.bins(), index % histogram.bins());
        format!("channel {channel}, bin {bin}: {} instead of {}", histogram.counts()[index], expected[index])
    }))
}

fn numbers(
    device: &Device,
    case: &Case,
    variant: Option<&str>,
    expected: &[f64],
    outcome: &mut Outcome,
) -> Result<Option<String>> {
    let Problem::Measure(problem) = &case.problem else { panic!("an image, or counts") };
    let (found, ran) = crate::values::numbers_of(device, problem, &case.image, variant)?;
    outcome.variant = ran;
    if found.len() != expected.len() {
        return Ok(Some(format!("{} numbers instead of {}", found.len(), expected.len())));
    }
    let wrong = found.iter().zip(expected).position(|(found, expected)| !is_same(*found, *expected));
    Ok(wrong.map(|index| format!("number {index}: {} instead of {}", found[index], expected[index])))
}

/// Whether two numbers have the same bits, or are both NaN.
fn is_same(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits()
}

/// Returns the first difference of two images, with both values; NaN equals NaN, and 0 differs from -0.
pub fn first_mismatch(found: &AnyImage<'_>, expected: &AnyImage<'_>) -> Option<String> {
    fn typed<T: Pixel>(found: &Image<'_, T>, expected: &AnyImage<'_>) -> Option<String> {
        let Some(expected) = T::from_any(expected.view()) else {
            return Some(format!("{} pixels instead of {}", T::PIXEL, expected.pixel_type()));
        };
        if found.shape() != expected.shape() {
            return Some(format!("shape {} instead of {}", found.shape(), expected.shape()));
        }
        // Integers of 64 bits have more digits than f64.
        let same = |a: &T, b: &T| if T::PIXEL.is_float() { is_same(a.to_f64(), b.to_f64()) } else { a == b };
        let pairs = found.rows().flatten().zip(expected.rows().flatten());
        let mut pairs = pairs.enumerate().filter(|(_, (a, b))| !same(a, b));
        let (index, (a, b)) = pairs.next()?;
        Some(format!("{}: {a:?} instead of {b:?} ({} more)", place(found.shape(), index), pairs.count()))
    }
    each_type!(found, found => typed(found, expected))
}

fn place(shape: Shape, index: usize) -> String {
    let (row, channels) = (shape.row_samples(), shape.channels as usize);
    format!("row {}, column {}, channel {}", index / row, index % row / channels, index % channels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::Border;
    use apron::PixelType::{F32, U8};

    #[test]
    fn a_wrong_sample_is_found_and_named() {
        let case = Case::correlate(1, (5, 4, 2), (U8, F32), (3, 3), Border::Wrap, crate::Data::Uniform);
        let (right, _) = run(&Device::reference(), &case, None).unwrap();
        assert_eq!(first_mismatch(&right, &right), None);
        let AnyImage::F32(image) = right.clone() else { panic!("f32 was asked for") };
        let mut samples = image.into_packed();
        samples[5 * 2 * 2 + 3] = f32::from_bits(samples[5 * 2 * 2 + 3].to_bits() ^ 1);
        let wrong = AnyImage::F32(Image::new(5, 4, 2, samples).unwrap());
        let mismatch = first_mismatch(&wrong, &right).unwrap();
        assert!(mismatch.starts_with("row 2, column 1, channel 1"), "{mismatch}");
    }

    #[test]
    fn a_result_beyond_the_bound_is_found_and_named() {
        let case = Case::correlate(1, (5, 4, 2), (U8, F32), (3, 3), Border::Wrap, crate::Data::Uniform);
        let (right, _) = run(&Device::reference(), &case, None).unwrap();
        let errors = Errors::of(case.filter().unwrap(), &case, &right);
        assert!(errors.beyond.is_none() && (0.0..=1.0).contains(&errors.to_bound) && errors.bound > 0.0, "{errors:?}");
        let AnyImage::F32(image) = right else { panic!("f32 was asked for") };
        let mut samples = image.into_packed();
        samples[5 * 2 * 2 + 3] += 2.0 * errors.bound as f32;
        let errors = Errors::of(case.filter().unwrap(), &case, &AnyImage::F32(Image::new(5, 4, 2, samples).unwrap()));
        let beyond = errors.beyond.unwrap();
        assert!(errors.to_bound > 1.0 && beyond.starts_with("row 2, column 1, channel 1: "), "{beyond}");
    }

    #[test]
    fn an_error_is_a_failure() {
        let case = Case::correlate(1, (5, 4, 2), (U8, F32), (3, 3), Border::Wrap, crate::Data::Uniform);
        let expected = Expected::of(&case).unwrap();
        let outcome = check(&Device::emulator(), &case, Some("no-such"), &expected);
        assert!(outcome.failure.unwrap().contains("no-such"));
    }
}
