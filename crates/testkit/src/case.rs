//! Cases: problems with their data.

use apron::{AnyImage, Bins, Bool, Border, Image, Mask, Method, Pixel, PixelType, Shape, Taps, filters};
use apron_core::{
    BoxFilter, ByteHistogram, Correlate, EdgeHistogram, Extent, FilterProblem, Problem, Scale, Separable, f16,
    join_extremes,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A problem, and the image to solve it for.
#[derive(Clone, Debug)]
pub struct Case {
    /// The problem.
    pub problem: Problem,
    /// The input, of the problem's shape and type.
    pub image: AnyImage<'static>,
    /// The second input, for problems that have one.
    pub second: Option<AnyImage<'static>>,
    /// The method that must be chosen for it; `None` if it is solved as stated.
    pub chosen: Option<Method>,
}

/// Distribution of an image's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Data {
    /// Uniformly distributed: all u8 values; f32 from -1 to 1.
    Uniform,
    /// A single value.
    Constant,
    /// f32 numbers, with NaN, infinities, zeros of both signs and denormals among them.
    Special,
}

/// Makes an image of random samples.
pub fn random_image(rng: &mut StdRng, pixel: PixelType, shape: Shape, data: Data) -> AnyImage<'static> {
    fn image<T: Pixel>(shape: Shape, sample: impl FnMut() -> T) -> AnyImage<'static> {
        let samples: Vec<T> = std::iter::repeat_with(sample).take(shape.samples() as usize).collect();
        T::into_any(Image::new(shape.width, shape.height, shape.channels, samples).expect("a valid shape"))
    }
    const SPECIAL: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, f32::MAX, f32::MIN];
    if !pixel.is_computed() {
        // Every bit pattern of integers, and both values of bool.
        let mut bits = || if data == Data::Constant { 77 } else { rng.random::<u64>() };
        return match pixel {
            PixelType::Bool => image(shape, || Bool::from(bits() & 1 == 1)),
            PixelType::I8 => image(shape, || bits() as i8),
            PixelType::U32 => image(shape, || bits() as u32),
            PixelType::I32 => image(shape, || bits() as i32),
            PixelType::U64 => image(shape, &mut bits),
            _ => image(shape, || bits() as i64),
        };
    }
    match (pixel, data) {
        (PixelType::U8, Data::Constant) => image(shape, || 77u8),
        (PixelType::U16, Data::Constant) => image(shape, || 7700u16),
        (PixelType::I16, Data::Constant) => image(shape, || -77i16),
        (PixelType::F16, Data::Constant) => image(shape, || f16::from_f32(0.77)),
        (PixelType::F32, Data::Constant) => image(shape, || 0.77f32),
        (PixelType::F64, Data::Constant) => image(shape, || 0.77f64),
        (PixelType::U8, _) => image(shape, || rng.random::<u8>()),
        (PixelType::U16, _) => image(shape, || rng.random::<u16>()),
        (PixelType::I16, _) => image(shape, || rng.random::<i16>()),
        (PixelType::F16, Data::Uniform) => image(shape, || f16::from_f32(rng.random_range(-1.0f32..1.0))),
        // Every bit pattern: numbers of all magnitudes, infinities and NaN.
        (PixelType::F16, Data::Special) => image(shape, || f16::from_bits(rng.random())),
        (PixelType::F32, Data::Uniform) => image(shape, || rng.random_range(-1.0f32..1.0)),
        (PixelType::F32, Data::Special) => image(shape, || {
            if rng.random_ratio(1, 16) {
                SPECIAL[rng.random_range(0..SPECIAL.len())]
            } else {
                rng.random_range(-1.0..1.0)
            }
        }),
        (PixelType::F64, Data::Uniform) => image(shape, || rng.random_range(-1.0f64..1.0)),
        (PixelType::F64, Data::Special) => image(shape, || match rng.random_range(0..64) {
            n @ 0..3 => SPECIAL[n] as f64,
            3 => 1e-310,
            4 => f64::MAX,
            _ => rng.random_range(-1.0..1.0),
        }),
        _ => unreachable!("returned above"),
    }
}

/// Returns random taps, from -1 to 1.
pub(crate) fn random_taps(rng: &mut StdRng, count: u32) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Types that filters take as input and output in any combination: all but f64.
pub(crate) const SINGLES: [PixelType; 5] =
    [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F16, PixelType::F32];

