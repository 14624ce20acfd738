//! Histograms of many dimensions, on the host or by kernels.

use super::Reported;
use super::{Backend, Written, host_image};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::joint::Asked;
use crate::{DeviceImage, Edges, HistogramDd, PixelType, Report, Result, Source, SparseHistogram, Weights};
use apron_core::{Binning, JointHistogram, Kind, check_sparse_cells};
use std::borrow::Cow;
use std::time::Duration;

const OPERATION: &str = JointHistogram::OPERATION;

impl Backend {
    /// Counts rows by the bins of their columns.
    pub(crate) fn joint(&self, asked: &Asked<'_>) -> Result<Reported<HistogramDd>> {
        if let Some(computed) = self.computed_rows(asked)? {
            return self.joint(&asked.of_source(Source::Device(&computed)));
        }
        let Asked { source, columns, binning, choice } = asked;
        if self.machine().is_none() {
            return self.counted_by_host(OPERATION, source, choice.variant, |image, parallel| match parallel {
                true => apron_cpu::any::joint(image, columns, binning),
                false => apron_reference::any::joint(image, columns, binning),
            });
        }
        let (edges, written, made, copy_in) = self.joint_by_kernels(asked, None)?;
        let cells = written.read()?;
        Ok(Reported { result: HistogramDd { edges, cells }, report: with_copy(made, copy_in)? })
    }

    /// Sums weights, one per row, by the bins of the columns.
    pub(crate) fn joint_sums(&self, asked: &Asked<'_>, weights: &Weights<'_>) -> Result<Reported<HistogramDd<f64>>> {
        if let Some(computed) = self.computed_rows(asked)? {
            return self.joint_sums(&asked.of_source(Source::Device(&computed)), weights);
        }
        if let Weights::Image(image) = weights
            && let Some(computed) = self.as_computed(image, None)?
        {
            return self.joint_sums(asked, &Weights::Image(Source::Device(&computed)));
        }
        let Asked { source, columns, binning, choice } = asked;
        let count = match weights {
            Weights::Numbers(numbers) => numbers.len() as u64,
            Weights::Image(image) => {
                image.check_alone(OPERATION)?;
                image.shape().samples()
            }
        };
        columns.check_weights(source.shape(), count)?;
        if self.machine().is_none() {
            let weights = match weights {
                Weights::Numbers(numbers) => Cow::Borrowed(*numbers),
                Weights::Image(image) => Cow::Owned(super::weighted::numbers(&host_image(image, 0)?)),
            };
            return self.counted_by_host(OPERATION, source, choice.variant, |image, parallel| match parallel {
                true => apron_cpu::any::joint_weighted(image, columns, binning, &weights),
                false => apron_reference::any::joint_weighted(image, columns, binning, &weights),
            });
        }
        let (edges, written, made, copy_in) = self.joint_by_kernels(asked, Some(weights))?;
        let cells = written.read()?;
        Ok(Reported { result: HistogramDd { edges, cells }, report: with_copy(made, copy_in)? })
    }

    /// Counts rows, and returns the cells that are not empty. Only host devices do this: they sort.
    pub(crate) fn joint_sparse(&self, asked: &Asked<'_>) -> Result<Reported<SparseHistogram>> {
        if let Some(computed) = self.computed_rows(asked)? {
            return self.joint_sparse(&asked.of_source(Source::Device(&computed)));
        }
        let Asked { source, columns, binning, choice } = asked;
        self.counted_by_host(OPERATION, source, choice.variant, |image, parallel| match parallel {
            true => apron_cpu::any::joint_sparse(image, columns, binning),
            false => apron_reference::any::joint_sparse(image, columns, binning),
        })
    }

    /// Returns the samples in the type in which they are counted; `None` if they have it.
    fn computed_rows(&self, asked: &Asked<'_>) -> Result<Option<DeviceImage>> {
        let last = asked.binning.iter().map(Binning::last).fold(f64::NEG_INFINITY, f64::max);
        self.as_computed(&asked.source, Some(last))
    }

    /// Counts, or sums weights, by kernels. Returns the edges, the cells, and the time of the copy to the device.
    fn joint_by_kernels(
        &self,
        Asked { source, columns, binning, choice }: &Asked<'_>,
        weights: Option<&Weights<'_>>,
    ) -> Result<(Vec<Edges>, Written, Made, Duration)> {
        let (shape, src) = (source.shape(), source.pixel_type());
        columns.rows(shape)?;
        source.check_alone(OPERATION)?;
        // Uploaded once, for all kernels that read it.
        let (image, copy_in) = self.import_timed(source, OPERATION)?;
        let ranges = match binning.iter().any(seeks) {
            false => Vec::new(),
            true if columns.row() == shape.channels => {
                let of_channels = self.ranges(&Source::Device(&image), true)?;
                columns.picked().iter().map(|&column| of_channels[column as usize]).collect()
            }
            // No kernel finds the range of a column that is not a channel.
            true => apron_cpu::any::column_extremes(&host_image(source, 0)?, columns)?,
        };
        let of = |(n, binning): (usize, &Binning)| binning.edges_of_column(src, || ranges[n]);
        let edges = binning.iter().enumerate().map(of).collect::<Result<Vec<_>>>()?;
        check_sparse_cells(&edges)?;
        let floats;
        let beside = match weights {
            None => None,
            Some(Weights::Numbers(numbers)) => Some(Source::Host(super::weighted::words_of_rows(numbers)?)),
            Some(Weights::Image(image)) if matches!(image.pixel_type(), PixelType::F32 | PixelType::F64) => {
                Some(image.view())
            }
            Some(Weights::Image(image)) => {
                floats = self.as_floats(image)?;
                Some(Source::Device(&floats))
            }
        };
        let weights = weights.map(|weights| match weights {
            Weights::Image(image) if image.pixel_type() != PixelType::F64 => PixelType::F32,
            _ => PixelType::F64,
        });
        let problem = JointHistogram { shape, src, columns: columns.clone(), edges: edges.clone(), weights };
        let recipe = self.planned(&problem.into(), &Choice { variant: choice.variant, tuning: None })?;
        let (written, made) = self.run_kernels(&recipe, &Source::Device(&image), beside.as_ref(), None)?;
        Ok((edges, written.expect("no room was given"), made, copy_in))
    }
}

/// Returns whether the range of these bins depends on the samples.
fn seeks(binning: &Binning) -> bool {
    matches!(binning, Binning::Even(bins) if bins.range.is_none())
}

/// Returns the report, with the time of another copy to the device.
fn with_copy(made: Made, copy_in: Duration) -> Result<Report> {
    let report = made.report()?;
    Ok(Report { copy_in: report.copy_in + copy_in, ..report })
}
