"""NumPy's functions of histograms: its signatures and results.

Counts are exact. Types that Apron does not have, such as dates, objects and long doubles, are counted by NumPy.
"""

import functools
import math
import operator
import warnings

import numpy as np

from . import _apron
from ._arguments import rounded
from ._foreign import Foreign, as_array, beside, on_host

# Bound when this module is loaded, since tests replace NumPy's functions.
_histogram, _histogramdd, _bin_edges = np.histogram, np.histogramdd, np.histogram_bin_edges

#: Most bins that there are.
MAX_BINS = 1 << 24

#: Most cells of a histogram of many dimensions, and its most dimensions.
_MAX_CELLS, _MAX_COLUMNS = 1 << 30, 8


def is_counted(dtype):
    """Whether Apron has a type."""
    return dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize <= 8)


def are_plain(weights):
    """Whether weights are numbers of f64."""
    return weights is None or (weights.dtype.kind in "biuf" and np.can_cast(weights.dtype, np.float64))


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of a histogram's bins: `numpy.histogram_bin_edges`, which finds them.

    Parameters
    ----------
    a : array
    bins : int, str or sequence of numbers
        A number of bins of equal width, the name of NumPy's rule for that number, or the edges.
    range : (float, float), optional
        The first and the last edge; by default the least and the largest sample.
    weights : array, optional

    >>> import apron
    >>> apron.histogram_bin_edges([0, 0, 0, 1, 2, 3, 3, 4, 5], bins=4)
    array([0.  , 1.25, 2.5 , 3.75, 5.  ])
    """
    samples = as_array(a)
    if isinstance(samples, Foreign):
        return samples.of_host(_edges_of_foreign(samples, bins, range))
    return _bin_edges(a, bins, range, weights)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts samples by bins: `numpy.histogram`.

    Parameters
    ----------
    a : array of any shape
    bins, range : as of `histogram_bin_edges`
    density : bool, optional
        Divides the counts by their sum and the bins' widths.
    weights : array of the shape of ``a``, optional
        Weights are summed in f64, in blocks of 65,536 samples, as NumPy does for bins of equal width. Integers are summed by NumPy if
        their type or f64 does not represent the sum.

    Returns
    -------
    counts : array of int64, or of the type of the weights
    edges : array, one more than the bins

    Integers of 64 bits are compared exactly with the edges, floats or integers, while NumPy rounds integers beyond 2^53 to f64 unless
    samples and edges have one type. For samples that are floats, edges are rounded as by NumPy.

    >>> import apron
    >>> apron.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    samples = as_array(a)
    if isinstance(samples, Foreign):
        return _of_foreign(samples, bins, range, density, weights)
    weights = None if weights is None else np.asarray(weights)
    if weights is not None and weights.shape != samples.shape:
        raise ValueError(f"weights should have the same shape as a: it is {weights.shape}, but must be {samples.shape}")
    if weights is not None and weights.dtype.kind == "c" and np.can_cast(weights.dtype, np.complex128):
        # Both between the same edges, and by the same rule for integers beyond 2^53.
        (real, edges), (imaginary, _) = (histogram(samples, bins, range, None, part) for part in (weights.real, weights.imag))
        counts = (real + 1j * imaginary).astype(weights.dtype)
        return (_density(counts, edges) if density else counts), edges
    # With given edges NumPy refuses weights of bool, which have no sums.
    are_summed = are_plain(weights) and not (weights is not None and weights.dtype == bool and np.ndim(bins))
    if not is_counted(samples.dtype) or not are_summed or not _are_exact(weights):
        return _histogram(a, bins, range, density, weights)
    if samples.dtype == bool:
        warnings.warn("Converting input from bool to uint8 for compatibility.", RuntimeWarning, stacklevel=2)
        samples = samples.astype(np.uint8)
    edges = _edges_of(samples, bins, range, weights)
    are_even = np.ndim(bins) == 0
    if not 2 <= len(edges) <= MAX_BINS + 1 or not is_counted(edges.dtype) or (edges != edges).any():
        return _histogram(samples, bins, range, density, weights)
    if not are_even and are_rounded(edges, samples.dtype):
        counts = counted(_bins_of(samples, edges), np.arange(len(edges)), True, weights)
    else:
        outer = _holding(edges, samples.dtype) if are_even and range is None else edges
        counts = counted(samples, outer, are_even, weights)
    return (_density(counts, edges) if density else counts), edges


#: Most bins whose edges are kept.
_KEPT_BINS = 4096


@functools.lru_cache(maxsize=32, typed=True)
def _kept_edges(dtype, bins, low, high):
    return _bin_edges(np.zeros(0, dtype), bins, (low, high))


def _edges_of(samples, bins, range, weights=None):
    """Returns NumPy's edges; those of a number of bins over a given range, which depend on the samples' type alone, are found once."""
    if type(bins) is int and bins <= _KEPT_BINS and type(range) is tuple and len(range) == 2:
        low, high = range
        # NumPy's scalars have a part in the type of the edges.
        if type(low) in (int, float) and type(high) in (int, float):
            return _kept_edges(samples.dtype, bins, low, high).copy()
    return _bin_edges(samples, bins, range, weights)


def are_rounded(edges, dtype):
    """Whether f64 would round edges for samples of 64-bit integers, which could lie between an edge and the rounded edge."""
    return dtype.kind in "iu" and dtype.itemsize == 8 and rounded(edges) is not None


def _bins_of(samples, edges):
    """Returns each integer's bin between edges of integers, compared exactly; for integers in no bin, a number above all bins."""
    dtype, outside = samples.dtype.newbyteorder("="), len(edges)
    signs = {samples.dtype.kind, edges.dtype.kind}
    below = np.zeros(samples.shape, bool)
    if signs == {"i", "u"}:
        # Both as unsigned integers: samples below 0 are below all edges, and edges below 0 are below all samples.
        if samples.dtype.kind == "i":
            below = samples < 0
        elif edges[-1] < 0:
            return np.full(samples.shape, outside, dtype)
        samples, edges = (np.maximum(one, 0).astype(np.uint64) for one in (samples, edges))
    bins = np.searchsorted(edges, samples, "right") - 1
    bins[samples == edges[-1]] = len(edges) - 2
    bins[(bins < 0) | (samples > edges[-1]) | below] = outside
    return bins.astype(dtype)


