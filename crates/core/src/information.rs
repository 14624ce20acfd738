//! Measures of the agreement of two images, from their joint histogram: entropies and mutual information.

use crate::{Error, HistogramDd, Result};

/// Entropies of a histogram of two dimensions, in nats, and the mutual information of its columns: measures of how well
/// two images of the same scene are registered.
///
/// With the share `p` of the rows in a cell or a bin, an entropy is `H = -sum(p ln p)`; the mutual information is
/// `I = H(X) + H(Y) - H(X, Y)` (Viola and Wells, 1997; Maes et al., 1997), and the normalized one
/// `(H(X) + H(Y)) / H(X, Y)` (Studholme, Hill and Hawkes, 1999), from 1 for independent columns to 2 for columns that
/// determine each other; scikit-image's `normalized_mutual_information` is this, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Information {
    /// Number of rows in all cells.
    pub count: u64,
    /// The entropies of the two columns alone, `H(X)` and `H(Y)`.
    pub entropies: [f64; 2],
    /// The entropy of both together, `H(X, Y)`.
    pub joint: f64,
    /// The mutual information `I`.
    pub mutual: f64,
    /// The normalized mutual information; NaN if all rows are in one cell, or none is.
    pub normalized: f64,
}

impl HistogramDd {
    /// Returns entropies and mutual information of a histogram of two dimensions. They are summed on the host in the
    /// order of the cells, so that equal counts have equal results.
    ///
    /// ```
    /// use apron_core::{Edges, HistogramDd};
    ///
    /// // Each bin of one column goes with one bin of the other.
    /// let edges = vec![Edges::new(vec![0.0, 1.0, 2.0])?; 2];
    /// let information = HistogramDd { edges, cells: vec![5, 0, 0, 5] }.information()?;
    /// assert_eq!((information.mutual, information.normalized), (2f64.ln(), 2.0));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for a histogram of another number of dimensions.
    pub fn information(&self) -> Result<Information> {
        if self.edges.len() != 2 {
            let limit = "2; take a marginal of two";
            return Err(Error::parameter("information", "number of dimensions", self.edges.len(), limit));
        }
        let [x, y] = [self.marginal(&[0])?, self.marginal(&[1])?];
        let count = self.cells.iter().sum();
        let [first, second, joint] = [&x.cells, &y.cells, &self.cells].map(|cells| entropy(cells, count));
        // Rounding must not make the mutual information of independent columns negative.
        let mutual = (first + second - joint).max(0.0);
        let normalized = (first + second) / joint;
        Ok(Information { count, entropies: [first, second], joint, mutual, normalized })
    }
}

/// Returns `-sum(p ln p)` of counts; empty cells add nothing.
fn entropy(counts: &[u64], all: u64) -> f64 {
    let shares = counts.iter().filter(|count| **count > 0).map(|&count| count as f64 / all as f64);
    shares.map(|share| -share * share.ln()).sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use crate::{Edges, HistogramDd};

    fn of(cells: &[u64]) -> HistogramDd {
        let edges = vec![Edges::new(vec![0.0, 1.0, 2.0]).unwrap(); 2];
        HistogramDd { edges, cells: cells.to_vec() }
    }

    #[test]
    fn values_by_hand() {
        // Independent: each of the four cells holds a quarter.
        let even = of(&[3, 3, 3, 3]).information().unwrap();
        assert_eq!((even.count, even.mutual, even.normalized), (12, 0.0, 1.0));
        assert_eq!((even.entropies, even.joint), ([2f64.ln(); 2], 4f64.ln()));
        // 3/4 and 1/4, and 1/2, 1/4 and 1/4 together.
        let part = of(&[2, 1, 0, 1]).information().unwrap();
        let (half, quarter) = (0.5 * 2f64.ln(), 0.25 * 4f64.ln());
        let three = -0.75 * 0.75f64.ln();
        assert_eq!(part.entropies, [three + quarter, 2.0 * half]);
        assert_eq!(part.joint, half + quarter + quarter);
        assert_eq!(part.mutual, three + quarter + 2.0 * half - part.joint);
        let one = of(&[0, 9, 0, 0]).information().unwrap();
        assert_eq!((one.joint, one.mutual), (0.0, 0.0));
        assert!(one.normalized.is_nan() && of(&[0; 4]).information().unwrap().normalized.is_nan());
    }

    #[test]
    fn one_dimension_has_none() {
        let line = HistogramDd { edges: vec![Edges::new(vec![0.0, 1.0]).unwrap()], cells: vec![1] };
        assert!(line.information().unwrap_err().to_string().contains("number of dimensions is 1"));
    }
}
