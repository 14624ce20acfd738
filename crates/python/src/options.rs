//! Keyword options of filters.

use crate::array::pixel_type;
use crate::error::raised;
use crate::given::{Whole, items};
use apron::{
    Borders, Error, Extent, FilterBuilder, MAX_MASK_SIDE, MAX_SIDE, Method, Overflow, PixelType, Region, Rounding,
};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::str::FromStr;

/// The options of a filter.
#[derive(Default)]
pub(crate) struct Options {
    borders: Borders,
    extent: Extent,
    dtype: Option<PixelType>,
    rounding: Rounding,
    overflow: Overflow,
    anchor: Option<(u32, u32)>,
    method: Option<Method>,
    tolerance: Option<f64>,
    variant: Option<String>,
    keep_alpha: bool,
    stored: bool,
}

impl Options {
    /// Parses the keyword arguments of a filter.
    ///
    /// # Errors
    /// `TypeError` for another option, `ValueError` for a value that is not allowed.
    pub(crate) fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
        let mut options = Options::default();
        for (key, value) in given.into_iter().flatten() {
            match key.extract::<&str>()? {
                "border" => options.borders = parsed(&value)?,
                "extent" => options.extent = extent(&value)?,
                "dtype" => {
                    let dtype = value.py().import("numpy")?.call_method1("dtype", (value,))?;
                    options.dtype = Some(pixel_type(dtype.cast::<PyArrayDescr>()?)?);
                }
                "rounding" => {
                    let all = [("half_even", Rounding::HalfEven), ("toward_zero", Rounding::TowardZero)];
                    options.rounding = one_of("rounding", &value, &all)?;
                }
                "overflow" => {
                    options.overflow =
                        one_of("overflow", &value, &[("saturate", Overflow::Saturate), ("wrap", Overflow::Wrap)])?;
                }
                "anchor" => options.anchor = if value.is_none() { None } else { Some(anchor(&value)?) },
                "method" => options.method = Some(parsed(&value)?),
                "tolerance" => options.tolerance = value.extract()?,
                "variant" => options.variant = value.extract()?,
                "keep_alpha" => options.keep_alpha = value.extract()?,
                "store_between_passes" => options.stored = value.extract()?,
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "apron: there is no option {other:?}, but border, extent, dtype, rounding, overflow, anchor, method, \
                         tolerance, variant, keep_alpha and store_between_passes"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// Applies the options to a filter.
    pub(crate) fn set<'a>(&'a self, filter: FilterBuilder<'a>) -> FilterBuilder<'a> {
        let filter = filter.border(self.borders).extent(self.extent).rounding(self.rounding).overflow(self.overflow);
        let filter =
            filter.anchor(self.anchor).method(self.method).tolerance(self.tolerance).keep_alpha(self.keep_alpha);
        let filter = filter.store_between_passes(self.stored).variant(self.variant.as_deref());
        match self.dtype {
            Some(dtype) => filter.out_type(dtype),
            None => filter,
        }
    }
}

fn parsed<T: FromStr<Err = Error>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    value.extract::<&str>()?.parse().map_err(raised)
}

fn one_of<T: Copy>(what: &str, value: &Bound<'_, PyAny>, all: &[(&str, T)]) -> PyResult<T> {
    let given = value.extract::<&str>()?;
    all.iter().find(|(name, _)| *name == given).map(|(_, one)| *one).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("apron: {what} is {given:?}, but must be {}", names.join(" or ")))
    })
}

fn anchor(value: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    let [x, y]: [Whole; 2] = items(value, "anchor", "two whole numbers: x and y")?;
    let last = (MAX_MASK_SIDE - 1).into();
    Ok((x.within("x of the anchor", 0, last)?, y.within("y of the anchor", 0, last)?))
}

fn extent(value: &Bound<'_, PyAny>) -> PyResult<Extent> {
    if value.is_instance_of::<PyString>() {
        return one_of("extent", value, &[("same", Extent::Same), ("full", Extent::Full)]);
    }
    let names = "\"same\", \"full\" or four whole numbers: x, y, width and height";
    let [x, y, width, height]: [Whole; 4] = items(value, "extent", names)?;
    let most = MAX_SIDE.into();
    Ok(Extent::Region(Region {
        x: x.within("x of the extent", i32::MIN.into(), i32::MAX.into())?,
        y: y.within("y of the extent", i32::MIN.into(), i32::MAX.into())?,
        width: width.within("width of the extent", 1, most)?,
        height: height.within("height of the extent", 1, most)?,
    }))
}