/// Makes bins at least one f32 step wide: reduces their number, or else changes their range.
fn with_widths(mut bins: Bins, extremes: (f64, f64)) -> Bins {
    let fit = |bins: Bins| bins.edges(PixelType::F32, || extremes).is_ok();
    while !fit(bins) && bins.count > 1 {
        bins.count /= 2;
    }
    if !fit(bins) {
        bins.range = bins.range.map(|(low, _)| (low, f64::from((low as f32).next_up())));
    }
    bins
}

impl Case {
    /// Makes a dense correlation of a random image with a random mask and anchor.
    pub fn correlate(
        seed: u64,
        shape: (u32, u32, u32),
        types: (PixelType, PixelType),
        mask: (u32, u32),
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let anchor = (rng.random_range(0..mask.0), rng.random_range(0..mask.1));
        let taps = random_taps(rng, mask.0 * mask.1);
        let mask = Mask::from_f64(mask.0, mask.1, taps).and_then(|mask| mask.with_anchor(anchor.0, anchor.1));
        let mask = mask.expect("a valid mask");
        let image = random_image(rng, types.0, shape, data);
        Case {
            problem: Problem::from(Correlate {
                shape,
                src: types.0,
                dst: types.1,
                mask,
                border,
                clamp: false,
                extent: Extent::Same,
            }),
            image,
            second: None,
            chosen: None,
        }
    }

    /// Makes the articles' dense correlation: a mask of ones, zero outside, f32.
    pub fn ones(seed: u64, shape: (u32, u32, u32), mask: (u32, u32)) -> Case {
        let ones = Mask::new(mask.0, mask.1, vec![1.0; (mask.0 * mask.1) as usize]).expect("a valid mask");
        let types = (PixelType::F32, PixelType::F32);
        Case::correlate(seed, shape, types, mask, Border::Constant(0.0), Data::Uniform).with_mask(ones)
    }

    /// Makes one of the articles' 3x3 filters: 8-bit RGBA to 8-bit RGBA, by a named mask.
    pub fn rgba(seed: u64, size: (u32, u32), name: &str, border: Border) -> Case {
        let mask = filters::named_mask(name).expect("a named mask");
        let types = (PixelType::U8, PixelType::U8);
        Case::correlate(seed, (size.0, size.1, 4), types, (3, 3), border, Data::Uniform).with_mask(mask)
    }

