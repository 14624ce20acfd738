"""Arrays of CuPy, as far as they can be tried without a GPU: a module that stands for it, whose memory is the host's.

`gpu.py` tries the libraries themselves.
"""

import inspect
import sys
import types

import numpy as np
import pytest
import scipy.ndimage

import apron
from apron import _apron, _foreign, cv, exposure
from calls import BYTES, CALLS, COLOURS, IMAGES, SAMPLES
from apron import ndimage as own

HOST = {}


def memory(given):
    """Returns the host's array at an address."""
    address, shape, dtype, stream = given
    assert stream == (3, 77)
    array = HOST[address, tuple(shape)]
    assert array.shape == tuple(shape) and array.dtype == dtype and array.flags.c_contiguous
    return array


def is_given(one):
    """Whether a compiled function is given an array by its address, its shape, its type and a stream."""
    return isinstance(one, tuple) and len(one) == 4 and isinstance(one[1], tuple)


class ndarray:
    """An array of the module that stands for CuPy."""

    def __init__(self, host):
        self.host = host
        self.data = types.SimpleNamespace(ptr=host.ctypes.data)
        self.device = types.SimpleNamespace(id=3)
        HOST[self.data.ptr, host.shape] = host

    shape = property(lambda self: self.host.shape)
    ndim = property(lambda self: self.host.ndim)
    dtype = property(lambda self: self.host.dtype)
    flags = property(lambda self: self.host.flags)

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __len__(self):
        return len(self.host)

    def __setitem__(self, key, value):
        self.host[key] = value.host

    def __getitem__(self, key):
        return ndarray(self.host[key.host if isinstance(key, ndarray) else key])

    def __iadd__(self, other):
        self.host += other.host
        return self

    def __imul__(self, other):
        self.host *= other.host
        return self

    def astype(self, dtype):
        return ndarray(self.host.astype(dtype))

    def reshape(self, *shape):
        return ndarray(self.host.reshape(*shape))

    def swapaxes(self, first, second):
        return ndarray(self.host.swapaxes(first, second))

    def round(self):
        return ndarray(self.host.round())

    def get(self):
        return self.host

    __cuda_array_interface__ = property(lambda self: {})


def applied(function):
    """Returns a function of arrays of the module that does with them what another does with NumPy's."""

    def apply(*arguments):
        taken = [[one.host for one in given] if isinstance(given, list) else getattr(given, "host", given) for given in arguments]
        result = function(*taken)
        return ndarray(result) if isinstance(result, np.ndarray) else result

    return apply


for operator in "add mul gt eq ne".split():
    setattr(ndarray, f"__{operator}__", applied(getattr(np.ndarray, f"__{operator}__")))
ndarray.__hash__ = object.__hash__
ndarray.__module__ = "cupy"
CUPY = types.SimpleNamespace(
    ascontiguousarray=lambda array: ndarray(np.ascontiguousarray(array.host)),
    asarray=lambda host: ndarray(np.array(host)),
    empty=lambda shape, dtype: ndarray(np.empty(shape, dtype)),
    zeros=lambda shape, dtype: ndarray(np.zeros(shape, dtype)),
    sqrt=lambda array, out, casting: np.sqrt(array.host, out.host, casting=casting),
    stack=applied(np.stack),
    where=applied(np.where),
    interp=applied(np.interp),
    digitize=applied(np.digitize),
    cuda=types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=77)),
)


COMPILED = """separable correlate planar padded lookup equalized equalized_by_tiles matched otsu histogram histogramdd percentiles
extremes""".split()


def count_values(given, output):
    """Stands for the compiled function, which is for GPUs alone."""
    samples, (address, (size,), _, _) = memory(given), output
    counts = next(host for (at, shape), host in HOST.items() if at == address and len(shape) == 1 and len(host) >= size)
    if samples.dtype.itemsize == 4:
        inside = samples[(samples >= 0) & (samples <= size)]
        counts[:] = np.histogram(inside, size, (0, size))[0]
        found = counts.nonzero()[0] if inside.size else [0]
        return int(found[0]), int(found[-1]), inside.size == samples.size
    counts[:size] = np.bincount(samples.astype(np.int64) - np.iinfo(samples.dtype).min, minlength=size)
    return int(samples.min()), int(samples.max()), True


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    def on_host(function):
        """Runs a compiled function on the host's arrays at the addresses; a result is written where it is asked for."""

        def run(*arguments, **named):
            taken = [memory(one) if is_given(one) else one for one in arguments]
            taken_by_name = {name: memory(one) if is_given(one) else one for name, one in named.items()}
            names = list(inspect.signature(function).parameters)
            room = taken_by_name.pop("output", None)
            if "output" in names and len(taken) > names.index("output"):
                room = taken.pop(names.index("output"))
            result = function(*taken, **taken_by_name)
            if room is None:
                return result
            room[...] = result.reshape(room.shape)

        return run

    monkeypatch.setitem(sys.modules, "cupy", CUPY)
    for name in COMPILED:
        monkeypatch.setattr(_apron, name, on_host(getattr(_apron, name)))
    monkeypatch.setattr(_apron, "count_values", count_values)
    yield
    HOST.clear()


