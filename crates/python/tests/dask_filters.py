"""dask-image's own tests of filters, with NumPy's blocks filtered by Apron.

    python tests/dask_filters.py dask_image-2026.5.0.tar.gz

takes the tests from dask-image's source package, since its wheel has none, runs them on the dask-image that is installed, and compares the
cases that fail with the list in `dask_filters.txt`: it fails where they differ.
"""

import sys
import tarfile
import tempfile
from pathlib import Path

import others

import apron.dask


def swap():
    """Makes dask-image filter by functions that count their calls."""
    for name in apron.dask._REACH:
        setattr(apron.ndimage, name, others.forwarded(getattr(apron.ndimage, name)))
    apron.dask.register()


def unpacked(package, folder):
    """Unpacks the tests, and returns where those of filters lie."""
    with tarfile.open(package) as archive:
        tests = [member for member in archive.getmembers() if "/tests/" in member.name]
        archive.extractall(folder, tests, filter="data")
    return next(Path(folder).glob("*/tests/test_dask_image/test_ndfilters"))


if __name__ == "__main__":
    swap()
    package, *arguments = sys.argv[1:]
    title, expected = "dask-image's tests of filters", Path(__file__).with_suffix(".txt")
    with tempfile.TemporaryDirectory() as folder:
        # 227 with dask-image 2026.5.0.
        sys.exit(others.run(title, str(unpacked(package, folder)), expected, 200, arguments))
