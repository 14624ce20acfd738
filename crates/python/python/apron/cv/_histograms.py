"""Histograms, and their uses: equalised images and thresholds."""

import functools
import math

import numpy as np

from .. import _apron
from .._foreign import Foreign, as_array, beside, computed
from ._images import THRESH_BINARY, THRESH_BINARY_INV, THRESH_OTSU, THRESH_TOZERO, THRESH_TOZERO_INV, THRESH_TRUNC
from ._images import given_of, image_of, pair_of, shape_of

#: Most tiles along an axis.
_MOST_TILES = 4096


def calcHist(images, channels, mask, histSize, ranges, hist=None, accumulate=False):
    """Counts samples of channels by bins of equal width: `cv2.calcHist`, in float32.

    Parameters
    ----------
    images : sequence of images of one size and type
    channels : sequence of int
        The channels that are counted jointly, numbered through all images.
    mask : array of uint8, or None
        Only pixels where the mask is not 0 are counted.
    histSize : sequence of int
        The number of bins of each channel.
    ranges : sequence of float
        The lower and the upper end for each channel; the upper end is not in the last bin. NaN is in no bin.
    hist : array of float32, optional
        Receives the counts, if it has their shape.
    accumulate : bool
        Whether the counts are added to ``hist``, rounded to integers: also for three channels, for which OpenCV's Python
        starts from zeros.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.calcHist([np.array([[0, 10, 200, 255]], np.uint8)], [0], None, [2], [0, 256]).ravel()
    array([2., 2.], dtype=float32)
    """
    images = [image_of(one) for one in images]
    if len(channels) != len(histSize) or len(ranges) != 2 * len(channels):
        raise ValueError(
            f"apron: {len(channels)} channels have {len(histSize)} numbers of bins and {len(ranges)} ends, "
            f"but must have {len(channels)} and {2 * len(channels)}"
        )
    dtype = images[0].dtype.newbyteorder("=")
    if dtype.kind not in "biuf" or (dtype.kind in "iu" and dtype.itemsize > 4):
        raise TypeError(f"apron: dtype is {dtype}, but must be a float, or an integer of up to 32 bits")
    if any(one.dtype.newbyteorder("=") != dtype or one.shape[:2] != images[0].shape[:2] for one in images):
        kinds = ", ".join(f"{one.dtype}{one.shape[:2]}" for one in images)
        raise ValueError(f"apron: the images are {kinds}, but must be of one type and size")
    planes = [plane for image in images for plane in _planes(image)]
    if not all(0 <= channel < len(planes) for channel in channels):
        raise ValueError(f"apron: channels are {list(channels)}, but must be 0 to {len(planes) - 1}")
    planes = [planes[channel] for channel in channels]
    if mask is not None:
        first = images[0]
        chosen = beside(first, mask, "mask").native != 0 if isinstance(first, Foreign) else np.asarray(mask) != 0
        if tuple(chosen.shape) not in (first.shape[:2], (*first.shape[:2], 1)):
            raise ValueError(f"apron: shape of the mask is {tuple(chosen.shape)}, but must be {first.shape[:2]}")
        chosen = chosen.reshape(first.shape[:2])
        planes = [plane[chosen] for plane in planes]
    edges = [_edges_of_places(dtype, int(bins), *map(np.float32, ends)) for bins, ends in zip(histSize, zip(ranges[::2], ranges[1::2]))]
    first = as_array(planes[0])
    if first.size == 0:
        counts = np.zeros(histSize)
    elif len(edges) == 1:
        counts = _apron.histogram(given_of(first), edges[0], False)[:-1]
    else:
        flat = [plane.reshape(-1) for plane in planes]
        rows = first.stacked(flat) if isinstance(first, Foreign) else np.stack(flat, -1)
        counts = _apron.histogramdd(given_of(rows), edges, [False] * len(edges)).reshape([len(one) - 1 for one in edges])
        counts = counts[tuple(slice(0, -1) for _ in edges)]
    counts = counts.astype(np.float32)
    counts = counts.reshape(-1, 1) if counts.ndim == 1 else counts
    counts = images[0].of_host(counts) if isinstance(images[0], Foreign) else counts
    if hist is None:
        return counts
    shape, place = tuple(counts.shape), as_array(hist)
    # A histogram of one channel is a column in OpenCV 4, and has one axis in version 5.
    if place.dtype != np.float32 or (place.shape != shape and place.shape + (1,) != shape):
        if accumulate:
            given = f"{place.dtype}{place.shape}"
            raise ValueError(f"apron: hist is {given}, but must be float32{shape} for counts to be added")
        return counts
    counts = counts.reshape(place.shape)
    hist[...] = hist.round() + counts if accumulate else counts
    return hist


