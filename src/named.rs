//! Filters with names, ready to run.

use crate::{Device, FilterBuilder, Named, Source};

impl Device {
    /// Applies a [named filter](crate::filters), or any [`Formula`](crate::Formula).
    ///
    /// ```
    /// use apron::{Device, Formula, Image, PointOp};
    ///
    /// let image = Image::new(3, 1, 1, vec![0u8, 100, 255])?;
    /// let negative = Formula::of(PointOp::weighted(-1.0, 0.0, 255.0), Formula::Image, None);
    /// let negative = Device::cpu().apply(&image, negative).run()?;
    /// assert_eq!(negative.download::<u8>()?.row(0), [255, 155, 0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn apply<'a, N: Named>(&'a self, image: impl Into<Source<'a>>, named: N) -> FilterBuilder<'a, N> {
        FilterBuilder::new(self, image.into(), named)
    }
}
