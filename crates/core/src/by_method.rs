//! The choice of a method of summation: a function of the problem alone, so that all devices use the same one.

use crate::rank::MOST_TERMS;
use crate::restate::{boxed, low_rank, separable};
use crate::{BoxFilter, Correlate, Error, Fft, FilterProblem, Method, PixelType, Result, Scaled, Weights};

/// A filter problem, restated for its method.
#[derive(Clone, Debug, PartialEq)]
pub struct ByMethod {
    /// The problem, of the kind of its method: correlation, separable correlation, low-rank sum or box filter.
    pub problem: FilterProblem,
    /// The reason for the method.
    pub why: &'static str,
}

/// Largest side, in samples, at which box filters of floats use separable filters, which run at memory bandwidth there.
const SMALL_BOX: u32 = 17;
/// The same for 16-bit integers, whose separable filters are bound by sums in f64 from 9 taps on.
const SMALL_BOX_OF_INTEGERS: u32 = 7;
/// Least side, in taps, from which a separable mask is computed in two passes; smaller masks have few taps anyway.
const LEAST_SIDE: u32 = 3;
/// As [`LEAST_SIDE`], for integer output, whose intermediate sums are f64.
const LEAST_INTEGER_SIDE: u32 = 7;
/// As [`LEAST_SIDE`], for samples of f64, which dense masks read in one pass.
const LEAST_DOUBLE_SIDE: u32 = 9;
/// Low rank is used only if it saves this factor in multiplications: terms and their sums add memory traffic.
const LEAST_GAIN: u64 = 4;
/// Largest side, in taps, of separable filters on all devices.
const MOST_SIDE: u32 = 4096;

impl FilterProblem {
    /// Returns the method of this problem as it is stated; `None` for one without weighted sums of a window.
    pub fn method(&self) -> Option<Method> {
        match self {
            FilterProblem::Correlate(_) => Some(Method::Direct),
            FilterProblem::Separable(_) => Some(Method::Separable),
            FilterProblem::LowRank(_) => Some(Method::LowRank),
            FilterProblem::Box(_) => Some(Method::Box),
            FilterProblem::Fft(_) => Some(Method::Fft),
            FilterProblem::Scaled(Scaled { weights: Weights::Dense(_), .. }) => Some(Method::Direct),
            FilterProblem::Scaled(Scaled { weights: Weights::Separable(..), .. }) => Some(Method::Separable),
            FilterProblem::LocalStd(_)
            | FilterProblem::Pointwise(_)
            | FilterProblem::Paired(_)
            | FilterProblem::Pad(_)
            | FilterProblem::Volume(_) => None,
        }
    }

    /// Restates the problem for the best method, or for the requested one: a box filter if possible; else separable
    /// taps, or a sum of few separable filters; else a dense mask. A problem without weighted sums of a window is left
    /// as it is.
    ///
    /// With every method, f32 results keep the error bound of the problem as stated, and integer results of integer
    /// samples are identical (docs/decisions/methods.md).
    ///
    /// ```
    /// use apron_core::{Border, Correlate, Extent, Method, PixelType, FilterProblem, Shape, filters};
    ///
    /// let (shape, mask) = (Shape::new(640, 480, 1)?, filters::named_mask("sobel-x").unwrap());
    /// let (src, dst, border, clamp) = (PixelType::U8, PixelType::F32, Border::Reflect, false);
    /// let problem = Correlate { shape, src, dst, mask, border, clamp, extent: Extent::Same };
    /// let choice = FilterProblem::Correlate(problem).by_method(None)?;
    /// assert_eq!(choice.problem.method(), Some(Method::Separable));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for a problem that cannot be solved with the requested method, and for a box filter of
    /// invalid size.
    pub fn by_method(self, asked: Option<Method>) -> Result<ByMethod> {
        let Some(own) = self.method() else { return Ok(ByMethod { problem: self, why: "a problem of another kind" }) };
        if let FilterProblem::Box(problem) = &self {
            problem.check()?;
        }
        if let FilterProblem::Scaled(problem) = self {
            return scaled_by_method(problem, asked);
        }
        let Some(method) = asked else { return self.chosen() };
        let restated = match method {
            // A box filter as stated may have types that box filters do not support.
            Method::Box => boxed(&self).map(FilterProblem::Box),
            method if method == own => return Ok(ByMethod { problem: self, why: "asked for" }),
            Method::Direct => Err("only a mask is summed tap by tap"),
            Method::Separable => separable(&self)?.map(FilterProblem::Separable),
            Method::LowRank => low_rank(&self, MOST_TERMS)?.map(FilterProblem::LowRank),
            Method::Fft => match &self {
                FilterProblem::Correlate(problem) => Fft::of(problem).map(FilterProblem::Fft),
                _ => Err("only a mask is transformed"),
            },
        };
        let refused = |why: &str| Error::parameter(self.operation(), "method", method, format!("another: {why}"));
        Ok(ByMethod { problem: restated.map_err(refused)?, why: "asked for" })
    }

