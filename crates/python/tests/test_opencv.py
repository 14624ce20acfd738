"""Random calls of OpenCV's functions beside Apron's: 50 seeds of each of 50 kinds, 2,500 calls.

Bytes and other integers are equal, floats within the bound of both sums. Where weights are no fractions of 256, both round sums in
floats: there an integer may differ by one, if the exact sum lies next to a half.
"""

import cv2
import numpy as np
import pytest

import apron
from apron import cv, ndimage

SEEDS = range(50)
BORDERS = [cv2.BORDER_CONSTANT, cv2.BORDER_REPLICATE, cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101]
calls = 0


class Case:
    """A random image, and how results are compared."""

    def __init__(self, seed, dtype, least=1, channels=(1, 1, 3, 4)):
        self.random = np.random.default_rng(seed * 1000 + np.dtype(dtype).num)
        shape = tuple(self.random.integers(least, 70, 2)) + tuple([self.pick(channels)])
        shape = shape[:2] if shape[2] == 1 else shape
        if np.dtype(dtype).kind == "f":
            self.image = (self.random.standard_normal(shape) * 100).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            self.image = self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)
        self.border = self.pick(BORDERS)

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def same(self, call, weight=0.0, exact=True):
        """Compares the results of a call; ``weight`` is the largest sum of magnitudes of taps times samples, for floats."""
        global calls
        calls += 1
        found, expected = call(cv), call(cv2)
        if found.ndim == 2 and expected.ndim == 1:
            expected = expected.reshape(-1, 1)  # a histogram of OpenCV 5: in version 4 it is a column
        assert found.dtype == expected.dtype and found.shape == expected.shape, (found.shape, expected.shape)
        if expected.dtype.kind == "f":
            bound = 4e-5 * weight * np.finfo(expected.dtype).eps / np.finfo(np.float32).eps
            np.testing.assert_allclose(found, expected, rtol=0, atol=bound)
        elif exact:
            np.testing.assert_array_equal(found, expected)
        else:
            differences = np.abs(found.astype(int) - expected.astype(int))
            assert differences.max() <= 1 and (differences > 0).mean() < 2e-2, differences.max()


def kernel(case, most=7, whole=True):
    shape = case.random.integers(1, most + 1, 2)
    taps = case.random.integers(-4, 5, shape) if whole else case.random.standard_normal(shape)
    return taps.astype(np.float32)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", -1), ("u1", cv.CV_16S), ("u1", cv.CV_32F), ("f4", -1), ("f8", -1), ("u2", -1), ("i2", -1)])
