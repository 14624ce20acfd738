//! Restatement of problems for other methods.

use crate::rank::{factors, lowest_bit, terms};
use crate::{Border, BoxFilter, Correlate, FilterProblem, LowRank, PixelType, Result, Scale, Separable, Taps, filters};

/// Whether f32 holds the taps of f64.
fn are_singles(taps: &[f32], of: &[f64]) -> bool {
    taps.iter().zip(of).all(|(single, double)| f64::from(*single) == *double)
}

/// Restates the problem as a box filter, or returns why that is impossible.
pub(crate) fn boxed(problem: &FilterProblem) -> Result<BoxFilter, &'static str> {
    let equal = |taps: &[f32]| taps.iter().all(|&tap| tap == taps[0]);
    let filter = match problem {
        FilterProblem::Box(problem) => problem.clone(),
        FilterProblem::Correlate(Correlate { clamp: true, .. }) => return Err("sums are clamped"),
        // A box's factor is an f32.
        FilterProblem::Correlate(Correlate { src: PixelType::F64, mask, .. })
            if !are_singles(mask.taps(), mask.taps_f64()) =>
        {
            return Err("the taps are no f32");
        }
        FilterProblem::Separable(Separable { src: PixelType::F64, taps_x, taps_y, .. })
            if ![taps_x, taps_y].into_iter().all(|taps| are_singles(taps.taps(), taps.taps_f64())) =>
        {
            return Err("the taps are no f32");
        }
        FilterProblem::Correlate(problem) => {
            let Correlate { shape, src, dst, ref mask, border, extent, .. } = *problem;
            if !equal(mask.taps()) {
                return Err("the taps differ");
            }
            let (width, height, anchor) = (mask.width(), mask.height(), mask.anchor());
            BoxFilter { shape, src, dst, width, height, anchor, border, scale: Scale::Tap(mask.taps()[0]), extent }
        }
        FilterProblem::Separable(problem) => {
            let Separable { shape, src, dst, taps_x: ref x, taps_y: ref y, border, extent } = *problem;
            if !equal(x.taps()) || !equal(y.taps()) {
                return Err("the taps of an axis differ");
            }
            let product = x.taps()[0] as f64 * y.taps()[0] as f64;
            let tap = product as f32;
            if tap as f64 != product {
                return Err("the product of the axes' taps is no f32");
            }
            let (width, height, anchor) = (x.len(), y.len(), (x.anchor(), y.anchor()));
            BoxFilter { shape, src, dst, width, height, anchor, border, scale: Scale::Tap(tap), extent }
        }
        FilterProblem::LowRank(_) => return Err("a sum of columns times rows"),
        FilterProblem::Scaled(_) => return Err("sums are scaled in f64"),
        FilterProblem::Fft(_)
        | FilterProblem::LocalStd(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Paired(_)
        | FilterProblem::Pad(_)
        | FilterProblem::Volume(_) => return Err("no weighted sums of a window"),
    };
    if !BoxFilter::has_types(filter.src, filter.dst) {
        return Err("boxes are of integers, or of floats with output of floats");
    }
    if !BoxFilter::has_border(filter.src, filter.border) {
        return Err("the samples' type does not hold the constant outside");
    }
    Ok(filter)
}

