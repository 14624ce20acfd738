//! Conversion of NumPy's arrays to images, and back.

use crate::error::raised;
use apron::{AnyImage, Bool, Image, Pixel, PixelType, Result, f16};
use apron_core::each_type;
use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Returns the sample type of a NumPy dtype; `None` if Apron has no such type.
pub(crate) fn pixel_of(dtype: &Bound<'_, PyArrayDescr>) -> Option<PixelType> {
    Some(match (dtype.kind(), dtype.itemsize()) {
        (b'b', 1) => PixelType::Bool,
        (b'u', 1) => PixelType::U8,
        (b'i', 1) => PixelType::I8,
        (b'u', 2) => PixelType::U16,
        (b'i', 2) => PixelType::I16,
        (b'u', 4) => PixelType::U32,
        (b'i', 4) => PixelType::I32,
        (b'u', 8) => PixelType::U64,
        (b'i', 8) => PixelType::I64,
        (b'f', 2) => PixelType::F16,
        (b'f', 4) => PixelType::F32,
        (b'f', 8) => PixelType::F64,
        _ => return None,
    })
}

/// As [`pixel_of`], or an error that names the type.
pub(crate) fn pixel_type(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<PixelType> {
    pixel_of(dtype).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "apron: dtype is {dtype}, but must be bool, an integer of 8 to 64 bits, float16, float32 or float64"
        ))
    })
}

macro_rules! samples {
    ($($tag:ident: $element:ty as $pixel:ty),*) => {
        /// An array whose samples are contiguous, in C order.
        pub(crate) enum Array<'py> {
            $($tag(PyReadonlyArrayDyn<'py, $element>)),*
        }

        /// The samples of an array, without its shape.
        #[derive(Clone, Copy)]
        pub(crate) enum Samples<'a> {
            $($tag(&'a [$pixel])),*
        }

        impl<'py> Array<'py> {
            fn of(pixel: PixelType, array: &Bound<'py, PyUntypedArray>) -> PyResult<Array<'py>> {
                Ok(match pixel {
                    $(PixelType::$tag => Array::$tag(array.cast::<PyArrayDyn<$element>>()?.try_readonly()?)),*
                })
            }

            /// Returns the lengths of the axes.
            pub(crate) fn shape(&self) -> &[usize] {
                match self {
                    $(Array::$tag(array) => array.shape()),*
                }
            }

            /// Returns the type of the samples.
            pub(crate) fn pixel(&self) -> PixelType {
                match self {
                    $(Array::$tag(_) => PixelType::$tag),*
                }
            }

            /// Borrows the samples.
            pub(crate) fn samples(&self) -> PyResult<Samples<'_>> {
                Ok(match self {
                    $(Array::$tag(array) => Samples::$tag(bytemuck::cast_slice(array.as_slice()?))),*
                })
            }
        }

        impl<'a> Samples<'a> {
            /// Returns the number of samples.
            pub(crate) fn len(self) -> usize {
                match self {
                    $(Samples::$tag(samples) => samples.len()),*
                }
            }

            /// Returns samples `from` to `to - 1`.
            pub(crate) fn part(self, from: usize, to: usize) -> Samples<'a> {
                match self {
                    $(Samples::$tag(samples) => Samples::$tag(&samples[from..to])),*
                }
            }

            /// Returns the samples as an image.
            ///
            /// # Errors
            /// [`apron::Error::Shape`] for an impossible shape.
            pub(crate) fn image(self, width: u32, height: u32, channels: u32) -> Result<AnyImage<'a>> {
                Ok(match self {
                    $(Samples::$tag(samples) => AnyImage::$tag(Image::new(width, height, channels, samples)?)),*
                })
            }
        }
    };
}
samples!(
    Bool: bool as Bool, U8: u8 as u8, I8: i8 as i8, U16: u16 as u16, I16: i16 as i16, U32: u32 as u32, I32: i32 as i32,
    U64: u64 as u64, I64: i64 as i64, F16: f16 as f16, F32: f32 as f32, F64: f64 as f64
);

impl<'py> Array<'py> {
    /// Takes an array without a copy if its samples are in C order and in the machine's byte order, otherwise a copy.
    ///
    /// # Errors
    /// `TypeError` for objects that are no arrays, and for other sample types.
    pub(crate) fn take(array: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let Ok(untyped) = array.cast::<PyUntypedArray>() else {
            return Err(PyTypeError::new_err(format!(
                "apron: input is {}, but must be an array",
                array.get_type().name()?
            )));
        };
        let dtype = untyped.dtype();
        let pixel = pixel_type(&dtype)?;
        if untyped.is_c_contiguous() && untyped.is_aligned() && dtype.is_native_byteorder() != Some(false) {
            return Array::of(pixel, untyped);
        }
        let py = array.py();
        static COPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let copy = COPY.import(py, "numpy", "array")?;
        let options = PyDict::new(py);
        options.set_item("order", "C")?;
        options.set_item("dtype", dtype.call_method1("newbyteorder", ("=",))?)?;
        Array::of(pixel, copy.call((array,), Some(&options))?.cast::<PyUntypedArray>()?)
    }
}

/// A Rust sample type that has a NumPy dtype.
trait IntoElement: Pixel {
    type Element: Element;
    fn elements(samples: Vec<Self>) -> Vec<Self::Element>;
}

macro_rules! into_element {
    ($($type:ty),*) => {$(
        impl IntoElement for $type {
            type Element = $type;
            fn elements(samples: Vec<$type>) -> Vec<$type> {
                samples
            }
        }
    )*};
}
into_element!(u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64);

impl IntoElement for Bool {
    type Element = bool;
    fn elements(samples: Vec<Bool>) -> Vec<bool> {
        samples.into_iter().map(|sample| sample != Bool::default()).collect()
    }
}

/// Makes a NumPy array of this shape from an image's samples, without a copy if the image owns them.
pub(crate) fn into_array<'py>(py: Python<'py>, image: AnyImage<'_>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    fn typed<'py, T: IntoElement>(
        py: Python<'py>,
        image: Image<'_, T>,
        shape: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyArray1::from_vec(py, T::elements(image.into_packed())).reshape(shape)?.into_any())
    }
    each_type!(image, image => typed(py, image, shape))
}

/// Makes a NumPy array of one axis from numbers.
pub(crate) fn numbers<'py, T: Element>(py: Python<'py>, numbers: Vec<T>) -> Bound<'py, PyAny> {
    PyArray1::from_vec(py, numbers).into_any()
}

/// Converts the length of an axis; an error if it is too long.
pub(crate) fn side(length: usize) -> PyResult<u32> {
    u32::try_from(length).map_err(|_| {
        let limit = format!("up to {}", u32::MAX);
        raised(apron::Error::Shape { what: "length of an axis", value: length.to_string(), limit })
    })
}