def test_filter2D(dtype, depth, seed):
    case = Case(seed, dtype)
    taps = kernel(case)
    anchor = tuple(int(case.random.integers(-1, side)) for side in taps.shape[::-1])
    case.same(
        lambda of: of.filter2D(case.image, depth, taps, anchor=anchor, delta=3, borderType=case.border),
        np.abs(taps).sum() * np.abs(case.image.astype(float)).max(),
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_filter2D_by_fractions(dtype, seed):
    case = Case(seed, dtype)
    taps = kernel(case, 9, whole=False) / 9
    weight = np.abs(taps).sum() * np.abs(case.image.astype(float)).max()
    case.same(lambda of: of.filter2D(case.image, -1, taps, borderType=case.border), weight, exact=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", -1), ("u1", cv.CV_16S), ("u1", cv.CV_32F), ("f4", -1), ("f8", -1)])
def test_sepFilter2D(dtype, depth, seed):
    case = Case(seed, dtype)
    x, y = (case.random.integers(-4, 5, case.random.integers(1, 8)).astype(np.float32) for _ in "xy")
    weight = np.abs(x).sum() * np.abs(y).sum() * np.abs(case.image.astype(float)).max()
    case.same(lambda of: of.sepFilter2D(case.image, depth, x, y, delta=2, borderType=case.border), weight)


@pytest.mark.parametrize("seed", SEEDS)
def test_sepFilter2D_of_a_blur_of_bytes(seed):
    case = Case(seed, "u1")
    taps = [cv.getGaussianKernel(2 * int(case.random.integers(1, 8)) + 1, 0.5 + 3 * case.random.random()) for _ in "xy"]
    case.same(lambda of: of.sepFilter2D(case.image, -1, *taps, borderType=case.border), exact=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "i2"])
def test_GaussianBlur(dtype, seed):
    case = Case(seed, dtype)
    by_size = case.random.random() < 0.5
    size = tuple(int(2 * side + 1) for side in case.random.integers(0, 8, 2)) if by_size else (0, 0)
    sigma = case.pick([0, 0.7, 1.5]) if by_size else 0.3 + 3 * case.random.random()
    second = case.pick([0, 1.1])
    weight = np.abs(case.image.astype(float)).max()
    call = lambda of: of.GaussianBlur(case.image, size, sigma, sigmaY=second, borderType=case.border)
    case.same(call, weight, exact=dtype != "i2")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4", "f8"])
def test_blur(dtype, seed):
    case = Case(seed, dtype)
    size = tuple(int(side) for side in case.random.integers(1, 22, 2))
    anchor = tuple(int(case.random.integers(-1, side)) for side in size)
    weight = np.abs(case.image.astype(float)).max()
    # OpenCV multiplies other sums than those of up to 256 bytes in f32, which shows next to a half.
    exact = dtype == "u1" and size[0] * size[1] <= 256
    case.same(lambda of: of.blur(case.image, size, anchor=anchor, borderType=case.border), weight, exact=exact)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", cv.CV_16S), ("u1", cv.CV_32F), ("u1", cv.CV_32S), ("f4", -1)])
def test_boxFilter(dtype, depth, seed):
    case = Case(seed, dtype)
    size = tuple(int(side) for side in case.random.integers(1, 10, 2))
    weight = size[0] * size[1] * np.abs(case.image.astype(float)).max()
    case.same(lambda of: of.boxFilter(case.image, depth, size, normalize=False, borderType=case.border), weight)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("normalize", [False, True])
def test_sqrBoxFilter(dtype, normalize, seed):
    case = Case(seed, dtype)
    size = tuple(int(side) for side in case.random.integers(1, 8, 2))
    weight = (1 if normalize else size[0] * size[1]) * np.abs(case.image.astype(float)).max() ** 2
    call = lambda of: of.sqrBoxFilter(case.image, cv.CV_32F, size, normalize=normalize, borderType=case.border)
    case.same(call, weight)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", -1), ("u1", cv.CV_16S), ("u1", cv.CV_32F), ("f4", -1), ("f8", -1)])
def test_Sobel(dtype, depth, seed):
    case = Case(seed, dtype)
    orders, side = case.pick([(1, 0), (0, 1), (1, 1), (2, 0), (0, 2)]), case.pick([1, 3, 5, 7])
    orders = case.pick([(1, 0), (0, 1)]) if side == 1 else orders
    delta = case.pick([0, 5])
    weight = 4.0**side * 4 * np.abs(case.image.astype(float)).max()
    call = lambda of: of.Sobel(case.image, depth, *orders, ksize=side, delta=delta, borderType=case.border)
    case.same(call, weight)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", cv.CV_16S), ("f4", -1)])
def test_Scharr(dtype, depth, seed):
    case = Case(seed, dtype)
    orders, scale = case.pick([(1, 0), (0, 1)]), case.pick([1, 0.5, 2])
    weight = 32 * np.abs(case.image.astype(float)).max()
    case.same(lambda of: of.Scharr(case.image, depth, *orders, scale=scale, borderType=case.border), weight)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, depth", [("u1", -1), ("u1", cv.CV_16S), ("f4", -1), ("f8", -1)])
def test_Laplacian(dtype, depth, seed):
    case = Case(seed, dtype)
    side, scale = case.pick([1, 3, 5]), case.pick([1, 0.5])
    weight = 4.0**side * 8 * np.abs(case.image.astype(float)).max()
    case.same(lambda of: of.Laplacian(case.image, depth, ksize=side, scale=scale, borderType=case.border), weight)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_copyMakeBorder(dtype, seed):
    case = Case(seed, dtype, least=12)
    around = [int(side) for side in case.random.integers(0, 12, 4)]
    border, value = case.pick([*BORDERS, cv2.BORDER_WRAP]), [7.0, 8.0, 9.0, 10.0]
    case.same(lambda of: of.copyMakeBorder(case.image, *around, border, value=value), 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_calcHist(dtype, seed):
    case = Case(seed, dtype)
    channels = case.image.shape[2] if case.image.ndim == 3 else 1
    picked = [int(one) for one in case.random.permutation(channels)[: case.random.integers(1, min(channels, 3) + 1)]]
    sizes = [int(one) for one in case.random.integers(1, 40, len(picked))]
    ranges = [end for _ in picked for end in case.pick([(0, 256), (-50, 100), (3, 77), (0.1, 1.1), (100.7, 65636.7)])]
    mask = case.pick([None, case.random.integers(0, 2, case.image.shape[:2]).astype(np.uint8)])
    case.same(lambda of: of.calcHist([case.image], picked, mask, sizes, ranges), 1e-9)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "f2", "f8", ">f4", ">u2"])
