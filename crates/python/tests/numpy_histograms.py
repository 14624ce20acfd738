"""NumPy's own tests of histograms, with its functions replaced by Apron's.

    python tests/numpy_histograms.py

runs `numpy/lib/tests/test_histograms.py` of the installed NumPy, and compares the cases that fail with the list in
`numpy_histograms.txt`: it fails where they differ.
"""

import sys
from pathlib import Path

import numpy
import others

import apron


def swap():
    for name in ("histogram", "histogram_bin_edges", "histogramdd", "histogram2d"):
        own = getattr(apron, name)
        others.check_signature(name, getattr(numpy, name), own)
        setattr(numpy, name, others.forwarded(own))


if __name__ == "__main__":
    swap()
    title, expected = "NumPy's tests of histograms", Path(__file__).with_suffix(".txt")
    # 69 with NumPy 2.4; some of them only call its estimators of bins.
    sys.exit(others.run(title, "numpy.lib.tests.test_histograms", expected, 50, sys.argv[1:]))
