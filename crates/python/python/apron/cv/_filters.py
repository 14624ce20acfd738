"""Filters, their taps, and borders around images."""

import functools
import math
import operator

import numpy as np

from .. import _apron
from .._arguments import check_real, check_rounded
from .._filters import MAX_TAPS, factor_of, without_taps_of_0
from .._foreign import Foreign, as_array, computed
from .._kernels import FILTER_SCHARR, derivatives, gaussian, in_parts
from ._images import (
    BORDER_DEFAULT,
    BORDER_ISOLATED,
    CV_32F,
    CV_64F,
    DEPTHS,
    anchor_of,
    depth_of,
    image_of,
    mode_of,
    pair_of,
    shape_of,
)


#: Most pixels that are put at a side of an image.
_MOST_AROUND = 1 << 30


def _copied(image, dst):
    height, width = image.shape[:2]
    copy = functools.partial(_apron.padded, x=0, y=0, width=width, height=height, mode="nearest", constants=[])
    return computed(image, shape_of(image), image.dtype.newbyteorder("="), copy, dst)


def _planar(image, dtype, window, anchor, delta, mode, scale, dst):
    def run(samples, output=None):
        return _apron.planar(samples, dtype, window, float(scale), float(delta), anchor, mode, output=output)

    return computed(image, shape_of(image), dtype, run, dst)


def _delta_of(delta, image, dtype):
    """Returns what is added to sums: in OpenCV's type, where that makes an infinity of it."""
    delta = float(delta)
    if dtype.kind != "f" and not math.isfinite(delta):
        raise ValueError(f"apron: delta is {delta}, but must be finite for results of {dtype}")
    is_beyond = dtype.kind == "f" and abs(delta) > float(np.finfo(_kernel_type(image, dtype)).max)
    return math.copysign(math.inf, delta) if is_beyond else delta


def _shifted(sums, delta):
    """Adds what is no number to sums of floats, in place."""
    with np.errstate(invalid="ignore"):
        sums += delta
    return sums


def _separable(image, dtype, x, y, anchor, delta, mode, dst, scale=1.0):
    if not math.isfinite(delta := _delta_of(delta, image, dtype)):
        return _shifted(_separable(image, dtype, x, y, anchor, 0.0, mode, dst, scale), delta)
    x, y = (np.ascontiguousarray(taps, np.float64).reshape(-1) for taps in (x, y))
    # OpenCV's taps of f64 may be beyond f32.
    factors = factor_of(x), factor_of(y)
    x, y, scale = x * factors[0], y * factors[1], scale / factors[0] / factors[1]
    at = anchor_of(anchor, len(x), len(y))
    is_single = image.dtype.itemsize <= 4 and dtype.itemsize <= 4
    skipped = _skipped(x, at[0], is_single and len(x) <= 5, True), _skipped(y, at[1], True, False)

    def correlate(samples, window, anchor=at, dtype=dtype, delta=delta, scale=float(scale), output=None):
        return _apron.planar(samples, dtype, window, scale, delta, anchor, mode, output=output)

    def run(samples, output=None):
        result = correlate(samples, (x, y), output=output)
        is_host = isinstance(samples, np.ndarray) and samples.dtype.kind == result.dtype.kind == "f"
        if not is_host or not any(map(np.any, skipped)) or not np.isnan(result.min()):
            return result
        one, found = np.ones(1), samples
        # One axis after the other, as in OpenCV, whose sums are NaN if those along one axis are.
        for axis, (taps, kind) in enumerate(((x, np.float32 if is_single else np.float64), (y, dtype))):
            options = {"dtype": np.dtype(kind), "anchor": (at[0], 0) if axis == 0 else (0, at[1])}
            last = {"delta": delta, "scale": float(scale)} if axis else {"delta": 0.0, "scale": 1.0}

            def along(samples, taps, axis=axis, **options):
                taps = taps.astype(np.float64)
                return correlate(samples, (one, taps) if axis else (taps, one), **options)

            sums = functools.partial(along, **options, **last)
            count = functools.partial(along, anchor=options["anchor"], dtype=np.dtype(np.float32), delta=0.0, scale=1.0)
            found = without_taps_of_0(sums(found, taps), found, taps, sums, count, skipped[axis])
        return np.where(np.isnan(result), found, result)

    return computed(image, shape_of(image), dtype, run, dst)


