"""OpenCV's functions of what is no number, at the ends of types, and in another byte order, beside OpenCV's own."""

import cv2
import numpy as np
import pytest

import apron
from apron import cv


def test_types_that_are_refused():
    for call, part in (
        (lambda: cv.threshold(np.ones((3, 3), bool), 0.5, 1, 0), "dtype is bool, but must be an integer or a float"),
        (lambda: cv.filter2D(np.zeros((3, 3)), -1, np.array([[1j]])), "kernel's numbers is complex128, but must be real"),
        (lambda: apron.Device("cpu").upload(np.zeros((3, 3))).separable([1], [1j]), "taps is complex128, but must be real"),
        (lambda: apron.Device("cpu").upload(np.zeros((3, 3))).correlate([[1j]]), "taps is complex128, but must be real"),
    ):
        with pytest.raises(TypeError, match=part):
            call()


def test_thresholds_beyond_the_type():
    image = np.array([[0, 7, 255]], np.uint8)
    for limit in (1e30, -1e30, 256, -1):
        for kind in range(5):
            found, expected = (cv.threshold(one, limit, 255, kind)[1] for one in (image, image.astype(np.int32)))
            np.testing.assert_array_equal(found, expected.clip(0, 255))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39, 1e9, (1.0, np.nan, -np.inf)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.filterwarnings("error")
def test_borders_of_what_is_no_number(dtype, value):
    image = np.random.default_rng(1).random((3, 4, 3)).astype(dtype)
    for around in [(1, 0, 2, 3), (0, 4, 0, 0), (0, 0, 0, 0)]:
        for border in (cv.BORDER_CONSTANT, cv.BORDER_REPLICATE):
            found, expected = (of.copyMakeBorder(image, *around, border, value=value) for of in (cv, cv2))
            np.testing.assert_array_equal(found, expected)
    place = np.zeros((5, 4), dtype)
    assert cv.copyMakeBorder(image[:, :, 0].copy(), 1, 1, 0, 0, cv.BORDER_CONSTANT, place, np.inf) is place
    assert (place[[0, 4]] == np.inf).all() and np.array_equal(place[1:4], image[:, :, 0])


@pytest.mark.parametrize("delta", [np.nan, np.inf, -np.inf, 1e39, -1e300])
@pytest.mark.parametrize("dtype, depth", [("u1", cv.CV_32F), ("f4", -1), ("f8", -1)])
@pytest.mark.filterwarnings("error")
def test_deltas_that_are_no_numbers(dtype, depth, delta):
    image = np.zeros((4, 5), dtype)
    image[1, 1:4] = 7 if dtype == "u1" else (np.inf, -np.inf, np.nan)
    for call in (
        lambda of: of.filter2D(image, depth, np.array([[1.0, 0, 0]]), delta=delta),
        lambda of: of.sepFilter2D(image, depth, np.ones(1), np.ones(1), delta=delta),
        lambda of: of.Laplacian(image, depth, delta=delta),
    ):
        np.testing.assert_array_equal(call(cv), call(cv2))


def test_kernels_of_f64_may_be_beyond_f32():
    image = np.random.default_rng(4).random((5, 6))
    row, column = np.array([1e300, -1e39, 3]), np.array([1e-9, 1e39, 0])
    image[2, 3] = np.inf
    for call in (
        lambda of: of.filter2D(image, -1, np.full((3, 3), 1e39)),
        lambda of: of.filter2D(image, -1, np.array([[1e300, 0, 3], [0, 0, 1e39]]), delta=3),
        lambda of: of.sepFilter2D(image, -1, row / 1e50, column),
        lambda of: of.Laplacian(image, -1, scale=1e200),
    ):
        np.testing.assert_allclose(call(cv), call(cv2), rtol=1e-12)
    for kernel in ([[1e39]], [[np.inf]], [[np.nan]]):
        samples = image.astype("f4") if kernel == [[1e39]] else image
        with pytest.raises(ValueError, match="tap is (inf|NaN), but must be finite"), np.errstate(over="ignore"):
            cv.filter2D(samples, -1, np.array(kernel))


def test_a_kernel_of_one_axis_is_a_row():
    image, kernel = np.random.default_rng(2).random((6, 7)).astype("f4"), np.array([1, 2, 4, 3], np.float32)
    for anchor in ((-1, -1), (3, 0)):
        found, expected = (of.filter2D(image, -1, kernel, anchor=anchor) for of in (cv, cv2))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="window of 4 x 1"):
        cv.filter2D(image, -1, kernel, anchor=(0, 1))


@pytest.mark.parametrize("sigma", [1e-200, 1e-160, 1e200, np.inf, np.nan, -np.inf])
@pytest.mark.filterwarnings("error")
def test_sigmas_at_the_ends_of_f64(sigma):
    image = np.random.default_rng(3).random((6, 7)).astype("f4")
    for call in (
        lambda of: of.getGaussianKernel(3, sigma),
        lambda of: of.GaussianBlur(image, (3, 5), sigma),
        lambda of: of.GaussianBlur(image, (3, 5), 1, sigmaY=sigma),
    ):
        np.testing.assert_allclose(call(cv), call(cv2), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["u2", "i2", "f4", "f8"])
def test_the_byte_order_of_samples_does_not_matter(dtype):
    image = (np.random.default_rng(6).random((20, 30, 3)) * 6e4 - (3e4 if dtype == "i2" else 0)).astype(dtype)
    other = image.astype(image.dtype.newbyteorder(">"))
    for call in (
        lambda x: cv.GaussianBlur(x, (5, 5), 1.1),
        lambda x: cv.sepFilter2D(x, -1, np.array([0.1, 0.3]), np.array([0.7, 0.1])),
        lambda x: cv.filter2D(x, cv.CV_64F, np.full((3, 3), 0.1)),
        lambda x: cv.Sobel(x, cv.CV_32F, 1, 0, scale=0.3),
        lambda x: cv.Laplacian(x, cv.CV_32F, ksize=3, scale=0.3),
        lambda x: cv.blur(x, (5, 3)),
        lambda x: cv.sqrBoxFilter(x, -1, (3, 3)),
        lambda x: cv.copyMakeBorder(x, 1, 2, 3, 4, cv.BORDER_CONSTANT, value=70),
        lambda x: cv.threshold(x, 90.5, 200, cv.THRESH_TRUNC)[1],
    ):
        found, expected = call(other), call(image)
        assert found.dtype == expected.dtype and found.dtype.isnative
        np.testing.assert_array_equal(found, expected)