def _check_edges(edges, dtype):
    """Refuses edges that f64 would round, for arrays of other libraries."""
    if are_rounded(edges, dtype):
        one = rounded(edges)
        raise ValueError(
            f"apron: one of the edges is {one}, but must be an integer that f64 holds, as {int(float(one))}, for {dtype} on a GPU and of PyTorch"
        )


def _are_exact(weights):
    """Whether sums of integer weights in f64 equal the sums in their type."""
    if weights is None or weights.dtype.kind not in "iu":
        return True
    return np.abs(weights.astype(np.float64)).sum() <= min(np.iinfo(weights.dtype).max, 2**53)


def _holding(edges, dtype):
    """Returns edges from the least to the largest sample, moved outwards where f64 may round a 64-bit end inwards. NumPy rounds the
    samples, too; here they are compared exactly. A moved end takes in no other sample."""
    if dtype.kind not in "iu" or dtype.itemsize < 8:
        return edges
    edges = np.array(edges, np.float64)
    for end, away in ((0, -np.inf), (-1, np.inf)):
        if abs(edges[end]) >= 2.0**53:
            edges[end] = np.nextafter(edges[end], away)
    return edges


def _holding_columns(edges, are_even, range, dtype):
    """Returns the edges of columns; those that follow from a column by `_holding`."""
    free = [even and (range is None or range[at] is None) for at, even in enumerate(are_even)]
    return [_holding(one, dtype) if free[at] else one for at, one in enumerate(edges)]


