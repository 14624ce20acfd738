"""Filters of Dask arrays, block by block, have the bits of the whole array's; histograms and statistics are NumPy's."""

import os
import pickle

import numpy as np
import pytest

da = pytest.importorskip("dask.array")

import apron.dask
import dask
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


@pytest.mark.parametrize("name", ["sobel", "prewitt", "gaussian_laplace", "gaussian_gradient_magnitude", "laplace"])
def test_modes_of_each_axis(name):
    x = np.random.default_rng(7).random((11, 9))
    options = {"sigma": 0.7} if name.startswith("gaussian") else {}
    for mode in (["wrap", "nearest"], ["reflect", "grid-wrap"], ["wrap", "wrap"]):
        whole = getattr(ndimage, name)(x, mode=mode, **options)
        blocks = getattr(apron.dask, name)(da.from_array(x, (4, 3)), mode=mode, **options).compute()
        np.testing.assert_array_equal(blocks, whole, f"{mode}")
    line = np.arange(8.0) ** 2
    if name in ("sobel", "prewitt"):
        found = getattr(apron.dask, name)(da.from_array(line, 4), mode=["wrap"]).compute()
        np.testing.assert_array_equal(found, getattr(apron.ndimage, name)(line, mode=["wrap"]))


def test_axes_in_any_order_and_those_that_are_blurred_alike():
    x = np.random.default_rng(8).random((11, 8))
    for axes, weights in [((1, 0), np.array([[1.0], [-2.0], [3.0], [1.0]])), ((0, 1), np.ones((2, 5)))]:
        blocks = apron.dask.correlate(da.from_array(x, (7, 3)), weights, axes=axes).compute()
        np.testing.assert_array_equal(blocks, apron.ndimage.correlate(x, weights, axes=axes))
    blocks = apron.dask.gaussian_gradient_magnitude(da.from_array(x, (11, 4)), 2.0, axes=(0,)).compute()
    np.testing.assert_array_equal(blocks, apron.ndimage.gaussian_gradient_magnitude(x, 2.0, axes=(0,)))


def test_results_have_the_type_that_is_computed():
    x = np.random.default_rng(9).random((11, 8))
    for image, name, options in [
        (x.astype(">f4"), "sobel", {}),
        (x, "correlate1d", dict(weights=[1, 2j, 1])),
        (x.astype("c8"), "uniform_filter", dict(output=np.complex128)),
        (x, "gaussian_filter", dict(sigma=1, output=">i2")),
    ]:
        blocks = getattr(apron.dask, name)(da.from_array(image, (4, 3)), **options)
        whole = getattr(ndimage, name)(image, **options)
        assert blocks.dtype == blocks.compute().dtype == whole.dtype
        np.testing.assert_array_equal(blocks.compute(), whole)
    # Sigmas are in the order of all the array's axes, and radii always.
    for options in (dict(sigma=[2.0, 0.3], axes=(1, 0)), dict(sigma=[1.0], axes=(0,), radius=[4, 0])):
        blocks = apron.dask.gaussian_laplace(da.from_array(x, (4, 3)), **options).compute()
        np.testing.assert_array_equal(blocks, ndimage.gaussian_laplace(x, **options))


def test_results_pickle_and_outputs_are_types():
    image = da.from_array(np.random.default_rng(1).random((30, 30)), 10)
    blurred = apron.dask.gaussian_filter(image, 1.0, output=np.float32)
    again = pickle.loads(pickle.dumps(blurred))
    np.testing.assert_array_equal(again.compute(), ndimage.gaussian_filter(image.compute(), 1.0, output=np.float32))
    with pytest.raises(TypeError, match="must be a dtype"):
        apron.dask.sobel(image, output=np.zeros((30, 30)))


@pytest.mark.parametrize("name", apron.dask.__all__)
def test_functions_pickle(name):
    function = getattr(apron.dask, name)
    assert pickle.loads(pickle.dumps(function)) is function and function.__module__ == "apron.dask"


