"""Images on a device: values by hand, by NumPy and by SciPy, on the host and in the emulator of the GPU's kernels."""

import numpy as np
import pytest
from scipy import ndimage as theirs

import apron

DEVICES = ["cpu", "emulator", "reference"]


@pytest.fixture(params=DEVICES)
def device(request):
    return apron.Device(request.param)


@pytest.fixture
def samples():
    return np.random.default_rng(1).integers(0, 256, (9, 14), np.uint8)


def test_what_is_uploaded_comes_back(device):
    for shape in [(3, 4), (3, 4, 1), (3, 4, 3)]:
        for dtype in "?", "u1", "i2", "f2", "f4", "f8", "i8":
            array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
            image = device.upload(array[::-1])
            assert image.shape == shape and image.dtype == array.dtype and image.images == 1
            np.testing.assert_array_equal(image.download(), array[::-1])
            np.testing.assert_array_equal(np.asarray(image, "f8"), array[::-1].astype("f8"))


def test_filters_are_scipys(device, samples):
    image, mask = device.upload(samples), np.array([[1, 2, 0], [0, -3, 1]])
    for border, mode in [("reflect101", "mirror"), ("reflect", "reflect"), ("replicate", "nearest"), ("wrap", "wrap")]:
        # SciPy's middle of three rows: the mask's lower row, of two, lies on the pixel.
        found = image.correlate(mask, border=border, dtype="int16", anchor=(1, 1)).download()
        expected = theirs.correlate(samples, np.vstack([mask, [0, 0, 0]]), "i2", mode)
        np.testing.assert_array_equal(found, expected, border)
        found = image.convolve(mask, border=border, dtype="int16", anchor=(1, 1)).download()
        expected = theirs.correlate(samples, np.vstack([mask[::-1, ::-1], [0, 0, 0]]), "i2", mode)
        np.testing.assert_array_equal(found, expected, border)
    sums = image.separable([1, 2, 1], [1, 0, -1], dtype="int32", border="constant:7").download()
    expected = theirs.correlate1d(samples, [1, 2, 1], 1, "i4", "constant", 7)
    # The constant is outside the image, and so 4 * 7 is outside the sums along the rows.
    expected = theirs.correlate1d(expected, [1, 0, -1], 0, "i4", "constant", 28)
    np.testing.assert_array_equal(sums, expected)
    blurred = device.upload(samples.astype("f8")).gaussian((1.5, 0.5), truncate=3.0, border="replicate").download()
    expected = theirs.gaussian_filter(samples.astype("f8"), (0.5, 1.5), mode="nearest", truncate=3.0)
    np.testing.assert_allclose(blurred, expected, rtol=1e-12)


def test_pairs_are_any_sequences(device, samples):
    image = device.upload(samples)
    expected = image.gaussian((1.5, 0.5)).download()
    for sigma in ([1.5, 0.5], np.array([1.5, 0.5]), np.float32([1.5, 0.5])):
        np.testing.assert_array_equal(image.gaussian(sigma).download(), expected)
    options = dict(anchor=(0, 2), extent=(-1, 0, 5, 4))
    given = {name: np.array(value) for name, value in options.items()}
    np.testing.assert_array_equal(image.box(3, 3, **given).download(), image.box(3, 3, **options).download())
    np.testing.assert_array_equal(image.box(3, 3, anchor=None).download(), image.box(3, 3).download())
    assert len(image.histogram()[0]) == len(image.histogram(np.int16(256))[0]) == 256


