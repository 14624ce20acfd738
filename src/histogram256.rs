//! The byte histogram as the host program of the source articles has it.

use crate::{Device, DeviceImage, Error, Histogram, Image, Report, Result};
use std::fmt;

/// Program P8: setup, run, verification and cleanup of the 256-bin histogram of some bytes.
///
/// The bytes are copied to the device once, at setup, so that runs can be repeated and timed; dropping the program
/// frees them there. For an image, or other bins, use [`Device::histogram`].
///
/// ```
/// use apron::{Device, Histogram256};
///
/// let mut program = Histogram256::new(&Device::cpu(), vec![7u8, 9, 7])?;
/// let report = program.run()?;
/// program.verify()?;
/// assert_eq!((program.counts()[7], program.counts()[9]), (2, 1));
/// assert_eq!(report.operation, "histogram");
/// # Ok::<(), apron::Error>(())
/// ```
pub struct Histogram256 {
    device: Device,
    bytes: Image<'static, u8>,
    on_device: DeviceImage,
    result: Option<Histogram>,
}

impl fmt::Debug for Histogram256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, ran) = (self.bytes.width(), self.result.is_some());
        f.debug_struct("Histogram256").field("device", &self.device).field("bytes", &bytes).field("ran", &ran).finish()
    }
}

impl Histogram256 {
    /// Sets up: copies the bytes, 1 to [`MAX_SIDE`](crate::MAX_SIDE), to the device.
    ///
    /// # Errors
    /// [`Error::Shape`] for no bytes or too many, [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn new(device: &Device, bytes: impl Into<Vec<u8>>) -> Result<Histogram256> {
        let bytes = bytes.into();
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let bytes = Image::new(length, 1, 1, bytes)?;
        let on_device = device.upload(&bytes)?;
        Ok(Histogram256 { device: device.clone(), bytes, on_device, result: None })
    }

    /// Counts on the device, and returns what ran and how long it took.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn run(&mut self) -> Result<Report> {
        let (histogram, report) = self.device.histogram(&self.on_device).run_reported()?;
        self.result = Some(histogram);
        Ok(report)
    }

    /// Returns the count of each byte value in the last run; empty before the first run.
    pub fn counts(&self) -> &[u64] {
        self.result.as_ref().map_or(&[], Histogram::counts)
    }

    /// Compares the last run's counts with the serial histogram.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for the first wrong bin, or before the first run.
    pub fn verify(&self) -> Result<()> {
        let wrong = |what: String| Error::Mismatch { operation: "histogram", what };
        let expected = apron_reference::byte_histogram(&self.bytes, false);
        if self.result.is_none() {
            return Err(wrong("there are no counts before the first run".into()));
        }
        match self.counts().iter().zip(&expected).position(|(found, expected)| found != expected) {
            Some(bin) => Err(wrong(format!("bin {bin} holds {} instead of {}", self.counts()[bin], expected[bin]))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bins;

    #[test]
    fn a_wrong_count_is_found_and_named() {
        let mut program = Histogram256::new(&Device::cpu(), [3u8; 5]).unwrap();
        assert!(program.verify().unwrap_err().to_string().contains("before the first run"));
        program.run().unwrap();
        program.verify().unwrap();
        let other = Image::new(4, 1, 1, vec![3u8; 4]).unwrap();
        program.result = Some(Device::cpu().histogram(&other).bins(Bins::default()).run().unwrap());
        let error = program.verify().unwrap_err().to_string();
        assert!(error.contains("bin 3 holds 4 instead of 5"), "{error}");
    }

    #[test]
    fn no_bytes_are_refused() {
        assert!(matches!(Histogram256::new(&Device::cpu(), []), Err(Error::Shape { .. })));
    }
}