@pytest.mark.parametrize("name", ["gaussian_filter", "uniform_filter", "laplace", "gaussian_laplace", "gaussian_gradient_magnitude"])
def test_no_axes_are_filtered(name):
    x = np.random.default_rng(3).random((9, 7))
    options = {"sigma": 1.0} if name.startswith("gaussian") else {}
    # Of no axes there are no derivatives, and so nothing is blurred.
    for mode in ("reflect", "wrap"):
        found = getattr(apron.dask, name)(da.from_array(x, (4, 3)), axes=(), mode=mode, **options).compute()
        np.testing.assert_array_equal(found, getattr(ndimage, name)(x, axes=(), mode=mode, **options))


def test_chunks_have_to_be_known():
    x = np.random.default_rng(4).random((30, 5))
    chosen = da.from_array(x, (8, 5))
    chosen = chosen[chosen[:, 0] > 0.5]
    for call in (lambda: apron.dask.gaussian_filter(chosen, 1.0), lambda: apron.dask.correlate1d(chosen, [1, 2], axis=1)):
        with pytest.raises(ValueError, match=r"shape is \(nan, 5\), but must be known for filters: call compute_chunk_sizes\(\)"):
            call()
    found = apron.dask.gaussian_filter(chosen.compute_chunk_sizes(), 1.0).compute()
    np.testing.assert_array_equal(found, ndimage.gaussian_filter(x[x[:, 0] > 0.5], 1.0))


def test_dask_image_filters_by_apron():
    ndfilters = pytest.importorskip("dask_image.ndfilters")
    apron.dask.register()
    image = np.random.default_rng(2).random((40, 40))
    found = ndfilters.gaussian_filter(da.from_array(image, 20), 1.0)
    np.testing.assert_array_equal(found.compute(), ndimage.gaussian_filter(image, 1.0))


BINS = [(16, None), (7, (0.1, 90.3)), (5, (20, 20)), ([0, 1, 5, 50, 51.5, 51.5, 99], None)]
BINS.append((np.array([-50, 0, 20]), (5, 0)))
CHUNKS = [(37, 23, 5), (10, 7, 3), (5, 23, 1), (37, 1, 5)]


def _samples(dtype):
    """Returns samples of a type; signed ones on both sides of 0."""
    random = np.random.default_rng(3).random((37, 23, 5)) * 200
    return (random - (100 if np.dtype(dtype).kind in "if" else 0)).astype(dtype)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_histograms_are_numpys(dtype, chunks):
    samples = _samples(dtype)
    for bins, range in BINS:
        expected = np.histogram(samples, bins, range)
        found = apron.dask.histogram(da.from_array(samples, chunks), bins, range)
        for lazy, array, whole in zip(found, dask.compute(*found), expected):
            np.testing.assert_array_equal(array, whole)
            assert array.dtype == lazy.dtype == whole.dtype and lazy.shape == whole.shape


def test_edges_are_lazy_only_where_they_follow_from_samples():
    samples = da.from_array(_samples("f4"), (10, 7, 3))
    assert [type(apron.dask.histogram(samples, *one)[1]) for one in BINS] == [da.Array] + [np.ndarray] * 4
    counts, edges = apron.dask.histogram(da.zeros((0, 4)), 2)
    assert counts.compute().tolist() == [0, 0] and edges.tolist() == [0, 0.5, 1]


def test_counts_of_integers_beyond_2_to_the_53_are_exact():
    # In f64, 2^53 + 3 is 2^53 + 4.
    samples = np.array([2**53, 2**53 + 3, 2**53 + 3, 2**53 + 4])
    counts, _ = apron.dask.histogram(da.from_array(samples, 3), [2**53, 2**53 + 4, 2**53 + 8])
    assert counts.compute().tolist() == [3, 1]


