"""OpenCV's flags, and the conversion of flags and arguments."""

import operator

import numpy as np

from .._foreign import Foreign, as_array, in_order

CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F, CV_16F = range(8)
BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_WRAP, BORDER_REFLECT_101 = range(5)
BORDER_REFLECT101 = BORDER_DEFAULT = BORDER_REFLECT_101
BORDER_ISOLATED = 16
THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO, THRESH_TOZERO_INV = range(5)
THRESH_OTSU = 8

DEPTHS = [np.dtype(name) for name in ("u1", "i1", "u2", "i2", "i4", "f4", "f8", "f2")]
_MODES = ["constant", "nearest", "reflect", "wrap", "mirror"]


def image_of(src):
    """Returns an array as an image, in the machine's byte order; refuses empty ones and more than 4 channels."""
    image = in_order(as_array(src))
    if image.ndim not in (2, 3) or (image.ndim == 3 and not 1 <= image.shape[2] <= 4):
        raise ValueError(f"apron: shape is {image.shape}, but must be (height, width), or with 1 to 4 channels")
    if image.size == 0:
        raise ValueError(f"apron: shape is {image.shape}, but must have samples")
    return image


def depth_of(ddepth, image):
    """Returns the type of a flag, or the image's type for -1."""
    if ddepth == -1:
        return image.dtype.newbyteorder("=")
    if not 0 <= ddepth < len(DEPTHS):
        raise ValueError(f"apron: ddepth is {ddepth}, but must be -1, or 0 to {len(DEPTHS) - 1}")
    return DEPTHS[ddepth]


def mode_of(border):
    """Returns the name of a border."""
    border = border & ~BORDER_ISOLATED
    if not 0 <= border < len(_MODES):
        raise ValueError(f"apron: borderType is {border}, but must be 0 to {len(_MODES) - 1}")
    return _MODES[border]


def pair_of(numbers, what):
    """Returns two whole numbers."""
    pair = tuple(numbers) if np.iterable(numbers) else ()
    if len(pair) != 2:
        raise ValueError(f"apron: {what} is {numbers}, but must be two whole numbers")
    return tuple(operator.index(one) for one in pair)


def anchor_of(anchor, width, height):
    """Returns column and row of the tap over the output pixel."""
    x, y = pair_of(anchor, "anchor")
    x, y = (width // 2 if x == -1 else x), (height // 2 if y == -1 else y)
    if not (0 <= x < width and 0 <= y < height):
        raise ValueError(f"apron: anchor is {anchor}, but must be in the window of {width} x {height}")
    return x, y


def shape_of(image, height=None, width=None):
    """Returns the shape of a result: OpenCV has no third axis of one channel."""
    sides = (image.shape[0] if height is None else height, image.shape[1] if width is None else width)
    return sides + tuple(channels for channels in image.shape[2:] if channels > 1)


def given_of(array):
    """Returns an array as an argument of compiled functions."""
    return array.given() if isinstance(array, Foreign) else array
