//! Setters that several builders share, documented once.

/// Defines setters of a builder, each for the given field: `setters! { ['a] Builder<'a>: variant(choice) }`.
macro_rules! setters {
    ([$($generics:tt)*] $builder:ty: $($setter:ident($($field:tt)+)),+) => {
        impl<$($generics)*> $builder {
            $(setters!(@$setter $($field)+);)+
        }
    };
    (@variant $($field:tt)+) => {
        /// Selects an implementation by name, instead of the one that the environment variable `APRON_VARIANT` names or
        /// the plan prefers; it implies the method of a filter, unless that is set. `apron kernels` lists the names.
        pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
            self.$($field)+.variant = name.into();
            self
        }
    };
    (@tuning $($field:tt)+) => {
        /// Sets the parameters of the kernels' grid that the variant leaves open, instead of the measured ones: for
        /// tuning sweeps.
        pub fn tuning(mut self, tuning: impl Into<Option<crate::Tuning>>) -> Self {
            self.$($field)+.tuning = tuning.into();
            self
        }
    };
    (@per_channel $($field:tt)+) => {
        /// Processes each channel separately, instead of all together.
        pub fn per_channel(mut self, per_channel: bool) -> Self {
            self.$($field)+ = per_channel;
            self
        }
    };
    (@cast $($field:tt)+) => {
        /// Sets how a sum becomes an integer. With another rounding than half to even, all sums are those of f64
        /// samples and taps, whatever the type of the image.
        ///
        /// ```
        /// use apron::{Device, Image, Rounding};
        ///
        /// let image = Image::new(3, 1, 1, vec![0u8, 1, 255])?;
        /// // As SciPy's filters and C: 256 / 3 is 85.3, and 511 / 3 is 170.3.
        /// let mean = Device::cpu().box_filter(&image, 3, 1).rounding(Rounding::TowardZero).run()?;
        /// assert_eq!(mean.download::<u8>()?.row(0), [0, 85, 85]);
        /// # Ok::<(), apron::Error>(())
        /// ```
        pub fn rounding(mut self, rounding: crate::Rounding) -> Self {
            self.$($field)+.rounding = rounding;
            self
        }

        /// Sets the result for sums that the output's integer type does not hold.
        /// [`Overflow::Wrap`](crate::Overflow::Wrap) implies sums as [`rounding`](Self::rounding).
        ///
        /// ```
        /// use apron::{Device, Image, Mask, Overflow};
        ///
        /// let image = Image::new(2, 1, 1, vec![200u8, 100])?;
        /// let double = Device::cpu().correlate(&image, Mask::from_rows([[2.0]])?).overflow(Overflow::Wrap).run()?;
        /// // 400 less 256.
        /// assert_eq!(double.download::<u8>()?.row(0), [144, 200]);
        /// # Ok::<(), apron::Error>(())
        /// ```
        pub fn overflow(mut self, overflow: crate::Overflow) -> Self {
            self.$($field)+.overflow = overflow;
            self
        }
    };
    (@binning $($field:tt)+) => {
        /// Sets the number of bins of equal width; 256 by default. [`Bins`](crate::Bins) with a range set that as well.
        ///
        /// ```
        /// use apron::{Device, Image};
        ///
        /// let image = Image::new(4, 1, 1, vec![0u8, 10, 20, 200])?;
        /// let histogram = Device::cpu().histogram(&image).bins(4).range(0.0, 40.0).run()?;
        /// assert_eq!(histogram.counts(), [1, 1, 1, 0]);
        /// assert_eq!(histogram.edges(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        /// # Ok::<(), apron::Error>(())
        /// ```
        pub fn bins(mut self, bins: impl Into<crate::Bins>) -> Self {
            let bins = bins.into();
            let range = bins.range.or(crate::setters::even(&self.$($field)+).range);
            self.$($field)+ = Ok(crate::Binning::Even(crate::Bins { range, ..bins }));
            self
        }

        /// Sets the range of the bins, in the samples' units: samples below `low` and above `high` do not count. By
        /// default it is 0 to 256 for u8, and the smallest to the largest sample for other types.
        pub fn range(mut self, low: f64, high: f64) -> Self {
            let bins = crate::Bins { range: Some((low, high)), ..crate::setters::even(&self.$($field)+) };
            self.$($field)+ = Ok(crate::Binning::Even(bins));
            self
        }

        /// Sets bins between ascending edges, instead of bins of equal width: each holds its lower edge, the last one
        /// also its upper edge.
        ///
        /// ```
        /// use apron::{Device, Image};
        ///
        /// let image = Image::new(4, 1, 1, vec![5u16, 700, 1000, 1001])?;
        /// let histogram = Device::cpu().histogram(&image).edges([0.0, 9.0, 1000.0]).run()?;
        /// assert_eq!(histogram.counts(), [1, 2]);
        /// # Ok::<(), apron::Error>(())
        /// ```
        pub fn edges(mut self, edges: impl Into<Vec<f64>>) -> Self {
            self.$($field)+ = crate::Edges::new(edges.into()).map(crate::Binning::Between);
            self
        }

        /// Sets bins of either kind, as a value.
        pub fn binning(mut self, binning: impl Into<crate::Binning>) -> Self {
            self.$($field)+ = Ok(binning.into());
            self
        }
    };
}
pub(crate) use setters;

use crate::{Binning, Bins, Result};

/// Returns the even bins that were set, or the default ones.
pub(crate) fn even(binning: &Result<Binning>) -> Bins {
    match binning {
        Ok(Binning::Even(bins)) => *bins,
        Ok(Binning::Between(_)) | Err(_) => Bins::default(),
    }
}
