//! Statistics of the samples in a window around each pixel.

use super::{Allowed::*, Size, Value};
use crate::volumes;
use crate::{Formula, MAX_MASK_SIDE, Result};

filters! {
    /// Mean over a window, as box.
    ///
    /// The mean of the samples in a window around each pixel; of integers the exact quotient, rounded. One
    /// exception: for samples of 16 bits and windows of up to 7 pixels per side, a quotient that ends in a half may
    /// be rounded up or down.
    local_mean(
        /// Width and height of the window, or one number for both.
        size: Size, Between(1, MAX_MASK_SIDE), "pixels";
    ) -> LocalMean {}
    source "OpenCV's `blur`; SciPy's `uniform_filter`"
    examples ["photo.png mean.png --size 15", "photo.png mean.png --size 5x3"]
    volume Some(|of| volumes::mean(of.each("size")?));

    /// Standard deviation in a window.
    ///
    /// The standard deviation of the population: the root of the mean square less the square of the mean. It is exact
    /// for integers but for its rounding while the sum of squares per window is below 2^53: two million samples of 16
    /// bits. Beyond that, the sum of squares is rounded to f64. The sums of floats are taken in f64.
    ///
    /// ```
    /// use apron::{Border, Device, Image};
    ///
    /// let image = Image::new(8, 1, 1, vec![2u8, 4, 4, 4, 5, 5, 7, 9])?;
    /// let deviation = Device::cpu().local_std(&image, (8, 1)).border(Border::Crop).run()?;
    /// assert_eq!(deviation.download::<u8>()?.row(0), [2]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    local_std(
        /// Width and height of the window, or one number for both.
        size: Size, Between(1, MAX_MASK_SIDE), "pixels";
    ) -> LocalStd {}
    source "NumPy's `std` of each window"
    examples ["photo.png texture.npy --size 7x5 --out-type f32", "photo.png texture.png --size 4"]
    volume Some(|of| volumes::deviation(of.each("size")?));
}

impl LocalMean {
    fn build(self) -> Result<Formula> {
        Ok(Formula::Mean(self.size.x, self.size.y))
    }
}

impl LocalStd {
    fn build(self) -> Result<Formula> {
        Ok(Formula::LocalStd(self.size.x, self.size.y))
    }
}
