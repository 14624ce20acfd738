"""OpenCV's filters and histograms: its names, flags, defaults and results.

Images are arrays of shape (height, width) or (height, width, channels), with up to 4 channels. Integers are OpenCV's where its
arithmetic is exact: under whole weights, in Gaussians, in means of up to 256 bytes and in all that counts. Elsewhere OpenCV rounds
sums of float32, and a result may differ by one where the exact sum lies next to a half. Results in float32 are within
``(taps + 3) * 2^-24 * sum |tap * sample|`` of the exact sum. `filter2D` and `Laplacian` leave out samples under taps
of 0 that are NaN or infinite, as OpenCV does; on a GPU, where nobody waits to see whether there are any, they make
the sum NaN.

Arrays of CuPy and PyTorch give such arrays, and stay where they are.

Errors are `ValueError` and `TypeError`, with the value and the limit, instead of `cv2.error`.
"""

import functools
import math
import operator

import numpy as np

from . import _apron
from ._foreign import Foreign, as_array, beside, computed
from ._filters import without_taps_of_0
from ._kernels import FILTER_SCHARR, derivatives, gaussian, in_parts

__all__ = [
    "GaussianBlur",
    "Laplacian",
    "Scharr",
    "Sobel",
    "blur",
    "boxFilter",
    "calcHist",
    "copyMakeBorder",
    "createCLAHE",
    "equalizeHist",
    "filter2D",
    "getDerivKernels",
    "getGaussianKernel",
    "sepFilter2D",
    "sqrBoxFilter",
    "threshold",
]

CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F, CV_16F = range(8)
BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_WRAP, BORDER_REFLECT_101 = range(5)
BORDER_REFLECT101 = BORDER_DEFAULT = BORDER_REFLECT_101
BORDER_ISOLATED = 16
THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO, THRESH_TOZERO_INV = range(5)
THRESH_OTSU = 8

_DEPTHS = [np.dtype(name) for name in ("u1", "i1", "u2", "i2", "i4", "f4", "f8", "f2")]
_MODES = ["constant", "nearest", "reflect", "wrap", "mirror"]


def _image(src):
    image = as_array(src)
    if image.ndim not in (2, 3) or (image.ndim == 3 and not 1 <= image.shape[2] <= 4):
        raise ValueError(f"apron: shape is {image.shape}, but must be (height, width), or with 1 to 4 channels")
    if image.size == 0:
        raise ValueError(f"apron: shape is {image.shape}, but must have samples")
    return image


def _depth(ddepth, image):
    if ddepth == -1:
        return image.dtype.newbyteorder("=")
    if not 0 <= ddepth < len(_DEPTHS):
        raise ValueError(f"apron: ddepth is {ddepth}, but must be -1, or 0 to {len(_DEPTHS) - 1}")
    return _DEPTHS[ddepth]


def _mode(border):
    border = border & ~BORDER_ISOLATED
    if not 0 <= border < len(_MODES):
        raise ValueError(f"apron: borderType is {border}, but must be 0 to {len(_MODES) - 1}")
    return _MODES[border]


def _pair(numbers, what):
    """Returns two whole numbers."""
    pair = tuple(numbers) if np.iterable(numbers) else ()
    if len(pair) != 2:
        raise ValueError(f"apron: {what} is {numbers}, but must be two whole numbers")
    return tuple(operator.index(one) for one in pair)