/// Restates the problem with separable taps, or returns why that is impossible.
///
/// # Errors
/// [`Error::Parameter`] for invalid taps.
pub(crate) fn separable(problem: &FilterProblem) -> Result<Result<Separable, &'static str>> {
    Ok(match problem {
        FilterProblem::Separable(problem) => Ok(problem.clone()),
        FilterProblem::Box(problem) => {
            let &BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent } = problem;
            let (x, y) = match scale {
                Scale::Mean => (filters::mean(width)?, filters::mean(height)?),
                Scale::Tap(tap) => (Taps::new(vec![tap; width as usize])?, Taps::new(vec![1.0; height as usize])?),
            };
            let (taps_x, taps_y) = (x.with_anchor(anchor.0)?, y.with_anchor(anchor.1)?);
            Ok(Separable { shape, src, dst, taps_x, taps_y, border, extent })
        }
        FilterProblem::Correlate(Correlate { clamp: true, .. }) => Err("sums are clamped"),
        FilterProblem::Correlate(problem) if problem.src == PixelType::F64 => of_doubles(problem)?,
        FilterProblem::Correlate(problem) => {
            let Correlate { shape, src, dst, ref mask, border, extent, .. } = *problem;
            let Some(factors) = factors(mask) else { return Ok(Err("the mask is no column times a row")) };
            if !factors.exact && (mask.width() - 1) * (mask.height() - 1) < 4 {
                return Ok(Err("the factors of a mask with fewer than 4 taps to save must not round"));
            }
            if !dst.is_float() {
                let Some((most, unit)) = whole(src, border) else { return Ok(Err("integers of f32 have one order")) };
                if !factors.exact || !factors.sum_exactly(most, unit) {
                    return Ok(Err("integers have factors whose sums are exact"));
                }
            }
            let (taps_x, taps_y) = by_axis((factors.x, factors.y), mask.anchor())?;
            Ok(Separable { shape, src, dst, taps_x, taps_y, border, extent })
        }
        FilterProblem::LowRank(_) => Err("a sum of columns times rows"),
        FilterProblem::Scaled(_) => Err("sums are scaled in f64"),
        FilterProblem::Fft(_)
        | FilterProblem::LocalStd(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Paired(_)
        | FilterProblem::Pad(_)
        | FilterProblem::Volume(_) => Err("no weighted sums of a window"),
    })
}

/// Restates a mask over samples of f64 if the products of its factors are exactly its taps: the sums then have fewer
/// roundings, and keep the error bound of the mask's own sums.
fn of_doubles(problem: &Correlate) -> Result<Result<Separable, &'static str>> {
    let &Correlate { shape, src, dst, ref mask, border, extent, .. } = problem;
    let exact = || factors(mask).filter(|factors| factors.exact).map(|factors| (factors.x, factors.y));
    let (x, y) = match mask.taps_f64() {
        _ if !dst.is_float() => return Ok(Err("integers of f64 have one order")),
        taps if are_singles(mask.taps(), taps) => match exact() {
            Some((x, y)) => (Taps::new(x)?, Taps::new(y)?),
            None => return Ok(Err("the mask is no column times a row without a rounding")),
        },
        // Rounded factors, as for taps of 1/6, could round sums of 32-bit integers differently at ties.
        _ => return Ok(Err("factors of masks are f32")),
    };
    let (taps_x, taps_y) = (x.with_anchor(mask.anchor().0)?, y.with_anchor(mask.anchor().1)?);
    Ok(Ok(Separable { shape, src, dst, taps_x, taps_y, border, extent }))
}

/// Restates the problem as a sum of at most `most` separable filters, or returns why that is impossible.
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) for invalid taps.
pub(crate) fn low_rank(problem: &FilterProblem, most: usize) -> Result<Result<LowRank, &'static str>> {
    Ok(match problem {
        FilterProblem::LowRank(problem) => Ok(problem.clone()),
        FilterProblem::Correlate(Correlate { clamp: true, .. }) => Err("sums are clamped"),
        FilterProblem::Correlate(Correlate { src, dst, .. }) if *dst != PixelType::F32 || *src == PixelType::F64 => {
            Err("sums of terms are f32")
        }
        FilterProblem::Correlate(problem) => {
            let Correlate { shape, src, ref mask, border, extent, .. } = *problem;
            let Some(terms) = terms(mask, most) else {
                return Ok(Err("no few columns times rows have a sum that is near enough to each tap"));
            };
            let terms = terms.into_iter().map(|term| by_axis(term, mask.anchor())).collect::<Result<_>>()?;
            Ok(LowRank { shape, src, terms, border, extent })
        }
        FilterProblem::Separable(_)
        | FilterProblem::Box(_)
        | FilterProblem::Fft(_)
        | FilterProblem::Scaled(_)
        | FilterProblem::LocalStd(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Paired(_)
        | FilterProblem::Pad(_)
        | FilterProblem::Volume(_) => Err("only a mask is a sum of columns times rows"),
    })
}

/// Creates taps along the rows and along the columns, with the anchor of their mask.
fn by_axis((x, y): (Vec<f32>, Vec<f32>), anchor: (u32, u32)) -> Result<(Taps, Taps)> {
    Ok((Taps::new(x)?.with_anchor(anchor.0)?, Taps::new(y)?.with_anchor(anchor.1)?))
}

