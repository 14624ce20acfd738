//! Conversion of an image before a filter, or of its result: to the types in which filters are computed, and from them.

use crate::backend::Solved;
use crate::choice::Choice;
use crate::filter::Filtering;
use crate::options::Options;
use crate::target::Room;
use crate::{
    Border, Borders, Cast, Error, Extent, Formula, Overflow, PixelType, PointOp, Region, Result, Shape, Source, Taps,
};
use apron_core::{FilterProblem, Pointwise, VolumeExtent, VolumeFilter, VolumeWeights, filters};

/// When samples are converted, and to or from which type.
#[derive(Clone, Copy)]
pub(crate) enum Conversion {
    /// Before the filter, to this type.
    Before(PixelType),
    /// After the filter, from this type.
    After(PixelType),
}

/// One pass of a filter that stores its sums between passes, and the anchor of its window, unless the taps have it.
pub(crate) type Stage = (Formula, Option<(u32, u32)>);

impl Conversion {
    /// Returns whether and when the filter of a formula converts between these types: filters take the types that are
    /// [computed](PixelType::computed), and those of f64 give f64. What is cast in another way than by default is f64,
    /// too, but whole sums of bytes that i16 holds: those are the same however they are rounded.
    pub(crate) fn of(
        formula: &Formula,
        (src, dst): (PixelType, PixelType),
        &Options { cast, borders, .. }: &Options<'_>,
    ) -> Option<Conversion> {
        if cast != Cast::default() && src == PixelType::U8 && formula.gives_words(borders) {
            match dst {
                PixelType::I16 => return None,
                PixelType::I8 => return Some(Conversion::After(PixelType::I16)),
                PixelType::U8 if cast.overflow == Overflow::Wrap => return Some(Conversion::After(PixelType::I16)),
                _ => {}
            }
        }
        let cast_from_doubles = !dst.is_float() && (cast != Cast::default() || dst == PixelType::Bool);
        let (of_src, of_dst) = (src.computed(), if cast_from_doubles { PixelType::F64 } else { dst.computed() });
        // Pointwise operations on the image alone convert by themselves, and directions of f64 are f32.
        let mixes = matches!(formula, Formula::Image | Formula::Pointwise { op: PointOp::Direction, .. });
        let doubles = !mixes && [of_src, of_dst].contains(&PixelType::F64);
        let (of_src, of_dst) = if doubles { (PixelType::F64, PixelType::F64) } else { (of_src, of_dst) };
        if dst != of_dst {
            Some(Conversion::After(of_dst))
        } else if src != of_src {
            Some(Conversion::Before(if src.is_computed() { of_src } else { src.computed() }))
        } else if is_padded_beyond(formula, src, &borders) {
            Some(Conversion::Before(PixelType::F32))
        } else {
            None
        }
    }
}

/// Whether a filter pads an image with constants that its type, of integers or f16, does not hold: f32 holds what sums
/// have of all three.
fn is_padded_beyond(formula: &Formula, src: PixelType, borders: &Borders) -> bool {
    let has_window = !matches!(formula, Formula::Image | Formula::Pointwise { .. });
    let constants = [borders.x, borders.y].map(|border| border.mode().1);
    let is_held = |&constant: &f64| src.sample(constant) == constant;
    has_window
        && borders.everywhere().is_none()
        && !matches!(src, PixelType::F32 | PixelType::F64)
        && !constants.iter().flatten().all(is_held)
}

/// Returns the problem that converts samples.
pub(crate) fn converted(shape: Shape, (src, dst): (PixelType, PixelType), cast: Cast) -> FilterProblem {
    let casts = !dst.is_float() && cast != Cast::default();
    let plain = src.is_computed() && dst.is_computed() && !casts;
    let op = if plain { PointOp::AS_IT_IS } else { PointOp::Cast(cast) };
    Pointwise { shape, src, second: None, dst, op }.into()
}

/// Splits a mean of integers into the sum over its window, as a formula, and the number of samples per window. The sum
/// is exact in f64, so its quotient is rounded as the true mean is; a sum of products with taps of 1/3 is not (three
/// times 7/3 is below 7).
pub(crate) fn sum_of_integers(formula: &Formula, src: PixelType) -> Result<Option<(Formula, f64)>> {
    match formula {
        &Formula::Mean(width, height) if !src.is_float() => {
            let ones = |side: u32| Taps::new(vec![1.0; side as usize]);
            Ok(Some((Formula::Separable(ones(width)?, ones(height)?), f64::from(width) * f64::from(height))))
        }
        _ => Ok(None),
    }
}

