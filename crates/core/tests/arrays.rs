//! Conversions between images and `ndarray` arrays. Not in the library, which forbids the code that `s!` expands to.
#![cfg(feature = "ndarray")]

use apron_core::{Error, Image};
use ndarray::{Array, Array3, ArrayView3, s};

#[test]
fn what_lies_in_rows_is_not_copied() {
    let array = Array::from_iter(0..24u16).into_shape_with_order((2, 4, 3)).unwrap();
    let image = Image::try_from(array.view()).unwrap();
    assert_eq!(image.row(0).as_ptr(), array.as_ptr());
    assert_eq!(ArrayView3::from(&image), array);
    let rows = Image::try_from(array.slice(s![1.., .., ..])).unwrap();
    assert_eq!((rows.row(0).as_ptr(), rows.sample(1, 0, 2)), (&raw const array[[1, 0, 0]], 17));
    let owned = image.into_owned();
    let at = owned.row(0).as_ptr();
    assert_eq!(Array3::from(owned).as_ptr(), at);
}

#[test]
fn strides_of_every_kind_are_read_in_order() {
    let array = Array::from_iter(0..24i16).into_shape_with_order((2, 4, 3)).unwrap();
    for view in [
        array.slice(s![.., 1..3, ..]),
        array.slice(s![..;-1, ..;-1, ..;-1]),
        array.slice(s![.., ..;2, 1..]),
        array.view().permuted_axes([1, 0, 2]),
        array.view().permuted_axes([1, 2, 0]),
        array.slice(s![0..1, ..;3, 2..]),
    ] {
        let image = Image::try_from(view).unwrap();
        assert_eq!(ArrayView3::from(&image), view);
        assert_eq!(Array3::from(image), view);
    }
    let plane = array.slice(s![.., .., 1]);
    assert_eq!(Image::try_from(plane).unwrap().packed()[..], [1i16, 4, 7, 10, 13, 16, 19, 22]);
}

#[test]
fn gaps_are_strides_and_are_not_in_the_result() {
    let image = Image::with_row_stride(2, 2, 2, 5, (0..9).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let expected = ndarray::array![[[0.0, 1.0], [2.0, 3.0]], [[5.0, 6.0], [7.0, 8.0]]];
    assert_eq!(ArrayView3::from(&image), expected);
    assert_eq!(Array3::from(image), expected);
}

#[test]
fn impossible_shapes_are_refused() {
    for (shape, what) in [((0, 1, 1), "height"), ((1, 0, 1), "width"), ((1, 1, 5), "channels"), ((1, 1, 0), "channels")]
    {
        let array = Array3::<u8>::zeros(shape);
        let error = Image::try_from(array.view()).unwrap_err();
        assert!(matches!(error, Error::Shape { what: found, .. } if found == what), "{error}");
    }
}
