"""Filters of `apron.ndimage`, histograms and statistics of Dask arrays.

Filters read each block with its halo: results have the bits of the whole array's, except for means of float32 and float16
(`uniform_filter`), whose sums are within their bound. Filters take SciPy's arguments; ``output`` is a dtype.
Histograms and statistics reduce each block, and then the blocks' results in a tree.
Blocks are processed where Dask runs them, by functions that pickle by name.

>>> import dask.array as da, numpy as np
>>> import apron.dask
>>> image = da.from_array(np.arange(64.0).reshape(8, 8), chunks=(4, 8))
>>> apron.dask.uniform_filter(image, 3)[0].compute().round(1)
array([3. , 3.7, 4.7, 5.7, 6.7, 7.7, 8.7, 9.3])
"""

import functools
import inspect
from typing import Any, NamedTuple

import numpy as np

from . import ndimage
from ._arguments import axes_of, axis_of, by_axis, for_each
from ._histograms import histogram as _histogram

__all__ = [
    "Statistics",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "histogram",
    "laplace",
    "prewitt",
    "register",
    "sobel",
    "statistics",
    "uniform_filter",
    "uniform_filter1d",
]


def _gaussian_reach(sigma, truncate=4.0, radius=None):
    return int(radius) if radius is not None else int(truncate * float(sigma) + 0.5)


def _along_one(given, taps):
    """Returns the halo along the axis of a filter of ``taps`` taps: enough for any origin."""
    return {axis_of(given["axis"], given["input"].ndim): taps}


def _along_each(given, value, reach):
    axes = axes_of(given.get("axes"), given["input"].ndim)
    return {axis: reach(one) for axis, one in zip(axes, for_each(value, len(axes)))}


def _of_gaussian(given, axes=None):
    options = {**given, **given.get("kwargs", {})}
    axes = axes_of(given.get("axes"), given["input"].ndim) if axes is None else axes
    radii = for_each(options.get("radius"), len(axes))
    sigmas = for_each(given["sigma"], len(axes))
    truncate = options.get("truncate", 4.0)
    return {axis: _gaussian_reach(*one) for axis, *one in zip(axes, sigmas, [truncate] * len(axes), radii)}


def _sigmas(given):
    ndim = given["input"].ndim
    return by_axis(given["sigma"], axes_of(given["axes"], ndim), ndim, 0.0)


#: How far the windows of each filter reach along the axes, from its arguments.
_REACH = {
    "correlate1d": lambda given: _along_one(given, len(given["weights"])),
    "gaussian_filter1d": lambda given: _along_one(
        given, _gaussian_reach(given["sigma"], given["truncate"], given["radius"])
    ),
    "uniform_filter1d": lambda given: _along_one(given, given["size"]),
    "correlate": lambda given: dict(
        # The weights' axes are in the order of the array's axes, not in that of `axes`.
        zip(sorted(axes_of(given["axes"], given["input"].ndim)), np.shape(given["weights"]))
    ),
    "gaussian_filter": _of_gaussian,
    "gaussian_laplace": lambda given: _of_gaussian({**given, "sigma": _sigmas(given)}, range(given["input"].ndim)),
    # SciPy's derivatives blur along all axes.
    "gaussian_gradient_magnitude": lambda given: _of_gaussian(given, range(given["input"].ndim)),
    "uniform_filter": lambda given: _along_each(given, given["size"], int),
    "sobel": lambda given: dict.fromkeys(range(given["input"].ndim), 1),
    "prewitt": lambda given: dict.fromkeys(range(given["input"].ndim), 1),
    "laplace": lambda given: _along_each(given, 1, int),
}
#: Filters of which a mode is that of a derivative, and not of an axis.
_OF_DERIVATIVES = {"gaussian_laplace", "gaussian_gradient_magnitude"}
_REACH["convolve1d"], _REACH["convolve"] = _REACH["correlate1d"], _REACH["correlate"]


