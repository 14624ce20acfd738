//! Tables that match an image's histograms to the histograms of a reference image.

use crate::{Error, Histogram, Result};

/// Returns for each channel the table that maps a value to the reference value of the same cumulative share of samples:
/// scikit-image's `match_histograms`. Between values that occur in the reference it is interpolated, as by
/// `numpy.interp`, and truncated to an integer. Both histograms count every byte value, channels separately.
///
/// ```
/// use apron_core::{Bins, Histogram, PixelType};
///
/// let counts = |values: &[usize]| {
///     let mut counts = vec![0; 256];
///     values.iter().for_each(|&value| counts[value] += 1);
///     let edges = Bins::default().fixed_edges(PixelType::U8)?;
///     Ok::<_, apron_core::Error>(Histogram::new(edges, 1, counts))
/// };
/// let table = apron_core::matching(&counts(&[1, 2, 3, 3])?, &counts(&[10, 20])?)?;
/// // A quarter is below the half that is at 10; half is 10; all is 20.
/// assert_eq!((table[1], table[2], table[3]), (10, 10, 20));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if the numbers of channels differ.
pub fn matching(image: &Histogram, reference: &Histogram) -> Result<Vec<u8>> {
    if image.channels() != reference.channels() {
        let (value, limit) = (reference.channels().to_string(), format!("{}, as the image's", image.channels()));
        return Err(Error::Shape { what: "number of channels of the reference", value, limit });
    }
    let channel = |channel| table(image.channel(channel), reference.channel(channel));
    Ok((0..image.channels()).flat_map(channel).collect())
}

fn table(counts: &[u64], reference: &[u64]) -> Vec<u8> {
    let upto = shares(reference);
    let known: Vec<(f64, f64)> =
        (0..reference.len()).filter(|&value| reference[value] > 0).map(|value| (upto[value], value as f64)).collect();
    shares(counts).into_iter().map(|share| interpolated(&known, share) as u8).collect()
}

/// Returns the cumulative share of samples at each value.
fn shares(counts: &[u64]) -> Vec<f64> {
    let all = counts.iter().sum::<u64>() as f64;
    let running = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum as f64 / all)
    });
    running.collect()
}

/// Interpolates at `x` between known points in ascending order: `numpy.interp`.
fn interpolated(known: &[(f64, f64)], x: f64) -> f64 {
    match known.partition_point(|(at, _)| *at <= x) {
        0 => known[0].1,
        after if after == known.len() => known[after - 1].1,
        after => {
            let ((x0, y0), (x1, y1)) = (known[after - 1], known[after]);
            if x == x0 { y0 } else { (y1 - y0) / (x1 - x0) * (x - x0) + y0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_known_values_it_is_interpolated_and_cut_off() {
        let known = [(0.25, 10.0), (0.75, 21.0), (1.0, 30.0)];
        let at = [0.1, 0.25, 0.5, 0.75, 1.0, 1.5].map(|x| interpolated(&known, x));
        assert_eq!(at, [10.0, 10.0, 15.5, 21.0, 30.0, 30.0]);
        let mut counts = vec![0; 256];
        (counts[1], counts[2]) = (1, 1);
        let mut reference = vec![0; 256];
        (reference[10], reference[21], reference[30]) = (1, 2, 1);
        let table = table(&counts, &reference);
        assert_eq!((table[1], table[2], table[255]), (15, 30, 30));
    }
}
