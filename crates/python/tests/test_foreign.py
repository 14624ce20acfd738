"""Arrays of CuPy, as far as they can be tried without a GPU: a module that stands for it, whose memory is the host's.

`gpu.py` tries the libraries themselves.
"""

import sys
import types

import numpy as np
import pytest

import apron
from apron import _apron, _foreign
from apron import ndimage as own

HOST = {}


def memory(given):
    """Returns the host's array at an address."""
    address, shape, dtype = given
    array = HOST[address]
    assert array.shape == tuple(shape) and array.dtype == dtype and array.flags.c_contiguous
    return array


class ndarray:
    """An array of the module that stands for CuPy."""

    def __init__(self, host):
        self.host = host
        self.data = types.SimpleNamespace(ptr=host.ctypes.data)
        self.device = types.SimpleNamespace(id=3)
        HOST[self.data.ptr] = host

    shape = property(lambda self: self.host.shape)
    ndim = property(lambda self: self.host.ndim)
    dtype = property(lambda self: self.host.dtype)
    flags = property(lambda self: self.host.flags)

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __setitem__(self, key, value):
        self.host[key] = value.host

    def __iadd__(self, other):
        self.host += other.host
        return self

    def __imul__(self, other):
        self.host *= other.host
        return self


ndarray.__module__ = "cupy"
CUPY = types.SimpleNamespace(
    ascontiguousarray=lambda array: ndarray(np.ascontiguousarray(array.host)),
    asarray=lambda host: ndarray(np.array(host)),
    empty=lambda shape, dtype: ndarray(np.empty(shape, dtype)),
    zeros=lambda shape, dtype: ndarray(np.zeros(shape, dtype)),
    sqrt=lambda array, out, casting: np.sqrt(array.host, out.host, casting=casting),
    cuda=types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=77)),
)


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    streams = []

    def on_host(function):
        def run(input, output, *arguments):
            *arguments, stream = arguments
            streams.append(stream)
            memory(output)[...] = function(memory(input), output[2], *arguments)

        return run

    monkeypatch.setitem(sys.modules, "cupy", CUPY)
    monkeypatch.setattr(_apron, "gpu_separable", on_host(_apron.separable))
    monkeypatch.setattr(_apron, "gpu_correlate", on_host(_apron.correlate))
    monkeypatch.setattr(_apron, "gpu_histogram", lambda given, *rest: _apron.histogram(memory(given), *rest[:-1]))
    monkeypatch.setattr(_apron, "gpu_extremes", lambda given, _: (memory(given).min(), memory(given).max()))
    yield
    HOST.clear()
    assert set(streams) <= {(3, 77)}


CALLS = [
    lambda x: own.gaussian_filter(x, 1.5),
    lambda x: own.gaussian_filter(x, 0),
    lambda x: own.uniform_filter(x, 3, mode="constant"),
    lambda x: own.sobel(x, output=np.float32),
    lambda x: own.laplace(x),
    lambda x: own.correlate(x, np.arange(9.0).reshape(3, 3)),
    lambda x: own.convolve1d(x, [1, 2, 4], output="f8"),
    lambda x: own.gaussian_laplace(x, 1.0),
    lambda x: own.gaussian_gradient_magnitude(x, 1.0),
]


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("call", CALLS)
def test_what_goes_in_comes_out(call, dtype):
    image = (np.random.default_rng(2).random((20, 31)) * 100).astype(dtype)
    expected, found = call(image), call(ndarray(image.copy()))
    assert type(found) is ndarray and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.host, expected)
    turned = call(ndarray(image.T))
    np.testing.assert_array_equal(turned.host, call(image.T))


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
    with pytest.raises(TypeError, match="without weights"):
        apron.histogram(ndarray(image), weights=image)
    with pytest.raises(TypeError, match="must be real"):
        own.sobel(ndarray(image.astype(complex)))
    assert own.gaussian_filter(ndarray(np.zeros((0, 3))), 1.0).shape == (0, 3)
    assert _foreign.as_array([1.0]).dtype == np.float64