    fn chosen(self) -> Result<ByMethod> {
        match self {
            FilterProblem::LowRank(_) => return Ok(ByMethod { problem: self, why: "stated as terms" }),
            FilterProblem::Fft(_) => return Ok(ByMethod { problem: self, why: "stated as transforms" }),
            FilterProblem::Correlate(_)
            | FilterProblem::Separable(_)
            | FilterProblem::Box(_)
            | FilterProblem::Scaled(_)
            | FilterProblem::LocalStd(_)
            | FilterProblem::Pointwise(_)
            | FilterProblem::Paired(_)
            | FilterProblem::Pad(_)
            | FilterProblem::Volume(_) => {}
        }
        let unboxed = match boxed(&self).and_then(|problem| worth_boxing(&problem).map(|why| (problem, why))) {
            Ok((problem, why)) => return Ok(ByMethod { problem: FilterProblem::Box(problem), why }),
            Err(why) => why,
        };
        let FilterProblem::Correlate(mask) = &self else {
            let separable =
                separable(&self)?.map_err(|why| Error::parameter(self.operation(), "method", "auto", why))?;
            return Ok(ByMethod { problem: FilterProblem::Separable(separable), why: unboxed });
        };
        if let Err(why) = worth_separating(mask) {
            return Ok(ByMethod { problem: self, why });
        }
        let most = worthy_terms(mask);
        Ok(match (separable(&self)?, most) {
            (Ok(problem), _) => {
                ByMethod { problem: FilterProblem::Separable(problem), why: "the mask is a column times a row" }
            }
            (Err(why), 0) => ByMethod { problem: self, why },
            _ => match low_rank(&self, most)? {
                Ok(problem) => ByMethod {
                    problem: FilterProblem::LowRank(problem),
                    why: "the mask is a sum of few columns times rows",
                },
                Err(why) => ByMethod { problem: self, why },
            },
        })
    }
}

/// As [`FilterProblem::by_method`], for sums scaled in f64: a mask is separated only if every bit stays the same.
fn scaled_by_method(problem: Scaled, asked: Option<Method>) -> Result<ByMethod> {
    let sums = problem.sums();
    let by_axis = match (&sums, asked) {
        (_, Some(method)) if sums.method() == Some(method) => {
            return Ok(ByMethod { problem: FilterProblem::Scaled(problem), why: "asked for" });
        }
        (_, Some(Method::Separable)) => separable(&sums)?,
        (_, Some(_)) => Err("sums that are scaled in f64 are direct or separable"),
        (FilterProblem::Correlate(mask), None) => match worth_separating(mask) {
            Ok(()) => separable(&sums)?,
            Err(why) => Err(why),
        },
        (_, None) => Err("stated by axis"),
    };
    match (by_axis, asked) {
        (Ok(sums), _) => {
            let weights = Weights::Separable(sums.taps_x, sums.taps_y);
            let why = asked.map_or("the mask is a column times a row", |_| "asked for");
            Ok(ByMethod { problem: FilterProblem::Scaled(Scaled { weights, ..problem }), why })
        }
        (Err(why), None) => Ok(ByMethod { problem: FilterProblem::Scaled(problem), why }),
        (Err(why), Some(method)) => Err(Error::parameter(Scaled::NAME, "method", method, format!("another: {why}"))),
    }
}