def _edges_of_foreign(samples, bins, range):
    """Returns the edges for an array of another library, from its least and its largest sample."""
    if isinstance(bins, str):
        raise TypeError(f"apron: bins is {bins!r}, but must be a number or edges for arrays on a GPU and of PyTorch")
    bins = on_host(bins) if np.ndim(bins) else bins
    ends = samples.extremes() if range is None and np.ndim(bins) == 0 and samples.size else np.zeros(0, samples.dtype)
    return _edges_of(ends, bins, range)


def weights_of_foreign(samples, weights, shape):
    """Returns weights of a shape, in an array of another library, as f64."""
    weights = beside(samples, weights, "weights")
    if not are_plain(weights) or weights.shape != tuple(shape):
        raise ValueError(
            f"apron: weights are {weights.dtype}{weights.shape}, but must be real numbers of shape {tuple(shape)} for arrays on a GPU and "
            f"of PyTorch"
        )
    if weights.dtype.kind in "iu" and weights.dtype.itemsize == 8 and weights.size:
        ends = [int(end) for end in weights.extremes()]
        if (most := max(ends, key=abs)) and abs(most) > 2**53:
            raise ValueError(f"apron: the largest weight is about {most}, but must be up to 2^53 in integers on a GPU and of PyTorch")
    return weights if weights.dtype == np.float64 else weights.as_type(np.float64)


def _of_foreign(samples, bins, range, density, weights):
    """Counts an array of another library."""
    edges = _edges_of_foreign(samples, bins, range)
    _check_edges(edges, samples.dtype)
    if weights is not None:
        kind, weights = as_array(weights).dtype, weights_of_foreign(samples, weights, samples.shape)
    if samples.size == 0 or len(edges) == 1:
        counts = np.zeros(len(edges) - 1, np.int64 if weights is None else kind)
    else:
        outer = _holding(edges, samples.dtype) if range is None and np.ndim(bins) == 0 else edges
        outer, are_even = np.ascontiguousarray(outer, np.float64), np.ndim(bins) == 0
        if weights is None and not density:
            return samples.counted(outer, are_even), samples.of_host(edges)
        counts = _apron.histogram(samples.given(), outer, are_even, None if weights is None else weights.given())
        counts = counts if weights is None else counts.astype(kind)
    counts = _density(counts, edges) if density else counts
    return samples.of_host(counts), samples.of_host(edges)


def counted(samples, edges, are_even, weights=None):
    """Returns counts, or sums in the type of the weights."""
    edges = edges if isinstance(edges, tuple) else np.ascontiguousarray(edges, np.float64)
    if weights is None:
        return _apron.histogram(samples, edges, are_even)
    flat = np.ascontiguousarray(weights, np.float64).reshape(-1)
    return _apron.histogram(samples, edges, are_even, flat).astype(weights.dtype, copy=False)


def _density(counts, edges):
    return counts / np.array(np.diff(edges), float) / counts.sum()


