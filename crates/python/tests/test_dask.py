"""Filters of Dask arrays, block by block, have the bits of the whole array's."""

import pickle

import numpy as np
import pytest

da = pytest.importorskip("dask.array")

import apron.dask
from apron import ndimage

CALLS = {
    "correlate1d": dict(weights=[1.0, 2.5, -1.0, 3.0], axis=0, origin=1),
    "convolve1d": dict(weights=[1.0, 2.5, -1.0], axis=1),
    "correlate": dict(weights=np.arange(15.0).reshape(3, 5) ** 0.5),
    "convolve": dict(weights=np.arange(8.0).reshape(2, 4) ** 0.5, origin=(0, 1)),
    "gaussian_filter": dict(sigma=(1.5, 0.7)),
    "gaussian_filter1d": dict(sigma=2.0, axis=0, truncate=2.0),
    "gaussian_laplace": dict(sigma=1.0),
    "gaussian_gradient_magnitude": dict(sigma=1.0, truncate=3.0),
    "uniform_filter": dict(size=(5, 4), origin=(1, 0)),
    "uniform_filter1d": dict(size=7, axis=1),
    "sobel": dict(axis=0),
    "prewitt": dict(),
    "laplace": dict(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap", "constant"])
def test_blocks_have_the_bits_of_the_whole(name, mode):
    random = np.random.default_rng(len(name))
    for dtype in ("f4", "f8", "u1", "i4"):
        image = (random.random((50, 41)) * 200).astype(dtype)
        expected = getattr(ndimage, name)(image, mode=mode, **CALLS[name])
        for chunks in ((20, 41), (17, 13), (6, 50), (1, 41)):
            found = getattr(apron.dask, name)(da.from_array(image, chunks), mode=mode, **CALLS[name])
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_array_equal(found.compute(scheduler="threads"), expected)


def test_results_pickle_and_outputs_are_types():
    image = da.from_array(np.random.default_rng(1).random((30, 30)), 10)
    blurred = apron.dask.gaussian_filter(image, 1.0, output=np.float32)
    again = pickle.loads(pickle.dumps(blurred))
    np.testing.assert_array_equal(again.compute(), ndimage.gaussian_filter(image.compute(), 1.0, output=np.float32))
    with pytest.raises(TypeError, match="must be a dtype"):
        apron.dask.sobel(image, output=np.zeros((30, 30)))


def test_dask_image_filters_by_apron():
    ndfilters = pytest.importorskip("dask_image.ndfilters")
    apron.dask.register()
    image = np.random.default_rng(2).random((40, 40))
    found = ndfilters.gaussian_filter(da.from_array(image, 20), 1.0)
    np.testing.assert_array_equal(found.compute(), ndimage.gaussian_filter(image, 1.0))