def test_calcHist_of_types_that_OpenCV_has_not(dtype):
    image = (np.random.default_rng(4).random((40, 50)) * 120).astype(dtype)
    counts = cv.calcHist([image], [0], None, [8], [16, 80])
    # Eight bins of width 8, whose ends belong to the next.
    expected = [np.count_nonzero((image >= low) & (image < low + 8)) for low in range(16, 80, 8)]
    assert counts.ravel().tolist() == expected
    both = cv.calcHist([image, image], [0, 1], None, [8, 2], [16, 80, -1e30, 1e30])
    assert both[:, 1].tolist() == expected and not both[:, 0].any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0], None, [4], [5, 5]), "from 5.0 to 5.0"),
        (([0], None, [0], [5, 6]), "0 bins are from 5.0 to 6.0"),
        (([0], None, [4], [5, np.inf]), "from 5.0 to inf"),
        (([3], None, [4], [5, 6]), "channels are \\[3\\], but must be 0 to 0"),
        (([0], None, [4, 4], [5, 6]), "1 channels have 2 numbers of bins"),
    ],
)
def test_calcHist_names_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        cv.calcHist([np.zeros((3, 3), np.uint8)], *arguments)
    with pytest.raises(ValueError, match="uint8\\(3, 3\\), float32\\(3, 3\\), but must be of one type"):
        cv.calcHist([np.zeros((3, 3), np.uint8), np.zeros((3, 3), np.float32)], [0], None, [4], [0, 9])


@pytest.mark.parametrize("seed", SEEDS)
def test_equalizeHist_and_CLAHE(seed):
    case = Case(seed, "u1", channels=(1,))
    case.same(lambda of: of.equalizeHist(case.image))
    image = Case(seed, case.pick(["u1", "u2"]), least=20, channels=(1,)).image
    clip, tiles = case.pick([0, 2.0, 40.0]), tuple(int(one) for one in case.random.integers(1, 9, 2))
    case.same(lambda of: of.createCLAHE(clip, tiles).apply(image))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
