"""SciPy's own tests of its filters, with the linear ones replaced by Apron's.

    python tests/scipy_filters.py

runs `scipy/ndimage/tests/test_filters.py` of the installed SciPy, and compares the cases that fail with the list in
`scipy_filters.txt`: it fails where they differ. What tests call besides, such as rank filters, stays SciPy's. Then the same for the
histograms of `test_measurements.py`.
"""

import sys
from pathlib import Path

import others

import apron.ndimage


def swap():
    """Replaces SciPy's functions; its tests look up what a function can do in a table, by the function."""
    import scipy.ndimage
    from scipy._lib._array_api import xp_capabilities_table

    for name in apron.ndimage.__all__:
        theirs, own = getattr(scipy.ndimage, name), getattr(apron.ndimage, name)
        others.check_signature(name, theirs, own)
        wrapper = others.forwarded(own)
        xp_capabilities_table[wrapper] = xp_capabilities_table[theirs]
        setattr(scipy.ndimage, name, wrapper)


if __name__ == "__main__":
    swap()
    title, expected = "SciPy's tests of filters", Path(__file__).with_suffix(".txt")
    # 1,830 with SciPy 1.17.1.
    filters = others.run(title, "scipy.ndimage.tests.test_filters", expected, 1700, sys.argv[1:])
    title, expected = "SciPy's tests of histograms", Path(__file__).with_name("scipy_histograms.txt")
    histograms = others.run(title, "scipy.ndimage.tests.test_measurements", expected, 3, ["-k", "histogram"])
    sys.exit(filters or histograms)
