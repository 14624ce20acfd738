//! Setters that several builders have: each with its docs once.

/// Gives a builder setters, each of which changes the field that is named: `setters! { ['a] Builder<'a>: variant(choice) }`.
macro_rules! setters {
    ([$($generics:tt)*] $builder:ty: $($setter:ident($($field:tt)+)),+) => {
        impl<$($generics)*> $builder {
            $(setters!(@$setter $($field)+);)+
        }
    };
    (@variant $($field:tt)+) => {
        /// Asks for an implementation by name, instead of the one that the environment variable `APRON_VARIANT` names or
        /// the plan prefers; and so for the method of a filter, unless one is asked for. `apron kernels` lists them.
        pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
            self.$($field)+.variant = name.into();
            self
        }
    };
    (@tuning $($field:tt)+) => {
        /// Gives the numbers of the kernels' grid, where the variant leaves some open, instead of those that were
        /// measured: for a sweep.
        pub fn tuning(mut self, tuning: impl Into<Option<crate::Tuning>>) -> Self {
            self.$($field)+.tuning = tuning.into();
            self
        }
    };
    (@per_channel $($field:tt)+) => {
        /// Takes each channel by itself, instead of all together.
        pub fn per_channel(mut self, per_channel: bool) -> Self {
            self.$($field)+ = per_channel;
            self
        }
    };
    (@binning $($field:tt)+) => {
        /// The number of bins, which are equally wide; 256 if not said. [`Bins`](crate::Bins) with a range set that, too.
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

        /// The range of the bins, in the samples' units: samples below `low` and above `high` do not count. If not said, 0
        /// to 256 for u8, and for other types the smallest sample to the largest.
        pub fn range(mut self, low: f64, high: f64) -> Self {
            let bins = crate::Bins { range: Some((low, high)), ..crate::setters::even(&self.$($field)+) };
            self.$($field)+ = Ok(crate::Binning::Even(bins));
            self
        }

        /// Bins between edges that rise, instead of bins of one width: each holds its lower edge, the last its upper one too.
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

        /// Bins of either kind, as a value.
        pub fn binning(mut self, binning: impl Into<crate::Binning>) -> Self {
            self.$($field)+ = Ok(binning.into());
            self
        }
    };
}
pub(crate) use setters;

use crate::{Binning, Bins, Result};

/// The even bins that were asked for, or the default ones.
pub(crate) fn even(binning: &Result<Binning>) -> Bins {
    match binning {
        Ok(Binning::Even(bins)) => *bins,
        Ok(Binning::Between(_)) | Err(_) => Bins::default(),
    }
}