def _by_blocks(name):
    """Makes the function for Dask arrays."""
    filter = getattr(ndimage, name)
    signature = inspect.signature(filter)

    @functools.wraps(filter)
    def by_blocks(*args, **kwargs):
        import dask.array as da

        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        image, output = da.asarray(given["input"]), given["output"]
        if any(np.isnan(length) for lengths in image.chunks for length in lengths):
            raise ValueError(f"apron: shape is {image.shape}, but must be known for filters: call compute_chunk_sizes() first")
        given["input"] = image
        if not (output is None or isinstance(output, (str, type, np.dtype))):
            raise TypeError(f"apron: output is a {type(output).__name__}, but must be a dtype for Dask arrays")
        reach = {axis: taps for axis, taps in _REACH[name](given).items() if taps > 0}
        # With wrap, the samples of the array's other end are put beside it; other borders follow from the blocks at the edges.
        axes = axes_of(given.get("axes"), image.ndim)
        modes = for_each(given["mode"], len(axes))
        if name in _OF_DERIVATIVES and len(set(modes)) > 1:
            # Each derivative has one mode for all axes, so the samples outside differ by derivative, and every block needs both ends.
            image = image.rechunk(dict.fromkeys(reach, -1))
        modes = dict(zip(axes, modes))
        # Axes without a mode are filtered by that of the first one, if at all.
        others = modes[axes[0]] if axes else "nearest"
        wraps = [modes.get(axis, others).endswith("wrap") for axis in range(image.ndim)]
        # An axis that is shorter than a window is one block.
        image = image.rechunk({axis: -1 for axis, taps in reach.items() if taps >= min(image.chunks[axis])})
        depth = {axis: (reach.get(axis, 0) if image.numblocks[axis] > 1 else 0) for axis in range(image.ndim)}
        options = {key: value for key, value in given.items() if key not in ("input", "kwargs")}
        run = functools.partial(filter, **{**options, **given.get("kwargs", {})})
        # Filtering an empty array gives the result's type: complex if the weights are, and in the machine's byte order.
        meta = run(np.empty((0,) * image.ndim, image.dtype))
        return da.map_overlap(
            run,
            image,
            depth=depth,
            boundary={axis: "periodic" if wraps[axis] else "none" for axis in range(image.ndim)},
            dtype=meta.dtype,
            meta=meta,
        )

    # By this name they pickle.
    by_blocks.__module__ = __name__
    return by_blocks


globals().update({name: _by_blocks(name) for name in _REACH})


def histogram(a, bins=10, range=None):
    """Counts samples by bins: `numpy.histogram` of a Dask array, each block by `apron.histogram`.

    Parameters
    ----------
    a : dask array of any shape
    bins : int or sequence of numbers
        A number of bins of equal width, or the edges.
    range : (float, float), optional
        The first and the last edge; by default the least and the largest sample, which are found first. Dask then keeps the
        blocks until they are counted: give a range if the array is larger than memory.

    Returns
    -------
    counts : dask array of int64
    edges : array, one more than the bins; a dask array if it follows from the samples

    >>> import dask.array as da, numpy as np
    >>> import apron.dask
    >>> counts, edges = apron.dask.histogram(da.from_array(np.arange(100), chunks=30), bins=4, range=(0, 80))
    >>> counts.compute(), edges
    (array([20, 20, 20, 21]), array([ 0., 20., 40., 60., 80.]))
    """
    import dask.array as da

    samples = da.atleast_1d(da.asarray(a))
    if isinstance(bins, str):
        raise TypeError(f"apron: bins is {bins!r}, but must be a number or edges for Dask arrays")
    are_even = np.ndim(bins) == 0
    if are_even and bins < 1:
        raise ValueError(f"apron: bins is {bins}, but must be 1 or more")
    if not are_even and len(bins) == 0:
        raise ValueError("apron: bins has 0 edges, but must have 1 or more")
    if are_even and range is not None:
        low, high = range = tuple(range)
        if not low <= high:
            raise ValueError(f"apron: range is ({low}, {high}), but its first number must not be above its second")
    # An empty array of the samples' type: NumPy checks the bins, and returns edges that do not depend on samples.
    edges = np.histogram_bin_edges(np.empty(0, samples.dtype), bins, range)
    if are_even and range is None and samples.size != 0:
        ends = da.stack([samples.min(), samples.max()]).rechunk(-1)
        edges = ends.map_blocks(np.histogram_bin_edges, bins, chunks=(edges.size,), meta=edges[:0])
    # The last axis is that of bins.
    axes = tuple(np.arange(samples.ndim + 1))
    counts = da.blockwise(
        functools.partial(_counts, are_even=are_even, range=range),
        axes,
        samples,
        axes[:-1],
        da.asarray(edges, chunks=-1),
        axes[-1:],
        adjust_chunks={**dict.fromkeys(axes[:-1], 1), axes[-1]: edges.size - 1},
        concatenate=True,
        meta=np.empty((0,) * len(axes), np.int64),
    )
    return counts.sum(axis=axes[:-1]), edges