@pytest.mark.parametrize(
    "bins, range, error, message",
    [
        ("auto", None, TypeError, "bins is 'auto', but must be a number or edges"),
        (0, None, ValueError, "bins is 0, but must be 1 or more"),
        ([], None, ValueError, "bins has 0 edges, but must have 1 or more"),
        (4, (2, 1), ValueError, r"range is \(2, 1\), but its first number must not be above its second"),
        (4, (0, np.inf), ValueError, r"range of \[0, inf\] is not finite"),
        ([0, 2, 1], None, ValueError, "must increase monotonically"),
    ],
)
def test_bins_are_checked_before_anything_is_computed(bins, range, error, message):
    with pytest.raises(error, match=message):
        apron.dask.histogram(da.from_array(np.arange(4.0), 2), bins, range)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_statistics_are_numpys(dtype, chunks):
    samples = _samples(dtype)
    lazy = apron.dask.statistics(da.from_array(samples, chunks))
    (found,) = dask.compute(lazy)
    assert found[:3] == (samples.size, samples.min(), samples.max())
    assert lazy.min.dtype == found.min.dtype == samples.dtype
    np.testing.assert_allclose(found[3:], (samples.mean(dtype="f8"), samples.std(dtype="f8")), rtol=1e-12)


def test_deviations_beside_a_large_mean_are_kept():
    # The squares of these numbers differ by less than f64 holds.
    samples = 1e9 + np.random.default_rng(4).random((50, 40))
    found = apron.dask.statistics(da.from_array(samples, (7, 40)))
    np.testing.assert_allclose(found.std.compute(), (samples - 1e9).std(), rtol=1e-6)


def test_statistics_read_each_block_once():
    read = []

    def block(block_info=None):
        read.append(block_info[None]["chunk-location"])
        return np.ones((3, 3))

    samples = da.map_blocks(block, chunks=((3,) * 5, (3,) * 7), dtype=float, meta=np.empty((0, 0)))
    dask.compute(apron.dask.statistics(samples), scheduler="synchronous")
    assert sorted(read) == sorted(np.ndindex(5, 7))


def test_selections_leave_blocks_without_samples_out():
    samples = da.from_array(np.arange(100.0), 9)
    (found,) = dask.compute(apron.dask.statistics(samples[samples >= 90]))
    assert found[:4] == (10, 90, 99, 94.5)
    assert dask.compute(*apron.dask.histogram(samples[samples >= 90], 2))[0].tolist() == [5, 5]
    with pytest.raises(ValueError, match="there are 0 samples, but must be 1 or more"):
        apron.dask.statistics(samples[samples > 100]).mean.compute()
    with pytest.raises(ValueError, match="there are 0 samples, but must be 1 or more"):
        apron.dask.statistics(samples[:0])
    with pytest.raises(TypeError, match="dtype is complex128, but must be of real numbers"):
        apron.dask.statistics(samples + 1j)


def _process(block):
    return np.array([[os.getpid()]])


def test_two_worker_processes_have_the_same_results():
    distributed = pytest.importorskip("distributed")
    image = (np.random.default_rng(5).random((90, 70)) * 255).astype(np.uint8)
    blocks = da.from_array(image, (31, 17))
    wanted = [
        apron.dask.gaussian_filter(blocks, 2.0),
        blocks.map_blocks(_process, chunks=(1, 1), dtype=np.int64),
        *apron.dask.histogram(blocks, 9),
        *apron.dask.statistics(blocks),
    ]
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        blurred, processes, counts, edges, *found = client.gather(client.compute(wanted))
    assert len(np.unique(processes)) == 2 and os.getpid() not in processes
    np.testing.assert_array_equal(blurred, ndimage.gaussian_filter(image, 2.0))
    for array, whole in zip((counts, edges), np.histogram(image, 9)):
        np.testing.assert_array_equal(array, whole)
    np.testing.assert_allclose(found, (image.size, image.min(), image.max(), image.mean(), image.std()), rtol=1e-12)
