"""Arrays of all kinds in and out, errors, threads and forks."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.ndimage as theirs

import apron
from apron import ndimage as own

RANDOM = np.random.default_rng(7)
TYPES = "? u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split()


def of_type(dtype, shape):
    return (RANDOM.random(shape) * 100).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(9, 14, 2), (9, 14, 3), (9, 14, 4), (9, 14, 5), (3, 9, 14, 3), (14, 4)])
def test_what_lies_behind_a_mask_is_filtered_alike(dtype, shape):
    image = of_type(dtype, shape)
    for sides in ((3, 2), (5, 1), (1, 4), (1, 1)):
        sides = ((1, *sides, 1) if len(shape) == 4 else (*sides, 1))[-len(shape) :]
        weights = RANDOM.integers(-3, 4, sides)
        for mode, origin in (("mirror", 0), ("constant", [-(side > 1) for side in sides])):
            expected = theirs.correlate(image, weights, mode=mode, cval=2, origin=origin)
            found = own.correlate(image, weights, mode=mode, cval=2, origin=origin)
            off = {"f4": 1e-3, "f8": 1e-10}.get(dtype, 0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=off, err_msg=f"{sides} {mode}")
            assert found.dtype == expected.dtype


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(31,), (9, 14), (5, 6, 7), (3, 4, 5, 6)])
def test_every_type_and_number_of_axes_is_scipys(dtype, shape):
    image = of_type(dtype, shape)
    weights = RANDOM.integers(-3, 4, (3,) * len(shape))
    for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
        expected = theirs.correlate(image, weights, mode=mode, cval=2)
        np.testing.assert_allclose(own.correlate(image, weights, mode=mode, cval=2), expected, rtol=1e-6, atol=1e-3)
        blurred, expected = (module.uniform_filter(image, 3, mode=mode) for module in (own, theirs))
        assert blurred.dtype == image.dtype
        np.testing.assert_allclose(blurred, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["read-only", "strided", "reversed", "Fortran", "big-endian", "unaligned", "memmap"])
def test_any_layout_is_read(kind, tmp_path):
    plain = of_type("f4", (20, 30))
    array = plain.copy()
    if kind == "read-only":
        array.flags.writeable = False
    elif kind == "strided":
        array = np.zeros((40, 90), "f4")[::2, ::3]
        array[...] = plain
    elif kind == "reversed":
        array = np.ascontiguousarray(plain[::-1, ::-1])[::-1, ::-1]
    elif kind == "Fortran":
        array = np.asfortranarray(plain)
    elif kind == "big-endian":
        array = plain.astype(">f4")
    elif kind == "unaligned":
        array = np.zeros(plain.nbytes + 1, np.uint8)[1:].view("f4").reshape(plain.shape)
        array[...] = plain
        assert not array.flags.aligned
    else:
        plain.tofile(tmp_path / "plain")
        array = np.memmap(tmp_path / "plain", "f4", "r", shape=plain.shape)
    before = array.copy()
    found = own.gaussian_filter(array, 1.5)
    np.testing.assert_array_equal(found, own.gaussian_filter(plain, 1.5))
    np.testing.assert_array_equal(array, before)
    assert found.dtype == np.float32 and found.flags.c_contiguous and found.flags.writeable
    np.testing.assert_array_equal(apron.histogram(array, 9)[0], np.histogram(plain, 9)[0])


def test_results_are_stored_in_arrays_of_any_layout():
    image = of_type("f8", (20, 30))
    expected = own.sobel(image)
    for output in (np.zeros((20, 30)), np.zeros((40, 60))[::2, ::2], np.zeros((20, 30), ">f8"), image):
        assert own.sobel(image, output=output) is output
        np.testing.assert_array_equal(output, expected)
    with pytest.raises(ValueError, match="read-only"):
        output.flags.writeable = False
        own.sobel(image, output=output)


def test_results_keep_the_byte_order_that_is_asked_for():
    image = of_type(">f4", (5, 6))
    for output in (None, np.dtype(">i2"), ">f8", "<f8", np.float64):
        for name, options in [("sobel", {}), ("gaussian_filter", dict(sigma=0)), ("laplace", dict(axes=(1,)))]:
            found, expected = (getattr(of, name)(image, output=output, **options) for of in (own, theirs))
            assert found.dtype == expected.dtype, (name, output)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("output", [np.float32, np.dtype("f8"), "f4", np.zeros(3), None, np.complex64])
@pytest.mark.parametrize(
    "call",
    [
        lambda of, x, output: of.gaussian_filter(x, 0, output=output),
        lambda of, x, output: of.gaussian_filter(x, 1, axes=(), output=output),
        lambda of, x, output: of.gaussian_filter(x, 1, output=output),
        lambda of, x, output: of.uniform_filter(x, 1, output=output),
        lambda of, x, output: of.uniform_filter(x, 3, axes=(), output=output),
        lambda of, x, output: of.uniform_filter(x, 3, output=output),
        lambda of, x, output: of.uniform_filter1d(x, 1, output=output),
        lambda of, x, output: of.laplace(x, axes=(), output=output),
        lambda of, x, output: of.sobel(x, output=output),
        lambda of, x, output: of.correlate1d(x, [1], output=output),
    ],
)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore:promoting:UserWarning")
def test_complex_samples_in_real_outputs_are_as_in_scipy(call, output):
    x = np.array([1 + 2j, 3, 4j])
    try:
        expected = call(theirs, x, output)
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=str(error)):
            call(own, x, output)
    else:
        found = call(own, x, output)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_axes_may_be_in_any_order(seed):
    random = np.random.default_rng(seed)
    ndim = int(random.integers(2, 5))
    x, axes = random.random(random.integers(3, 7, ndim)), random.permutation(ndim)[: ndim - seed % 2]
    modes = random.choice(["reflect", "mirror", "nearest", "wrap", "constant"], len(axes)).tolist()
    sides, sigmas = random.integers(1, 5, len(axes)), random.random(len(axes)) * 1.5
    shifts = [int(random.integers(-(side // 2), (side + 1) // 2)) for side in sides]
    weights, among = random.random(sides), dict(axes=axes)
    for name, options in [
        ("gaussian_filter", dict(sigma=sigmas, mode=modes)),
        ("gaussian_laplace", dict(sigma=sigmas, mode=modes)),
        ("uniform_filter", dict(size=sides, origin=shifts, mode=modes)),
        ("correlate", dict(weights=weights, origin=shifts)),
        ("convolve", dict(weights=weights, origin=shifts)),
        ("laplace", dict(mode=modes)),
    ]:
        try:
            expected = getattr(theirs, name)(x, **options, **among)
        except ValueError:
            # Origins of a mask along all axes are in the order of the array's axes, where they may be too large.
            with pytest.raises(ValueError, match="Invalid origin"):
                getattr(own, name)(x, **options, **among)
        else:
            np.testing.assert_allclose(getattr(own, name)(x, **options, **among), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sigma, own_count, their_count", [(1, 28, 0), (2.5, 171, 243)])
@pytest.mark.parametrize("device", ["cpu", "emulator", "reference"])
def test_a_gaussian_of_a_constant_of_integers_is_at_most_one_less(sigma, own_count, their_count, device):
    image = np.repeat(np.arange(256, dtype=np.uint8), 40).reshape(256, 40)
    for of, count in ((own, own_count), (theirs, their_count)):
        with apron.Device(device):
            lost = image - of.gaussian_filter1d(image, sigma)
        assert lost.max() <= 1 and np.count_nonzero(lost.any(axis=1)) == count
    np.testing.assert_allclose(own.gaussian_filter1d(image, sigma, output=np.float64), image, rtol=1e-15)


def test_arrays_without_axes_or_samples():
    assert own.gaussian_filter(np.float64(3), 1.0) == 3
    assert own.correlate(np.array(3.0), np.array(2.0)) == 6
    for shape in [(0,), (0, 3), (3, 0, 2)]:
        assert own.gaussian_filter(np.zeros(shape), 1.0).shape == shape
        assert own.correlate(np.zeros(shape), np.ones((3,) * len(shape))).shape == shape
    np.testing.assert_array_equal(apron.histogram([], 3)[0], [0, 0, 0])


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("shape", [(1, 3, 4), (1, 1, 5), (1, 1, 1), (1, 6, 2), (3, 1, 4), (1, 2, 3, 4), (2, 1, 3, 1)])
@pytest.mark.parametrize("device", ["cpu", "emulator", "reference"])
def test_an_axis_of_one_sample_is_filtered_too(dtype, shape, device):
    random = np.random.default_rng(len(shape))
    x = random.integers(0, 9, shape).astype(dtype)
    output = np.float32 if dtype == "f2" else x.dtype
    with apron.Device(device):
        for mode in ["reflect", "constant", "wrap"]:
            for axis in range(len(shape)):
                for weights in ([0, 0, 5], [2], [1, 2, 1, 3]):
                    found = own.correlate1d(x, weights, axis, output, mode, 2)
                    expected = theirs.correlate1d(x.astype("f4") if dtype == "f2" else x, weights, axis, output, mode, 2)
                    np.testing.assert_array_equal(found, expected)
            if dtype in ("u1", "i2", "i4"):
                for name in ("sobel", "prewitt"):
                    np.testing.assert_array_equal(getattr(own, name)(x, mode=mode), getattr(theirs, name)(x, mode=mode))
            elif dtype in ("f4", "f8"):
                calls = [("uniform_filter", dict(size=3)), ("gaussian_filter", dict(sigma=1.0)), ("sobel", {})]
                for name, options in calls:
                    found, expected = (getattr(of, name)(x, mode=mode, **options) for of in (own, theirs))
                    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_what_lies_outside_may_be_no_number():
    image = np.arange(12.0).reshape(3, 4)
    for cval in (np.nan, np.inf):
        for run in (own.correlate(image, np.ones((3, 3)) / 9, mode="constant", cval=cval),
                    own.uniform_filter(image, 3, mode="constant", cval=cval)):
            np.testing.assert_allclose(run[1], [cval, 5, 6, cval])
            assert not np.isfinite(run[[0, 2]]).any()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("seed", range(60))
def test_samples_under_taps_of_0_may_be_no_numbers(dtype, seed):
    random = np.random.default_rng(seed)
    image = random.random(random.integers(1, 7, 1 + seed % 4)).astype(dtype)
    for value in random.permutation([np.nan, np.inf, -np.inf])[: random.integers(1, 4)]:
        image[tuple(random.integers(0, image.shape))] = value
    weights = random.integers(-1, 2, random.integers(1, 4, image.ndim))
    for mode in ("reflect", "wrap", "constant"):
        for cval in (2.0, np.inf):
            for name in ("correlate", "convolve", "laplace"):
                options = dict(mode=mode, cval=cval, **({} if name == "laplace" else dict(weights=weights)))
                found, expected = (getattr(of, name)(image, **options) for of in (own, theirs))
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_samples_that_are_no_numbers_are_cast_as_in_scipy(seed):
    random = np.random.default_rng(seed)
    image = (random.random(random.integers(1, 6, 1 + seed % 4)) * 9).astype(random.choice(["f4", "f8"]))
    for value in random.permutation([np.nan, np.inf, -np.inf])[: random.integers(1, 4)]:
        image[tuple(random.integers(0, image.shape))] = value
    weights = random.integers(-1, 2, random.integers(1, 4, image.ndim))
    for samples in (image, (np.nan_to_num(image) % 9).astype("i4")):
        for options in (dict(mode="reflect"), *(dict(mode="constant", cval=cval) for cval in (2.0, np.inf, np.nan))):
            for dtype in map(np.dtype, TYPES[:-2]):
                for name in ("correlate", "convolve"):
                    found, expected = (getattr(of, name)(samples, weights, output=dtype, **options) for of in (own, theirs))
                    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8", "c16"])
@pytest.mark.parametrize("cval", [0.0, -1e300, 1e39])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_weights_and_constants_beyond_f32(dtype, cval):
    random = np.random.default_rng(3)
    for shape in [(7,), (4, 5), (3, 4, 2)]:
        image = (random.random(shape) * 90).astype(dtype)
        # Large ones times a large constant are beyond f64.
        for weights in ([1.0, 2, 3], *([[1e39, 0, -1e300]] if cval == 0 else [])):
            mask = np.ones([2] * (len(shape) - 1) + [1]) * weights
            for output in ["c16"] if dtype == "c16" else ["f4", "f8"]:
                for mode in ("nearest", "constant"):
                    options = dict(output=output, mode=mode, cval=cval)
                    for call in (
                        lambda of: of.correlate1d(image, weights, **options),
                        lambda of: of.correlate(image, mask, **options),
                        lambda of: of.gaussian_filter(image, 1.0, **options),
                    ):
                        np.testing.assert_allclose(call(own), call(theirs), rtol=1e-5 if "f4" in (dtype, output) else 1e-12, atol=1e-5)
    for weights in ([np.inf], [np.nan]):
        for call in (own.correlate1d, own.convolve):
            with pytest.raises(ValueError, match="tap is (inf|NaN), but must be finite"):
                call(np.ones(3), weights)


@pytest.mark.parametrize(
    "call, error, part",
    [
        (lambda: own.sobel(np.zeros(3, "O")), TypeError, "dtype is object, but must be bool, an integer"),
        (lambda: own.sobel(np.zeros(3, "M8[s]")), TypeError, "datetime64"),
        (lambda: own.sobel(np.zeros(3, np.longdouble)), TypeError, "float128"),
        (lambda: own.correlate1d(np.zeros(3), [1, 2], origin=1), ValueError, "origin is 1, but must be -1 to 0"),
        (lambda: own.correlate1d(np.zeros(3), [1, np.nan]), ValueError, "NaN"),
        (lambda: own.correlate1d(np.zeros(3), []), RuntimeError, "no filter weights"),
        (lambda: own.correlate1d(np.zeros(3), np.ones(65537)), ValueError, "number of taps is 65537, but must be 1 to 65536"),
        (lambda: own.gaussian_filter1d(np.zeros(3), 8192), ValueError, "number of taps is 65537, but must be 1 to 65536"),
        (lambda: own.correlate(np.zeros((3, 3)), np.ones((1, 65537))), ValueError, "width is 65537, but must be 1 to 65536"),
        (lambda: own.uniform_filter1d(np.zeros(3), 0), RuntimeError, "it is 0, but must be 1 or more"),
        (lambda: own.uniform_filter1d(np.zeros(3), 1 << 20), ValueError, "but must be 1 to"),
        (lambda: own.uniform_filter1d(np.zeros(3), 1 << 40), ValueError, "size is 1099511627776, but must be 1 to"),
        (lambda: own.uniform_filter(np.zeros(3), 1 << 70), ValueError, "but must be 1 to 65536"),
        (lambda: own.uniform_filter1d(np.zeros(3), 2.5), TypeError, "'float' object cannot be interpreted"),
        (lambda: own.gaussian_filter1d(np.zeros(3), 1, order=1.5), TypeError, "'float' object"),
        (lambda: own.correlate1d(np.zeros(3), [1], mode=["wrap"]), RuntimeError, "mode is ['wrap'], but must be"),
        (lambda: own.correlate(np.zeros(3), []), RuntimeError, "weights.ndim (0) must match len(axes) (1)"),
        (lambda: own.gaussian_filter(np.zeros(3), 1, mode="mirrored"), RuntimeError, "mode is 'mirrored'"),
        (lambda: own.gaussian_filter(np.zeros((3, 3)), [1, 2, 3]), RuntimeError, "length is 3, but must be 2"),
        (lambda: own.gaussian_filter(np.zeros(3), 1, axes=1), ValueError, "axis: 1 is out of range"),
        (lambda: own.gaussian_filter(np.zeros(3), 1, radius=-1), ValueError, "but is -1"),
        (lambda: own.sobel(np.zeros(3), axis=1), ValueError, "axis 1 is out of bounds"),
        (lambda: own.sobel(np.zeros(3), output=np.zeros(4)), RuntimeError, "it is (4,), but must be (3,)"),
        (lambda: apron.Device("fpga"), ValueError, "fpga"),
        (lambda: apron.histogram([1.0, np.nan]), ValueError, "not finite"),
        (lambda: apron.histogram([1.0], 0), ValueError, "positive"),
        (lambda: apron.histogramdd(np.zeros((3, 2)), [1, 2, 3]), ValueError, "dimension of bins"),
        (lambda: apron.percentile([1.0], 101), ValueError, "Percentiles must be in the range"),
    ],
)
def test_errors_name_the_value_and_the_limit(call, error, part):
    with pytest.raises(error) as found:
        call()
    assert part in str(found.value)


def test_threads_may_call_at_once():
    images = [of_type("f4", (200 + at, 300)) for at in range(8)]
    expected = [own.gaussian_filter(image, 2) for image in images]
    found = [None] * len(images)

    def work(at):
        for _ in range(10):
            found[at] = own.gaussian_filter(images[at], 2)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def test_the_interpreter_runs_on_while_a_filter_does():
    image, ticks, done = of_type("f8", (2000, 2000)), [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    own.correlate(image, np.arange(441.0).reshape(21, 21) ** 1.5)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 5


def blurred_sum(image):
    return os.getpid(), float(own.gaussian_filter(image, 3).sum()), float(own.gaussian_filter(image[:9, :9], 1).sum())


def test_a_forked_process_works_with_threads_of_its_own():
    image = of_type("f4", (1000, 1000))
    expected = blurred_sum(image)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map_async(blurred_sum, [image] * 4).get(timeout=60):
            assert found[0] != expected[0] and found[1:] == expected[1:]


def test_a_forked_process_may_not_use_a_gpu_that_its_parent_used():
    code = """
import apron, numpy, os, sys
apron.ndimage.sobel(numpy.zeros((3, 3)))  # by "auto", which may use a GPU
if os.fork() == 0:
    try:
        apron.Device("gpu")
    except RuntimeError as error:
        os._exit(0 if "was forked from" in str(error) else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("device", ["cpu", "emulator", "reference"])
def test_devices_have_one_result(device):
    image, dtype = of_type("f4", (20, 30)), np.dtype(np.float32)
    passes = apron._apron.Passes([(axis, np.array([0.25, 0.5, 0.25]), 0, "wrap", 0.0) for axis in (0, 1)])
    taps = np.arange(9.0) ** 1.5
    run = {
        "separable": lambda device: apron._apron.separable(image, dtype, passes, device),
        "correlate": lambda device: apron._apron.correlate(image, dtype, taps, (3, 3), [0, 0], "nearest", 0.0, device),
        "histogram": lambda device: apron._apron.histogram(image, np.linspace(0, 100, 6), True, None, device),
    }
    for name, call in run.items():
        np.testing.assert_array_equal(call(apron.Device(device)), call(None), err_msg=name)
