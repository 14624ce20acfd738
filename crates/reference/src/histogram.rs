//! The serial histograms.

use apron_core::{Bins, Histogram, Image, Pixel, Result};

/// The serial histogram that program P8 verifies with: counts of the byte values of an image, 256 a channel, of all channels together or of each apart.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(2, 1, 2, vec![7u8, 9, 7, 7])?;
/// assert_eq!(apron_reference::byte_histogram(&image, false)[7], 3);
/// assert_eq!(apron_reference::byte_histogram(&image, true)[256 + 9], 1);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn byte_histogram(image: &Image<u8>, per_channel: bool) -> Vec<u64> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let mut counts = vec![0; 256 * channels];
    for row in image.rows() {
        for (i, &byte) in row.iter().enumerate() {
            counts[i % channels * 256 + byte as usize] += 1;
        }
    }
    counts
}

/// The histogram of an image over `bins`, with the semantics of `numpy.histogram`.
///
/// # Errors
/// As [`Bins::edges`].
pub fn histogram<T: Pixel>(image: &Image<T>, bins: &Bins, per_channel: bool) -> Result<Histogram> {
    let edges = bins.edges(T::PIXEL, || {
        let samples = image.rows().flatten().map(|sample| sample.to_f64());
        samples.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| {
            if sample.is_nan() { (f64::NAN, f64::NAN) } else { (least(low, sample), -least(-high, -sample)) }
        })
    })?;
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let mut counts = vec![0; edges.bins() * channels];
    for row in image.rows() {
        for (i, sample) in row.iter().enumerate() {
            if let Some(bin) = edges.bin(sample.to_f64()) {
                counts[i % channels * edges.bins() + bin] += 1;
            }
        }
    }
    Ok(Histogram::new(edges, channels as u32, counts))
}

/// The smaller number, or NaN if `a` is: NaN, once found, stays.
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}