def _counts(block, edges, are_even, range):
    """Counts a block, with an axis of length 1 for each of the block's."""
    # For f32 samples, edges are computed in f64 from a given range, and in f32 from the least and the largest sample.
    ends = (edges[0], edges[-1]) if range is None else range
    counts, _ = _histogram(block, len(edges) - 1, ends) if are_even else _histogram(block, edges)
    return counts[(np.newaxis,) * block.ndim]


_NO_SAMPLES = "apron: there are 0 samples, but must be 1 or more"


class Statistics(NamedTuple):
    """Statistics of samples; `dask.compute` computes all in one pass."""

    #: Number of samples.
    count: Any
    #: The least sample; NaN if a sample is NaN.
    min: Any
    #: The largest sample; NaN if a sample is NaN.
    max: Any
    #: The mean, in f64.
    mean: Any
    #: The population standard deviation, in f64.
    std: Any


def statistics(a):
    """Finds the number of samples, the least and the largest one, the mean and the standard deviation; reads each block once.

    Means and sums of squared deviations are f64. For a block they are computed by two passes over the block in memory. Blocks are
    merged by the formula of Chan, Golub and LeVeque: if block ``i`` has ``n_i`` samples, the mean ``m_i`` and the sum of squared
    deviations ``s_i``, the mean of all is ``m = sum(n_i * m_i) / sum(n_i)``, and the sum is
    ``sum(s_i + n_i * (m_i - m) ** 2)``. No large sums of squares are subtracted.

    Parameters
    ----------
    a : dask array of real numbers, of any shape

    Returns
    -------
    Statistics
        Of dask arrays without axes.

    >>> import dask, dask.array as da, numpy as np
    >>> import apron.dask
    >>> found, = dask.compute(apron.dask.statistics(da.from_array(np.array([2, 4, 4, 4, 5, 5, 7, 9]), chunks=3)))
    >>> [float(one) for one in found]
    [8.0, 2.0, 9.0, 5.0, 2.0]
    """
    import dask.array as da

    samples = da.atleast_1d(da.asarray(a))
    if samples.dtype.kind not in "biuf":
        raise TypeError(f"apron: dtype is {samples.dtype}, but must be of real numbers")
    if samples.size == 0:
        raise ValueError(_NO_SAMPLES)
    record = np.dtype(
        [("count", "i8"), ("min", samples.dtype), ("max", samples.dtype), ("mean", "f8"), ("squares", "f8")]
    )
    merged = da.reduction(samples, _summed, _merged, combine=_merged, dtype=record, meta=np.empty((), record))
    std = da.sqrt(merged["squares"] / merged["count"])
    return Statistics(*(merged[name] for name in ("count", "min", "max", "mean")), std)


def _summed(block, dtype, axis, keepdims):
    """Returns the record of a block, as an array with as many axes as the block."""
    found = np.zeros((1,) * block.ndim, dtype)
    if block.size:
        mean = block.mean(dtype=np.float64, keepdims=True)
        squares = np.var(block, dtype=np.float64, mean=mean) * block.size
        found[...] = (block.size, block.min(), block.max(), mean.item(), squares)
    return found


def _merged(parts, axis, keepdims):
    """Merges records into one; at last, without axes, into the record of all samples."""
    # Blocks may be empty, for example after a selection.
    parts = parts[parts["count"] > 0]
    found = np.zeros((1,) * len(axis), parts.dtype)
    if parts.size:
        count = parts["count"].sum()
        mean = np.average(parts["mean"], weights=parts["count"])
        squares = (parts["squares"] + parts["count"] * (parts["mean"] - mean) ** 2).sum()
        found[...] = (count, parts["min"].min(), parts["max"].max(), mean, squares)
    elif not keepdims:
        raise ValueError(_NO_SAMPLES)
    return found if keepdims else found.reshape(())[()]


def register():
    """Makes `dask_image.ndfilters` filter NumPy's blocks by Apron.

    >>> import apron.dask
    >>> apron.dask.register()  # doctest: +SKIP
    """
    from dask_image.dispatch import _dispatch_ndfilters as dispatch

    for name in _REACH:
        door = getattr(dispatch, f"dispatch_{name}", None)
        if door is not None:
            # The registered function returns the filter for NumPy's blocks; the filter itself can be pickled.
            door.register(np.ndarray, lambda *_, filter=getattr(ndimage, name): filter)
