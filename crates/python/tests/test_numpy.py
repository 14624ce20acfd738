"""Random calls of NumPy's functions, which its own tests of histograms leave out, beside Apron's."""

import numpy as np
import pytest

import apron

TYPES = "u1 i1 u2 i2 u4 i4 i8 f4 f8".split()


def samples(random, dtype, shape):
    if dtype[0] == "f":
        return (random.standard_normal(shape) * 10).astype(dtype)
    low = 0 if dtype[0] == "u" else -100
    return random.integers(low, 127, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", range(4))
def test_percentile(dtype, seed):
    random = np.random.default_rng(seed)
    image = samples(random, dtype, (random.integers(1, 60), random.integers(1, 60)))
    for q in (random.random() * 100, [0, 100, random.random() * 100], np.array([[25, 50], [75, 99.9]]), 50):
        # NumPy's own differences of small integers may overflow.
        wide = image if dtype[0] == "f" else image.astype(np.int64)
        expected, found = np.percentile(wide, q), apron.percentile(image, q)
        assert np.asarray(found).dtype == np.asarray(expected).dtype, q
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(apron.percentile(image, 30, axis=0), np.percentile(image, 30, axis=0))


@pytest.mark.parametrize(
    "q",
    [30, 30.0, np.int32(30), np.float64(30), np.float32(30), np.float16(30), np.array(30), np.array(30, "f4"), [30],
     np.array([30, 99.7], "f4"), np.array([30], "f2"), np.array([30], "i1"), np.longdouble(30)],
)  # fmt: skip
def test_percentiles_have_the_type_of_numpys(q):
    line = np.random.default_rng(3).random(2001).astype("f4")
    lists = [[np.float32(1), np.float32(4)], [1.5, 2], [3, 9, 4]]
    for one in (np.float32(3.5), 7, *lists, line, line.astype("f2"), line.astype("f8")):
        found, expected = apron.percentile(one, q), np.percentile(one, q)
        assert type(found) is type(expected) and np.asarray(found).dtype == np.asarray(expected).dtype
        # NumPy's percentile of f32 is a sum in f32 for a number of Python's, and Apron's is of f64, rounded once.
        np.testing.assert_allclose(found, expected, rtol=2e-7 if type(q) in (int, float) else 0)


def test_percentiles_of_more_samples_than_a_row_has():
    # No memory is taken by the zeros.
    samples = np.zeros((1 << 30) + 2, np.uint8)
    samples[:4096], samples[-1] = 7, 9
    assert apron.percentile(samples, [0, 50, 100]).tolist() == [0, 0, 9]
    # Of numbers of samples with factors, and of primes and twice a prime, which are left to NumPy.
    for length, is_found in [(1, True), ((1 << 30) + 2, True), (1073741827, False), (1000003 << 12, True), (2 * 1073741827, False)]:
        assert apron._apron.has_percentiles(length) == is_found, length


def test_places_are_found_part_by_part():
    samples = np.arange((1 << 24) + 3, dtype=np.int32).astype(np.float32)
    edges = [5.0, 2.0**24 - 1, 2.0**24 + 1]
    np.testing.assert_array_equal(apron.digitize(samples, edges), np.digitize(samples, edges))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", range(4))
def test_digitize(dtype, seed):
    random = np.random.default_rng(seed)
    image = samples(random, dtype, (7, random.integers(1, 500)))
    bins = np.sort(samples(random, dtype, 12))
    for edges in (bins, bins[::-1], bins.astype(float), [3], []):
        for right in (False, True):
            expected, found = np.digitize(image, edges, right), apron.digitize(image, edges, right)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    assert apron.digitize(3.0, [1, 2]) == np.digitize(3.0, [1, 2])
    np.testing.assert_array_equal(apron.digitize([np.nan, np.inf], [1.0]), np.digitize([np.nan, np.inf], [1.0]))


@pytest.mark.parametrize("dtype", "u1 i1 u2 i4 u4 i8".split())
@pytest.mark.parametrize("length", [1, 1000, 200_000])
def test_bincount(dtype, length):
    random = np.random.default_rng(length)
    values = random.integers(0, 100, length).astype(dtype)
    weights = random.integers(-9, 9, length)
    for minlength in (0, 5, 300):
        np.testing.assert_array_equal(apron.bincount(values, minlength=minlength), np.bincount(values, None, minlength))
        found, expected = (of.bincount(values, weights, minlength) for of in (apron, np))
        assert found.dtype == np.float64 or weights.dtype.kind == "i"
        np.testing.assert_array_equal(found, expected)
    for wrong in ([-1], [[1]]):
        with pytest.raises((ValueError, TypeError)):
            apron.bincount(wrong)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", range(4))
def test_histograms(dtype, seed):
    random = np.random.default_rng(seed)
    length = int(random.choice([1, 100, 5000, 300_000]))
    x, y = samples(random, dtype, length), samples(random, dtype, length)
    weights = random.random(length)
    for bins, range in ((10, None), (7, (-5, 50)), ([-3, 0, 2.5, 40], None), ("sturges", None)):
        for density in (False, True):
            expected, found = np.histogram(x, bins, range, density), apron.histogram(x, bins, range, density)
            for one, other in zip(found, expected):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)
        if isinstance(bins, str):
            continue  # NumPy has no rule for weights
        np.testing.assert_allclose(
            apron.histogram(x, bins, range, None, weights)[0], np.histogram(x, bins, range, None, weights)[0], rtol=1e-12
        )
        for given in (None, weights):
            expected = np.histogram2d(x, y, bins, range and [range, range], None, given)
            for one, other in zip(apron.histogram2d(x, y, bins, range and [range, range], None, given), expected):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2), (6, 1), (1, 6), (5,), ()])