def labelled_histogram(input, min, max, bins, labels=None, index=None):
    """Counts samples by bins of equal width, all or by their labels: `scipy.ndimage.histogram`.

    Parameters
    ----------
    input : array
    min, max : float
        The first and the last edge; the last edge belongs to the last bin.
    bins : int
    labels : array of integers, optional
        The labels of the samples; without ``index``, all samples with labels above 0 are counted together.
    index : int or array of int, optional
        The labels whose samples are counted, each label separately.

    Returns
    -------
    array of int64, or an array of such arrays, one for each of ``index``; None for a label that does not occur

    >>> from apron import ndimage
    >>> ndimage.histogram([0, 1, 2, 2, 3], 0, 4, 4)
    array([1, 1, 2, 1])
    >>> ndimage.histogram([0, 1, 2, 2, 3], 0, 4, 4, labels=[1, 1, 1, 2, 2], index=2)
    array([0, 0, 1, 1])
    """
    edges = np.linspace(min, max, bins + 1)
    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return histogram(input, edges)[0]
    given = as_array(input)
    if isinstance(given, Foreign):
        input, labels = given.native, beside(given, labels, "labels")
        if labels.shape != given.shape:
            raise ValueError(f"apron: shape of labels is {labels.shape}, but must be {given.shape}")
        kind, labels = labels.dtype, labels.native
    else:
        input, labels = np.broadcast_arrays(input, np.asarray(labels))
        kind = labels.dtype
    if index is None:
        return histogram(input[labels > 0], edges)[0]
    asked = np.asarray(index)
    if np.any(asked.astype(kind).astype(asked.dtype) != asked):
        raise ValueError(f"Cannot convert index values from <{asked.dtype}> to <{kind}> without loss of precision")
    found = np.empty(asked.shape, object)
    for at, label in np.ndenumerate(asked):
        samples = as_array(input[labels == label])
        found[at] = histogram(getattr(samples, "native", samples), edges)[0] if samples.size else None
    return found[()]


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Counts rows by the bins of their columns: `numpy.histogramdd`.

    Parameters
    ----------
    sample : array of shape (rows, columns), or sequence of columns
    bins : int, or sequence with a number of bins or edges for each column
    range : sequence of (float, float) or None for each column, optional
    density : bool, optional
    weights : array, one for each row, optional
        Summed in f64, in blocks of 65,536 rows.

    Returns
    -------
    counts : array of float64 with an axis for each column
    edges : tuple of arrays

    >>> import apron, numpy as np
    >>> counts, edges = apron.histogramdd(np.array([[0.0, 5.0], [0.5, 1.0], [1.0, 6.0]]), bins=2)
    >>> counts
    array([[0., 1.],
           [1., 1.]])
    """
    rows = _rows_of_foreign(sample)
    if rows is not None:
        return _rows_counted(rows, bins, range, density, weights)
    try:
        _, columns = sample.shape
    except (AttributeError, ValueError):
        sample = np.atleast_2d(sample).T
        _, columns = sample.shape
    if isinstance(sample, np.ma.MaskedArray):
        # The ends are those of samples that are not masked.
        return _histogramdd(sample, bins, range, density, weights)
    sample = np.asarray(sample)
    sample = sample.view(np.uint8) if sample.dtype == bool else sample
    weights = None if weights is None else np.asarray(weights)
    edges, are_even = _edges_of_columns(lambda at: sample[:, at], columns, bins, range)
    sides = [len(one) - 1 for one in edges]
    apart = all(side > 0 and np.isfinite(one).all() for side, one in zip(sides, edges))
    is_plain = is_counted(sample.dtype) and are_plain(weights) and all(is_counted(one.dtype) for one in edges)
    cells = math.prod(sides)
    # Weights of another shape are refused by NumPy.
    is_plain = is_plain and (weights is None or weights.shape == (len(sample),))
    if not (apart and is_plain and 0 < columns <= _MAX_COLUMNS and 0 < cells <= _MAX_CELLS and len(sample)):
        return _histogramdd(sample, bins, range, density, weights)
    between = edges
    exact = [not even and are_rounded(one, sample.dtype) for one, even in zip(edges, are_even)]
    if any(exact):
        # Bin numbers are counted instead of the samples.
        sample = np.stack([_bins_of(sample[:, at], one) if exact[at] else sample[:, at] for at, one in enumerate(edges)], -1)
        between = [np.arange(len(one)) if exact[at] else one for at, one in enumerate(edges)]
    outer = _holding_columns(between, are_even, range, sample.dtype)
    given = [np.ascontiguousarray(one, np.float64) for one in outer]
    flat = None if weights is None else np.ascontiguousarray(weights, np.float64)
    counts = _apron.histogramdd(sample, given, are_even, flat).reshape(sides)
    return _density_of_cells(counts, edges) if density else counts, list(edges)


def _density_of_cells(counts, edges):
    total = counts.sum()
    for axis, one in enumerate(edges):
        shape = [1] * counts.ndim
        shape[axis] = -1
        counts = counts / np.diff(one).reshape(shape)
    return counts / total


def _rows_of_foreign(sample):
    """Returns rows of another library, from an array or from columns; ``None`` for NumPy's arrays."""
    if isinstance(sample, (list, tuple)):
        columns = [as_array(column) for column in sample]
        if not columns or not isinstance(columns[0], Foreign):
            return None
        columns = [beside(columns[0], column, "column") for column in columns]
        return columns[0].stacked([column.native for column in columns])
    rows = as_array(sample)
    if not isinstance(rows, Foreign):
        return None
    return rows if rows.ndim == 2 else as_array(rows.native.reshape(-1, 1))