def test_threshold(dtype, seed):
    case = Case(seed, dtype)
    kind, limit, top = case.pick(range(5)), float(case.random.integers(-5, 260)) + case.pick([0, 0.5]), case.pick([255, 100.4])
    case.same(lambda of: of.threshold(case.image, limit, top, kind)[1], 1e-9)
    assert cv.threshold(case.image, limit, top, kind)[0] == cv2.threshold(case.image, limit, top, kind)[0]
    if dtype == "u1" and case.image.ndim == 2:
        found, expected = (of.threshold(case.image, 0, 255, kind | cv.THRESH_OTSU) for of in (cv, cv2))
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("picked", [[0], [2, 0], [1, 0, 2]])
def test_calcHist_adds_to_a_histogram(picked):
    random = np.random.default_rng(7)
    image = random.integers(0, 256, (20, 30, 3), np.uint8)
    sides, ends = [4, 5, 6][: len(picked)], [0, 256] * len(picked)
    counts = cv.calcHist([image], picked, None, sides, ends)
    before = (random.random(sides) * 20 - 10).astype(np.float32)
    hist, expected = before.copy(), counts.reshape(sides) + before.round()
    assert cv.calcHist([image], picked, None, sides, ends, hist, True) is hist
    np.testing.assert_array_equal(hist, expected)
    if len(picked) < 3:  # of three channels OpenCV's Python begins with 0
        np.testing.assert_array_equal(cv2.calcHist([image], picked, None, sides, ends, before, True), expected)
    # What does not fit is left, as in OpenCV, and not added to.
    for wrong in (np.ones([3] * len(picked), np.float32), np.ones(sides)):
        np.testing.assert_array_equal(cv.calcHist([image], picked, None, sides, ends, wrong), counts)
        with pytest.raises(ValueError, match="for counts to be added"):
            cv.calcHist([image], picked, None, sides, ends, wrong, True)
        assert (wrong == 1).all()


