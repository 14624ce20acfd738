"""Histograms of images: functions of `skimage.exposure`, as far as Apron has them.

Unsupported arguments raise `TypeError` or `ValueError`, which name the supported ones. There is no `equalize_adapthist`: Apron's
equalisation by tiles is OpenCV's, `apron.cv.createCLAHE`, whose results differ.
"""

import functools

import numpy as np

from . import _apron
from ._arguments import axis_of
from ._foreign import Foreign, as_array, beside, computed, in_order, on_host
from ._histograms import histogram

__all__ = ["equalize_hist", "match_histograms"]


def equalize_hist(image, nbins=256, mask=None):
    """Equalises the histogram: `skimage.exposure.equalize_hist`, floats from 0 to 1.

    Integers are counted by value, floats in ``nbins`` bins. The result is the cumulative share of the samples, interpolated between
    the middles of bins.

    Parameters
    ----------
    image : array
    nbins : int
    mask : array of bool, optional
        Only samples where the mask is true are counted.

    >>> from apron import exposure
    >>> import numpy as np
    >>> exposure.equalize_hist(np.array([[10, 20], [20, 40]], np.uint8))
    array([[0.25, 0.75],
           [0.75, 1.  ]])
    """
    image = in_order(as_array(image))
    if isinstance(image, Foreign):
        counted = image if mask is None else as_array(image.native[beside(image, mask, "mask").native != 0])
    else:
        counted = image if mask is None else image[np.array(mask, dtype=bool)]
    samples = counted.native if isinstance(counted, Foreign) else counted
    if image.dtype.kind in "iu" and image.dtype.itemsize <= 2:
        low, high = (int(end) for end in (counted.extremes() if isinstance(counted, Foreign) else (counted.min(), counted.max())))
        middles = np.arange(low, high + 1)
        counts = on_host(histogram(samples, np.arange(low, high + 2))[0])
    elif image.dtype.kind == "f":
        counts, edges = (on_host(one) for one in histogram(samples, nbins))
        middles = (edges[:-1] + edges[1:]) / 2.0
    else:
        raise TypeError(f"apron: dtype is {image.dtype}, but must be an integer of 8 or 16 bits, or a float")
    share = counts.cumsum() / float(counts.sum())
    # As in scikit-image, which does not support float16.
    dtype = np.dtype(np.float32 if image.dtype in (np.float32, np.float16) else np.float64)
    if not isinstance(image, Foreign):
        return np.interp(image.flat, middles, share).reshape(image.shape).astype(dtype, copy=False)
    return as_array(image.interpolated(middles.astype(np.float64), share)).as_type(dtype).native


def match_histograms(image, reference, *, channel_axis=None):
    """Gives an image of bytes the histogram of another: `skimage.exposure.match_histograms`.

    Parameters
    ----------
    image, reference : arrays of uint8, of the same number of axes
    channel_axis : int, optional
        The axis of the channels, each of which is matched separately; by default all samples are matched together.

    The result is float64; with channels it is uint8, truncated as in scikit-image.

    >>> from apron import exposure
    >>> import numpy as np
    >>> exposure.match_histograms(np.array([[1, 2, 3]], np.uint8), np.array([[30, 10, 20]], np.uint8))
    array([[10., 20., 30.]])
    """
    image = as_array(image)
    reference = beside(image, reference, "reference") if isinstance(image, Foreign) else np.asarray(reference)
    if image.dtype != np.uint8 or reference.dtype != np.uint8:
        raise TypeError(f"apron: dtypes are {image.dtype} and {reference.dtype}, but must be uint8")
    if image.ndim != reference.ndim or not (image.size and reference.size):
        raise ValueError(f"apron: shapes are {image.shape} and {reference.shape}, but must be of as many axes, with samples")
    if channel_axis is None:
        return _mapped(image, _table(*map(_counted, (image, reference))))
    axis = axis_of(channel_axis, image.ndim)
    channels = image.shape[axis]
    if channels != reference.shape[axis]:
        raise ValueError(
            f"Number of channels in the input image and reference image must match: "
            f"they are {channels} and {reference.shape[axis]}"
        )
    if axis == 2 == image.ndim - 1 and channels <= 4:
        return _matched(image, reference)
    image_rows, reference_rows = (_channels_last(one, axis) for one in (image, reference))
    planes = [_matched(*(as_array(one[:, :, channel]) for one in (image_rows, reference_rows))) for channel in range(channels)]
    rows = image.stacked(planes).native if isinstance(image, Foreign) else np.stack(planes, -1)
    shape = list(image.shape)
    shape[axis], shape[-1] = shape[-1], shape[axis]
    return rows.reshape(tuple(shape)).swapaxes(axis, image.ndim - 1)


def _counted(image):
    """Returns how often each byte occurs."""
    return _apron.histogram(image.given() if isinstance(image, Foreign) else image, np.arange(257.0), True)


def _table(counts, wanted):
    """Returns for each byte the value of the reference below which there is the same share of samples."""
    values = wanted.nonzero()[0]
    shares, wanted = (one.cumsum() / one.sum() for one in (counts, wanted[values]))
    return np.interp(shares, wanted, values)


def _mapped(image, table):
    """Returns the table's number for each byte."""
    if isinstance(image, Foreign):
        return as_array(image.interpolated(np.arange(256.0), table)).as_type(np.float64).native
    return table[image]


def _channels_last(array, axis):
    """Returns an array of three axes, the last that of the channels, as of its library."""
    native = array.native if isinstance(array, Foreign) else array
    rows = array.shape[0] if axis != 0 and array.ndim > 2 else 1
    return native.swapaxes(axis, array.ndim - 1).reshape(rows, -1, array.shape[axis])


def _matched(image, reference):
    """Matches an image of up to 4 channels."""
    reference = reference.given() if isinstance(reference, Foreign) else reference
    return computed(image, image.shape, image.dtype, functools.partial(_apron.matched, reference=reference))