def _rows_counted(rows, bins, range, density, weights):
    """Counts rows of another library."""
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= _MAX_COLUMNS:
        raise ValueError(f"apron: shape is {rows.shape}, but must be of rows of 1 to {_MAX_COLUMNS} columns")
    length, columns = rows.shape

    def ends_of(column):
        return as_array(rows.native[:, column]).extremes() if length else np.zeros(0, rows.dtype)

    edges, are_even = _edges_of_columns(ends_of, columns, bins, range)
    sides = [len(one) - 1 for one in edges]
    if not 0 < math.prod(sides) <= _MAX_CELLS:
        raise ValueError(f"apron: number of cells is {math.prod(sides)}, but must be 1 to {_MAX_CELLS}")
    for one, even in zip(edges, are_even):
        if not even:
            _check_edges(one, rows.dtype)
    weights = None if weights is None else weights_of_foreign(rows, weights, (length,)).given()
    outer = [np.ascontiguousarray(one, np.float64) for one in _holding_columns(edges, are_even, range, rows.dtype)]
    counts = _apron.histogramdd(rows.given(), outer, are_even, weights) if length else np.zeros(math.prod(sides))
    counts = counts.reshape(sides)
    counts = _density_of_cells(counts, edges) if density else counts
    return rows.of_host(counts), [rows.of_host(one) for one in edges]


def _edges_of_columns(column_of, columns, bins, range):
    """Returns the edges of each column, and whether its bins have equal width; ``column_of`` returns a column, or its ends, if the edges
    follow from it."""
    try:
        if len(bins) != columns:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = [bins] * columns
    if range is None:
        range = [None] * columns
    elif len(range) != columns:
        raise ValueError(f"range argument must have one entry per dimension: {len(range)} are given, of {columns}")
    edges, are_even = [], []
    for column, one in enumerate(bins):
        are_even.append(np.ndim(one) == 0)
        if np.ndim(one) == 0:
            if one < 1:
                raise ValueError(f"`bins[{column}]` must be positive, when an integer, but is {one}")
            low, high = _ends(column_of(column) if range[column] is None else np.zeros(0), range[column])
            try:
                count = operator.index(one)
            except TypeError as error:
                raise TypeError(f"`bins[{column}]` must be an integer, when a scalar, but is {one}") from error
            edges.append(np.linspace(low, high, count + 1))
        elif np.ndim(one) == 1:
            edges.append(on_host(one))
            if np.any(edges[-1][:-1] > edges[-1][1:]):
                raise ValueError(f"`bins[{column}]` must be monotonically increasing, when an array")
        else:
            raise ValueError(f"`bins[{column}]` must be a scalar or 1d array")
    return edges, are_even


def _ends(samples, range):
    """Returns the ends of bins, those given, or the least and the largest sample; equal ends are moved apart, as by NumPy."""
    edges = _bin_edges(samples, 1, range)
    if range is not None and range[0] != range[1]:
        return range
    if range is None and samples.size and samples.min() != samples.max():
        return samples.min(), samples.max()
    return edges[0], edges[-1]


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Counts pairs by the bins of both: `numpy.histogram2d`.

    Parameters
    ----------
    x, y : arrays of one axis and the same length
    bins : int, edges for both, or a pair of either
    range, density, weights : as of `histogramdd`

    Returns
    -------
    counts, edges of x, edges of y

    >>> import apron
    >>> apron.histogram2d([0, 1, 1], [0, 0, 1], bins=2)[0]
    array([[1., 0.],
           [1., 1.]])
    """
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length: they have {len(x)} and {len(y)}")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = [on_host(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
