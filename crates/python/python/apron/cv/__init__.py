"""OpenCV's filters and histograms: its names, flags, defaults and results.

Images are arrays of shape (height, width) or (height, width, channels), with up to 4 channels. Integer results equal OpenCV's where its
arithmetic is exact: with integer weights, in Gaussians, in means of up to 256 bytes and in all counts. Elsewhere OpenCV rounds sums
of float32, and a result may differ by one if the exact sum is next to a half. Results in float32 are within
``(taps + 3) * 2^-24 * sum |tap * sample|`` of the exact sum. `filter2D` and `Laplacian` skip samples under taps of 0 that are NaN or
infinite, as OpenCV does for masks of fewer than 11x11 taps. So do `Sobel`, `Scharr` and `sepFilter2D` under the 0 in the middle of
differences along y and, in images and results of float32, along x over up to five pixels; OpenCV nevertheless weights the last sample
of an odd number of columns by 0. `Laplacian` of five taps and more sums one mask, OpenCV two filters by axis: an infinity may give NaN
in OpenCV where it gives an infinity here. On a GPU such samples are not searched for, since that would wait for the GPU: they make the
sum NaN.

For arrays of CuPy and PyTorch, results are arrays of the same library, on the same device.

Errors are `ValueError` and `TypeError`, with the value and the limit, instead of `cv2.error`.
"""

from ._filters import (
    GaussianBlur,
    Laplacian,
    Scharr,
    Sobel,
    blur,
    boxFilter,
    copyMakeBorder,
    filter2D,
    getDerivKernels,
    getGaussianKernel,
    sepFilter2D,
    sqrBoxFilter,
)
from ._histograms import CLAHE, calcHist, createCLAHE, equalizeHist, threshold
from ._images import (
    BORDER_CONSTANT,
    BORDER_DEFAULT,
    BORDER_ISOLATED,
    BORDER_REFLECT,
    BORDER_REFLECT101,
    BORDER_REFLECT_101,
    BORDER_REPLICATE,
    BORDER_WRAP,
    CV_16F,
    CV_16S,
    CV_16U,
    CV_32F,
    CV_32S,
    CV_64F,
    CV_8S,
    CV_8U,
    THRESH_BINARY,
    THRESH_BINARY_INV,
    THRESH_OTSU,
    THRESH_TOZERO,
    THRESH_TOZERO_INV,
    THRESH_TRUNC,
)

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