def compare(call, array):
    expected, found = call(array), call(ndarray(array.copy()))
    assert type(found) is ndarray and found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found.host, expected)


@pytest.mark.parametrize("shape", [(20, 31), (20, 31, 1), (20, 31, 3)])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("call", IMAGES)
def test_images_of_cv_and_exposure(call, dtype, shape):
    compare(call, (np.random.default_rng(2).random(shape) * 100).astype(dtype))


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("call", COLOURS)
def test_counts_of_several_channels(call, dtype):
    compare(call, (np.random.default_rng(2).random((20, 31, 3)) * 100).astype(dtype))


@pytest.mark.parametrize("call", BYTES)
def test_bytes(call):
    compare(call, np.random.default_rng(2).integers(0, 200, (20, 31, 3), np.uint8))


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("call", SAMPLES)
def test_samples(call, dtype):
    compare(call, (np.random.default_rng(2).random((20, 31)) * 100).astype(dtype))


def test_a_mask_chooses_what_is_counted():
    random = np.random.default_rng(5)
    image, mask = random.integers(0, 100, (20, 31), np.uint8), random.integers(0, 2, (20, 31), np.uint8)
    expected = cv.calcHist([image], [0], mask, [9], [3, 77])
    np.testing.assert_array_equal(cv.calcHist([ndarray(image)], [0], ndarray(mask), [9], [3, 77]).host, expected)
    hist = ndarray(expected - 0.25)
    assert cv.calcHist([ndarray(image)], [0], ndarray(mask), [9], [3, 77], hist, True) is hist
    np.testing.assert_array_equal(hist.host, expected * 2)
    expected = exposure.equalize_hist(image, mask=mask)
    np.testing.assert_array_equal(exposure.equalize_hist(ndarray(image), mask=ndarray(mask)).host, expected)


def test_cv_writes_into_dst_if_it_fits():
    image = np.random.default_rng(6).integers(0, 100, (20, 31), np.uint8)
    dst = ndarray(np.zeros((20, 31), np.uint8))
    assert cv.blur(ndarray(image), (3, 3), dst) is dst
    np.testing.assert_array_equal(dst.host, cv.blur(image, (3, 3)))
    assert cv.threshold(ndarray(image.astype("f4")), 5, 9, cv.THRESH_TRUNC, dst)[1] is not dst
    assert cv.blur(ndarray(image), (3, 3), ndarray(np.zeros((31, 20), np.uint8))).shape == (20, 31)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("call", CALLS)
def test_what_goes_in_comes_out(call, dtype):
    image = (np.random.default_rng(2).random((20, 31)) * 100).astype(dtype)
    expected, found = call(image), call(ndarray(image.copy()))
    assert type(found) is ndarray and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.host, expected)
    turned = call(ndarray(image.T))
    np.testing.assert_array_equal(turned.host, call(image.T))


def test_second_differences_along_any_axes():
    image = np.random.default_rng(7).random((3, 4, 2, 5))
    for axes in [(0, 2, 3), (0, 3), (3, 0), (0, 1, 2), None]:
        found = own.laplace(ndarray(image), axes=axes)
        np.testing.assert_array_equal(found.host, own.laplace(image, axes=axes))


@pytest.mark.parametrize("dtype", "u1 i1 u2 i2 u4 i4 i8 f4 f8".split())
@pytest.mark.parametrize("shape", [(9, 14), (5, 6, 7), (9, 14, 3)])
def test_a_laplacian_is_scipys_with_an_output_and_without(dtype, shape):
    image = np.random.default_rng(8).integers(0, 100, shape).astype(dtype)
    for mode, cval in (("reflect", 0), ("wrap", 0), ("constant", 7), ("constant", 2.5)):
        for wanted in (None, dtype, "i2", "f8"):
            expected = scipy.ndimage.laplace(image, output=wanted, mode=mode, cval=cval)
            found = own.laplace(ndarray(image), output=wanted, mode=mode, cval=cval)
            np.testing.assert_allclose(found.host, expected, rtol=1e-6, err_msg=f"{wanted} {mode} {cval}")
            assert found.dtype == expected.dtype
            room = ndarray(np.zeros(shape, expected.dtype))
            assert own.laplace(ndarray(image), output=room, mode=mode, cval=cval) is room
            np.testing.assert_array_equal(room.host, found.host)