def test_weights_of_another_shape_are_refused(shape):
    rows, weights = np.random.default_rng(5).random((6, 2)), np.ones(shape)
    for of in (np, apron):
        for call in (lambda: of.histogramdd(rows, 2, weights=weights), lambda: of.histogram2d(*rows.T, 2, weights=weights)):
            with pytest.raises(ValueError, match="object|weights"):
                call()


@pytest.mark.filterwarnings("error")
def test_samples_and_weights_of_bool_and_masked_samples():
    random = np.random.default_rng(10)
    pairs = random.random((50, 2)) < 0.3
    masked = np.ma.array(random.random((50, 2)), mask=pairs)
    for sample in (pairs, masked):
        for found, expected in zip(apron.histogramdd(sample, 3)[1], np.histogramdd(sample, 3)[1]):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(apron.histogramdd(sample, 3)[0], np.histogramdd(sample, 3)[0])
    found, expected = (of.histogram(masked.data, 3, weights=pairs)[0] for of in (apron, np))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(TypeError, match="add"):
        apron.histogram(masked.data, [0, 1, 2], weights=pairs)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_histograms_hold_the_least_and_the_largest_of_64_bits(dtype):
    limits, random = np.iinfo(dtype), np.random.default_rng(9)
    for seed in range(20):
        x = random.integers(limits.min, limits.max, 1000, dtype=dtype, endpoint=True)
        counts, edges = apron.histogram(x, 5)
        np.testing.assert_array_equal(edges, np.histogram_bin_edges(x, 5))
        assert counts.sum() == 1000
        assert apron.histogramdd(x.reshape(-1, 2), 3)[0].sum() == 500
        assert apron.histogram2d(x[:500], x[500:], 4)[0].sum() == 500
    # Ends that are given hold what is between them.
    assert apron.histogram(np.array([limits.max], dtype), 1, (0, 5))[0].sum() == 0


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("bins, range", [(3, None), (4, (-9, 99)), ([-9, 0, 2**60, 2**60 + 200], None)])
def test_both_parts_of_complex_weights_are_summed_in_the_same_bins(dtype, bins, range):
    # Of 64 bits: f64 has no number between the last two.
    samples = np.array([0, 1, 2**60, 2**60 + 100])
    weights = np.array([1 + 2j, 3 + 4j, 5 + 6j, 7 + 8j], dtype)
    counts, edges = apron.histogram(samples, bins, range, weights=weights)
    assert counts.dtype == weights.dtype
    for part in ("real", "imag"):
        expected = apron.histogram(samples, bins, range, weights=getattr(weights, part))
        np.testing.assert_array_equal(getattr(counts, part), expected[0])
        np.testing.assert_array_equal(edges, expected[1])
    if range is None:
        assert counts.sum() == weights.sum()


@pytest.mark.parametrize("samples_of, edges_of", [(one, other) for one in ("i8", "u8", ">i8", "i4") for other in ("i8", "u8", ">u8")])
def test_edges_of_64_bits_are_exact(samples_of, edges_of):
    random = np.random.default_rng(4)

    def numbers(dtype, count):
        dtype = np.dtype(dtype)
        if dtype.itemsize == 4:
            return random.integers(-9, 99, count).astype(dtype)
        near = random.integers(-8, 9, count) + int(random.choice([2**53, 2**53 + 6, 2**62]))
        near *= random.choice([-1, 1], count) if dtype.kind == "i" else 1
        near[0] = 0
        return near.astype(dtype)

    def bins_of(values, edges):
        edges = [int(edge) for edge in edges]
        places = [np.searchsorted(np.array(edges, object), int(value), "right") - 1 for value in values]
        last = len(edges) - 2
        return [last if value == edges[-1] else -1 if place > last else place for value, place in zip(values, places)]

    for _ in range(20):
        (x, y), weights = (numbers(samples_of, 30) for _ in range(2)), random.integers(1, 9, 30)
        edges = np.sort(numbers(edges_of, random.integers(2, 9)))
        cells = np.zeros((len(edges), len(edges)))
        np.add.at(cells, (bins_of(x, edges), bins_of(y, edges)), weights)
        line = np.zeros(len(edges))
        np.add.at(line, bins_of(x, edges), weights)
        np.testing.assert_array_equal(apron.histogram(x, edges, weights=weights)[0], line[:-1])
        np.testing.assert_array_equal(apron.histogram2d(x, y, [edges, edges], weights=weights)[0], cells[:-1, :-1])
        if np.dtype(samples_of).kind == np.dtype(edges_of).kind:
            np.testing.assert_array_equal(np.histogram(x, edges, weights=weights)[0], line[:-1])
        # NumPy rounds the edges beside floats.
        for dtype in ("f4", "f8"):
            np.testing.assert_array_equal(apron.histogram(x.astype(dtype), edges)[0], np.histogram(x.astype(dtype), edges)[0])
        for right in (False, True):
            np.testing.assert_array_equal(apron.digitize(x, edges, right), np.digitize(x, edges, right))
            np.testing.assert_array_equal(apron.digitize(x / 1, edges, right), np.digitize(x / 1, edges, right))


def test_sums_of_integers_that_f64_does_not_hold():
    x, weights = np.array([1, 1, 2, 2, 2]), np.array([2**53 + 1, 2, 3, 2**61, 2**61 + 1])
    small = np.array([100, 100, 1, 2, 3], np.int8)
    for given, bins in ((weights, 2), (weights, [0, 2, 3]), (weights.astype(np.uint64), [0, 2, 3]), (small, [0, 2, 3])):
        found, expected = (of.histogram(x, bins, weights=given)[0] for of in (apron, np))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_more_counts_than_memory_holds_are_refused():
    with pytest.raises(MemoryError, match="largest value"):
        apron.bincount(np.array([2**63 - 1]))
