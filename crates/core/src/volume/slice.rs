//! Images of a volume: a plane along any axis, and the largest samples along one.

use super::{AnyVolume, Volume, VolumeShape};
use crate::{AnyImage, Error, Image, Pixel, Result, each_type};

/// What an image of a volume shows along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    /// The samples at one place, from 0.
    At(u32),
    /// The largest sample; NaN only where there is nothing else.
    Largest,
}

impl<T: Pixel> Volume<'_, T> {
    /// Returns the image of a slice: NumPy's `volume[at]` for axis 2, z; `volume[:, at]` for axis 1, y;
    /// `volume[:, :, at]` for axis 0, x, or their `max` along that axis. Rows are planes, but for axis 2.
    ///
    /// ```
    /// use apron_core::{Slice, Volume};
    ///
    /// let volume = Volume::from_fn(3, 2, 2, 1, |x, y, z, _| (100 * z + 10 * y + x) as u8)?;
    /// assert_eq!(volume.slice(2, Slice::At(1))?.packed()[..], [100, 101, 102, 110, 111, 112]);
    /// assert_eq!(volume.slice(0, Slice::At(2))?.packed()[..], [2, 12, 102, 112]);
    /// assert_eq!(volume.slice(1, Slice::Largest)?.packed()[..], [10, 11, 12, 110, 111, 112]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for an axis and a place that there are not.
    pub fn slice(&self, axis: usize, slice: Slice) -> Result<Image<'static, T>> {
        let VolumeShape { width, height, depth, channels } = self.shape();
        let (columns, rows, along) = match axis {
            0 => (height, depth, width),
            1 => (width, depth, height),
            2 => (width, height, depth),
            _ => return Err(Error::parameter("slice", "axis", axis, "0 for x, 1 for y or 2 for z")),
        };
        let places = match slice {
            Slice::At(at) if at >= along => {
                return Err(Error::parameter("slice", "place", at, format!("0 to {}", along - 1)));
            }
            Slice::At(at) => at..at + 1,
            Slice::Largest => 0..along,
        };
        Image::from_fn(columns, rows, channels, |column, row, channel| {
            let at = |place: u32| {
                let (x, y, z) = match axis {
                    0 => (place, column, row),
                    1 => (column, place, row),
                    _ => (column, row, place),
                };
                self.row(y, z)[x as usize * channels as usize + channel as usize]
            };
            let first = at(places.start);
            // The comparison with NaN is false.
            places.clone().skip(1).map(at).fold(first, |most, next| {
                let is_number = most.partial_cmp(&most).is_some();
                if next > most || !is_number { next } else { most }
            })
        })
    }
}

impl AnyVolume<'_> {
    /// Returns the image of a slice, as [`Volume::slice`].
    ///
    /// # Errors
    /// As [`Volume::slice`].
    pub fn slice(&self, axis: usize, slice: Slice) -> Result<AnyImage<'static>> {
        each_type!(self.stack(), stack => Ok(Pixel::into_any(Volume::from_stack(stack, self.depth)?.slice(axis, slice)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_passed_over_and_what_there_is_not_is_refused() {
        let volume = Volume::new(1, 1, 3, 1, vec![f32::NAN, 2.0, f32::NAN]).unwrap();
        assert_eq!(volume.slice(2, Slice::Largest).unwrap().row(0), [2.0]);
        for (axis, slice, part) in
            [(3, Slice::Largest, "axis is 3"), (2, Slice::At(3), "place is 3, but must be 0 to 2")]
        {
            let error = volume.slice(axis, slice).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
