//! Complex numbers: images with two channels per number, its real and its imaginary part. Linear filters filter each
//! part separately.

use crate::error::Result;
use apron::volumes::{VolumeBorders, VolumeFormula};
use apron::{AxisBorder, Border, Borders, Constants, Error, Formula, PixelType, PointOp};
use apron_files::ImageOutput;

/// Whether a filter's results are, except for rounding, weighted sums of samples of the same channel: then real and
/// imaginary parts do not mix.
pub(crate) fn takes(formula: &Formula) -> bool {
    match formula {
        Formula::Image | Formula::Dense(_) | Formula::Separable(..) | Formula::Mean(..) => true,
        Formula::LocalStd(..) => false,
        Formula::Pointwise { op, x, y } => adds(*op) && takes(x) && y.as_ref().is_none_or(|y| takes(y)),
    }
}

/// As [`takes`], of volumes.
pub(crate) fn takes_volume(formula: &VolumeFormula) -> bool {
    match formula {
        VolumeFormula::Volume | VolumeFormula::Sums { .. } => true,
        VolumeFormula::Deviation(_) => false,
        VolumeFormula::Pointwise { op, x, y } => {
            adds(*op) && takes_volume(x) && y.as_ref().is_none_or(|y| takes_volume(y))
        }
    }
}

/// Whether an operation adds up multiples of its operands, and nothing else.
fn adds(op: PointOp) -> bool {
    matches!(op, PointOp::Weighted { c: 0.0, threshold: 0.0, .. })
}

/// Checks that a result of complex numbers, whose parts are of type `of`, is of that type, and that the output takes
/// it.
///
/// # Errors
/// Otherwise.
pub(crate) fn check(
    verb: &'static str,
    file: &ImageOutput<'_>,
    out_type: Option<PixelType>,
    of: PixelType,
) -> Result<()> {
    if !file.is_array() {
        return Err(apron_files::Error::ComplexUnfit { path: file.path().into() }.into());
    }
    match out_type.filter(|out_type| *out_type != of) {
        Some(out_type) => {
            let limit = format!("{of}, the type of the parts");
            let value = format!("{out_type} for {} numbers", name(of));
            Err(Error::parameter(verb, "out-type", value, limit).into())
        }
        None => Ok(()),
    }
}

/// Returns NumPy's name of complex numbers with parts of this type.
fn name(of: PixelType) -> &'static str {
    if of == PixelType::F64 { "complex128" } else { "complex64" }
}

/// Returns the borders of the parts, in this many channels: constants are real numbers, one for all or for each
/// complex number of a pixel.
///
/// # Errors
/// For another number of constants.
pub(crate) fn borders(borders: Borders, channels: u32) -> Result<Borders, Error> {
    Ok(Borders { x: parts(borders.x, channels)?, y: parts(borders.y, channels)? })
}

fn parts(border: AxisBorder, channels: u32) -> Result<AxisBorder, Error> {
    let numbers = channels as usize / 2;
    let values = match border {
        AxisBorder::Border(Border::Constant(value)) if value != 0.0 => vec![value; numbers],
        AxisBorder::Border(_) => return Ok(border),
        AxisBorder::Constants(constants) => constants.values().to_vec(),
    };
    if values.len() != numbers {
        let limit = format!("{numbers}, one for each complex number of a pixel, or one for all");
        return Err(Error::parameter("border", "number of constants", values.len(), limit));
    }
    let parts: Vec<f64> = values.into_iter().flat_map(|real| [real, 0.0]).collect();
    Ok(Constants::new(&parts)?.into())
}

/// Checks the borders of a volume, whose constants are the same for both parts.
///
/// # Errors
/// For constants other than 0.
pub(crate) fn deep(borders: &VolumeBorders) -> Result<(), Error> {
    for border in borders.axes() {
        if let Border::Constant(value) = border
            && value != 0.0
        {
            return Err(Error::parameter("volume", "constant beside complex numbers", value, "0"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_real() {
        let of = |text: &str, channels| borders(text.parse().unwrap(), channels).map(|of| of.to_string());
        assert_eq!(of("constant:3", 2).unwrap(), "constant:3:0");
        assert_eq!(of("constant:3", 4).unwrap(), "constant:3:0:3:0");
        assert_eq!(of("constant:3:-2", 4).unwrap(), "constant:3:0:-2:0");
        assert_eq!(of("constant,wrap", 2).unwrap(), "constant:0,wrap");
        assert_eq!(of("wrap,constant:1", 2).unwrap(), "wrap,constant:1:0");
        let error = of("constant:3:-2", 2).unwrap_err().to_string();
        assert!(error.contains("number of constants is 2") && error.contains("must be 1"), "{error}");
        assert!(deep(&"wrap,constant,wrap".parse().unwrap()).is_ok());
        assert!(deep(&"constant:1".parse().unwrap()).is_err());
    }
}