def test_axes_of_one_sample_are_left_out_alike():
    image, weights = np.random.default_rng(8).random((4, 5, 1, 3)).astype("f4"), np.arange(18.0).reshape(3, 2, 1, 3) / 7
    np.testing.assert_array_equal(own.convolve(ndarray(image), weights).host, own.convolve(image, weights))
    np.testing.assert_allclose(own.convolve(image, weights), scipy.ndimage.convolve(image, weights), rtol=1e-5)


def test_results_are_written_into_the_array_that_is_given():
    image = np.random.default_rng(3).random((20, 31)).astype("f4")
    out, addresses = ndarray(np.zeros((20, 31), "f4")), set(HOST)
    own.sobel(ndarray(image), output=out)
    np.testing.assert_array_equal(out.host, own.sobel(image))
    # The input's alone is new: nothing was allocated.
    assert len(set(HOST) - addresses) == 1
    turned = ndarray(np.zeros((31, 20), "f4").T)
    assert own.sobel(ndarray(image), output=turned) is turned
    np.testing.assert_array_equal(turned.host, own.sobel(image))
    with pytest.raises(RuntimeError, match=r"it is \(3,\), but must be \(20, 31\)"):
        own.sobel(ndarray(image), output=ndarray(np.zeros(3, "f4")))
    with pytest.raises(RuntimeError, match="output must have numeric dtype, but has bool"):
        own.sobel(ndarray(image), output="bool")
    with pytest.raises(TypeError, match="must be of the input's library"):
        own.sobel(ndarray(image), output=np.zeros((20, 31), "f4"))


def test_histograms_and_what_is_missing():
    image = np.random.default_rng(4).random((20, 31)).astype("f4")
    for bins, range in ((10, None), (5, (0, 0.5)), ([0, 0.25, 1], None)):
        for density in (False, True):
            found, expected = apron.histogram(ndarray(image), bins, range, density), np.histogram(image, bins, range, density)
            for one, other in zip(found, expected):
                assert type(one) is ndarray
                np.testing.assert_array_equal(one.host, other)
    with pytest.raises(TypeError, match="must be of the library and place"):
        apron.histogram(ndarray(image), weights=image)
    for call in (
        lambda weights: apron.histogram(ndarray(image), weights=weights),
        lambda weights: apron.histogramdd(ndarray(image.reshape(-1, 1)), weights=weights),
        lambda weights: apron.bincount(ndarray(np.ones(620, "u1")), weights),
    ):
        with pytest.raises(ValueError, match=r"weights are float64\(310, 2\), but must be real numbers of shape \((20, 31|620,)\)"):
            call(ndarray(np.ones((310, 2))))
    with pytest.raises(TypeError, match="bins is 'auto'"):
        apron.histogram(ndarray(image), "auto")
    with pytest.raises(TypeError, match="by the linear method"):
        apron.percentile(ndarray(image), 5, axis=0)
    for kind in ("i2", "i4"):
        with pytest.raises(ValueError, match="values are -3 to 5"):
            apron.bincount(ndarray(np.array([5, -3, 2], kind)))
    for kind in ("i4", "u4"):
        # Within the values that are counted at once, their end, one behind it, and far beyond.
        for largest in (3, 16382, 16383, 16384, 16385, 70000):
            for minlength in (0, 5, 20000, 140000):
                values = np.array([2, 0, largest, 2, largest], kind)
                found, expected = apron.bincount(ndarray(values), minlength=minlength), np.bincount(values, minlength=minlength)
                assert type(found) is ndarray and found.host.dtype == expected.dtype
                np.testing.assert_array_equal(found.host, expected)
    assert apron.bincount(ndarray(np.zeros(0, "u1")), minlength=3).host.tolist() == [0, 0, 0]
    none = ndarray(np.zeros(0))
    assert apron.bincount(ndarray(np.zeros(0, "i4")), none).host.dtype == np.bincount([], []).dtype
    for found, expected in zip(apron.histogram2d(none, none, 2)[1:], np.histogram2d([], [], 2)[1:]):
        np.testing.assert_array_equal(found.host, expected)
    assert not apron.histogramdd(ndarray(np.zeros((0, 3))), 2)[0].host.any()
    assert apron.histogram(ndarray(image), [5])[0].host.tolist() == []
    with pytest.raises(ValueError, match="range \\[0, 100\\]"):
        apron.percentile(ndarray(image), 101)
    with pytest.raises(TypeError, match="must be real"):
        own.sobel(ndarray(image.astype(complex)))
    assert own.gaussian_filter(ndarray(np.zeros((0, 3))), 1.0).shape == (0, 3)
    assert _foreign.as_array([1.0]).dtype == np.float64