def _planes(image):
    """Returns the channels of an image, as arrays of its library."""
    array = image.native if isinstance(image, Foreign) else image
    return [array] if image.ndim == 2 else [array[:, :, at] for at in range(image.shape[2])]


@functools.lru_cache(maxsize=64)
def _edges_of_places(dtype, bins, low, high):
    """Returns the edges between samples of a type that OpenCV counts in different bins, and one bin more for samples beyond the last.

    OpenCV converts the ends to f32, multiplies a sample by a factor, adds an offset, and truncates to the bin's number. The number is
    monotonic in the sample: the least sample of each bin is found by bisection of all values, in their order.
    """
    low, high = float(low), float(high)
    if bins < 1 or not low < high < math.inf or low == -math.inf:
        raise ValueError(f"apron: {bins} bins are from {low} to {high}, but must be 1 or more, from a number to a greater one")
    factor = bins / (high - low)

    def place(samples):
        return np.floor(samples.astype(np.float64) * factor + -factor * low)

    if dtype.kind == "f":
        bits = np.dtype(f"i{dtype.itemsize}")
        # The bits of floats as integers in their order: below 0, all bits except the sign are inverted.
        value = lambda key: np.where(key < 0, ~key ^ np.iinfo(bits).min, key).astype(bits).view(dtype)  # noqa: E731
        top = int(np.array(np.inf, dtype).view(bits))
        lowest = -top - 1
    else:
        limits = np.iinfo(np.uint8 if dtype.kind == "b" else dtype)
        value, lowest, top = (lambda key: key.astype(dtype)), int(limits.min), int(limits.max) + 1
    wanted = np.arange(bins + 1.0)
    below, least = np.full(bins + 1, lowest - 1, np.int64), np.full(bins + 1, top, np.int64)
    between = least != below + 1
    while between.any():
        # Half of the sum, without an overflow of 64 bits.
        middle = (below >> 1) + (least >> 1) + (below & least & 1)
        samples = value(middle)
        with np.errstate(over="ignore", invalid="ignore"):
            reached = np.where(wanted < bins, (samples >= low) & (place(samples) >= wanted), False)
            reached |= (samples >= high) | ((samples >= low) & (place(samples) >= bins))
        least, below = np.where(between & reached, middle, least), np.where(between & ~reached, middle, below)
        between = least != below + 1
    edges = value(least).astype(np.float64) if dtype.kind == "f" else least.astype(np.float64)
    return np.append(edges, np.inf)


def equalizeHist(src, dst=None):
    """Equalises the histogram of bytes: `cv2.equalizeHist`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.equalizeHist(np.array([[10, 20, 20, 30]], np.uint8))
    array([[  0, 170, 170, 255]], dtype=uint8)
    """
    image = image_of(src)
    if image.dtype != np.uint8 or image.shape[2:] not in ((), (1,)):
        raise TypeError(f"apron: the image is {image.dtype}{image.shape}, but must be uint8 of one channel")
    return computed(image, shape_of(image), image.dtype, _apron.equalized, dst)


class CLAHE:
    """Equalisation by tiles, with limited counts: the result of `createCLAHE`."""

    def __init__(self, clipLimit, tileGridSize):
        self._clip, self._tiles = float(clipLimit), pair_of(tileGridSize, "tileGridSize")

    def apply(self, src, dst=None):
        """Returns an image of uint8 or uint16, equalised."""
        image = image_of(src)
        if not all(1 <= tiles <= _MOST_TILES for tiles in self._tiles):
            raise ValueError(f"apron: tileGridSize is {self._tiles}, but must be 1 to {_MOST_TILES} along an axis")
        run = functools.partial(_apron.equalized_by_tiles, clip=self._clip, across=self._tiles[0], down=self._tiles[1])
        return computed(image, shape_of(image), image.dtype.newbyteorder("="), run, dst)

    def getClipLimit(self):
        return self._clip

    def setClipLimit(self, clipLimit):
        self._clip = float(clipLimit)

    def getTilesGridSize(self):
        return self._tiles

    def setTilesGridSize(self, tileGridSize):
        self._tiles = pair_of(tileGridSize, "tileGridSize")


