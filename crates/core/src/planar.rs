//! Planar images: the channels of an image as separate images.

use crate::{Error, Image, Pixel, Result, Shape};

impl<T: Pixel> Image<'_, T> {
    /// Splits the channels into images of one channel: filters treat each channel like such a plane.
    ///
    /// ```
    /// use apron_core::Image;
    ///
    /// let image = Image::new(2, 1, 3, vec![1u8, 2, 3, 4, 5, 6])?;
    /// let planes = image.planes();
    /// assert_eq!((planes.len(), planes[1].row(0)), (3, &[2, 5][..]));
    /// assert_eq!(Image::from_planes(&planes)?.row(0), [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn planes(&self) -> Vec<Image<'static, T>> {
        let channels = self.channels() as usize;
        let plane = |channel| {
            let samples = self.rows().flat_map(|row| row.iter().skip(channel).step_by(channels).copied());
            Image::new(self.width(), self.height(), 1, samples.collect::<Vec<T>>()).expect("a channel of a valid image")
        };
        (0..channels).map(plane).collect()
    }

    /// Interleaves planes, of one channel each and the same size, as the channels of an image.
    ///
    /// # Errors
    /// [`Error::Shape`] for no planes or more than four, and for planes of more than one channel or of different sizes.
    pub fn from_planes(planes: &[Image<'_, T>]) -> Result<Image<'static, T>> {
        let (channels, first) = (planes.len(), planes.first().map(|plane| plane.shape()));
        let Some(shape) = first.filter(|_| channels <= 4) else {
            return Err(Error::Shape { what: "number of planes", value: channels.to_string(), limit: "1 to 4".into() });
        };
        let expected = Shape { channels: 1, ..shape };
        if let Some(plane) = planes.iter().find(|plane| plane.shape() != expected) {
            let (value, limit) = (plane.shape().to_string(), format!("{expected}, as the first"));
            return Err(Error::Shape { what: "shape of a plane", value, limit });
        }
        let mut samples = vec![planes[0].row(0)[0]; shape.pixels() as usize * channels];
        for (channel, plane) in planes.iter().enumerate() {
            let of_plane = samples.iter_mut().skip(channel).step_by(channels);
            of_plane.zip(plane.rows().flatten()).for_each(|(to, from)| *to = *from);
        }
        Image::new(shape.width, shape.height, channels as u32, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_make_no_image_are_refused() {
        let plane = |width, height, channels| {
            Image::new(width, height, channels, vec![0u8; (width * height * channels) as usize]).unwrap()
        };
        let refused = |planes: &[Image<'_, u8>]| Image::from_planes(planes).unwrap_err().to_string();
        assert!(refused(&[]).contains("number of planes is 0"));
        assert!(refused(&[(); 5].map(|()| plane(1, 1, 1))).contains("1 to 4"));
        assert!(refused(&[plane(2, 1, 1), plane(1, 2, 1)]).contains("shape of a plane is 1x2x1"));
        assert!(refused(&[plane(2, 1, 2)]).contains("2x1x2"));
    }

    #[test]
    fn planes_of_rows_with_gaps() {
        let image = Image::with_row_stride(1, 2, 2, 5, vec![1u16, 2, 0, 0, 0, 3, 4]).unwrap();
        let planes = image.planes();
        assert_eq!((planes[0].packed().as_ref(), planes[1].packed().as_ref()), (&[1, 3][..], &[2, 4][..]));
    }
}
