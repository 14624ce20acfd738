"""Histograms of images: functions of `skimage.exposure`, as far as Apron has them.

What is missing raises `TypeError` or `ValueError`, with what is there. `equalize_adapthist` is not here: Apron's equalisation by tiles is
OpenCV's, `apron.cv.createCLAHE`, whose results are others.
"""

import functools

import numpy as np

from . import _apron
from ._foreign import Foreign, as_array, beside, computed, in_order, on_host
from ._histograms import histogram

__all__ = ["equalize_hist", "match_histograms"]


def equalize_hist(image, nbins=256, mask=None):
    """Equalises the histogram: `skimage.exposure.equalize_hist`, floats from 0 to 1.

    Integers are counted value by value, floats in ``nbins`` bins; between the bins' middles the share of the samples below is
    interpolated.

    Parameters
    ----------
    image : array
    nbins : int
    mask : array of bool, optional
        Only where it is true samples are counted.

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
    # As scikit-image: float16 is none of its types.
    dtype = np.dtype(np.float32 if image.dtype in (np.float32, np.float16) else np.float64)
    if not isinstance(image, Foreign):
        return np.interp(image.flat, middles, share).reshape(image.shape).astype(dtype, copy=False)
    return as_array(image.interpolated(middles.astype(np.float64), share)).as_type(dtype).native


def match_histograms(image, reference, *, channel_axis=None):
    """Gives an image of bytes the histogram of another: `skimage.exposure.match_histograms`.

    Parameters
    ----------
    image, reference : arrays of uint8, of shape (height, width), or (height, width, channels) with ``channel_axis=-1``
    channel_axis : None or -1
        With -1 each channel is matched for itself, else all together.

    The result is of bytes, truncated as scikit-image's with a channel axis; without one that returns floats, which are not truncated.

    >>> from apron import exposure
    >>> import numpy as np
    >>> exposure.match_histograms(np.array([[1, 2, 3]], np.uint8), np.array([[30, 10, 20]], np.uint8))
    array([[10, 20, 30]], dtype=uint8)
    """
    image = as_array(image)
    reference = beside(image, reference, "reference") if isinstance(image, Foreign) else np.asarray(reference)
    if image.dtype != np.uint8 or reference.dtype != np.uint8:
        raise TypeError(f"apron: dtypes are {image.dtype} and {reference.dtype}, but must be uint8")
    if channel_axis is None:
        shape = image.shape
        image, reference = (_in_rows(one) for one in (image, reference))
        return _matched(image, reference, shape)
    if channel_axis not in (-1, image.ndim - 1) or image.ndim != 3 or reference.ndim != 3:
        raise ValueError(f"apron: channel_axis is {channel_axis}, but must be the last of three, or None")
    if image.shape[2] != reference.shape[2]:
        raise ValueError(
            f"Number of channels in the input image and reference image must match: "
            f"they are {image.shape[2]} and {reference.shape[2]}"
        )
    return _matched(image, reference, image.shape)


def _in_rows(array):
    if isinstance(array, Foreign):
        return as_array(array.native.reshape(array.shape[0], -1))
    return array.reshape(array.shape[0], -1)


def _matched(image, reference, shape):
    reference = reference.given() if isinstance(reference, Foreign) else reference
    return computed(image, shape, image.dtype, functools.partial(_apron.matched, reference=reference))
