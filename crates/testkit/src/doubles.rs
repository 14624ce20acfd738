//! Cases of f64: every operation, border and number of channels; NaN, infinities and numbers at the ends of the range;
//! and the conversions between f64 and other types.

use crate::case::{Case, Data, SINGLES};
use crate::suite::{Scale, borders};
use apron::PixelType::{F32, F64};
use apron::{Border, PointOp};

/// Adds the cases.
pub(crate) fn doubles(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let types = (F64, F64);
    // Tiles of 128 samples and 32 rows: whole ones, barely another, and images within one.
    let sizes = [(128, 32), (129, 33), (65, 31), (7, 70), (1, 1), (1, 67), (67, 1)];
    for (n, (width, height)) in sizes.into_iter().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let border = if border == Border::Crop && (width < 5 || height < 4) { Border::Wrap } else { border };
            let size = (width, height, (n + m) as u32 % 4 + 1);
            let data = if (n + m) % 3 == 0 { Data::Special } else { Data::Uniform };
            cases.push(Case::correlate(next(), size, types, (5, 4), border, data));
            cases.push(Case::separable(next(), size, types, (5, 3), border, data));
            cases.push(Case::box_filter(next(), size, types, (4, 4), border, data));
            cases.push(Case::local_std(next(), size, types, (3, 4), border, data));
        }
    }
    for (n, taps) in [(1, 1), (1, 9), (17, 1), (3, 70), (90, 2), (40, 33)].into_iter().enumerate() {
        let (size, border) = ((75, 51, n as u32 % 4 + 1), borders()[n % 5]);
        cases.push(Case::correlate(next(), size, types, taps, border, Data::Uniform));
        cases.push(Case::separable(next(), size, types, taps, border, Data::Uniform));
        cases.push(Case::box_filter(next(), size, types, taps, border, Data::Uniform));
        cases.push(Case::local_std(next(), size, types, taps, border, Data::Uniform));
    }
    cases.push(Case::correlate(next(), (40, 20, 1), types, (3, 3), Border::Wrap, Data::Special).clamped());
    cases.push(Case::separable(next(), (9, 7, 2), types, (4097, 3), Border::Reflect, Data::Uniform));
    cases.push(Case::box_filter(next(), (51, 83, 1), types, (300, 260), Border::Replicate, Data::Uniform));
    let as_it_is = PointOp::AS_IT_IS;
    for single in SINGLES {
        for data in [Data::Uniform, Data::Special] {
            cases.push(Case::pointwise(next(), (37, 35, 3), (single, None, F64), as_it_is, data));
            cases.push(Case::pointwise(next(), (37, 35, 2), (F64, None, single), as_it_is, data));
        }
        cases.push(Case::pointwise(
            next(),
            (1027, 1, 1),
            (F64, None, single),
            PointOp::weighted(300.0, 0.0, 0.5),
            Data::Uniform,
        ));
    }
    let sharp = PointOp::Weighted { a: 2.5, b: -1.5, c: 0.1, threshold: 0.3 };
    for data in [Data::Uniform, Data::Special, Data::Constant] {
        cases.push(Case::pointwise(next(), (37, 35, 1), (F64, Some(F64), F64), sharp, data));
        cases.push(Case::pointwise(next(), (37, 35, 4), (F64, None, F64), PointOp::weighted(-0.7, 0.0, 2.0), data));
        cases.push(Case::pointwise(next(), (61, 47, 2), (F64, Some(F64), F64), PointOp::Magnitude, data));
        cases.push(Case::pointwise(next(), (61, 47, 2), (F64, Some(F64), F32), PointOp::Direction, data));
    }
    if scale == Scale::Full {
        for (n, size) in [(2049, 517, 1), (700, 1031, 3), (4099, 260, 4)].into_iter().enumerate() {
            let border = borders()[n];
            cases.push(Case::correlate(next(), size, types, (7, 7), border, Data::Uniform));
            cases.push(Case::separable(next(), size, types, (33, 17), border, Data::Uniform));
            cases.push(Case::box_filter(next(), size, types, (31, 99), border, Data::Uniform));
            cases.push(Case::local_std(next(), size, types, (31, 19), border, Data::Uniform));
        }
    }
}
