"""Calls that give an array of the library that they are given."""

import numpy as np

import apron
from apron import cv, exposure
from apron import ndimage as own


def as_type(array, name):
    """Converts an array of NumPy, CuPy or PyTorch."""
    if hasattr(array, "astype"):
        return array.astype(name)
    import torch

    return array.to(getattr(torch, name))


#: SciPy's filters, of arrays of two axes.
CALLS = [
    lambda x: own.gaussian_filter(x, 1.5),
    lambda x: own.gaussian_filter(x, 0),
    lambda x: own.uniform_filter(x, 3, mode="constant"),
    lambda x: own.sobel(x, output=np.float32),
    lambda x: own.laplace(x),
    lambda x: own.correlate(x, np.arange(9.0).reshape(3, 3)),
    lambda x: own.convolve1d(x, [1, 2, 4], output="f8"),
    lambda x: own.gaussian_laplace(x, 1.0),
    lambda x: own.gaussian_gradient_magnitude(x, 1.0),
]


#: Of images of shape (height, width) or (height, width, channels).
IMAGES = [
    lambda x: cv.filter2D(x, -1, np.arange(6.0).reshape(2, 3) / 8, delta=3),
    lambda x: cv.filter2D(x, cv.CV_32F, np.arange(6.0), anchor=(1, 0), borderType=cv.BORDER_CONSTANT),
    lambda x: cv.sepFilter2D(x, -1, np.array([1.0, 2, 1]) / 4, np.array([0.5, 0.5])),
    lambda x: cv.GaussianBlur(x, (5, 7), 1.2),
    lambda x: cv.GaussianBlur(x, (1, 1), 1.2),
    lambda x: cv.blur(x, (3, 5)),
    lambda x: cv.boxFilter(x, cv.CV_32F, (4, 3), normalize=False),
    lambda x: cv.sqrBoxFilter(x, -1, (3, 3)),
    lambda x: cv.Sobel(x, cv.CV_32F, 1, 0, scale=0.5),
    lambda x: cv.Scharr(x, cv.CV_32F, 0, 1),
    lambda x: cv.Laplacian(x, cv.CV_32F, ksize=3),
    lambda x: cv.copyMakeBorder(x, 1, 2, 3, 4, cv.BORDER_CONSTANT, value=[7.0, 8.0, 9.0, 10.0]),
    lambda x: cv.copyMakeBorder(x, 1, 2, 3, 4, cv.BORDER_REFLECT),
    lambda x: cv.calcHist([x], [0], None, [9], [3, 77]),
    lambda x: cv.threshold(x, 40.5, 90, cv.THRESH_BINARY)[1],
    lambda x: cv.threshold(x, 40.5, 90, cv.THRESH_BINARY_INV)[1],
    lambda x: cv.threshold(x, 40.5, 90, cv.THRESH_TRUNC)[1],
    lambda x: cv.threshold(x, 40.5, 90, cv.THRESH_TOZERO)[1],
    lambda x: cv.threshold(x, -5, 90, cv.THRESH_TOZERO_INV)[1],
    lambda x: exposure.equalize_hist(x),
]

#: Of images of three channels.
COLOURS = [
    lambda x: cv.calcHist([x], [2, 0], None, [9, 5], [3, 77, 0, 256]),
    lambda x: apron.histogramdd(x.reshape(-1, 3), bins=4)[0],
    lambda x: apron.histogramdd([x[:, :, at].reshape(-1) for at in range(3)], bins=[4, 2, [0, 50, 100]], range=[None, (0, 90), None])[0],
    lambda x: apron.histogram2d(x[:, :, 0].reshape(-1), x[:, :, 1].reshape(-1), 6, density=True)[0],
]

#: Of images of bytes and three channels.
BYTES = [
    lambda x: cv.equalizeHist(x[:, :, 0]),
    lambda x: cv.createCLAHE(3.0, (2, 3)).apply(x[:, :, 0]),
    lambda x: cv.threshold(x[:, :, 0], 0, 255, cv.THRESH_BINARY | cv.THRESH_OTSU)[1],
    lambda x: exposure.match_histograms(x[:9], x[9:], channel_axis=-1),
    lambda x: exposure.match_histograms(x[:9], x[9:18], channel_axis=0),
    lambda x: exposure.match_histograms(x[:9], x[9:]),
    lambda x: apron.bincount(x.reshape(-1)),
    lambda x: apron.bincount(x.reshape(-1), minlength=300),
    lambda x: apron.bincount(as_type(x.reshape(-1), "int16") + 7),
    lambda x: apron.bincount(as_type(x.reshape(-1), "int32"), minlength=9),
    lambda x: apron.bincount(x.reshape(-1), weights=as_type(x.reshape(-1), "float32"), minlength=300),
]

#: Of arrays of any shape.
SAMPLES = [
    lambda x: apron.histogram(x, 7, weights=as_type(x, "float32"))[0],
    lambda x: apron.histogram(x, [0, 10, 30, 31], weights=as_type(x, "int16"), density=True)[0],
    lambda x: apron.histogram_bin_edges(x, 5),
    lambda x: apron.percentile(x, 30),
    lambda x: apron.percentile(x, [[0, 50], [99.5, 100]]),
    lambda x: apron.digitize(x, [0, 10.5, 30]),
    lambda x: own.histogram(x, 0, 50, 5),
    lambda x: own.histogram(x, 0, 50, 5, labels=as_type(x, "int32"), index=3),
]
