//! Lookup tables for u8 images, and the table of histogram equalisation.

use crate::Shape;

/// A table lookup for each sample of a u8 image.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Shape of the input.
    pub shape: Shape,
    /// Number of tables of 256 bytes: one for all channels, or one per channel.
    pub tables: u32,
}

/// Histogram equalisation of a u8 image, channel by channel, as OpenCV's `equalizeHist`.
#[derive(Clone, Debug, PartialEq)]
pub struct Equalize {
    /// Shape of the input.
    pub shape: Shape,
}

/// Returns the table that equalises a channel of bytes, from the count of each value: OpenCV's `equalizeHist`.
///
/// The least value that occurs, and all below it, become 0. Any other value becomes its cumulative count divided by the
/// count of all samples, both without the samples of the least value, times 255 in f32, rounded half to even. A channel
/// of a single value stays as it is.
///
/// ```
/// let mut counts = [0; 256];
/// (counts[10], counts[20], counts[30]) = (4, 1, 3);
/// let table = apron_core::equalizing(&counts);
/// // 255 * 1 / 4 is 63.75, and 255 * 4 / 4.
/// assert_eq!((table[10], table[20], table[30]), (0, 64, 255));
/// ```
///
/// # Panics
/// If there are not 256 counts, or all are 0.
pub fn equalizing(counts: &[u64]) -> [u8; 256] {
    assert_eq!(counts.len(), 256, "one count a byte value");
    let least = counts.iter().position(|count| *count > 0).expect("a sample");
    let all: u64 = counts.iter().sum();
    let mut below = 0;
    std::array::from_fn(|value| {
        below += counts[value];
        apron_abi::equalized(value as u32, least as u32, below.saturating_sub(counts[least]), all - counts[least])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_channel_stays() {
        let mut counts = [0; 256];
        counts[77] = 12;
        assert_eq!(equalizing(&counts)[77], 77);
    }

    #[test]
    fn halves_round_to_even() {
        // 255 / 2 = 127.5 becomes 128; 255 * 3 / 6 as well.
        let mut counts = [0; 256];
        (counts[0], counts[1], counts[2]) = (1, 1, 1);
        assert_eq!(equalizing(&counts)[..3], [0, 128, 255]);
        // 255 / 170 = 1.5 becomes 2, 255 * 3 / 170 = 4.5 becomes 4.
        let mut counts = [0; 256];
        (counts[0], counts[1], counts[2], counts[3]) = (9, 1, 2, 167);
        assert_eq!(equalizing(&counts)[..4], [0, 2, 4, 255]);
    }
}
