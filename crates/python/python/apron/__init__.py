"""Convolution and histograms on NVIDIA GPUs and CPUs, by the names of SciPy, OpenCV and NumPy.

>>> import apron, numpy as np
>>> apron.ndimage.uniform_filter(np.array([0, 30, 60], np.uint8), 3)
array([10, 30, 50], dtype=uint8)
"""

from . import cv, exposure, ndimage
from ._apron import Chain, Device, GpuArray, Image, named_filters
from ._histograms import histogram, histogram2d, histogram_bin_edges, histogramdd
from ._values import bincount, digitize, percentile

__all__ = [
    "Chain",
    "Device",
    "GpuArray",
    "Image",
    "bincount",
    "cv",
    "digitize",
    "exposure",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "named_filters",
    "ndimage",
    "percentile",
]