/// Largest magnitude of integer samples, border constant included, and their common unit.
fn whole(src: PixelType, border: Border) -> Option<(f64, f64)> {
    let most: f64 = match src {
        PixelType::U8 => 255.0,
        PixelType::U16 => 65535.0,
        PixelType::I16 => 32768.0,
        _ => return None,
    };
    match border {
        Border::Constant(value) if !(value as f32).is_finite() => None,
        Border::Constant(value) => {
            let value = value as f32 as f64;
            Some((most.max(value.abs()), lowest_bit(value).min(1.0)))
        }
        _ => Some((most, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extent, Mask, Shape};

    /// Returns a correlation of samples of f64.
    fn of_mask(width: u32, height: u32, taps: Vec<f64>, dst: PixelType) -> FilterProblem {
        let mask = Mask::from_f64(width, height, taps).unwrap().with_anchor(0, 1).unwrap();
        let (shape, src, border, clamp) = (Shape::new(9, 9, 1).unwrap(), PixelType::F64, Border::Wrap, false);
        Correlate { shape, src, dst, mask, border, clamp, extent: Extent::Same }.into()
    }

    #[test]
    fn a_mask_of_f64_is_a_box_if_f32_holds_its_equal_taps() {
        let found = |tap, dst| boxed(&of_mask(20, 3, vec![tap; 60], dst));
        let filter = found(0.25, PixelType::F64).unwrap();
        assert_eq!((filter.width, filter.height, filter.anchor, filter.scale), (20, 3, (0, 1), Scale::Tap(0.25)));
        assert_eq!(found(1.0 / 60.0, PixelType::F64), Err("the taps are no f32"));
        assert!(found(0.25, PixelType::U8).is_err());
        assert_eq!(boxed(&of_mask(2, 2, vec![1.0, 1.0, 1.0, 1.0 + 1e-12], PixelType::F64)), Err("the taps are no f32"));
    }

    #[test]
    fn a_mask_of_f64_is_a_column_times_a_row_without_a_rounding() {
        let found = |taps: &[f64], dst| {
            separable(&of_mask(3, 3, taps.to_vec(), dst)).unwrap().map(|found| {
                assert_eq!((found.taps_x.anchor(), found.taps_y.anchor()), (0, 1));
                let products = found.taps_y.taps_f64().iter();
                products.flat_map(|y| found.taps_x.taps_f64().iter().map(move |x| x * y)).collect::<Vec<f64>>()
            })
        };
        let sobel = [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0];
        for dst in [PixelType::F64, PixelType::F32] {
            assert_eq!(found(&sobel, dst), Ok(sobel.to_vec()));
            assert_eq!(found(&[0.5; 9], dst), Ok(vec![0.5; 9]));
        }
        assert!(found(&[1.0 / 3.0; 9], PixelType::F64).is_err());
        assert!(found(&sobel, PixelType::I16).is_err());
        assert!(found(&sobel.map(|tap| tap * 0.1), PixelType::F64).is_err());
        assert!(found(&[0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0], PixelType::F64).is_err());
    }

    #[test]
    fn sums_of_f64_are_no_sums_of_terms() {
        let taps = (0..1600).map(|at| f64::from(at / 40 + at % 40)).collect();
        let problem = of_mask(40, 40, taps, PixelType::F32);
        assert_eq!(low_rank(&problem, 4).unwrap(), Err("sums of terms are f32"));
        assert_eq!(problem.by_method(None).unwrap().problem.method(), Some(crate::Method::Direct));
    }

    #[test]
    fn taps_of_f64_are_a_box_if_f32_holds_them() {
        let of = |x: Vec<f64>| {
            let (taps_x, taps_y) = (Taps::from_f64(x).unwrap(), Taps::from_f64([0.5; 2]).unwrap());
            let (shape, pixel) = (Shape::new(9, 9, 1).unwrap(), PixelType::F64);
            let (border, extent) = (Border::Replicate, Extent::Same);
            boxed(&Separable { shape, src: pixel, dst: pixel, taps_x, taps_y, border, extent }.into())
        };
        assert_eq!(of(vec![3.0; 5]).map(|found| (found.width, found.scale)), Ok((5, Scale::Tap(1.5))));
        assert_eq!(of(vec![0.1; 5]), Err("the taps are no f32"));
        assert_eq!(of(vec![1.0, 1.0 + 1e-12]), Err("the taps are no f32"));
        assert_eq!(of(vec![1.0, 2.0]), Err("the taps of an axis differ"));
    }
}
