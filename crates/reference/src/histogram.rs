//! Serial histograms.

use apron_core::{Binning, Bins, Histogram, Image, Pixel, Result, check_roi};

/// Counts the byte values of an image, 256 per channel, of all channels together or of each channel: the serial
/// histogram against which program P8 verifies.
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

/// Computes the histogram of an image over `bins`, with the semantics of `numpy.histogram`.
///
/// # Errors
/// As [`Bins::edges`].
pub fn histogram<T: Pixel>(image: &Image<T>, bins: &Bins, per_channel: bool) -> Result<Histogram> {
    count(image, &Binning::Even(*bins), per_channel, None)
}

/// Computes a histogram in any bins, of all pixels or of those where `roi`, of one channel, is not 0.
///
/// ```
/// use apron_core::{Binning, Edges, Image};
///
/// let image = Image::new(4, 1, 1, vec![5u16, 700, 701, 9])?;
/// let roi = Image::new(4, 1, 1, vec![1u8, 1, 0, 255])?;
/// let bins = Binning::Between(Edges::new(vec![0.0, 9.0, 1000.0])?);
/// assert_eq!(apron_reference::count(&image, &bins, false, Some(&roi))?.counts(), [1, 2]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Binning::edges`], and [`Error::Shape`](apron_core::Error::Shape) for a mask of another width or height, or of
/// more than one channel.
pub fn count<T: Pixel>(
    image: &Image<T>,
    binning: &Binning,
    per_channel: bool,
    roi: Option<&Image<u8>>,
) -> Result<Histogram> {
    check_roi(image.shape(), roi.map(Image::shape))?;
    let mut selected: Vec<&[T]> = Vec::new();
    for y in 0..image.height() {
        for (x, pixel) in image.row(y).chunks_exact(image.channels() as usize).enumerate() {
            if roi.is_none_or(|roi| roi.row(y)[x] != 0) {
                selected.push(pixel);
            }
        }
    }
    let edges = binning.edges(T::PIXEL, || {
        let samples = selected.iter().copied().flatten().map(|sample| sample.to_f64());
        samples.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| {
            // NaN is kept once it was found.
            if low.is_nan() || sample.is_nan() { (f64::NAN, f64::NAN) } else { (low.min(sample), high.max(sample)) }
        })
    })?;
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let mut counts = vec![0; edges.bins() * channels];
    for pixel in selected {
        for (i, sample) in pixel.iter().enumerate() {
            if let Some(bin) = edges.bin(sample.to_f64()) {
                counts[i % channels * edges.bins() + bin] += 1;
            }
        }
    }
    Ok(Histogram::new(edges, channels as u32, counts))
}