/// Returns the problem that divides samples of f64.
pub(crate) fn quotient(shape: Shape, divisor: f64) -> Result<FilterProblem> {
    let (pixel, one) = (PixelType::F64, Taps::new([1.0])?);
    let weights = VolumeWeights::Separable([one.clone(), one.clone(), one]);
    let (borders, extent, cast) = (Border::default().into(), VolumeExtent::Same, Cast::default());
    let (depth, src, dst, stored) = (1, pixel, pixel, false);
    Ok(VolumeFilter { shape, depth, src, dst, weights, divisor, cast, stored, borders, extent }.into())
}

impl Filtering<'_> {
    /// Converts the input, or the result; into `room`, if there is one.
    pub(crate) fn solve_converted(
        &self,
        conversion: Conversion,
        formula: &Formula,
        dst: PixelType,
        room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        if let Some((sum, divisor)) = sum_of_integers(formula, self.source.pixel_type())? {
            return self.divided(&sum, divisor, dst, room);
        }
        match conversion {
            Conversion::Before(first) => {
                let image = self.convert(&self.source, first, Cast::default(), None)?.into_image();
                let mut result = self.of(Source::Device(&image)).solve(formula, dst, room)?;
                result.made.report.copy_in += image.made.report.copy_in;
                result.made.before.push(image.made);
                Ok(result)
            }
            Conversion::After(last) => {
                let image = self.solve(formula, last, None)?.into_image();
                let mut result = self.convert(&Source::Device(&image), dst, self.options.cast, room)?;
                result.made.before.push(image.made);
                Ok(result)
            }
        }
    }

    /// Computes a sum in f64, its quotient, and what a cast makes of that; into `room`, if there is one.
    fn divided(&self, sum: &Formula, divisor: f64, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let options = Options { cast: Cast::default(), ..self.options };
        let sums = Filtering { options, ..self.of(self.source.view()) }.solve(sum, PixelType::F64, None)?.into_image();
        let (problem, of_sums) = (quotient(sums.shape(), divisor)?, Source::Device(&sums));
        let mut result = if dst == PixelType::F64 {
            self.plain(&problem, &of_sums, room)?
        } else {
            let means = self.plain(&problem, &of_sums, None)?.into_image();
            let mut result = self.convert(&Source::Device(&means), dst, self.options.cast, room)?;
            result.made.before.push(means.made);
            result
        };
        result.made.report.copy_in += sums.made.report.copy_in;
        result.made.before.push(sums.made);
        Ok(result)
    }

    /// Converts samples; into `room`, if there is one.
    fn convert(&self, source: &Source<'_>, dst: PixelType, cast: Cast, room: Option<&mut Room<'_>>) -> Result<Solved> {
        self.plain(&converted(source.shape(), (source.pixel_type(), dst), cast), source, room)
    }

    /// Solves a problem by the variant that the plan chooses; into `room`, if there is one.
    fn plain(&self, problem: &FilterProblem, source: &Source<'_>, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        self.device
            .with_fallback(|backend| backend.filter(problem, "", source, None, &Choice::default(), room.as_deref_mut()))
    }

    /// Returns the two passes of a separable filter whose sums between them are stored: columns, then rows. `None`
    /// where they are not stored, and for a filter of one pass.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a filter that has no passes.
    pub(crate) fn passes(&self, formula: &Formula, dst: PixelType) -> Result<Option<[Stage; 2]>> {
        let Options { stored: true, anchor, .. } = self.options else { return Ok(None) };
        let wrong = |value, limit: &str| Err(Error::parameter("filter", "store between passes", value, limit));
        let (x, y) = match formula {
            Formula::Separable(x, y) => (x.clone(), y.clone()),
            &Formula::Mean(width, height) => (filters::mean(width)?, filters::mean(height)?),
            _ => return wrong("asked for", "left out: used with separable filters and means"),
        };
        let (x, y) = match anchor {
            Some((column, row)) => (x.with_anchor(column)?, y.with_anchor(row)?),
            None => (x, y),
        };
        // A pass of one tap 1 stores what it is given. That changes nothing where it has the output's type already, as
        // after the pass along the columns.
        let is_one = |taps: &Taps| taps.taps_f64() == [1.0];
        if is_one(&x) || y.is_unit() || is_one(&y) && self.source.pixel_type() == dst {
            return Ok(None);
        }
        let (of_columns, of_rows) = (Formula::Separable(Taps::unit(), y), Formula::Separable(x, Taps::unit()));
        // Means of integers are quotients of their sums.
        let &Formula::Mean(width, height) = formula else {
            return Ok(Some([(of_columns, None), (of_rows, None)]));
        };
        let stage = |is_float, taps, window, anchor| if is_float { (taps, None) } else { (window, anchor) };
        let [of_y, of_x] = [Formula::Mean(1, height), Formula::Mean(width, 1)];
        Ok(Some([
            stage(self.source.pixel_type().is_float(), of_columns, of_y, anchor.map(|(_, row)| (0, row))),
            stage(dst.is_float(), of_rows, of_x, anchor.map(|(column, _)| (column, 0))),
        ]))
    }

    /// Computes one pass after the other, each to the output's type; into `room`, if there is one.
    pub(crate) fn solve_passes(
        &self,
        [(first, first_anchor), (second, anchor)]: &[Stage; 2],
        dst: PixelType,
        room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        // The first pass computes all columns of a region's rows; of these, the second takes what its windows see.
        let [of_first, of_second] = match self.options.extent {
            Extent::Region(Region { x, y, width, height }) => {
                let all = self.source.shape().width;
                [Region { x: 0, y, width: all, height }, Region { x, y: 0, width, height }].map(Extent::Region)
            }
            extent => [extent; 2],
        };
        let options = Options { stored: false, anchor: *first_anchor, extent: of_first, ..self.options };
        let between = Filtering { options, ..self.of(self.source.view()) }.solve(first, dst, None)?.into_image();
        let options = Options { anchor: *anchor, extent: of_second, ..options };
        let mut result = Filtering { options, ..self.of(Source::Device(&between)) }.solve(second, dst, room)?;
        result.made.report.copy_in += between.made.report.copy_in;
        result.made.before.push(between.made);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Border, Device, Image, Mask, Rounding};

    fn sobel() -> (Taps, Taps) {
        (Taps::new([-1.0, 0.0, 1.0]).unwrap(), Taps::new([1.0, 2.0, 1.0]).unwrap())
    }

    #[test]
    fn whole_sums_of_bytes_are_those_of_doubles() {
        let bytes =
            Image::from_fn(37, 21, 2, |x, y, channel| (x * 89 + y * 57 + channel * 31 + x * y % 7) as u8).unwrap();
        let doubles = Image::from_fn(37, 21, 2, |x, y, channel| f64::from(bytes[(x, y, channel)])).unwrap();
        let mask = Mask::from_rows([[3.0, -20.0, 5.0, 60.0], [-1.0, 9.0, 0.0, -30.0]]).unwrap();
        let (x, y) = sobel();
        for device in [Device::cpu(), Device::emulator(), Device::reference()] {
            for dst in [PixelType::U8, PixelType::I8, PixelType::I16, PixelType::U16] {
                for border in [Border::Reflect101, Border::Constant(7.0), Border::Wrap] {
                    for overflow in [Overflow::Saturate, Overflow::Wrap] {
                        for formula in [Formula::Separable(x.clone(), y.clone()), Formula::Dense(mask.clone())] {
                            let run = |image: Source<'_>| {
                                let filter = device.apply(image, formula.clone()).border(border).out_type(dst);
                                let filter = filter.rounding(Rounding::TowardZero).overflow(overflow);
                                filter.run().unwrap().download_any().unwrap()
                            };
                            let (found, expected) = (run((&bytes).into()), run((&doubles).into()));
                            assert_eq!(found, expected, "{dst} {border:?} {overflow:?} {formula:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_sums_are_doubles() {
        let cast = Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap };
        let of = |formula, src, dst, border: Border| {
            let options = Options { cast, borders: border.into(), ..Options::default() };
            match Conversion::of(&formula, (src, dst), &options) {
                Some(Conversion::Before(kind) | Conversion::After(kind)) => kind,
                None => dst,
            }
        };
        let (byte, word, double) = (PixelType::U8, PixelType::I16, PixelType::F64);
        let dense = |tap: f32| Formula::Dense(Mask::new(2, 1, [tap, 1.0]).unwrap());
        assert_eq!(of(Formula::Separable(sobel().0, sobel().1), byte, byte, Border::Replicate), word);
        // 128 * 255 is 32,640, and 129 * 255 is 32,895.
        assert_eq!(of(dense(-127.0), byte, byte, Border::Constant(255.0)), word);
        assert_eq!(of(dense(-128.0), byte, byte, Border::Replicate), double);
        assert_eq!(of(dense(0.5), byte, byte, Border::Replicate), double);
        assert_eq!(of(dense(2.0), byte, byte, Border::Constant(0.5)), double);
        assert_eq!(of(dense(2.0), byte, byte, Border::Constant(256.0)), double);
        assert_eq!(of(dense(2.0), PixelType::U16, byte, Border::Replicate), double);
        assert_eq!(of(Formula::Mean(3, 1), byte, byte, Border::Replicate), double);
    }

    #[test]
    fn a_region_of_stored_passes_is_a_part_of_the_whole() {
        let image = Image::from_fn(9, 8, 2, |x, y, channel| (x * 89 + y * 57 + channel * 31 + x * y) as u8).unwrap();
        let (x, y) = sobel();
        for device in [Device::cpu(), Device::emulator(), Device::reference()] {
            for formula in [Formula::Mean(3, 4), Formula::Separable(x.clone(), y.clone())] {
                for border in [Border::Wrap, Border::Constant(7.0)] {
                    let run = |extent| {
                        let filter = device.apply(&image, formula.clone()).border(border).out_type(PixelType::I16);
                        filter.store_between_passes(true).extent(extent).run().unwrap().download::<i16>().unwrap()
                    };
                    let whole = run(Extent::Same);
                    for (x, y, width, height) in [(2, 3, 5, 4), (0, 7, 9, 1), (8, 0, 1, 8)] {
                        let found = run(Extent::Region(Region { x: x as i32, y: y as i32, width, height }));
                        let expected = whole.region(x, y, width, height).unwrap();
                        assert_eq!(found.packed(), expected.packed(), "{formula:?} {border:?} {x},{y}");
                    }
                }
            }
        }
    }

    /// Returns the quotient of integers, rounded by a cast, of all 64 bits.
    fn rounded(sum: i128, count: i128, rounding: Rounding) -> i128 {
        let (down, rest) = (sum.div_euclid(count), 2 * sum.rem_euclid(count));
        match rounding {
            Rounding::TowardZero => sum / count,
            Rounding::HalfEven => down + i128::from(rest > count || rest == count && down % 2 != 0),
        }
    }

    #[test]
    fn means_of_integers_are_quotients_under_every_cast() {
        let (width, height) = (11, 9);
        let sample = |x: i64, y: i64| (x * 89 + y * 57 + x * y % 7) % 120 - 13;
        for pixel in [PixelType::I8, PixelType::U8, PixelType::I16, PixelType::U32, PixelType::I32, PixelType::I64] {
            let is_signed = matches!(pixel, PixelType::I8 | PixelType::I16 | PixelType::I32 | PixelType::I64);
            let value = |x, y| sample(x, y) + if is_signed { 0 } else { 13 };
            for (window_x, window_y) in [(3, 3), (2, 3), (6, 1), (1, 7), (5, 5), (21, 18)] {
                for rounding in [Rounding::TowardZero, Rounding::HalfEven] {
                    // These have kernels of their own under the default cast, and nothing is converted.
                    if rounding == Rounding::HalfEven && matches!(pixel, PixelType::U8 | PixelType::I16) {
                        continue;
                    }
                    let expected = |x: i64, y: i64| {
                        let sum: i64 = (0..window_y)
                            .flat_map(|j| (0..window_x).map(move |i| (x + i - window_x / 2, y + j - window_y / 2)))
                            .map(|(x, y)| value(x.rem_euclid(width), y.rem_euclid(height)))
                            .sum();
                        rounded(sum.into(), (window_x * window_y).into(), rounding)
                    };
                    for device in [Device::cpu(), Device::emulator(), Device::reference()] {
                        let image = Image::from_fn(width as u32, height as u32, 1, |x, y, _| value(x.into(), y.into()));
                        let image = device.apply(&image.unwrap(), Formula::Image).out_type(pixel).run().unwrap();
                        let mean = device.box_filter(&image, window_x as u32, window_y as u32).border(Border::Wrap);
                        let mean = mean.rounding(rounding).run().unwrap();
                        let found = device.apply(&mean, Formula::Image).out_type(PixelType::I64).run().unwrap();
                        let found = found.download::<i64>().unwrap();
                        for (y, row) in (0..).zip(found.packed().chunks(width as usize)) {
                            for (x, found) in (0..).zip(row) {
                                let (expected, window) = (expected(x, y), (window_x, window_y));
                                assert_eq!(i128::from(*found), expected, "{pixel} {window:?} {rounding:?} {x},{y}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn stored_means_of_integers_are_quotients_of_quotients() {
        // 7, three times, is 21, and 21 / 3 is 7 and not what three products of 7 and 1/3 add up to.
        let image = Image::new(4, 4, 1, vec![7i32; 16]).unwrap();
        for device in [Device::cpu(), Device::emulator(), Device::reference()] {
            let mean = device.box_filter(&image, 3, 3).store_between_passes(true).rounding(Rounding::TowardZero);
            assert_eq!(mean.run().unwrap().download::<i32>().unwrap().packed()[..], [7; 16]);
            // Columns first: 1 / 2 and 5 / 2 are 0 and 2, whose mean is 1; windows begin at the pixel.
            let image = Image::new(2, 2, 1, vec![1i32, 2, 0, 3]).unwrap();
            let mean = device.box_filter(&image, 2, 2).anchor((0, 0)).border(Border::Wrap).store_between_passes(true);
            let mean = mean.rounding(Rounding::TowardZero).run().unwrap();
            assert_eq!(mean.download::<i32>().unwrap().packed()[..], [1; 4]);
        }
    }
}