def _anchor(anchor, width, height):
    x, y = _pair(anchor, "anchor")
    x, y = (width // 2 if x == -1 else x), (height // 2 if y == -1 else y)
    if not (0 <= x < width and 0 <= y < height):
        raise ValueError(f"apron: anchor is {anchor}, but must be in the window of {width} x {height}")
    return x, y


def _shape(image, height=None, width=None):
    """Returns the shape of a result: OpenCV has no third axis of one channel."""
    sides = (image.shape[0] if height is None else height, image.shape[1] if width is None else width)
    return sides + tuple(channels for channels in image.shape[2:] if channels > 1)


def _copied(image, dst):
    height, width = image.shape[:2]
    copy = functools.partial(_apron.padded, x=0, y=0, width=width, height=height, mode="nearest", constants=[])
    return computed(image, _shape(image), image.dtype.newbyteorder("="), copy, dst)


def _planar(image, dtype, window, anchor, delta, mode, scale, dst):
    def run(samples, output=None):
        return _apron.planar(samples, dtype, window, float(scale), float(delta), anchor, mode, output=output)

    return computed(image, _shape(image), dtype, run, dst)


def _separable(image, dtype, x, y, anchor, delta, mode, dst, scale=1.0):
    x, y = (np.ascontiguousarray(taps, np.float64).reshape(-1) for taps in (x, y))
    return _planar(image, dtype, (x, y), _anchor(anchor, len(x), len(y)), delta, mode, scale, dst)


def _dense(image, dtype, mask, anchor, delta, mode, dst):
    height, width = mask.shape
    anchor = _anchor(anchor, width, height)

    def correlate(samples, taps, dtype=dtype, delta=float(delta), output=None):
        window = (np.ascontiguousarray(taps, np.float64).reshape(-1), width, height)
        return _apron.planar(samples, dtype, window, 1.0, delta, anchor, mode, output=output)

    def run(samples, output=None):
        result = correlate(samples, mask, output=output)
        if not isinstance(samples, np.ndarray):
            return result
        count = functools.partial(correlate, dtype=np.dtype(np.float32), delta=0.0)
        return without_taps_of_0(result, samples, mask, correlate, count)

    return computed(image, _shape(image), dtype, run, dst)


def filter2D(src, ddepth, kernel, dst=None, anchor=(-1, -1), delta=0, borderType=BORDER_DEFAULT):
    """Correlates with a kernel: `cv2.filter2D`.

    Parameters
    ----------
    src : image
    ddepth : int
        ``CV_8U`` to ``CV_16F`` for the type of the result, or -1 for the image's.
    kernel : array of shape (height, width)
    dst : array, optional
        Where the result is stored, if it has its shape and type.
    anchor : (int, int)
        Column and row of the tap over the pixel; (-1, -1) for the middle.
    delta : float
        Added to the sums.
    borderType : int

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.filter2D(np.array([[1, 2, 5]], np.uint8), -1, np.array([[-1, 0, 1]]), delta=10)
    array([[10, 14, 10]], dtype=uint8)
    """
    image = _image(src)
    dtype = _depth(ddepth, image)
    mask = np.asarray(kernel, _kernel_type(image, dtype))
    mask = mask.reshape(-1, 1) if mask.ndim == 1 else mask[:, :, 0] if mask.ndim == 3 and mask.shape[2] == 1 else mask
    if mask.ndim != 2 or not mask.size:
        raise ValueError(f"apron: shape of the kernel is {mask.shape}, but must be (height, width), of 1 or more")
    return _dense(image, dtype, mask, anchor, delta, _mode(borderType), dst)


def _kernel_type(image, dtype):
    """Returns the type of OpenCV's kernels: f64 if the image or the result has it."""
    return np.float64 if np.float64 in (image.dtype, dtype) else np.float32


def sepFilter2D(src, ddepth, kernelX, kernelY, dst=None, anchor=(-1, -1), delta=0, borderType=BORDER_DEFAULT):
    """Correlates along rows and columns: `cv2.sepFilter2D`; other arguments are those of `filter2D`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.sepFilter2D(np.array([[0, 8, 0]], np.uint8), -1, np.array([0.25, 0.5, 0.25]), np.array([1.0]))
    array([[4, 4, 4]], dtype=uint8)
    """
    image = _image(src)
    dtype, mode = _depth(ddepth, image), _mode(borderType)
    x, y = (np.asarray(taps, _kernel_type(image, dtype)) for taps in (kernelX, kernelY))
    for taps in (x, y):
        if not taps.size or taps.size != max(taps.shape, default=0):
            raise ValueError(f"apron: shape of a kernel is {taps.shape}, but must be of 1 tap or more along one axis")
    return _separable(image, dtype, x, y, anchor, delta, mode, dst)


def getGaussianKernel(ksize, sigma, ktype=CV_64F):
    """The taps of a Gaussian, which add up to 1: `cv2.getGaussianKernel`, an array of shape (ksize, 1).

    >>> from apron import cv
    >>> cv.getGaussianKernel(3, 0).ravel()
    array([0.25, 0.5 , 0.25])
    """
    ksize = operator.index(ksize)
    if ksize < 1:
        raise ValueError(f"apron: ksize is {ksize}, but must be 1 or more")
    if ktype not in (CV_32F, CV_64F):
        raise ValueError(f"apron: ktype is {ktype}, but must be {CV_32F} or {CV_64F}")
    return gaussian(ksize, float(sigma)).astype(_DEPTHS[ktype]).reshape(-1, 1)


def GaussianBlur(src, ksize, sigmaX, dst=None, sigmaY=0, borderType=BORDER_DEFAULT):
    """Blurs by a Gaussian: `cv2.GaussianBlur`.

    Integers of 8 and 16 bits are blurred in whole numbers, as in OpenCV: taps are whole 256ths or 65536ths, and halves are rounded up.

    Parameters
    ----------
    src : image
    ksize : (int, int)
        Odd numbers of taps along x and y; 0 for those that sigma needs.
    sigmaX, sigmaY : float
        Standard deviations; 0 for what the number of taps stands for, and for a sigmaY like sigmaX.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.GaussianBlur(np.array([[0, 0, 100, 0, 0]], np.uint8), (5, 5), 1)
    array([[11, 24, 41, 24, 11]], dtype=uint8)
    """
    image, mode = _image(src), _mode(borderType)
    sigmas = sigmaX, (sigmaY if sigmaY > 0 else sigmaX)
    reach = 3 if image.dtype == np.uint8 else 4
    sides = []
    for side, sigma, length in zip(_pair(ksize, "ksize"), sigmas, image.shape[1::-1]):
        if mode != "constant" and length == 1:
            # Along an axis of one pixel nothing but the pixel is seen.
            side = 1
        if side <= 0 and sigma > 0:
            side = int(round(sigma * reach * 2 + 1)) | 1
        if side < 1 or side % 2 == 0:
            raise ValueError(f"apron: ksize is {tuple(ksize)}, but must be odd, or 0 where sigma is above 0")
        sides.append(side)
    x, y = (gaussian(side, max(float(sigma), 0.0)) for side, sigma in zip(sides, sigmas))
    delta = 0.0
    if sides == [1, 1]:
        return _copied(image, dst)
    if image.dtype in (np.uint8, np.uint16):
        bits = 8 * image.dtype.itemsize
        x, y = (in_parts(taps, 1 << bits) for taps in (x, y))
        delta = 2.0 ** (-2 * bits - 2)
    elif image.dtype != np.float64:
        x, y = x.astype(np.float32), y.astype(np.float32)
    return _separable(image, image.dtype.newbyteorder("="), x, y, (-1, -1), delta, mode, dst)


def blur(src, ksize, dst=None, anchor=(-1, -1), borderType=BORDER_DEFAULT):
    """Averages over windows of ``ksize``, width and height: `cv2.blur`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.blur(np.array([[0, 3, 6, 9]], np.uint8), (3, 1))
    array([[2, 3, 6, 7]], dtype=uint8)
    """
    return boxFilter(src, -1, ksize, dst, anchor, True, borderType)


def boxFilter(src, ddepth, ksize, dst=None, anchor=(-1, -1), normalize=True, borderType=BORDER_DEFAULT):
    """Sums over windows, or averages: `cv2.boxFilter`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.boxFilter(np.array([[0, 3, 6, 9]], np.uint8), cv.CV_16S, (3, 1), normalize=False)
    array([[ 6,  9, 18, 21]], dtype=int16)
    """
    image = _image(src)
    sees_itself = normalize and borderType & BORDER_ISOLATED != 0
    return _boxed(image, _depth(ddepth, image), ksize, anchor, normalize, _mode(borderType), dst, sees_itself)


def _boxed(image, dtype, ksize, anchor, normalize, mode, dst, sees_itself):
    """Averages or sums over windows; ``sees_itself``: along an axis of one pixel nothing but the pixel is seen."""
    width, height = _pair(ksize, "ksize")
    if width < 1 or height < 1:
        raise ValueError(f"apron: ksize is {(width, height)}, but must be of 1 or more")
    if sees_itself:
        width, height = (1 if length == 1 else side for length, side in zip(image.shape[1::-1], (width, height)))
        anchor = tuple(-1 if side == 1 else one for one, side in zip(anchor, (width, height)))
    if normalize and dtype.kind == "f":
        return _planar(image, dtype, (width, height), _anchor(anchor, width, height), 0.0, mode, 1.0, dst)
    ones, area = (np.ones(width), np.ones(height)), width * height
    # A factor, as in OpenCV. Where it sums bytes in 16 bits, halves are rounded up; and where then the area is a power of two, from
    # one part below a half: 2x2 bytes, one of them 1 and the others 0, have the mean 1.
    delta = 0.0
    if normalize and image.dtype == dtype == np.uint8 and 1 < area <= 256:
        delta = (1 / area if area & (area - 1) == 0 else 0.0) + 1e-5
    return _separable(image, dtype, *ones, anchor, delta, mode, dst, 1.0 / area if normalize else 1.0)


def sqrBoxFilter(src, ddepth, ksize, dst=None, anchor=(-1, -1), normalize=True, borderType=BORDER_DEFAULT):
    """Sums the squares over windows, or averages them: `cv2.sqrBoxFilter`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.sqrBoxFilter(np.array([[0, 3, 6]], np.uint8), -1, (3, 1))
    array([[ 6., 15., 18.]], dtype=float32)
    """
    image = _image(src)
    dtype = np.dtype(np.float32 if image.dtype.itemsize < 4 else np.float64) if ddepth == -1 else _depth(ddepth, image)
    if isinstance(image, Foreign):
        wide = image.as_type(np.float64).native
        squares = as_array(wide * wide)
    else:
        squares = np.square(image, dtype=np.float64)
    mode = _mode(borderType)
    return _boxed(squares, dtype, ksize, anchor, normalize, mode, dst, normalize and mode != "constant")


def getDerivKernels(dx, dy, ksize, normalize=False, ktype=CV_32F):
    """The taps of derivatives along x and y, smoothed: `cv2.getDerivKernels`, arrays of shape (taps, 1).

    >>> from apron import cv
    >>> [taps.ravel().tolist() for taps in cv.getDerivKernels(1, 0, 3)]
    [[-1.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    """
    return tuple(taps.astype(_DEPTHS[ktype]).reshape(-1, 1) for taps in derivatives(dx, dy, ksize, normalize))


def Sobel(src, ddepth, dx, dy, dst=None, ksize=3, scale=1, delta=0, borderType=BORDER_DEFAULT):
    """Sobel's derivative of orders dx and dy: `cv2.Sobel`; a ksize of -1 is Scharr's.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.Sobel(np.array([[0, 1, 4]] * 3, np.uint8), cv.CV_16S, 1, 0)[1]
    array([ 0, 16,  0], dtype=int16)
    """
    image = _image(src)
    x, y = derivatives(dx, dy, ksize)
    # OpenCV scales one of the kernels, which has f32 in most cases.
    dtype = _depth(ddepth, image)
    if scale != 1:
        single = _kernel_type(image, dtype)
        if dx == 0:
            x = (x * single(scale)).astype(single)
        else:
            y = (y * single(scale)).astype(single)
    return _separable(image, dtype, x, y, (-1, -1), delta, _mode(borderType), dst)


def Scharr(src, ddepth, dx, dy, dst=None, scale=1, delta=0, borderType=BORDER_DEFAULT):
    """Scharr's derivative along x or y: `cv2.Scharr`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.Scharr(np.array([[0, 1, 4]] * 3, np.uint8), cv.CV_16S, 1, 0)[1]
    array([ 0, 64,  0], dtype=int16)
    """
    return Sobel(src, ddepth, dx, dy, dst, FILTER_SCHARR, scale, delta, borderType)


def Laplacian(src, ddepth, dst=None, ksize=1, scale=1, delta=0, borderType=BORDER_DEFAULT):
    """The sum of the second derivatives along x and y: `cv2.Laplacian`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.Laplacian(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32), -1)[1]
    array([ 2., -4.,  2.], dtype=float32)
    """
    image = _image(src)
    dtype = _depth(ddepth, image)
    if ksize == 1:
        mask = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
    else:
        second, smooth = derivatives(2, 0, ksize)
        mask = np.outer(smooth, second) + np.outer(second, smooth)
    if scale != 1:
        mask = mask * _kernel_type(image, dtype)(scale)
    return _dense(image, dtype, mask, (-1, -1), delta, _mode(borderType), dst)


def copyMakeBorder(src, top, bottom, left, right, borderType, dst=None, value=0):
    """Puts a border around an image: `cv2.copyMakeBorder`.

    ``value`` is a number, or one for each channel; it is rounded to the image's type, and saturates.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.copyMakeBorder(np.array([[1, 2, 3]], np.uint8), 0, 0, 2, 1, cv.BORDER_REFLECT)
    array([[2, 1, 1, 2, 3, 3]], dtype=uint8)
    """
    image = _image(src)
    channels = image.shape[2] if image.ndim == 3 else 1
    values = [float(one) for one in np.atleast_1d(value)]
    # A number is that of the first channel, and the others are 0.
    values = (values + [0.0] * 4)[:channels]
    if image.dtype.kind == "f":
        values = [float(image.dtype.type(one)) for one in values]
    elif image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        values = [float(np.rint(one).clip(limits.min, limits.max)) for one in values]
    height, width, mode = image.shape[0] + top + bottom, image.shape[1] + left + right, _mode(borderType)
    pad = functools.partial(
        _apron.padded, x=-left, y=-top, width=width, height=height, mode=mode, constants=values
    )
    return computed(image, _shape(image, height, width), image.dtype.newbyteorder("="), pad, dst)


def calcHist(images, channels, mask, histSize, ranges, hist=None, accumulate=False):
    """Counts samples of channels by bins of equal width: `cv2.calcHist`, in float32.

    Parameters
    ----------
    images : sequence of images of one size and type
    channels : sequence of int
        The channels that are counted together, numbered through all images.
    mask : array of uint8, or None
        Only pixels where it is not 0 are counted.
    histSize : sequence of int
        The number of bins of each channel.
    ranges : sequence of float
        The lower and the upper end of each channel, which lies beyond the last bin. NaN is in no bin.
    hist : array of float32, optional
        Where the counts are stored, if it has their shape.
    accumulate : bool
        Whether they are added to ``hist``, rounded to whole numbers: of three channels, too, which OpenCV's Python
        begins with zeros.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.calcHist([np.array([[0, 10, 200, 255]], np.uint8)], [0], None, [2], [0, 256]).ravel()
    array([2., 2.], dtype=float32)
    """
    images = [_image(one) for one in images]
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
        counts = _apron.histogram(_given(first), edges[0], False)[:-1]
    else:
        flat = [plane.reshape(-1) for plane in planes]
        rows = first.stacked(flat) if isinstance(first, Foreign) else np.stack(flat, -1)
        counts = _apron.histogramdd(_given(rows), edges, [False] * len(edges)).reshape([len(one) - 1 for one in edges])
        counts = counts[tuple(slice(0, -1) for _ in edges)]
    counts = counts.astype(np.float32)
    counts = counts.reshape(-1, 1) if counts.ndim == 1 else counts
    counts = images[0].of_host(counts) if isinstance(images[0], Foreign) else counts
    if hist is None:
        return counts
    shape, place = tuple(counts.shape), as_array(hist)
    # In OpenCV 4 a histogram of one channel is a column, in version 5 it has one axis.
    if place.dtype != np.float32 or (place.shape != shape and place.shape + (1,) != shape):
        if accumulate:
            given = f"{place.dtype}{place.shape}"
            raise ValueError(f"apron: hist is {given}, but must be float32{shape} for counts to be added")
        return counts
    counts = counts.reshape(place.shape)
    hist[...] = hist.round() + counts if accumulate else counts
    return hist


def _given(array):
    """Returns what compiled functions take of an array."""
    return array.given() if isinstance(array, Foreign) else array


def _planes(image):
    """Returns the channels of an image, as arrays of its library."""
    array = image.native if isinstance(image, Foreign) else image
    return [array] if image.ndim == 2 else [array[:, :, at] for at in range(image.shape[2])]


@functools.lru_cache(maxsize=64)
def _edges_of_places(dtype, bins, low, high):
    """Returns the edges between samples of a type that OpenCV counts in different bins, and one bin more for those beyond the last.

    OpenCV takes the ends as f32, multiplies a sample by a factor, adds an offset, and cuts to a whole number, the bin's. That never falls
    as samples rise: the least sample of each bin is found by halving an interval of all values, in their order.
    """
    low, high = float(low), float(high)
    if bins < 1 or not low < high < math.inf or low == -math.inf:
        raise ValueError(f"apron: {bins} bins are from {low} to {high}, but must be 1 or more, from a number to a greater one")
    factor = bins / (high - low)

    def place(samples):
        return np.floor(samples.astype(np.float64) * factor + -factor * low)

    if dtype.kind == "f":
        bits = np.dtype(f"i{dtype.itemsize}")
        # Floats in their order are integers: those below 0 with all bits but the sign's turned.
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
        # Half their sum, which may be beyond 64 bits.
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
    image = _image(src)
    if image.dtype != np.uint8 or image.shape[2:] not in ((), (1,)):
        raise TypeError(f"apron: the image is {image.dtype}{image.shape}, but must be uint8 of one channel")
    return computed(image, _shape(image), image.dtype, _apron.equalized, dst)


class CLAHE:
    """Equalises by tiles, with limited counts: what `createCLAHE` makes."""

    def __init__(self, clipLimit, tileGridSize):
        self._clip, self._tiles = float(clipLimit), tuple(tileGridSize)

    def apply(self, src, dst=None):
        """Returns an image of uint8 or uint16, equalised."""
        image = _image(src)
        run = functools.partial(_apron.equalized_by_tiles, clip=self._clip, across=self._tiles[0], down=self._tiles[1])
        return computed(image, _shape(image), image.dtype.newbyteorder("="), run, dst)

    def getClipLimit(self):
        return self._clip

    def setClipLimit(self, clipLimit):
        self._clip = float(clipLimit)

    def getTilesGridSize(self):
        return self._tiles

    def setTilesGridSize(self, tileGridSize):
        self._tiles = tuple(tileGridSize)


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
    """Compares samples with a threshold: `cv2.threshold`; with ``THRESH_OTSU`` it is found.

    Returns
    -------
    threshold : float
    image

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.threshold(np.array([[10, 11, 200]], np.uint8), 0, 255, cv.THRESH_BINARY | cv.THRESH_OTSU)
    (11.0, array([[  0,   0, 255]], dtype=uint8))
    """
    image = _image(src)
    kind, found = type & ~THRESH_OTSU, float(thresh)
    if not 0 <= kind <= THRESH_TOZERO_INV:
        raise ValueError(f"apron: type is {type}, but must be 0 to {THRESH_TOZERO_INV}, or with THRESH_OTSU")
    if type & THRESH_OTSU:
        found = float(_apron.otsu(_given(image)))
    if math.isnan(found) or (image.dtype.kind != "f" and math.isnan(maxval)):
        raise ValueError(f"apron: thresh and maxval are {found} and {maxval}, but must be numbers")
    if image.dtype.kind != "f":
        # What OpenCV compares whole numbers with, and returns.
        found = float(math.floor(found))
    if image.dtype == np.uint8:
        # Whole thresholds of bytes, and a table.
        top = int(np.clip(np.rint(maxval), 0, 255))
        values, limit = np.arange(256), int(found)
        table = _thresholded(np.where, values, values > limit, limit, top, kind).clip(0, 255).astype(np.uint8)
        return found, computed(image, _shape(image), image.dtype, functools.partial(_apron.lookup, table=table), dst)
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
        # All samples are above a limit below those of the type, and none is above one beyond them.
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
        result = as_array(result).as_type(image.dtype).native.reshape(_shape(image))
        target = image.fits(dst, _shape(image), image.dtype)
        if target is None:
            return result
    else:
        result = result.astype(image.dtype).reshape(_shape(image))
        if dst is None or dst.shape != result.shape or dst.dtype != result.dtype:
            return result
    dst[...] = result
    return dst