/// Returns why a box filter is faster, or why it is not.
fn worth_boxing(problem: &BoxFilter) -> Result<&'static str, &'static str> {
    let side = problem.width.max(problem.height);
    match problem.src {
        _ if problem.samples() == 1 => Err("one tap"),
        PixelType::U8 => Ok("all taps are equal"),
        float if float.is_float() => match side > SMALL_BOX {
            true => Ok("all taps are equal, over 17 on a side"),
            false => Err("equal taps, up to 17 on a side"),
        },
        _ if side > SMALL_BOX_OF_INTEGERS => Ok("all taps are equal, over 7 on a side"),
        _ => Err("equal taps, up to 7 on a side"),
    }
}

/// Returns why separating a mask, if it has factors, would not be faster.
fn worth_separating(problem: &Correlate) -> Result<(), &'static str> {
    let (width, height) = (problem.mask.width(), problem.mask.height());
    match (width.min(height), problem.dst) {
        (side, _) if side < LEAST_SIDE => Err("under 3 taps on a side"),
        (side, _) if side < LEAST_DOUBLE_SIDE && problem.src == PixelType::F64 => Err("under 9 taps on a side, of f64"),
        (side, dst) if side < LEAST_INTEGER_SIDE && !dst.is_float() => Err("under 7 taps on a side, to integers"),
        _ if width.max(height) > MOST_SIDE => Err("over 4096 taps on a side"),
        _ => Ok(()),
    }
}