def _skipped(taps, anchor, is_paired, is_row):
    """Returns the taps that OpenCV skips, since it combines the samples at both sides of the middle: the 0 in the middle of differences,
    and along rows the zeros of Sobel's second derivative over five pixels."""
    skipped = np.zeros(len(taps), bool)
    if is_paired and 2 * anchor + 1 == len(taps) > 1:
        skipped[anchor] = np.any(taps) and np.array_equal(taps, -taps[::-1])
        if is_row and np.array_equal(taps, [1, 0, -2, 0, 1]):
            skipped[[1, 3]] = True
    return skipped


def _dense(image, dtype, mask, anchor, delta, mode, dst):
    if not math.isfinite(delta := _delta_of(delta, image, dtype)):
        return _shifted(_dense(image, dtype, mask, anchor, 0.0, mode, dst), delta)
    height, width = mask.shape
    anchor = anchor_of(anchor, width, height)

    def correlate(samples, taps, dtype=dtype, delta=delta, output=None):
        # OpenCV's taps of f64 may be beyond f32.
        factor = factor_of(taps)
        window = (np.ascontiguousarray(taps * factor, np.float64).reshape(-1), width, height)
        return _apron.planar(samples, dtype, window, 1.0 / factor, delta, anchor, mode, output=output)

    def run(samples, output=None):
        result = correlate(samples, mask, output=output)
        if not isinstance(samples, np.ndarray):
            return result
        count = functools.partial(correlate, dtype=np.dtype(np.float32), delta=0.0)
        return without_taps_of_0(result, samples, mask, correlate, count)

    return computed(image, shape_of(image), dtype, run, dst)


def filter2D(src, ddepth, kernel, dst=None, anchor=(-1, -1), delta=0, borderType=BORDER_DEFAULT):
    """Correlates with a kernel: `cv2.filter2D`.

    Parameters
    ----------
    src : image
    ddepth : int
        ``CV_8U`` to ``CV_16F`` for the type of the result, or -1 for the image's.
    kernel : array of shape (height, width)
        One of one axis is a row, as in OpenCV 5; in version 4 it is a column.
    dst : array, optional
        Receives the result, if it has the result's shape and type.
    anchor : (int, int)
        Column and row of the tap over the output pixel; (-1, -1) for the middle.
    delta : float
        Added to the sums.
    borderType : int

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.filter2D(np.array([[1, 2, 5]], np.uint8), -1, np.array([[-1, 0, 1]]), delta=10)
    array([[10, 14, 10]], dtype=uint8)
    """
    image = image_of(src)
    dtype = depth_of(ddepth, image)
    mask = _kernel_of(kernel, image, dtype)
    mask = mask.reshape(1, -1) if mask.ndim == 1 else mask[:, :, 0] if mask.ndim == 3 and mask.shape[2] == 1 else mask
    if mask.ndim != 2 or not mask.size:
        raise ValueError(f"apron: shape of the kernel is {mask.shape}, but must be (height, width), of 1 or more")
    return _dense(image, dtype, mask, anchor, delta, mode_of(borderType), dst)


def _kernel_type(image, dtype):
    """Returns the type of OpenCV's kernels: f64 if the image or the result has it."""
    return np.float64 if np.float64 in (image.dtype, dtype) else np.float32


def _kernel_of(kernel, image, dtype):
    """Returns a kernel in OpenCV's type; refuses integers that f64 does not represent."""
    kernel = np.asarray(kernel)
    check_real(kernel, "kernel's numbers")
    check_rounded(kernel, "kernel's numbers")
    return kernel.astype(_kernel_type(image, dtype), copy=False)


def sepFilter2D(src, ddepth, kernelX, kernelY, dst=None, anchor=(-1, -1), delta=0, borderType=BORDER_DEFAULT):
    """Correlates along rows and columns: `cv2.sepFilter2D`; other arguments are those of `filter2D`.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.sepFilter2D(np.array([[0, 8, 0]], np.uint8), -1, np.array([0.25, 0.5, 0.25]), np.array([1.0]))
    array([[4, 4, 4]], dtype=uint8)
    """
    image = image_of(src)
    dtype, mode = depth_of(ddepth, image), mode_of(borderType)
    x, y = (_kernel_of(taps, image, dtype) for taps in (kernelX, kernelY))
    for taps in (x, y):
        if not taps.size or taps.size != max(taps.shape, default=0):
            raise ValueError(f"apron: shape of a kernel is {taps.shape}, but must be of 1 tap or more along one axis")
    return _separable(image, dtype, x, y, anchor, delta, mode, dst)


