//! Histograms of host memory by parts: only a part is on the GPU at a time, and several GPUs share the parts.

use super::Backend;
use super::histogram::Counting;
use crate::choice::Choice;
use crate::device_image::Made;
use crate::histogram::{Counts, DeviceHistogram, counted_by_parts};
use crate::{AnyImage, Binning, Histogram, Report, Result, Source};
use apron_gpu::{Gpu, Parts, share};
use std::sync::{Mutex, PoisonError};

/// Least and most bytes per part.
const PART_BYTES: (u64, u64) = (4 << 20, 64 << 20);
/// Fewest parts per GPU, so that a slower GPU can take fewer.
const PARTS_PER_GPU: u64 = 2;
/// Least bytes of an image that a single GPU counts by parts: a part costs some 0.1 ms.
const LEAST_BYTES: u64 = 4 * PART_BYTES.1;
/// As above, for floats without a range: by parts the host must find the range first, while a whole image is copied
/// once for both.
const LEAST_BYTES_TWICE: u64 = 1 << 30;

impl Backend {
    /// Counts an image on the host by parts; `None` if it is elsewhere, or too small to gain from it.
    pub(super) fn by_parts(
        &self,
        gpu: &Gpu,
        source: &Source<'_>,
        counting: &Counting<'_>,
        choice: &Choice<'_>,
    ) -> Result<Option<DeviceHistogram>> {
        let Counting { binning, per_channel, roi: None, waits: true } = counting else { return Ok(None) };
        let Source::Host(image) = source else { return Ok(None) };
        let (shape, pixel) = (image.shape(), image.pixel_type());
        if !pixel.is_computed() {
            return Ok(None);
        }
        let twice = pixel.is_float() && binning.seeks_range(pixel);
        let gpus: Vec<Gpu> = gpu.members().collect();
        let bytes = shape.samples() * pixel.size_bytes() as u64;
        let least = match gpus.len() {
            1 if twice => LEAST_BYTES_TWICE,
            1 => LEAST_BYTES,
            several => PART_BYTES.0 * several as u64,
        };
        if bytes < least {
            return Ok(None);
        }
        let part = (bytes / (PARTS_PER_GPU * gpus.len() as u64)).clamp(PART_BYTES.0, PART_BYTES.1);
        let rows = (part / (bytes / shape.height as u64)).clamp(1, shape.height.into()) as u32;
        let tops: Vec<u32> = (0..shape.height).step_by(rows as usize).collect();
        let extremes = || {
            let mut first = apron_cpu::FirstPass::new(1, Vec::new());
            first.add_any(image)?;
            Ok(first.extremes())
        };
        let count = |between: &Binning| {
            let all: Mutex<Option<(Histogram, Report)>> = Mutex::default();
            let name = |gpu: &Gpu| Backend::Gpu(gpu.clone()).name().to_string();
            let done = share(&gpus, tops.len(), name, |gpu, parts: &Parts| {
                let backend = Backend::Gpu(gpu.clone());
                while let Some(part) = parts.take() {
                    let top = tops[part];
                    let counted = image
                        .region(0, top, shape.width, rows.min(shape.height - top))
                        .and_then(|part| backend.count_part(part, between, *per_channel, choice));
                    let (histogram, report) = counted.inspect_err(|_| parts.give_back([part]))?;
                    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                    *all = Some(match all.take() {
                        None => (histogram, report),
                        Some((sum, so_far)) => (sum.plus(&histogram), so_far.joined(&report)),
                    });
                }
                Ok(())
            })?;
            debug_assert!(done, "a GPU takes parts, or fails");
            let (histogram, report) = all.into_inner().unwrap_or_else(PoisonError::into_inner).expect("a part");
            let several = if gpus.len() > 1 { format!(", on {} GPUs", gpus.len()) } else { String::new() };
            let why = format!("{}; in {} parts{several}", report.why, tops.len());
            Ok((histogram, Report { device: self.name().to_string(), why, ..report }))
        };
        let (histogram, report) = counted_by_parts(binning, pixel, extremes, count)?;
        Ok(Some(DeviceHistogram { counts: Counts::Done(histogram), made: Made::on_host(report) }))
    }

    /// Counts a part of an image.
    fn count_part(
        &self,
        part: AnyImage<'_>,
        binning: &Binning,
        per_channel: bool,
        choice: &Choice<'_>,
    ) -> Result<(Histogram, Report)> {
        let counting = Counting { binning: binning.clone(), per_channel, roi: None, waits: false };
        let counted = self.histogram(&Source::Host(part), &counting, choice)?;
        Ok((counted.download()?, counted.report()?))
    }
}
