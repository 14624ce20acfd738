//! Types of parameters that have one value per axis.

use super::{Allowed, Value};
use std::fmt::{self, Display};

/// Defines a type with a value along the rows and one along the columns, converted from one value for both or from a
/// pair.
macro_rules! pairs {
    ($($(#[$doc:meta])* $Pair:ident($Of:ident, $separator:literal): $shape:literal, $wanted:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Pair {
            /// Along the rows.
            pub x: $Of,
            /// Along the columns.
            pub y: $Of,
        }

        impl From<$Of> for $Pair {
            fn from(both: $Of) -> $Pair {
                $Pair { x: both, y: both }
            }
        }

        impl From<($Of, $Of)> for $Pair {
            fn from((x, y): ($Of, $Of)) -> $Pair {
                $Pair { x, y }
            }
        }

        impl Display for $Pair {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.x == self.y { write!(f, "{}", self.x) } else { write!(f, "{}{}{}", self.x, $separator, self.y) }
            }
        }

        impl Value for $Pair {
            const SHAPE: &'static str = $shape;
            const WANTED: &'static str = $wanted;

            fn read(text: &str) -> Option<$Pair> {
                let (x, y) = text.split_once($separator).unwrap_or((text, text));
                Some($Pair { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
            }

            fn refused(self, allowed: Allowed) -> Option<f64> {
                [self.x, self.y].into_iter().find_map(|one| one.refused(allowed))
            }
        }
    )*};
}

pairs! {
    /// Standard deviations of a Gaussian, in pixels: one for both axes, or one per axis.
    ///
    /// ```
    /// use apron::filters::Sigma;
    ///
    /// assert_eq!(Sigma::from(3.0), Sigma { x: 3.0, y: 3.0 });
    /// assert_eq!(Sigma::from((3.0, 1.5)).to_string(), "3,1.5");
    /// ```
    Sigma(f64, ','): "S[,SY]", "S or S,SY: pixels";
    /// Orders of a derivative: one for both axes, or one per axis.
    Orders(u32, ','): "N[,NY]", "N or N,NY: 0 to 3";
    /// Width and height of a window, in pixels: one number for both, or one for each.
    Size(u32, 'x'): "WxH", "WxH or N: pixels";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_printed() {
        assert_eq!(Sigma::read("3, 0.5"), Some((3.0, 0.5).into()));
        assert_eq!((Size::read("5"), Size::read("3x7")), (Some(5.into()), Some((3, 7).into())));
        assert_eq!((Orders::read("1,0").unwrap().to_string(), Size::from(4).to_string()), ("1,0".into(), "4".into()));
        for text in ["", "3x", "-3", "3x4x5", "3,4"] {
            assert_eq!(Size::read(text), None, "{text}");
        }
        assert_eq!(Sigma::from((1.0, -2.0)).refused(Allowed::NotNegative), Some(-2.0));
    }
}