def _ktype_of(ktype):
    if ktype not in (CV_32F, CV_64F):
        raise ValueError(f"apron: ktype is {ktype!r}, but must be {CV_32F} or {CV_64F}")
    return DEPTHS[ktype]


def getGaussianKernel(ksize, sigma, ktype=CV_64F):
    """The taps of a Gaussian, which add up to 1: `cv2.getGaussianKernel`, an array of shape (ksize, 1).

    >>> from apron import cv
    >>> cv.getGaussianKernel(3, 0).ravel()
    array([0.25, 0.5 , 0.25])
    """
    ksize = operator.index(ksize)
    if ksize < 1:
        raise ValueError(f"apron: ksize is {ksize}, but must be 1 or more")
    return gaussian(ksize, float(sigma)).astype(_ktype_of(ktype)).reshape(-1, 1)


def GaussianBlur(src, ksize, sigmaX, dst=None, sigmaY=0, borderType=BORDER_DEFAULT):
    """Blurs by a Gaussian: `cv2.GaussianBlur`.

    Integers of 8 and 16 bits are blurred in integer arithmetic, as in OpenCV: taps are multiples of 1/256 or 1/65536, and halves are
    rounded up.

    Parameters
    ----------
    src : image
    ksize : (int, int)
        Odd numbers of taps along x and y; 0 to derive them from sigma.
    sigmaX, sigmaY : float
        Standard deviations; a sigmaX of 0 is derived from the number of taps, and a sigmaY of 0 equals sigmaX.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.GaussianBlur(np.array([[0, 0, 100, 0, 0]], np.uint8), (5, 5), 1)
    array([[11, 24, 41, 24, 11]], dtype=uint8)
    """
    image, mode = image_of(src), mode_of(borderType)
    sigmas = sigmaX, (sigmaX if sigmaY <= 0 else sigmaY)
    reach = 3 if image.dtype == np.uint8 else 4
    sides = []
    for side, sigma, length in zip(pair_of(ksize, "ksize"), sigmas, image.shape[1::-1]):
        if mode != "constant" and length == 1:
            # Along an axis of one pixel, OpenCV's window contains only the pixel.
            side = 1
        if side <= 0 and not sigma <= 0:
            taps = sigma * reach * 2 + 1
            if not taps < MAX_TAPS:
                raise ValueError(f"apron: sigma is {sigma}, but must be below {(MAX_TAPS - 1) / reach / 2} where ksize is {tuple(ksize)}")
            side = int(round(taps)) | 1
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
    image = image_of(src)
    sees_itself = normalize and borderType & BORDER_ISOLATED != 0
    return _boxed(image, depth_of(ddepth, image), ksize, anchor, normalize, mode_of(borderType), dst, sees_itself)


def _boxed(image, dtype, ksize, anchor, normalize, mode, dst, sees_itself):
    """Averages or sums over windows; with ``sees_itself``, the window along an axis of one pixel contains only the pixel."""
    width, height = pair_of(ksize, "ksize")
    if width < 1 or height < 1:
        raise ValueError(f"apron: ksize is {(width, height)}, but must be of 1 or more")
    if sees_itself:
        width, height = (1 if length == 1 else side for length, side in zip(image.shape[1::-1], (width, height)))
        anchor = tuple(-1 if side == 1 else one for one, side in zip(anchor, (width, height)))
    if normalize and dtype.kind == "f":
        return _planar(image, dtype, (width, height), anchor_of(anchor, width, height), 0.0, mode, 1.0, dst)
    ones, area = (np.ones(width), np.ones(height)), width * height
    # A factor, as in OpenCV. If OpenCV sums bytes in 16 bits, halves are rounded up; if also the area is a power of two, quotients from
    # one part of the area below a half on are rounded up: the mean of 2x2 bytes, one of them 1 and the others 0, is 1.
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
    image = image_of(src)
    dtype = np.dtype(np.float32 if image.dtype.itemsize < 4 else np.float64) if ddepth == -1 else depth_of(ddepth, image)
    if isinstance(image, Foreign):
        wide = image.as_type(np.float64).native
        squares = as_array(wide * wide)
    else:
        squares = np.square(image, dtype=np.float64)
    mode = mode_of(borderType)
    return _boxed(squares, dtype, ksize, anchor, normalize, mode, dst, normalize and mode != "constant")


