"""Filters of `apron.ndimage` on Dask arrays: block by block, each with the samples around it that its windows see.

Results have the bits of the whole array's. The functions take SciPy's arguments; ``output`` is a dtype. Blocks are filtered where Dask runs
them, by names that pickle.

>>> import dask.array as da, numpy as np
>>> import apron.dask
>>> image = da.from_array(np.arange(64.0).reshape(8, 8), chunks=(4, 8))
>>> apron.dask.uniform_filter(image, 3)[0].compute().round(1)
array([3. , 3.7, 4.7, 5.7, 6.7, 7.7, 8.7, 9.3])
"""

import functools
import inspect

import numpy as np

from . import ndimage
from ._arguments import axes_of, axis_of, for_each

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "laplace",
    "prewitt",
    "register",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]


def _gaussian_reach(sigma, truncate=4.0, radius=None):
    return int(radius) if radius is not None else int(truncate * float(sigma) + 0.5)


def _along_one(given, taps):
    """Returns the reach along the one axis of a filter of so many taps: of all of them, wherever they are shifted."""
    return {axis_of(given["axis"], given["input"].ndim): taps}


def _along_each(given, value, reach):
    axes = axes_of(given.get("axes"), given["input"].ndim)
    return {axis: reach(one) for axis, one in zip(axes, for_each(value, len(axes)))}


def _of_gaussian(given):
    options = {**given, **given.get("kwargs", {})}
    axes = axes_of(given.get("axes"), given["input"].ndim)
    radii = for_each(options.get("radius"), len(axes))
    sigmas = for_each(given["sigma"], len(axes))
    truncate = options.get("truncate", 4.0)
    return {axis: _gaussian_reach(*one) for axis, *one in zip(axes, sigmas, [truncate] * len(axes), radii)}


#: How far the windows of each filter reach along the axes, from its arguments.
_REACH = {
    "correlate1d": lambda given: _along_one(given, len(given["weights"])),
    "gaussian_filter1d": lambda given: _along_one(
        given, _gaussian_reach(given["sigma"], given["truncate"], given["radius"])
    ),
    "uniform_filter1d": lambda given: _along_one(given, given["size"]),
    "correlate": lambda given: dict(
        zip(axes_of(given["axes"], given["input"].ndim), np.shape(given["weights"]))
    ),
    "gaussian_filter": _of_gaussian,
    "gaussian_laplace": _of_gaussian,
    "gaussian_gradient_magnitude": _of_gaussian,
    "uniform_filter": lambda given: _along_each(given, given["size"], int),
    "sobel": lambda given: dict.fromkeys(range(given["input"].ndim), 1),
    "prewitt": lambda given: dict.fromkeys(range(given["input"].ndim), 1),
    "laplace": lambda given: _along_each(given, 1, int),
}
_REACH["convolve1d"], _REACH["convolve"] = _REACH["correlate1d"], _REACH["correlate"]


def _by_blocks(name):
    """Makes the function for Dask arrays."""
    filter = getattr(ndimage, name)
    signature = inspect.signature(filter)

    @functools.wraps(filter)
    def run(*args, **kwargs):
        import dask.array as da

        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        image, output = da.asarray(given["input"]), given["output"]
        given["input"] = image
        if not (output is None or isinstance(output, (str, type, np.dtype))):
            raise TypeError(f"apron: output is a {type(output).__name__}, but must be a dtype for Dask arrays")
        reach = {axis: taps for axis, taps in _REACH[name](given).items() if taps > 0}
        # What windows see beyond the array's other end is put beside it; other borders follow from the blocks at the edges.
        axes = axes_of(given.get("axes"), image.ndim)
        modes = dict(zip(axes, for_each(given["mode"], len(axes)))) if "axis" not in given else {}
        wraps = [str(modes.get(axis, given["mode"])).endswith("wrap") for axis in range(image.ndim)]
        # An axis that is shorter than a window is one block.
        image = image.rechunk({axis: -1 for axis, taps in reach.items() if taps >= min(image.chunks[axis])})
        depth = {axis: (reach.get(axis, 0) if image.numblocks[axis] > 1 else 0) for axis in range(image.ndim)}
        dtype = np.dtype(image.dtype if output is None else output)
        options = {key: value for key, value in given.items() if key not in ("input", "kwargs")}
        return da.map_overlap(
            functools.partial(filter, **{**options, **given.get("kwargs", {})}),
            image,
            depth=depth,
            boundary={axis: "periodic" if wraps[axis] else "none" for axis in range(image.ndim)},
            dtype=dtype,
            meta=np.empty((0,) * image.ndim, dtype),
        )

    return run


globals().update({name: _by_blocks(name) for name in _REACH})


def register():
    """Makes `dask_image.ndfilters` filter NumPy's blocks by Apron.

    >>> import apron.dask
    >>> apron.dask.register()  # doctest: +SKIP
    """
    from dask_image.dispatch import _dispatch_ndfilters as dispatch

    for name in _REACH:
        door = getattr(dispatch, f"dispatch_{name}", None)
        if door is not None:
            # A function of the blocks' type that returns the filter, which pickles.
            door.register(np.ndarray, lambda *_, filter=getattr(ndimage, name): filter)