def test_kernels():
    for side in range(1, 32):
        for sigma in (0, 0.5, 1, 3.3, 1e-3):
            for of in (cv.CV_32F, cv.CV_64F):
                np.testing.assert_allclose(
                    cv.getGaussianKernel(side, sigma, of), cv2.getGaussianKernel(side, sigma, of), rtol=1e-6, atol=1e-12
                )
        for orders in ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2)):
            if max(orders) < max(side, 3) and side % 2:
                for normalize in (False, True):
                    found, expected = (of.getDerivKernels(*orders, side, None, None, normalize) if of is cv2 else
                                       of.getDerivKernels(*orders, side, normalize) for of in (cv, cv2))
                    for one, other in zip(found, expected):
                        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    "call, part",
    [
        (lambda: cv.blur(np.zeros((3, 3), np.uint8), (0, 1)), "ksize is (0, 1)"),
        (lambda: cv.blur(np.zeros((3, 3), np.uint8), 3), "ksize is 3, but must be two"),
        (lambda: cv.GaussianBlur(np.zeros((3, 3), np.uint8), (3, 3, 3), 1), "ksize is (3, 3, 3), but must be two"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), -1, np.ones((3, 3, 3))), "kernel is (3, 3, 3)"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), -1, np.ones((0, 3))), "kernel is (0, 3)"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), -1, 2.0), "kernel is ()"),
        (lambda: cv.sepFilter2D(np.zeros((3, 3), np.uint8), -1, np.ones((3, 3)), np.ones(3)), "kernel is (3, 3)"),
        (lambda: cv.calcHist([np.zeros((3, 4))], [0], np.ones((4, 3)), [1], [0, 9]), "mask is (4, 3), but must be"),
        (lambda: cv.blur(np.zeros(3, np.uint8), (1, 1)), "shape is (3,)"),
        (lambda: cv.blur(np.zeros((3, 3, 5), np.uint8), (1, 1)), "1 to 4 channels"),
        (lambda: cv.GaussianBlur(np.zeros((3, 3), np.uint8), (4, 3), 1), "ksize is (4, 3)"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), 9, np.ones((3, 3))), "ddepth is 9"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), -1, np.ones((3, 3)), anchor=(3, 0)), "anchor is (3, 0)"),
        (lambda: cv.Sobel(np.zeros((3, 3), np.uint8), -1, 0, 0), "dx and dy are 0 and 0"),
        (lambda: cv.Sobel(np.zeros((3, 3), np.uint8), -1, 1, 0, borderType=7), "borderType is 7"),
        (lambda: cv.threshold(np.zeros((3, 3), np.uint8), 0, 1, 5), "type is 5"),
        (lambda: cv.threshold(np.zeros((3, 3), np.uint8), np.nan, 1, 0), "thresh and maxval are nan and 1"),
        (lambda: cv.threshold(np.zeros((3, 3), np.int16), 1, np.nan, 0), "thresh and maxval are 1.0 and nan"),
        (lambda: cv.threshold(np.zeros((3, 3), np.uint8), np.inf, 1, 0), "thresh is inf, but must be finite for uint8"),
        (lambda: cv.threshold(np.zeros((3, 3), np.int32), -np.inf, 1, 0), "thresh is -inf, but must be finite for int32"),
        (lambda: cv.GaussianBlur(np.zeros((3, 3)), (0, 0), np.inf), "sigma is inf, but must be below 8191.875 where ksize is (0, 0)"),
        (lambda: cv.GaussianBlur(np.zeros((3, 3), np.uint8), (3, 0), 1e30), "sigma is 1e+30, but must be below 10922.5"),
        (lambda: cv.GaussianBlur(np.zeros((3, 3)), (0, 0), np.nan), "sigma is nan, but must be below"),
        (lambda: cv.createCLAHE(2, (-1, 2)).apply(np.zeros((9, 9), np.uint8)), "tileGridSize is (-1, 2), but must be 1 to 4096"),
        (lambda: cv.createCLAHE(2, (1, 1 << 40)).apply(np.zeros((9, 9), np.uint8)), "tileGridSize is (1, 1099511627776)"),
        (lambda: cv.createCLAHE(2, 3), "tileGridSize is 3, but must be two whole numbers"),
        (lambda: cv.getDerivKernels(1, 0, 3, ktype=cv.CV_8U), "ktype is 0, but must be 5 or 6"),
        (lambda: cv.getDerivKernels(1, 0, 3, ktype=9), "ktype is 9, but must be 5 or 6"),
        (lambda: cv.copyMakeBorder(np.zeros((3, 3)), 0, -1, 0, 0, 0), "right are (0, -1, 0, 0), but must be 0 to 1073741824"),
        (lambda: cv.copyMakeBorder(np.zeros((3, 3)), 1 << 40, 0, 0, 0, 0), "right are (1099511627776, 0, 0, 0), but must"),
        (lambda: cv.copyMakeBorder(np.zeros((3, 3), int), 1, 0, 0, 0, 0, value=np.nan), "NaN"),
        (lambda: cv.filter2D(np.zeros((3, 3), np.uint8), -1, np.ones((3, 3)), delta=np.inf), "delta is inf, but must be finite for"),
    ],
)
def test_errors(call, part):
    with pytest.raises(ValueError) as found:
        call()
    assert part in str(found.value)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_samples_under_taps_of_0_may_be_no_numbers(dtype, seed):
    random = np.random.default_rng(seed)
    image = random.random(random.integers(1, 9, 2)).astype(dtype)
    for value in random.permutation([np.nan, np.inf, -np.inf])[: random.integers(1, 4)]:
        image[tuple(random.integers(0, image.shape))] = value
    mask = random.integers(-1, 2, (3, 3)).astype(dtype)
    for call in (
        lambda of: of.filter2D(image, -1, mask, delta=2.5),
        lambda of: of.Laplacian(image, -1, borderType=cv.BORDER_CONSTANT),
    ):
        np.testing.assert_allclose(call(cv), call(cv2), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype, depth", [("f4", -1), ("f4", cv.CV_64F), ("f8", -1)])
def test_derivatives_beside_samples_that_are_no_numbers(dtype, depth, seed):
    random = np.random.default_rng(seed)
    # OpenCV weights the last of an odd number of columns by 0, too.
    height, width, channels = int(random.integers(6, 24)), 2 * int(random.integers(3, 12)), int(random.choice([1, 3]))
    image = random.standard_normal((height, width, channels)).astype(dtype).squeeze()
    for value in random.permutation([np.nan, np.inf, -np.inf])[: random.integers(1, 4)]:
        image[random.integers(height), random.integers(width)] = value
    border = int(random.choice([cv.BORDER_DEFAULT, cv.BORDER_REPLICATE, cv.BORDER_CONSTANT]))
    x, y = (random.integers(-1, 2, random.integers(1, 8)).astype(float) for _ in range(2))
    for call in (
        *(
            lambda of, dx=dx, dy=dy, ksize=ksize: of.Sobel(image, depth, dx, dy, ksize=ksize, scale=0.5, delta=3, borderType=border)
            for ksize in (1, 3, 5, 7)
            for dx, dy in ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1))
        ),
        lambda of: of.Scharr(image, depth, 1, 0, borderType=border),
        lambda of: of.Scharr(image, depth, 0, 1, borderType=border),
        lambda of: of.sepFilter2D(image, depth, x, y, borderType=border),
    ):
        np.testing.assert_allclose(call(cv), call(cv2), rtol=1e-3, atol=1e-3)


