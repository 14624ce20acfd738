//! The method of summation of a filter.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The method of summation of a filter. With the same method every device gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// One product per tap of a mask.
    Direct,
    /// One product per tap along the rows, then one per tap along the columns.
    Separable,
    /// A sum of a few separable filters.
    LowRank,
    /// Running sums over windows, and one product.
    Box,
    /// Fourier transforms of tiles, whose [error](crate::Fft::error_bound) is relative to the norm of a tile:
    /// never chosen by itself.
    Fft,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 5] = [Method::Direct, Method::Separable, Method::LowRank, Method::Box, Method::Fft];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Direct => "direct",
            Method::Separable => "separable",
            Method::LowRank => "low-rank",
            Method::Box => "box",
            Method::Fft => "fft",
        })
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        let found = Method::ALL.into_iter().find(|method| method.to_string() == text);
        found.ok_or_else(|| {
            Error::parameter("method", "method", format!("'{text}'"), "direct, separable, low-rank, box or fft")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for method in Method::ALL {
            assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
        }
        assert!("fourier".parse::<Method>().is_err());
    }
}
