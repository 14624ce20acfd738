"""NumPy's counts of values, percentiles, and bin numbers: its signatures and results."""

import operator
import sys

import numpy as np

from . import _apron
from ._foreign import Foreign, as_array, on_host
from ._histograms import MAX_BINS, are_plain, counted, is_counted, weights_of_foreign

# Bound when this module is loaded, since tests replace NumPy's functions.
_bincount, _percentile, _digitize = np.bincount, np.percentile, np.digitize


def bincount(x, /, weights=None, minlength=0):
    """Counts each value of integers from 0 on: `numpy.bincount`.

    Parameters
    ----------
    x : array of one axis, of integers of 0 or more
    weights : array of the same length, optional
        Summed in f64, in blocks of 65,536 samples.
    minlength : int
        The least number of counts.

    >>> import apron
    >>> apron.bincount([0, 1, 1, 3, 2, 1, 7])
    array([1, 3, 1, 1, 0, 0, 0, 1])
    """
    values, minlength = as_array(x), operator.index(minlength)
    if isinstance(values, Foreign):
        return _values_counted(values, weights, minlength)
    weights = None if weights is None else np.asarray(weights)
    plain = values.ndim == 1 and values.size and values.dtype.kind in "iu" and values.dtype != np.uint64
    if not plain or not are_plain(weights) or minlength < 0:
        return _bincount(x, weights, minlength)
    count = max(int(values.max()) + 1, minlength)
    if count > sys.maxsize // 8:
        # NumPy 2.4 writes outside its memory for 2^63 counts.
        raise MemoryError(f"apron: the largest value is {count - 1}, and there is no memory for as many counts")
    if values.min() < 0 or count > MAX_BINS or (weights is not None and weights.shape != values.shape):
        return _bincount(x, weights, minlength)
    weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
    return counted(values, (0, count, count), True, weights)


def _values_counted(values, weights, minlength):
    """Counts each value of an array of another library."""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"apron: x is {values.dtype}{values.shape}, but must be integers of one axis on a GPU and in PyTorch")
    # One pass counts all values of a small type, or the first ones of another; the counts then show which values occur.
    is_short = values.dtype.itemsize <= 4 and weights is None and values.size and minlength <= MAX_BINS
    counts, low, high = (values.values_counted(0, max(minlength, 0)) if is_short else None) or (None, 0, -1)
    if counts is None and values.size:
        low, high = values.extremes()
    count = max(int(high) + 1, minlength)
    if low < 0 or minlength < 0 or count > MAX_BINS:
        raise ValueError(f"apron: values are {low} to {high} and minlength is {minlength}, but must be 0 to {MAX_BINS - 1}")
    if counts is None and is_short:
        # The largest value is known now.
        counts, _, _ = values.values_counted(0, count) or (None, 0, 0)
    if counts is not None:
        return counts[:count]
    if not values.size:
        return values.of_host(np.zeros(minlength, np.int64))
    weights = None if weights is None else weights_of_foreign(values, weights, values.shape).given()
    return values.of_host(_apron.histogram(values.given(), (0, count, count), True, weights))


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """Percentiles: `numpy.percentile`.

    Percentiles of all samples together by the linear method are found by counting, without a sort and without a copy; others by NumPy.

    Parameters
    ----------
    a : array
    q : number or array of numbers, 0 to 100
    axis, out, overwrite_input, method, keepdims, weights : NumPy's

    Percentiles of integers are those of the samples as f64: NumPy's differences of small integers may overflow. For float32
    samples and a single Python number ``q``, the result is float32, as in NumPy, but rounded once from f64: NumPy's float32
    arithmetic may differ in the last bit. Arrays of more than 2^30 - 1 samples whose number has no factors for the sides of an image,
    such as a prime, are left to NumPy.

    >>> import apron
    >>> apron.percentile([[10, 7, 4], [3, 2, 1]], 50)
    np.float64(3.5)
    """
    samples = as_array(a)
    if isinstance(samples, Foreign):
        if not (axis is None and out is None and method == "linear" and not keepdims and weights is None):
            raise TypeError("apron: percentiles on a GPU and of PyTorch are those of all samples, by the linear method, without weights")
        return _percentiles_of_foreign(samples, q)
    array = np.asanyarray(a)
    is_plain = type(array) is np.ndarray and (array.dtype.kind in "iu" or array.dtype in (np.float32, np.float64))
    asked = np.asanyarray(q)
    of_all = axis is None and out is None and method == "linear" and not keepdims and weights is None
    # NumPy divides by 100 in the type of q: in f32, the places of percentiles in a long array are rounded.
    is_double = asked.dtype.kind in "iu" or asked.dtype == np.float64
    # A long array is an image of rows, which a prime number of samples is not.
    is_plain = is_plain and (array.size < 1 << 30 or _apron.has_percentiles(array.size))
    if not (is_plain and of_all and array.size and is_double and np.all((asked >= 0) & (asked <= 100))):
        return _percentile(
            a, q, axis, out, overwrite_input, method, keepdims, **({} if weights is None else {"weights": weights})
        )
    found = _apron.percentiles(array, [float(one) for one in asked.reshape(-1)]).reshape(asked.shape)
    return _in_type_of(found, array.dtype, q)[()]


def _in_type_of(found, dtype, q):
    """Returns percentiles in NumPy's type: f64, except f32 for f32 samples and a single Python number ``q``."""
    return found.astype(np.float32) if dtype == np.float32 and type(q) in (int, float) else found


def _percentiles_of_foreign(samples, q):
    asked = np.asarray(q, np.float64)
    if samples.dtype.kind not in "iuf" or not samples.size:
        raise TypeError(f"apron: the samples are {samples.dtype}{samples.shape}, but must be numbers, and one or more")
    if not np.all((asked >= 0) & (asked <= 100)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    found = _apron.percentiles(samples.given(), [float(one) for one in asked.reshape(-1)]).reshape(asked.shape)
    return samples.of_host(_in_type_of(found, samples.dtype, q))


def digitize(x, bins, right=False):
    """Finds the bin of each sample: `numpy.digitize`.

    Parameters
    ----------
    x : array
    bins : sequence of ascending or descending numbers
    right : bool
        Whether bins include their right edge instead of their left one.

    >>> import apron
    >>> apron.digitize([0.2, 6.4, 3.0, 1.6], [0.0, 1.0, 2.5, 4.0, 10.0])
    array([1, 4, 3, 2])
    """
    samples, edges = as_array(x), on_host(bins)
    if isinstance(samples, Foreign):
        return samples.searched(edges, right)
    is_plain = is_counted(samples.dtype) and edges.dtype.kind in "iuf" and edges.ndim == 1 and samples.size
    is_long = any(one.dtype.kind in "iu" and one.dtype.itemsize == 8 for one in (samples, edges))
    if not is_plain or not is_counted(edges.dtype) or (edges != edges).any() or is_long:
        # 64-bit integers are left to NumPy, since f64 does not represent them all.
        return _digitize(x, bins, right)
    rising, falling = bool((edges[:-1] <= edges[1:]).all()), bool((edges[:-1] >= edges[1:]).all())
    if not (rising or falling):
        return _digitize(x, bins, right)
    numbers = np.ascontiguousarray(edges if rising else edges[::-1], np.float64)
    places = _apron.places(samples, numbers, not right).reshape(samples.shape)
    return (places if rising else len(edges) - places)[()]