def test_integers_that_f64_does_not_hold_are_no_taps():
    taps = np.array([[1, 2**53 + 1]])
    for call in (
        lambda: cv.filter2D(np.zeros((3, 3)), -1, taps),
        lambda: cv.sepFilter2D(np.zeros((3, 3)), -1, taps[0], np.ones(1)),
        lambda: ndimage.correlate(np.zeros((3, 3)), taps),
        lambda: ndimage.convolve1d(np.zeros(3), taps[0].astype(np.uint64)),
        lambda: apron.Device("cpu").upload(np.zeros((3, 3))).correlate(taps),
        lambda: apron.Device("cpu").upload(np.zeros((3, 3))).separable(-taps[0], [1]),
    ):
        with pytest.raises(ValueError, match="is -?9007199254740993, but must be an integer that f64 holds, as -?9007199254740992"):
            call()
    np.testing.assert_array_equal(ndimage.correlate1d([1.0], np.array([-(2**63)])), [-(2.0**63)])


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "f4", "f2", "f8"])
@pytest.mark.parametrize("value", [-4.6, 300, 2.5, (6e4, -6e4, 0.1)])
def test_copyMakeBorder_rounds_its_value(dtype, value):
    image = np.zeros((2, 3, 3), dtype)
    found, expected = (of.copyMakeBorder(image, 1, 0, 2, 1, cv.BORDER_CONSTANT, value=value) for of in (cv, cv2))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("border", [0, 1, cv.BORDER_ISOLATED, cv.BORDER_ISOLATED | cv.BORDER_REPLICATE])
@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1)])
def test_images_of_one_row_or_column(shape, border):
    image = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    for size in [(1, 2), (2, 1), (3, 4), (4, 6)]:
        found, expected = (of.blur(image, size, borderType=border) for of in (cv, cv2))
        np.testing.assert_array_equal(found, expected)
    # A size along an axis of one pixel does not matter.
    for size in [(5, 4), (4, 5)]:
        even = [side for side, length in zip(size, shape[::-1]) if side % 2 == 0 and length > 1]
        if not even and border & cv.BORDER_REPLICATE:
            found, expected = (of.GaussianBlur(image, size, 1.2, borderType=border) for of in (cv, cv2))
            np.testing.assert_array_equal(found, expected)
    column = image[:, :, np.newaxis]
    np.testing.assert_array_equal(cv.equalizeHist(column), cv2.equalizeHist(column))


def test_kernels_of_f64_stay():
    image = np.random.default_rng(3).random((9, 8))
    kernel = np.random.default_rng(4).random((3, 5)) / 3
    for name, arguments in [
        ("filter2D", dict(ddepth=-1, kernel=kernel)),
        ("sepFilter2D", dict(ddepth=-1, kernelX=kernel[0], kernelY=kernel[:, 0])),
        ("Laplacian", dict(ddepth=-1, scale=0.1)),
        ("Laplacian", dict(ddepth=-1, ksize=5, scale=0.1)),
    ]:
        found, expected = (getattr(of, name)(image, **arguments) for of in (cv, cv2))
        assert found.dtype == expected.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_so_many_calls_were_compared():
    assert calls >= 2000, calls