def createCLAHE(clipLimit=40.0, tileGridSize=(8, 8)):
    """Contrast limited adaptive histogram equalisation: `cv2.createCLAHE`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.createCLAHE(0, (1, 1)).apply(np.array([[10, 20], [20, 30]], np.uint8))
    array([[ 64, 191],
           [191, 255]], dtype=uint8)
    """
    return CLAHE(clipLimit, tileGridSize)


def threshold(src, thresh, maxval, type, dst=None):
    """Compares samples with a threshold: `cv2.threshold`; with ``THRESH_OTSU`` the threshold is found by Otsu's method.

    Returns
    -------
    threshold : float
    image

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.threshold(np.array([[10, 11, 200]], np.uint8), 0, 255, cv.THRESH_BINARY | cv.THRESH_OTSU)
    (11.0, array([[  0,   0, 255]], dtype=uint8))
    """
    image = image_of(src)
    if image.dtype.kind not in "iuf":
        raise TypeError(f"apron: dtype is {image.dtype}, but must be an integer or a float")
    kind, found = type & ~THRESH_OTSU, float(thresh)
    if not 0 <= kind <= THRESH_TOZERO_INV:
        raise ValueError(f"apron: type is {type}, but must be 0 to {THRESH_TOZERO_INV}, or with THRESH_OTSU")
    if type & THRESH_OTSU:
        found = float(_apron.otsu(given_of(image)))
    if math.isnan(found) or (image.dtype.kind != "f" and math.isnan(maxval)):
        raise ValueError(f"apron: thresh and maxval are {found} and {maxval}, but must be numbers")
    if image.dtype.kind != "f":
        if math.isinf(found):
            raise ValueError(f"apron: thresh is {found}, but must be finite for {image.dtype}")
        # The threshold with which OpenCV compares integers, and which it returns.
        found = float(math.floor(found))
    if image.dtype == np.uint8:
        # Integer thresholds for bytes, and a lookup table.
        top = int(np.clip(np.rint(maxval), 0, 255))
        values, limit = np.arange(256), int(np.clip(found, -1, 255))
        table = _thresholded(np.where, values, values > limit, limit, top, kind).clip(0, 255).astype(np.uint8)
        return found, computed(image, shape_of(image), image.dtype, functools.partial(_apron.lookup, table=table), dst)
    is_whole = image.dtype.kind != "f"
    if isinstance(image, Foreign):
        wide = image.as_type(np.int64) if is_whole else image
        where, values = wide.where, wide.native
    else:
        where, values = np.where, image
    if is_whole:
        limits = np.iinfo(image.dtype)
        limit, top = int(found), int(np.clip(np.rint(maxval), limits.min, limits.max))
        is_inside = limits.min <= limit <= limits.max
        # All samples are above a threshold below the range of the type, and none is above a threshold beyond it.
        above = values > limit if is_inside else values == values if limit < limits.min else values != values
        limit = min(max(limit, limits.min), limits.max)
    else:
        limit, top = (float(image.dtype.type(one)) for one in (found, maxval))
        above = values > limit
    return found, _kept(image, _thresholded(where, values, above, limit, top, kind), dst)


def _thresholded(where, values, above, limit, top, kind):
    if kind == THRESH_BINARY:
        return where(above, top, 0)
    if kind == THRESH_BINARY_INV:
        return where(above, 0, top)
    if kind == THRESH_TRUNC:
        return where(above, limit, values)
    return where(above, values, 0) if kind == THRESH_TOZERO else where(above, 0, values)


def _kept(image, result, dst):
    """Returns a result in the image's type, or stores it in an array of its shape and type."""
    if isinstance(image, Foreign):
        result = as_array(result).as_type(image.dtype).native.reshape(shape_of(image))
        target = image.fits(dst, shape_of(image), image.dtype)
        if target is None:
            return result
    else:
        result = result.astype(image.dtype).reshape(shape_of(image))
        if dst is None or dst.shape != result.shape or dst.dtype != result.dtype:
            return result
    dst[...] = result
    return dst