def test_options_by_hand(device):
    image = device.upload(np.array([[1, 2, 4]], np.uint8))
    row = lambda **options: image.correlate([[-1, 0, 1]], **options).download().tolist()  # noqa: E731
    assert row(dtype="i1", border="constant:0") == [[2, 3, -2]]
    assert row(border="wrap") == [[0, 3, 0]]  # below 0 saturates
    assert row(border="wrap", overflow="wrap") == [[254, 3, 255]]
    assert row(border="crop", dtype="f4") == [[3.0]]
    assert row(extent="full", border="constant:0", dtype="i1") == [[1, 2, 3, -2, -4]]
    assert row(extent=(1, 0, 1, 1)) == [[3]]
    halves = device.upload(np.array([[1, 3, 5]], np.float32))
    assert halves.correlate([[0.5]], dtype="u1").download().tolist() == [[0, 2, 2]]
    assert halves.correlate([[0.5]], dtype="u1", rounding="toward_zero").download().tolist() == [[0, 1, 2]]
    assert halves.box(3, 1, border="constant:0", anchor=(0, 0)).download().tolist() == [[3.0, pytest.approx(8 / 3), pytest.approx(5 / 3)]]


def test_named_filters_are_all_taken(device, samples):
    image = device.upload(samples.astype("f4"))
    named = apron.named_filters()
    assert {"sharpen", "sobel", "unsharp"} <= set(named)
    values = {"dx": 1, "sigma": 1.0, "sigma_low": 1.0, "sigma_high": 2.0, "order": (1, 0), "length": 5, "size": (3, 5)}
    for name, (summary, parameters) in named.items():
        given = {key: values[key] for key, default in parameters.items() if default is None or key == "dx"}
        found = image.filter(name, **given)
        assert summary and found.shape == samples.shape and not np.array_equal(found.download(), samples), name
    np.testing.assert_array_equal(
        image.filter("sobel", dx=1, dy=0, border="reflect").download(), theirs.sobel(samples.astype("f4"), 1)
    )


def test_regions_are_images_of_their_own(device, samples):
    part = device.upload(samples).region(2, 1, 5, 6)
    np.testing.assert_array_equal(part.download(), samples[1:7, 2:7])
    found = part.box(3, 3, dtype="f8", border="reflect").download()
    np.testing.assert_allclose(found, theirs.uniform_filter(samples[1:7, 2:7].astype("f8"), 3))
    with pytest.raises(ValueError, match="columns of the region is 10 to 15"):
        part.region(10, 0, 5, 1)


def test_batches_are_as_their_images(device, samples):
    both = [samples, samples[::-1].copy()]
    batch = device.upload_batch(both)
    assert batch.images == 2 and batch.shape == (2, *samples.shape)
    found = batch.gaussian(1.0).download()
    for one, array in zip(found, both, strict=True):
        np.testing.assert_array_equal(one, device.upload(array).gaussian(1.0).download())
    with pytest.raises((TypeError, ValueError)):
        device.upload_batch([samples, samples.astype("f4")])


def test_histograms_are_numpys(device, samples):
    counts, edges = device.upload(samples).histogram(16, (0, 255))
    expected = np.histogram(samples, 16, (0, 255))
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(edges, expected[1])
    colours = samples[:, :12].reshape(9, 4, 3)
    counts, _ = device.upload(colours).histogram(8, (0, 256), per_channel=True)
    for channel in range(3):
        np.testing.assert_array_equal(counts[channel], np.histogram(colours[..., channel], 8, (0, 256))[0])


def test_reports_say_what_ran(samples):
    image = apron.Device("emulator").upload(samples)
    found = image.correlate([[1, 2, 3], [4, 6, 5], [7, 8, 8]], variant="conv2d-naive").report
    assert (found["operation"], found["device"], found["variant"]) == ("correlate", "emulator", "conv2d-naive")
    assert found["grid"] and found["why"] and found["kernels"] >= 0 and found["estimate"] is None
    uploaded = image.report
    assert (uploaded["operation"], uploaded["variant"]) == ("upload", "copy") and uploaded["copy_in"] > 0


def test_chains_run_again(device, samples):
    work = lambda frame: (frame.gaussian(1.0), frame.box(3, 3).filter("sharpen"))  # noqa: E731
    chain = device.record(device.upload(samples), work)
    for array in samples, samples[::-1].copy():
        chain.load(array)
        for found, expected in zip(chain.run(), work(device.upload(array)), strict=True):
            np.testing.assert_array_equal(found.download(), expected.download())
    assert chain.elapsed() > 0
    chain.load(device.upload(samples))
    np.testing.assert_array_equal(chain.run()[0].download(), device.upload(samples).gaussian(1.0).download())
    with pytest.raises(ValueError, match="9x14|14x9"):
        chain.load(samples[:4])


