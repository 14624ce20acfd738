//! The problems of a filter's parts, by which its time is estimated.

use super::VolumeFormula;
use super::filter::{Options, plain_sums, stated};
use crate::auto::Job;
use crate::{PixelType, PointOp, Result, Shape, Source};
use apron_core::{FilterProblem, Pointwise, sums_of, voxels};

/// Returns the job of a filter, of all its parts.
pub(crate) fn job(
    formula: &VolumeFormula,
    (stack, depth): (&Source<'_>, u32),
    dst: PixelType,
    options: &Options<'_>,
    has_room: bool,
) -> Option<Job> {
    let mut parts = Vec::new();
    list(formula, (stack.shape(), depth), (stack.pixel_type(), dst), options, &mut parts).ok()?;
    Job::of(parts, stack, has_room)
}

/// Lists the problems of a formula's parts. Conversions are not among them, nor what is stored between passes: they
/// take a small part of the time.
fn list(
    formula: &VolumeFormula,
    (shape, depth): (Shape, u32),
    (src, dst): (PixelType, PixelType),
    options: &Options<'_>,
    parts: &mut Vec<FilterProblem>,
) -> Result<()> {
    let of_parts = sums_of(src, dst);
    let mut part = |formula: &VolumeFormula, types| list(formula, (shape, depth), types, options, parts);
    let pointwise = |src, second, op| FilterProblem::from(Pointwise { shape, src, second, dst, op });
    match formula {
        VolumeFormula::Volume => parts.push(pointwise(src, None, PointOp::AS_IT_IS)),
        VolumeFormula::Sums { .. } => {
            parts.extend(stated(formula, (shape, depth), (src, dst), options)?.map(FilterProblem::Volume));
        }
        VolumeFormula::Deviation(size) => {
            let (doubles, sums) = (PixelType::F64, plain_sums(*size)?);
            part(&sums, (doubles, doubles))?;
            part(&sums, (doubles, doubles))?;
            parts.push(pointwise(doubles, Some(doubles), PointOp::Deviation { n: voxels(*size) }));
        }
        VolumeFormula::Pointwise { op, x, y } => {
            part(x, (src, of_parts))?;
            y.as_ref().map_or(Ok(()), |y| part(y, (src, of_parts)))?;
            parts.push(pointwise(of_parts, y.as_ref().map(|_| of_parts), *op));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volumes;

    #[test]
    fn every_part_is_listed() {
        let (shape, types) = (Shape::new(8, 64, 1).unwrap(), (PixelType::U8, PixelType::F32));
        let operations = |formula: VolumeFormula| -> Vec<&'static str> {
            let mut parts = Vec::new();
            list(&formula, (shape, 8), types, &Options::default(), &mut parts).unwrap();
            parts.iter().map(FilterProblem::operation).collect()
        };
        assert_eq!(operations(VolumeFormula::Volume), ["pointwise"]);
        assert_eq!(operations(volumes::mean([3; 3]).unwrap()), ["volume"]);
        assert_eq!(operations(volumes::deviation([3; 3]).unwrap()), ["volume", "volume", "pointwise"]);
        assert_eq!(operations(volumes::unsharp([1.0; 3], 1.0, 0.0).unwrap()), ["pointwise", "volume", "pointwise"]);
        let gradient = ["volume", "volume", "pointwise", "volume", "pointwise"];
        assert_eq!(operations(volumes::gradient().unwrap()), gradient);
    }
}
