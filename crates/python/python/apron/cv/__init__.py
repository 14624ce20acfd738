"""OpenCV's filters and histograms: its names, flags, defaults and results.

Images are arrays of shape (height, width) or (height, width, channels), with up to 4 channels. Integers are OpenCV's where its
arithmetic is exact: under whole weights, in Gaussians, in means of up to 256 bytes and in all that counts. Elsewhere OpenCV rounds
sums of float32, and a result may differ by one where the exact sum lies next to a half. Results in float32 are within
``(taps + 3) * 2^-24 * sum |tap * sample|`` of the exact sum. `filter2D` and `Laplacian` leave out samples under taps
of 0 that are NaN or infinite, as OpenCV does for masks of fewer than 11x11 taps. So do `Sobel`, `Scharr` and `sepFilter2D` under the 0
in the middle of differences along y and, in images and results of float32, along x over up to five pixels; OpenCV weights the last
sample of an odd number of columns by 0 even so. `Laplacian` of five taps and more sums one mask, and OpenCV two filters by axis: an
infinity may make NaN there where it is infinite here. On a GPU, where nobody waits to see whether there are such samples, they make the
sum NaN.

Arrays of CuPy and PyTorch give such arrays, and stay where they are.

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