def test_exceptions_of_recorded_functions_are_raised(device, samples):
    def work(frame):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        device.record(device.upload(samples), work).run()
    with pytest.raises(TypeError):
        device.record(device.upload(samples), lambda frame: 3).run()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda image: image.filter("sharpenn"), ValueError, "filter is \"sharpenn\", but must be one of sobel"),
        (lambda image: image.filter("sharpen", amount="x"), ValueError, "amount"),
        (lambda image: image.gaussian(1.0, borders="wrap"), TypeError, "no option \"borders\", but border, extent"),
        (lambda image: image.gaussian(1.0, border="mirror"), ValueError, "'mirror'.*reflect101"),
        (lambda image: image.gaussian(-1.0), ValueError, "-1"),
        (lambda image: image.box(0, 3), ValueError, "0"),
        (lambda image: image.box(3, 3, rounding="up"), ValueError, "rounding is \"up\", but must be half_even or toward_zero"),
        (lambda image: image.box(3, 3, dtype="c8"), TypeError, "complex64"),
        (lambda image: image.box(3, 3, extent="whole"), ValueError, "same or full"),
        (lambda image: image.correlate([1, 2]), ValueError, "axes, but must have 2"),
        (lambda image: image.histogram(-3), ValueError, "number of bins is -3, but must be 1 to 16777216"),
        (lambda image: image.histogram(1 << 70), ValueError, "number of bins is 1180591620717411303424, but must be 1 to"),
        (lambda image: image.region(-1, 0, 1, 1), ValueError, "x is -1, but must be 0 to 1073741823"),
        (lambda image: image.region(0, 0, 1, 1 << 40), ValueError, "height is 1099511627776, but must be 1 to 1073741823"),
        (lambda image: image.box(-1, 3), ValueError, "width is -1, but must be 1 to 65536"),
        (lambda image: image.box(3, 1 << 40), ValueError, "height is 1099511627776, but must be 1 to 65536"),
        (lambda image: image.box(2.5, 3), TypeError, "float"),
        (lambda image: image.box(3, 3, anchor=(-1, -1)), ValueError, "x of the anchor is -1, but must be 0 to 65535"),
        (lambda image: image.box(3, 3, anchor=3), TypeError, "anchor is 3, but must be two whole numbers: x and y"),
        (lambda image: image.box(3, 3, anchor=(1, 1, 1)), ValueError, r"anchor is \(1, 1, 1\), but must be two whole numbers"),
        (lambda image: image.box(3, 3, extent=(0, 0, -3, 3)), ValueError, "width of the extent is -3, but must be 1 to"),
        (lambda image: image.box(3, 3, extent=(0, 1 << 31, 3, 3)), ValueError, "y of the extent is 2147483648, but must be -2"),
        (lambda image: image.box(3, 3, extent=(0, 0, 3)), ValueError, r'extent is \(0, 0, 3\), but must be "same", "full" or four'),
        (lambda image: image.gaussian([1, 2, 3]), ValueError, r"sigma is \[1, 2, 3\], but must be a number, or one along x and"),
        (lambda image: image.gaussian("wide"), TypeError, "sigma is 'wide', but must be a number, or one along x and one along y"),
        (lambda image: image.gaussian([1, "wide"]), TypeError, r"sigma is \[1, 'wide'\], but must be"),
        (lambda image: image.correlate(np.ones((3, 3)), variant="best"), Exception, "best"),
        (lambda image: np.asarray(image, copy=False), ValueError, "copy is False"),
    ],
)
def test_bad_arguments_name_the_limit(samples, call, error, message):
    with pytest.raises(error, match=message):
        call(apron.Device("emulator").upload(samples))


def test_arrays_of_other_axes_are_refused(device):
    with pytest.raises(ValueError, match="number of axes is 1"):
        device.upload(np.zeros(3))
    with pytest.raises(TypeError, match="complex"):
        device.upload(np.zeros((3, 3), complex))
