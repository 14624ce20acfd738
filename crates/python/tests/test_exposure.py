"""scikit-image's functions beside Apron's, where it is installed."""

import numpy as np
import pytest

from apron import exposure

theirs = pytest.importorskip("skimage.exposure")


@pytest.mark.parametrize("dtype", ["u1", "u2", "f2", "f4", "f8", ">u2", ">f4", ">f8"])
@pytest.mark.parametrize("seed", range(5))
def test_equalize_hist(dtype, seed):
    random = np.random.default_rng(seed)
    image = random.random((40, 50))
    image = (image**2 * 200).astype(dtype) if "u" in dtype else image.astype(dtype)
    for mask in (None, random.random((40, 50)) < 0.5):
        found, expected = (of.equalize_hist(image, mask=mask) for of in (exposure, theirs))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_match_histograms(seed):
    random = np.random.default_rng(seed)
    image, reference = (random.integers(0, 256, shape, np.uint8) for shape in ((30, 40, 3), (50, 20, 3)))
    reference = reference // 2 + 20
    for channel_axis in (None, -1):
        found, expected = (of.match_histograms(image, reference, channel_axis=channel_axis) for of in (exposure, theirs))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(8))
def test_match_histograms_of_any_axes(seed):
    random = np.random.default_rng(seed)
    shapes = random.integers(1, 9, (2, 1 + seed % 4))
    for channel_axis in (None, *range(-shapes.shape[1], shapes.shape[1])):
        if channel_axis is not None:
            shapes[:, channel_axis] = random.integers(1, 9)
        image, reference = (random.integers(0, 256, shape, np.uint8) for shape in shapes)
        found, expected = (of.match_histograms(image, reference, channel_axis=channel_axis) for of in (exposure, theirs))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_what_is_missing():
    image = np.zeros((3, 3))
    with pytest.raises(TypeError, match="must be uint8"):
        exposure.match_histograms(image, image)
    image = image.astype(np.uint8)
    with pytest.raises(ValueError, match=r"shapes are \(3, 3\) and \(3,\), but must be of as many axes"):
        exposure.match_histograms(image, image[0])
    with pytest.raises(ValueError, match="must match: they are 3 and 2"):
        exposure.match_histograms(image, image[:, :2], channel_axis=1)
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        exposure.match_histograms(image, image, channel_axis=2)
    with pytest.raises(TypeError, match="must be an integer of 8 or 16 bits, or a float"):
        exposure.equalize_hist(image.astype("i4"))
