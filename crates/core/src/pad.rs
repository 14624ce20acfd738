//! Padding: an image extended by its border.

use crate::{AxisBorder, Border, Borders, Error, PixelType, Region, Result, Shape, Window};

/// A region of the plane in which an image lies, border included: OpenCV's `copyMakeBorder`, NumPy's `pad`; a crop if
/// the region lies inside the image. Samples are copied unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Pad {
    /// Shape of the image.
    pub shape: Shape,
    /// Sample type of the image and the output.
    pub pixel: PixelType,
    /// The borders; along an axis with border crop, the region lies inside the image.
    pub borders: Borders,
    /// Pixels to copy.
    pub region: Region,
}

impl Pad {
    pub(crate) const NAME: &'static str = "pad";

    /// Returns the output's shape, and the column and row of its first pixel.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a region that is empty, too far outside, or outside along an axis with border crop; for
    /// constants that the sample type does not hold, and for a number of constants that differs from the channels.
    pub fn window(&self) -> Result<Window> {
        let Region { x, y, width, height } = self.region;
        let wrong = |(value, limit)| Error::parameter(Pad::NAME, "region", value, limit);
        self.region.check().map_err(wrong)?;
        let axes = [
            ("columns", self.borders.x, x, width, self.shape.width),
            ("rows", self.borders.y, y, height, self.shape.height),
        ];
        for (what, outside, from, count, side) in axes {
            let to = from as i64 + count as i64;
            if outside == Border::Crop && (from < 0 || to > side as i64) {
                let limit = format!("in 0 to {side}, where the border is crop");
                return Err(wrong((format!("{what} {from} to {to}"), limit)));
            }
            self.check_constants(outside)?;
        }
        Ok(Window { out: Shape { width, height, ..self.shape }, origin_x: x, origin_y: y })
    }

    /// Checks that constants are samples, one per channel.
    fn check_constants(&self, outside: AxisBorder) -> Result<()> {
        // Without the operation: other filters pad, too.
        let wrong = |limit| Err(Error::parameter("border", "border", outside, limit));
        let one;
        let values = match &outside {
            AxisBorder::Constants(constants) if constants.values().len() != self.shape.channels as usize => {
                return wrong(format!("one constant for each channel: {}", self.shape.channels));
            }
            AxisBorder::Constants(constants) => constants.values(),
            AxisBorder::Border(Border::Constant(value)) => {
                one = [*value];
                &one
            }
            AxisBorder::Border(_) => return Ok(()),
        };
        // Decimal fractions such as 0.1 are rounded to f32.
        let is_sample = |&value: &f64| match self.pixel {
            PixelType::F32 => (value as f32).is_finite(),
            PixelType::F64 => value.is_finite(),
            pixel => pixel.sample(value) == value,
        };
        if values.iter().all(is_sample) {
            return Ok(());
        }
        let what = match (self.pixel, self.pixel.limits()) {
            (_, Some((least, greatest))) => format!("whole numbers from {least} to {greatest}"),
            (PixelType::F16, _) => "16-bit floats".into(),
            (PixelType::F32, _) => "finite numbers of f32".into(),
            _ => "finite numbers".into(),
        };
        wrong(format!("{what} for {} pixels, since they become samples", self.pixel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Constants;

    fn window(
        pixel: PixelType,
        borders: impl Into<Borders>,
        (x, y, width, height): (i32, i32, u32, u32),
    ) -> Result<Window> {
        let (shape, borders) = (Shape::new(10, 5, 2)?, borders.into());
        Pad { shape, pixel, borders, region: Region { x, y, width, height } }.window()
    }

    #[test]
    fn the_region_is_the_output() {
        let window = window(PixelType::I16, Border::Constant(-7.0), (-3, -2, 20, 4)).unwrap();
        assert_eq!((window.out, window.origin_x, window.origin_y), (Shape::new(20, 4, 2).unwrap(), -3, -2));
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let constants = |values: &[f64]| Constants::new(values).unwrap();
        let crop_x = Borders::by_axis(Border::Crop, Border::Wrap);
        let all = (0, 0, 10, 5);
        for (pixel, borders, region, part) in [
            (PixelType::U8, Border::Wrap.into(), (0, 0, 0, 5), "columns 0 to 0, but must be 1 or more columns"),
            (
                PixelType::U8,
                Border::Wrap.into(),
                (0, i32::MIN, 1, 5),
                "rows -2147483648 to -2147483643, but must be in -",
            ),
            (PixelType::U8, crop_x, (-1, 0, 10, 5), "columns -1 to 9, but must be in 0 to 10"),
            (PixelType::U8, crop_x, (1, 0, 10, 5), "columns 1 to 11"),
            (
                PixelType::U8,
                Border::Constant(0.5).into(),
                all,
                "border is constant:0.5, but must be whole numbers from 0 to 255",
            ),
            (PixelType::U8, Border::Constant(256.0).into(), all, "256"),
            (PixelType::I16, Border::Constant(-32769.0).into(), all, "whole"),
            (PixelType::F32, Border::Constant(f64::NAN).into(), all, "finite"),
            (PixelType::F16, Border::Constant(65520.0).into(), all, "16-bit floats for f16 pixels"),
            (PixelType::F16, Border::Constant(0.1).into(), all, "16-bit floats for f16 pixels"),
            (PixelType::U16, constants(&[1.0, 65536.0]).into(), all, "constant:1:65536, but must be whole"),
            (PixelType::U16, constants(&[1.0, 2.0, 3.0]).into(), all, "one constant for each channel: 2"),
            (PixelType::F32, constants(&[1.0]).into(), all, "one constant for each channel: 2"),
        ] {
            let error = window(pixel, borders, region).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }) && error.to_string().contains(part), "{error}");
        }
        assert!(window(PixelType::U8, crop_x, (1, -9, 9, 50)).is_ok());
        assert!(window(PixelType::F32, Border::Constant(0.5), all).is_ok());
    }
}