def getDerivKernels(dx, dy, ksize, normalize=False, ktype=CV_32F):
    """The taps of derivatives along x and y, smoothed: `cv2.getDerivKernels`, arrays of shape (taps, 1).

    >>> from apron import cv
    >>> [taps.ravel().tolist() for taps in cv.getDerivKernels(1, 0, 3)]
    [[-1.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    """
    dtype = _ktype_of(ktype)
    return tuple(taps.astype(dtype).reshape(-1, 1) for taps in derivatives(dx, dy, ksize, normalize))


def Sobel(src, ddepth, dx, dy, dst=None, ksize=3, scale=1, delta=0, borderType=BORDER_DEFAULT):
    """Sobel's derivative of orders dx and dy: `cv2.Sobel`; a ksize of -1 is Scharr's.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.Sobel(np.array([[0, 1, 4]] * 3, np.uint8), cv.CV_16S, 1, 0)[1]
    array([ 0, 16,  0], dtype=int16)
    """
    image = image_of(src)
    x, y = derivatives(dx, dy, ksize)
    # OpenCV scales one of the two kernels, which are f32 in most cases.
    dtype = depth_of(ddepth, image)
    if scale != 1:
        single = _kernel_type(image, dtype)
        if dx == 0:
            x = (x * single(scale)).astype(single)
        else:
            y = (y * single(scale)).astype(single)
    return _separable(image, dtype, x, y, (-1, -1), delta, mode_of(borderType), dst)


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
    image = image_of(src)
    dtype = depth_of(ddepth, image)
    if ksize == 1:
        mask = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
    else:
        second, smooth = derivatives(2, 0, ksize)
        mask = np.outer(smooth, second) + np.outer(second, smooth)
    if scale != 1:
        mask = mask * _kernel_type(image, dtype)(scale)
    return _dense(image, dtype, mask, (-1, -1), delta, mode_of(borderType), dst)


def copyMakeBorder(src, top, bottom, left, right, borderType, dst=None, value=0):
    """Puts a border around an image: `cv2.copyMakeBorder`.

    ``value`` is a number, or one for each channel; it is rounded to the image's type, where integers saturate. Beside integers
    it is no NaN.

    >>> from apron import cv
    >>> import numpy as np
    >>> cv.copyMakeBorder(np.array([[1, 2, 3]], np.uint8), 0, 0, 2, 1, cv.BORDER_REFLECT)
    array([[2, 1, 1, 2, 3, 3]], dtype=uint8)
    """
    image, mode = image_of(src), mode_of(borderType)
    sides = [operator.index(side) for side in (top, bottom, left, right)]
    if not all(0 <= side <= _MOST_AROUND for side in sides):
        raise ValueError(f"apron: top, bottom, left and right are {tuple(sides)}, but must be 0 to {_MOST_AROUND}")
    top, bottom, left, right = sides
    channels = image.shape[2] if image.ndim == 3 else 1
    values = [float(one) for one in np.atleast_1d(value)]
    # A single number is for the first channel; other channels get 0.
    values = (values + [0.0] * 4)[:channels]
    if image.dtype.kind == "f":
        with np.errstate(over="ignore"):
            values = [float(image.dtype.type(one)) for one in values]
    elif image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        values = [float(np.rint(one).clip(limits.min, limits.max)) for one in values]
    height, width = image.shape[0] + top + bottom, image.shape[1] + left + right
    # What is no number is put around the image afterwards.
    is_filled = image.dtype.kind == "f" and mode == "constant" and not all(map(math.isfinite, values))
    constants = [0.0] * channels if is_filled else values
    pad = functools.partial(
        _apron.padded, x=-left, y=-top, width=width, height=height, mode=mode, constants=constants
    )
    result = computed(image, shape_of(image, height, width), image.dtype, pad, dst)
    if is_filled:
        for rows, columns in (
            (slice(0, top), slice(None)),
            (slice(height - bottom, None), slice(None)),
            (slice(None), slice(0, left)),
            (slice(None), slice(width - right, None)),
        ):
            for channel, one in enumerate(values):
                result[(rows, columns, channel)[: result.ndim]] = one
    return result