/// Returns the largest number of terms that needs clearly fewer products than the mask; 0 for output other than f32.
fn worthy_terms(problem: &Correlate) -> usize {
    let (width, height) = (problem.mask.width() as u64, problem.mask.height() as u64);
    let most = width * height / (LEAST_GAIN * (width + height));
    if problem.dst == PixelType::F32 { (most as usize).min(MOST_TERMS) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Border, Extent, Mask, Scale, Separable, Shape, Taps, filters};
    use PixelType::{F16, F32, I16, U8, U16};

    fn correlate(mask: &str, (src, dst): (PixelType, PixelType)) -> Correlate {
        let mask = filters::named_mask(mask).unwrap_or_else(|| mask.parse().unwrap());
        let shape = Shape::new(64, 48, 1).unwrap();
        Correlate { shape, src, dst, mask, border: Border::Replicate, clamp: false, extent: Extent::Same }
    }

    fn separable(taps: [Vec<f32>; 2], (src, dst): (PixelType, PixelType)) -> FilterProblem {
        let [taps_x, taps_y] = taps.map(|taps| Taps::new(taps).unwrap());
        FilterProblem::Separable(Separable {
            shape: Shape::new(64, 48, 1).unwrap(),
            src,
            dst,
            taps_x,
            taps_y,
            border: Border::Wrap,
            extent: Extent::Same,
        })
    }

    fn mean(width: u32, height: u32, (src, dst): (PixelType, PixelType)) -> BoxFilter {
        let (shape, anchor) = (Shape::new(64, 48, 1).unwrap(), (width - 1, 0));
        BoxFilter {
            shape,
            src,
            dst,
            width,
            height,
            anchor,
            border: Border::Wrap,
            scale: Scale::Mean,
            extent: Extent::Same,
        }
    }

    #[track_caller]
    fn takes(problem: FilterProblem, method: Method) -> ByMethod {
        let choice = problem.clone().by_method(None).unwrap();
        assert_eq!(choice.problem.method(), Some(method), "{} of {problem:?}", choice.why);
        assert_eq!((choice.problem.shape(), choice.problem.src()), (problem.shape(), problem.src()));
        choice
    }

    /// Returns a mask of equal taps, as text.
    fn equal(tap: &str, width: usize, height: usize) -> String {
        vec![vec![tap; width].join(" "); height].join(";")
    }

    #[test]
    fn masks() {
        for (mask, types, method) in [
            ("sobel-x", (F32, F32), Method::Separable),
            ("sobel-x", (U8, F32), Method::Separable),
            ("sobel-x", (U8, I16), Method::Direct),
            ("gaussian3", (I16, F32), Method::Separable),
            ("laplacian", (F32, F32), Method::Direct),
            ("box3", (U8, U8), Method::Box),
            ("box3", (U8, I16), Method::Box),
            ("box3", (F32, F32), Method::Separable),
            ("box5", (F32, U8), Method::Direct),
            ("box5", (U16, U16), Method::Direct),
            ("box5", (U16, F32), Method::Separable),
            ("1 2 1", (F32, F32), Method::Direct),
            ("1 2; 2 4; 3 6", (F32, F32), Method::Direct),
            ("0.5", (U8, U8), Method::Direct),
            ("1 1", (U8, F32), Method::Box),
            ("1 1", (F32, F32), Method::Direct),
            (&equal("-0.3", 18, 1), (F32, F32), Method::Box),
            (&equal("-0.3", 17, 17), (F32, F32), Method::Separable),
            (&equal("0", 1, 3), (U8, U8), Method::Box),
        ] {
            takes(FilterProblem::Correlate(correlate(mask, types)), method);
        }
    }

    /// Returns the sum of a narrow and a wide Gaussian, `side` taps per side.
    fn bells(side: u32, types: (PixelType, PixelType)) -> Correlate {
        let bell = |n: u32, sigma: f64| (-(n as f64 - side as f64 / 2.0).powi(2) / (2.0 * sigma * sigma)).exp();
        let tap = |n: u32, sigma: f64| bell(n % side, sigma) * bell(n / side, sigma);
        let taps: Vec<f32> = (0..side * side).map(|n| (tap(n, 1.5) + 0.2 * tap(n, 4.0)) as f32).collect();
        let mask = Mask::new(side, side, taps).and_then(|mask| mask.with_anchor(1, 3)).unwrap();
        Correlate { mask, ..correlate("box3", types) }
    }

    #[test]
    fn sums_of_columns_times_rows() {
        let all = Correlate { border: Border::Constant(3.0), extent: Extent::Full, ..bells(16, (U8, F32)) };
        let FilterProblem::LowRank(found) = takes(FilterProblem::Correlate(all.clone()), Method::LowRank).problem
        else {
            unreachable!()
        };
        assert_eq!((found.terms.len(), found.src, found.border), (2, U8, Border::Constant(3.0)));
        for (x, y) in &found.terms {
            assert_eq!(((x.len(), y.len()), (x.anchor(), y.anchor())), ((16, 16), (1, 3)));
        }
        assert_eq!(found.window().unwrap(), all.window().unwrap());
        takes(FilterProblem::LowRank(found.clone()), Method::LowRank);
        // Two terms of 15 + 15 taps have more than a quarter of 225 products; and integers must not change by a bit.
        takes(FilterProblem::Correlate(bells(15, (F32, F32))), Method::Direct);
        takes(FilterProblem::Correlate(bells(16, (U8, U8))), Method::Direct);
        takes(FilterProblem::Correlate(Correlate { clamp: true, ..bells(16, (F32, F32)) }), Method::Direct);
        let asked = FilterProblem::Correlate(bells(15, (F32, F32))).by_method(Some(Method::LowRank)).unwrap();
        assert_eq!((asked.problem.method(), asked.why), (Some(Method::LowRank), "asked for"));

        let other = Taps::new([1.0, 2.0]).unwrap();
        let mut wrong = found.clone();
        wrong.terms[1].0 = other;
        for wrong in [wrong, crate::LowRank { terms: Vec::new(), ..found }] {
            assert!(matches!(wrong.window(), Err(Error::Parameter { parameter: "terms", .. })), "{wrong:?}");
        }
    }

    #[test]
    fn scaled_sums_are_taken_by_axis_where_they_are_the_same() {
        let binomial = [1.0f32, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
        let taps: Vec<f32> = binomial.iter().flat_map(|y| binomial.map(|x| x * y)).collect();
        let scaled = |mask: Mask, src| {
            let (shape, weights) = (Shape::new(64, 48, 1).unwrap(), Weights::Dense(mask));
            let (factor, offset, border, extent) = (1.0 / 4096.0, 0.5, Border::Replicate, Extent::Same);
            FilterProblem::Scaled(Scaled { shape, src, dst: U8, weights, factor, offset, border, extent })
        };
        let binomial = || Mask::new(7, 7, taps.clone()).unwrap();
        takes(scaled(binomial(), U16), Method::Separable);
        takes(scaled(binomial(), F32), Method::Direct);
        takes(scaled("1 2 1; 2 4 2; 1 2 1".parse().unwrap(), U16), Method::Direct);
        for (asked, works) in Method::ALL.into_iter().zip([true, true, false, false]) {
            let found = scaled(binomial(), U8).by_method(Some(asked));
            assert_eq!(found.is_ok_and(|found| found.problem.method() == Some(asked)), works, "{asked}");
        }
        let by_axis = takes(scaled(binomial(), U8), Method::Separable).problem;
        let error = by_axis.by_method(Some(Method::Direct)).unwrap_err().to_string();
        assert!(error.contains("direct"), "{error}");
    }

    #[test]
    fn what_keeps_a_mask_from_being_a_box() {
        let bytes = || correlate("box3", (U8, U8));
        let choice = takes(FilterProblem::Correlate(bytes()), Method::Box);
        let FilterProblem::Box(found) = choice.problem else { unreachable!() };
        assert_eq!((found.width, found.height, found.anchor, found.scale), (3, 3, (1, 1), Scale::Tap(1.0 / 9.0)));
        takes(FilterProblem::Correlate(Correlate { border: Border::Constant(7.0), ..bytes() }), Method::Box);
        takes(FilterProblem::Correlate(Correlate { border: Border::Constant(7.5), ..bytes() }), Method::Direct);
        let floats = Correlate { mask: equal("1", 20, 20).parse().unwrap(), ..correlate("box3", (F32, F32)) };
        takes(FilterProblem::Correlate(Correlate { border: Border::Constant(7.5), ..floats.clone() }), Method::Box);
        takes(FilterProblem::Correlate(Correlate { clamp: true, ..floats }), Method::Direct);
    }

    #[test]
    fn integers_of_masks() {
        let binomial: Vec<f32> = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0].map(|tap| tap / 64.0).to_vec();
        let of = |axis: &[f32], types| {
            let taps: Vec<f32> = axis.iter().flat_map(|y| axis.iter().map(move |x| x * y)).collect();
            let mask = Mask::new(axis.len() as u32, axis.len() as u32, taps).unwrap();
            Correlate { mask, ..correlate("box3", types) }
        };
        for (src, method) in [(U8, Method::Separable), (U16, Method::Separable), (F32, Method::Direct)] {
            takes(FilterProblem::Correlate(of(&binomial, (src, U8))), method);
        }
        let outside = |value| Correlate { border: Border::Constant(value), ..of(&binomial, (U8, U8)) };
        takes(FilterProblem::Correlate(outside(0.3)), Method::Separable);
        takes(FilterProblem::Correlate(outside(1e-20)), Method::Direct);
        takes(FilterProblem::Correlate(outside(f64::INFINITY)), Method::Direct);
        // Rounded factors are allowed for f32 output only.
        let gauss = filters::gaussian(1.0, 3.0).unwrap();
        takes(FilterProblem::Correlate(of(gauss.taps(), (U8, U8))), Method::Direct);
        takes(FilterProblem::Correlate(of(gauss.taps(), (U8, F32))), Method::Separable);
    }

    #[test]
    fn taps_by_axis() {
        for (x, y, types, method) in [
            (vec![0.5; 4], vec![0.25; 3], (U8, U16), Method::Box),
            (vec![0.5; 4], vec![0.25; 3], (F32, F32), Method::Separable),
            (vec![0.5; 4], vec![0.25; 18], (F32, F32), Method::Box),
            (vec![0.5; 4], vec![0.25; 18], (F32, U8), Method::Separable),
            (vec![0.5; 4], vec![0.25, 0.5], (U8, U8), Method::Separable),
            // A product that f32 does not hold: a filter that differs in the last bit.
            (vec![1.0 / 3.0; 3], vec![1.0 / 3.0; 3], (U8, U8), Method::Separable),
            (vec![1e30; 3], vec![1e30; 3], (U8, U8), Method::Separable),
            (vec![2.0], vec![3.0], (U8, U8), Method::Separable),
        ] {
            takes(separable([x, y], types), method);
        }
    }

    #[test]
    fn means() {
        for (size, types, method) in [
            ((3, 3), (U8, U8), Method::Box),
            ((3, 3), (U8, F32), Method::Box),
            ((17, 17), (F32, F32), Method::Separable),
            ((1, 18), (F32, F32), Method::Box),
            ((30, 30), (F32, U8), Method::Separable),
            ((7, 7), (U16, U16), Method::Separable),
            ((2, 8), (U16, U16), Method::Box),
            ((30, 30), (I16, F32), Method::Box),
            ((17, 17), (F16, F16), Method::Separable),
            ((18, 1), (F16, F32), Method::Box),
            ((1, 1), (U8, U8), Method::Separable),
        ] {
            takes(FilterProblem::Box(mean(size.0, size.1, types)), method);
        }
        let FilterProblem::Separable(means) =
            takes(FilterProblem::Box(mean(4, 3, (F16, F16))), Method::Separable).problem
        else {
            unreachable!()
        };
        assert_eq!((means.taps_x.taps(), means.taps_y.len()), (&[0.25; 4][..], 3));
        assert_eq!((means.taps_x.anchor(), means.taps_y.anchor()), (3, 0));
        for wrong in
            [BoxFilter { width: 0, ..mean(3, 3, (F32, U8)) }, BoxFilter { anchor: (3, 0), ..mean(3, 3, (F32, U8)) }]
        {
            assert!(matches!(FilterProblem::Box(wrong).by_method(None), Err(Error::Parameter { .. })));
        }
    }

    #[test]
    fn a_method_that_is_asked_for_is_taken_or_refused() {
        let sobel = || FilterProblem::Correlate(correlate("sobel-x", (U8, I16)));
        let floats = || FilterProblem::Box(mean(3, 3, (F32, F32)));
        for (problem, method) in [
            (sobel(), Method::Direct),
            (sobel(), Method::Separable),
            (FilterProblem::Correlate(correlate("box3", (F32, F32))), Method::Box),
            (FilterProblem::Correlate(correlate("box3", (U8, U8))), Method::Direct),
            (FilterProblem::Correlate(correlate("1 2 1", (F32, F32))), Method::Separable),
            (separable([vec![0.5; 4], vec![0.25; 3]], (U8, U8)), Method::Separable),
            (floats(), Method::Box),
            (floats(), Method::Separable),
        ] {
            let choice = problem.by_method(Some(method)).unwrap();
            assert_eq!((choice.problem.method(), choice.why), (Some(method), "asked for"));
        }
        for (problem, method, why) in [
            (sobel(), Method::Box, "the taps differ"),
            (FilterProblem::Correlate(correlate("laplacian", (F32, F32))), Method::Separable, "no column times a row"),
            (FilterProblem::Correlate(correlate("laplacian", (F32, F32))), Method::LowRank, "near enough to each tap"),
            (FilterProblem::Correlate(bells(17, (F32, U8))), Method::LowRank, "sums of terms are f32"),
            (FilterProblem::Correlate(Correlate { clamp: true, ..bells(17, (F32, F32)) }), Method::LowRank, "clamped"),
            (floats(), Method::LowRank, "only a mask"),
            (separable([vec![0.5; 4], vec![0.25; 3]], (U8, F32)), Method::LowRank, "only a mask"),
            (floats(), Method::Fft, "only a mask"),
            (FilterProblem::Correlate(correlate("laplacian", (F32, U8))), Method::Fft, "--out-type f32"),
            (floats(), Method::Direct, "only a mask"),
            (FilterProblem::Box(mean(3, 3, (U16, U8))), Method::Direct, "only a mask"),
            (FilterProblem::Box(mean(3, 3, (F32, U8))), Method::Box, "boxes are of integers"),
            (separable([vec![0.5; 4], vec![0.25; 3]], (F16, U8)), Method::Box, "boxes are of integers"),
        ] {
            let error = problem.by_method(Some(method)).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }) && error.to_string().contains(why), "{error}");
        }
    }
}