    /// Makes a filter with large taps that nearly cancel, over u8 samples of one value: f32 accumulation would round to
    /// other results.
    pub fn cancelling(seed: u64, size: (u32, u32)) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let pairs = (0..4).flat_map(|_| {
            let large = rng.random_range(1e6f32..1e7);
            [large, rng.random_range(0.0f32..0.7) - large]
        });
        let taps: Vec<f32> = pairs.chain([0.1]).collect();
        let types = (PixelType::U8, PixelType::U8);
        let case = Case::correlate(seed, (size.0, size.1, 4), types, (3, 3), Border::Replicate, Data::Constant);
        case.with_mask(Mask::new(3, 3, taps).expect("a valid mask"))
    }

    /// Requires that the case is solved by the method that suits it, and that it is this one.
    pub fn by(self, method: Method) -> Case {
        Case { chosen: Some(method), ..self }
    }

    /// Returns the problem that is solved: as stated, or by the method that suits it.
    pub(crate) fn solved(&self) -> Problem {
        match (&self.problem, self.chosen) {
            (Problem::Filter(filter), Some(_)) => filter.clone().by_method(None).map(|choice| choice.problem.into()),
            (problem, _) => Ok(problem.clone()),
        }
        .unwrap_or_else(|_| self.problem.clone())
    }

    /// Returns its problem, if that is a filter's.
    pub fn filter(&self) -> Option<&FilterProblem> {
        if let Problem::Filter(filter) = &self.problem { Some(filter) } else { None }
    }

    pub(crate) fn filter_mut(&mut self) -> Option<&mut FilterProblem> {
        if let Problem::Filter(filter) = &mut self.problem { Some(filter) } else { None }
    }

    /// Replaces the taps of both axes.
    pub(crate) fn with_taps(mut self, x: Taps, y: Taps) -> Case {
        if let Some(FilterProblem::Separable(problem)) = self.filter_mut() {
            (problem.taps_x, problem.taps_y) = (x, y);
        }
        self
    }

    /// Turns a box filter into a mean.
    pub(crate) fn mean(mut self) -> Case {
        if let Some(FilterProblem::Box(problem)) = self.filter_mut() {
            problem.scale = Scale::Mean;
        }
        self
    }

    pub(crate) fn with_mask(mut self, mask: Mask) -> Case {
        if let Some(FilterProblem::Correlate(problem)) = self.filter_mut() {
            problem.mask = mask;
        }
        self
    }

    /// Scales the taps so that their magnitudes sum to 1 on each axis, and few sums are out of range.
    pub fn averaging(self) -> Case {
        self.each_tap(|tap, total| tap / total)
    }

    /// Rounds the taps to sixteenths, so that sums in f32 are exact and many end in a half.
    pub fn in_sixteenths(self) -> Case {
        self.each_tap(|tap, _| (tap * 6.0).round() / 16.0)
    }

    /// Replaces each tap by a function of it and of the sum of the magnitudes.
    pub(crate) fn each_tap(mut self, mut new: impl FnMut(f32, f32) -> f32) -> Case {
        let mut all = |taps: &[f32]| -> Vec<f32> {
            let total = taps.iter().map(|tap| tap.abs()).sum();
            taps.iter().map(|&tap| new(tap, total)).collect()
        };
        match self.filter_mut() {
            Some(FilterProblem::Separable(problem)) => {
                for taps in [&mut problem.taps_x, &mut problem.taps_y] {
                    let other = Taps::new(all(taps.taps())).and_then(|other| other.with_anchor(taps.anchor()));
                    *taps = other.expect("as many taps");
                }
            }
            Some(FilterProblem::Correlate(problem)) => {
                let (mask, (x, y)) = (&problem.mask, problem.mask.anchor());
                let other = Mask::new(mask.width(), mask.height(), all(mask.taps()));
                problem.mask = other.and_then(|other| other.with_anchor(x, y)).expect("as many taps");
            }
            _ => {}
        }
        self
    }

    /// Moves the anchors to the middle of the taps, as in the articles.
    pub fn centered(mut self) -> Case {
        match self.filter_mut() {
            Some(FilterProblem::Separable(problem)) => {
                for taps in [&mut problem.taps_x, &mut problem.taps_y] {
                    *taps = Taps::new(taps.taps()).expect("taps of before");
                }
            }
            Some(FilterProblem::Correlate(problem)) => {
                let (mask, x, y) = (problem.mask.clone(), problem.mask.width() / 2, problem.mask.height() / 2);
                problem.mask = mask.with_anchor(x, y).expect("a tap");
            }
            Some(FilterProblem::Box(problem)) => problem.anchor = (problem.width / 2, problem.height / 2),
            _ => {}
        }
        self
    }

    /// Makes the taps of a separable filter those of a blur: positive, with a sum of about 1.
    pub fn smooth(mut self) -> Case {
        if let Some(FilterProblem::Separable(problem)) = self.filter_mut() {
            for taps in [&mut problem.taps_x, &mut problem.taps_y] {
                let total: f64 = taps.taps_f64().iter().map(|tap| tap.abs()).sum();
                let blur: Vec<f64> = taps.taps_f64().iter().map(|tap| tap.abs() / total).collect();
                *taps = Taps::from_f64(blur).and_then(|blur| blur.with_anchor(taps.anchor())).expect("valid taps");
            }
        }
        self
    }

    /// Clamps the sums to 0..1, for f32 output.
    pub fn clamped(mut self) -> Case {
        if let Some(FilterProblem::Correlate(problem)) = self.filter_mut() {
            problem.clamp = true;
        }
        self
    }

    /// Makes a separable correlation of a random image with random taps and anchors.
    pub fn separable(
        seed: u64,
        shape: (u32, u32, u32),
        types: (PixelType, PixelType),
        taps: (u32, u32),
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let mut axis = |count: u32| {
            let anchor = rng.random_range(0..count);
            Taps::from_f64(random_taps(rng, count)).and_then(|taps| taps.with_anchor(anchor)).expect("valid taps")
        };
        let (taps_x, taps_y) = (axis(taps.0), axis(taps.1));
        let image = random_image(rng, types.0, shape, data);
        Case {
            problem: Problem::from(Separable {
                shape,
                src: types.0,
                dst: types.1,
                taps_x,
                taps_y,
                border,
                extent: Extent::Same,
            }),
            image,
            second: None,
            chosen: None,
        }
    }

    /// Makes a box filter of a random image with a random anchor: a mean, or sums scaled by a tap.
    pub fn box_filter(
        seed: u64,
        shape: (u32, u32, u32),
        types: (PixelType, PixelType),
        (width, height): (u32, u32),
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let anchor = (rng.random_range(0..width), rng.random_range(0..height));
        let most = 2.0 / (width * height) as f32;
        let scale = if rng.random() { Scale::Mean } else { Scale::Tap(rng.random_range(-most..most)) };
        let image = random_image(rng, types.0, shape, data);
        let (src, dst) = types;
        Case {
            problem: Problem::from(BoxFilter {
                shape,
                src,
                dst,
                width,
                height,
                anchor,
                border,
                scale,
                extent: Extent::Same,
            }),
            image,
            second: None,
            chosen: None,
        }
    }

    /// Makes a histogram of random or constant u8 samples.
    pub fn histogram(seed: u64, shape: (u32, u32, u32), per_channel: bool, data: Data) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let image = random_image(rng, PixelType::U8, shape, data);
        Case { problem: Problem::from(ByteHistogram { shape, per_channel }), image, second: None, chosen: None }
    }

    /// Makes a histogram of f32 by `bins`, adjusted to be at least one f32 step wide. Samples lie in and around the
    /// range, some exactly on an edge or next to one, and with [`Data::Special`] some are NaN or infinite; or all have
    /// one value.
    pub fn between_edges(seed: u64, shape: (u32, u32, u32), bins: Bins, per_channel: bool, data: Data) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let (AnyImage::F32(image), Some(range)) = (random_image(rng, PixelType::F32, shape, data), bins.range) else {
            return Case::own_range(rng, shape, bins.count, per_channel, data);
        };
        let bins = with_widths(bins, range);
        let edges = bins.edges(PixelType::F32, || range).expect("bins with widths");
        let edges: Vec<f32> = edges.values().iter().map(|&edge| edge as f32).collect();
        let (low, high) = (edges[0], edges[bins.count]);
        let place = |sample: f32| {
            if data == Data::Constant || sample.abs() > 1.0 || sample.is_nan() {
                return sample;
            }
            let edge = edges[rng.random_range(0..edges.len())];
            match rng.random_range(0..8) {
                0 => edge,
                1 => edge.next_down(),
                2 => edge.next_up(),
                // A little beyond either end.
                3 => low + (high - low) * (sample * 0.6 + 0.5),
                4 if data == Data::Special => sample,
                _ => low + (high - low) * sample.abs(),
            }
        };
        let samples: Vec<f32> = image.into_packed().into_iter().map(place).collect();
        let image = Image::new(shape.width, shape.height, shape.channels, samples).expect("a valid shape");
        let problem = EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel };
        Case { problem: Problem::from(problem), image: AnyImage::F32(image), second: None, chosen: None }
    }

    /// Makes a histogram of u16 or i16 by `bins` over a range: all values in turn, in a scrambled order, if there are
    /// 65536 samples or more.
    pub fn values_between_edges(shape: (u32, u32, u32), src: PixelType, bins: Bins, per_channel: bool) -> Case {
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        // The multiplier is odd, so that no value repeats before all have occurred.
        let values = (0..shape.samples()).map(|i| (i as u16).wrapping_mul(40503).wrapping_add(7));
        fn image<T: Pixel>(shape: Shape, samples: Vec<T>) -> AnyImage<'static> {
            T::into_any(Image::new(shape.width, shape.height, shape.channels, samples).expect("a valid shape"))
        }
        let image = match src {
            PixelType::U16 => image(shape, values.collect::<Vec<u16>>()),
            _ => image(shape, values.map(|value| value as i16).collect::<Vec<i16>>()),
        };
        let problem = EdgeHistogram { shape, src, bins, extremes: None, per_channel };
        Case { problem: Problem::from(problem), image, second: None, chosen: None }
    }

    /// As [`between_edges`](Case::between_edges), over the range from the smallest to the largest sample; all samples
    /// are finite.
    fn own_range(rng: &mut StdRng, shape: Shape, count: usize, per_channel: bool, data: Data) -> Case {
        let data = if data == Data::Special { Data::Uniform } else { data };
        let image = random_image(rng, PixelType::F32, shape, data);
        let AnyImage::F32(samples) = &image else { unreachable!("f32 was asked for") };
        let pairs = samples.rows().flatten().map(|&sample| (sample as f64, sample as f64));
        let extremes = pairs.reduce(join_extremes);
        let bins = with_widths(Bins { count, range: None }, extremes.expect("a sample or more"));
        Case {
            problem: Problem::from(EdgeHistogram { shape, src: PixelType::F32, bins, extremes, per_channel }),
            image,
            second: None,
            chosen: None,
        }
    }
}
