"""Problems of named filters: sums by NumPy, conventions by SciPy and, where it is there, OpenCV."""

import json
import subprocess

import numpy as np
from scipy import ndimage

import masks
from common import (
    BORDERS, EPS, NEAR, SCIPY_MODES, Job, Outside, compare, extend, random_border, random_image, random_out_type, random_shape,
    slide, text,
)
from masks import cv2

try:
    from skimage import filters as skimage
except ImportError:
    skimage = None

ALL_TYPES = ["u8", "u16", "i16", "f32"]


class Problem:
    """The random parts that all have: an image of u8 or f32, a border, and the output's type."""

    def __init__(self, rng, size, out_types=None, dtype=None, shape=None):
        self.dtype = dtype or str(rng.choice(["u8", "f32"]))
        self.border, self.value, option = random_border(rng, BORDERS)
        shape = shape or random_shape(rng, size if self.border == "crop" else (1, 1))
        self.image = random_image(rng, self.dtype, shape)
        self.options = {"border": option}
        self.out_type = random_out_type(rng, self.options, self.dtype, out_types or ALL_TYPES)

    def sums(self, mask, anchor=None):
        """Sums under the mask and sums of their magnitudes."""
        anchor = anchor or (mask.shape[0] // 2, mask.shape[1] // 2)
        return slide(extend(self.image, mask.shape, anchor, self.border, self.value), mask)

    def compare(self, what, out, reference, bound, slack=0.0):
        return compare(what, out, self.out_type, reference, bound, np.zeros(reference.shape) + slack)

    def by_planes(self, function):
        """What a function of two dimensions gives for each channel."""
        planes = self.image.reshape(self.image.shape[0], self.image.shape[1], -1).astype(np.float64)
        return np.stack([function(planes[..., c]) for c in range(planes.shape[2])], axis=-1).reshape(self.image.shape)

    def has_scipy(self, size):
        """SciPy extends by a constant before each axis; its 2-D extension is wrong for images below the mask."""
        fits = size[0] <= self.image.shape[0] and size[1] <= self.image.shape[1]
        return fits and self.border != "crop" and (self.border != "constant" or self.value == 0)

    def cv_border(self):
        """OpenCV's name of the border, if its filters have it."""
        known = {"replicate": "REPLICATE", "reflect": "REFLECT", "reflect101": "REFLECT_101"}
        name = "CONSTANT" if self.border == "constant" and self.value == 0 else known.get(self.border)
        return getattr(cv2, f"BORDER_{name}") if cv2 and name else None

    def job(self, verb, about, options, judge, operations):
        about = f"{self.dtype}->{self.out_type} {self.image.shape} {about}"
        return Job(verb, about, {**self.options, **options}, self.image, judge, kind="named", operations=operations)


# One mask.


def difference(order, length):
    """OpenCV's getDerivKernels, as a product of polynomials."""
    taps = np.ones(1)
    for n in range(length - 1):
        taps = np.convolve(taps, [-1, 1] if n < order else [1, 1])
    return taps


def scaled(rng, options):
    """Sometimes a scale and an offset."""
    if rng.random() < 0.6:
        return 1.0, 0.0
    scale, delta = round(rng.uniform(-2, 2), 3), round(rng.uniform(-50, 150), 2)
    options.update(scale=scale, delta=delta)
    return scale, delta


def linear(problem, out, mask, peers, change=(1.0, 0.0), anchor=None):
    """By NumPy's sums, exact for u8, and by other libraries'."""
    scale, delta = change
    total, magnitude = problem.sums(mask, anchor)
    reference = scale * total + delta
    bound = (mask.size + 3) * EPS * abs(scale) * magnitude + 2 * EPS * (abs(reference) + abs(delta))
    # Sums stay in f64 until they are integers; only those of f64 itself may be on the other side of a half.
    whole = problem.dtype == "u8" and problem.value == int(problem.value)
    unscaled = change == (1.0, 0.0)
    slack = 0.0 if whole and unscaled else 1e-9 * (magnitude + 1)
    wrong = problem.compare("numpy", out, reference, bound, slack)
    # Others scale sums of f32.
    slack += 0.0 if whole or unscaled else bound
    for what, peer in peers:
        wrong += problem.compare(what, out, peer.reshape(reference.shape), bound, slack)
    return wrong


def derivative(rng, verb):
    dx, dy = (1, 0) if rng.random() < 0.5 else (0, 1)
    options, change, ksize, anchor = {}, (1.0, 0.0), 3, None
    if verb == "sobel":
        ksize = int(rng.choice([1, 3, 5, 7]))
        dx, dy = (int(order) for order in rng.integers(0, max(ksize, 3), 2))
        dx = 1 if dx + dy == 0 else dx
        if ksize != 3 or rng.random() < 0.5:
            options["ksize"] = ksize
        column, row = (difference(order, 3 if ksize == 1 and order else ksize) for order in (dy, dx))
        mask = np.outer(column, row)
    elif verb == "roberts":
        # scikit-image's roberts_pos_diag and roberts_neg_diag, which it convolves with.
        turned = np.array([[1, 0], [0, -1]] if dx else [[0, 1], [-1, 0]], float)
        mask, anchor = turned[::-1, ::-1], (0, 0)
    else:
        smooth = [3, 10, 3] if verb == "scharr" else [1, 1, 1]
        mask = np.outer(smooth, [-1, 0, 1]) if dx else np.outer([-1, 0, 1], smooth)
    options |= {"dx": dx, "dy": dy}
    if verb in ("sobel", "scharr"):
        change = scaled(rng, options)
    problem = Problem(rng, mask.shape)

    def judge(out):
        peers, border = [], problem.cv_border()
        wide = dict(scale=change[0], delta=change[1], borderType=border)
        if verb == "sobel" and border is not None:
            peers.append(("opencv", cv2.Sobel(problem.image.astype(np.float64), cv2.CV_64F, dx, dy, ksize=ksize, **wide)))
        if verb == "scharr" and border is not None:
            peers.append(("opencv", cv2.Scharr(problem.image.astype(np.float64), cv2.CV_64F, dx, dy, **wide)))
        if problem.has_scipy(mask.shape):
            mode = SCIPY_MODES[problem.border]
            if verb == "prewitt" or (verb == "sobel" and (ksize, dx + dy) == (3, 1) and change == (1.0, 0.0)):
                along = getattr(ndimage, verb)
                peers.append(("scipy", problem.by_planes(lambda plane: along(plane, 1 if dx else 0, mode=mode))))
            if verb == "roberts":
                peers.append(("scipy", problem.by_planes(lambda plane: ndimage.convolve(plane, turned, mode=mode))))
        return linear(problem, out, mask, peers, change, anchor)

    operations = ["correlate"] if verb == "roberts" else ["separable"]
    return problem.job(verb, f"{dx},{dy} ksize {ksize}", options, judge, operations)


def farid(rng, verb):
    smooth = [0.0376593171958126, 0.249153396177344, 0.426374573253687, 0.249153396177344, 0.0376593171958126]
    row = [-0.109603762960254, -0.276690988455557, 0, 0.276690988455557, 0.109603762960254]
    dx = int(rng.integers(0, 2))
    mask = np.outer(smooth, row) if dx else np.outer(row, smooth)
    problem = Problem(rng, mask.shape)

    def judge(out):
        # Its taps are no f32.
        reference, magnitude = problem.sums(mask)
        bound, slack = (mask.size + 5) * EPS * magnitude, NEAR + 1e-6 * magnitude
        wrong = problem.compare("numpy", out, reference, bound, slack)
        if skimage and problem.has_scipy(mask.shape):
            along = dict(axis=1 if dx else 0, mode=SCIPY_MODES[problem.border])
            peer = problem.by_planes(lambda plane: skimage.farid(plane, **along))
            wrong += problem.compare("skimage", out, peer, bound, slack)
        return wrong

    return problem.job(verb, f"dx {dx}", {"dx": dx, "dy": 1 - dx}, judge, ["separable"])


def laplacian(rng, verb):
    options, ksize = {}, int(rng.choice([1, 1, 3, 5, 7]))
    mask = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], float)
    eight = ksize == 1 and rng.random() < 0.3
    if eight:
        options["neighbours"], mask = 8, np.ones((3, 3)) - 9 * np.eye(3)[1][:, None] * np.eye(3)[1]
    elif ksize > 1:
        second, smooth = difference(2, ksize), difference(0, ksize)
        options["ksize"], mask = ksize, np.outer(smooth, second) + np.outer(second, smooth)
    change = scaled(rng, options)
    problem = Problem(rng, mask.shape)

    def judge(out):
        peers, border = [], problem.cv_border()
        if border is not None and not eight:
            wide = dict(ksize=ksize, scale=change[0], delta=change[1], borderType=border)
            peers.append(("opencv", cv2.Laplacian(problem.image.astype(np.float64), cv2.CV_64F, **wide)))
        if problem.has_scipy(mask.shape) and ksize == 1 and not eight and change == (1.0, 0.0):
            mode = SCIPY_MODES[problem.border]
            peers.append(("scipy", problem.by_planes(lambda plane: ndimage.laplace(plane, mode=mode))))
        return linear(problem, out, mask, peers, change)

    return problem.job(verb, f"ksize {ksize}", options, judge, ["correlate"])


def effect(rng, verb):
    options = {}
    if verb == "sharpen":
        amount = float(rng.integers(-8, 9)) / 4
        options["amount"] = amount
        mask = np.array([[0, -amount, 0], [-amount, 1 + 4 * amount, -amount], [0, -amount, 0]])
    elif verb == "emboss":
        mask = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], float)
    else:
        length, angle = int(rng.integers(1, 20)), float(rng.choice([0, 90, 45, round(rng.uniform(-400, 400), 1)]))
        options |= {"length": length, "angle": angle}
        mask = line(length, angle)
    problem = Problem(rng, mask.shape)

    def judge(out):
        if verb != "motion-blur":
            return linear(problem, out, mask, [])
        # Its taps are no f32.
        reference, magnitude = problem.sums(mask)
        return problem.compare("numpy", out, reference, (mask.size + 5) * EPS * magnitude, NEAR + 1e-6 * magnitude)

    return problem.job(verb, f"mask {mask.shape}", options, judge, ["correlate"])


def line(length, angle):
    """Points of a line, a pixel apart, spread over the four pixels around each."""
    t = np.arange(length) - (length - 1) / 2
    turn = np.deg2rad(angle % 360)
    x, y = np.round(t * np.cos(turn), 9), np.round(-t * np.sin(turn), 9)
    across, down = int(np.ceil(abs(x).max())), int(np.ceil(abs(y).max()))
    # A tent around each pixel.
    columns, rows = np.arange(-across, across + 1), np.arange(-down, down + 1)
    tents_x = np.maximum(0, 1 - abs(columns[:, None] - x))
    tents_y = np.maximum(0, 1 - abs(rows[:, None] - y))
    return tents_y @ tents_x.T / length


# Gaussians.


def bell(sigma, order, truncate):
    """SciPy's taps as correlation has them: what it makes of an impulse, turned."""
    radius = int(truncate * sigma + 0.5)
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 1
    return ndimage.gaussian_filter1d(impulse, sigma, order=order, radius=radius, mode="constant")[::-1]


def blurred(problem, sigma, order, truncate):
    """The filter by sums, how far one of f32 may be off, and by SciPy where it has the border."""
    taps_y, taps_x = (bell(s, o, truncate) for s, o in zip(sigma, order))
    total, magnitude = problem.sums(np.outer(taps_y, taps_x))
    bound = (taps_x.size + taps_y.size + 5) * EPS * magnitude
    peer = None
    if problem.has_scipy((taps_y.size, taps_x.size)):
        along = dict(sigma=sigma, order=order, truncate=truncate, mode=SCIPY_MODES[problem.border])
        peer = problem.by_planes(lambda plane: ndimage.gaussian_filter(plane, **along))
    return total, bound, peer


def judged(problem, out, reference, bound, peer):
    # Integers are made of f32, which may be on the other side of a half.
    slack = NEAR + bound
    wrong = problem.compare("numpy", out, reference, bound, slack)
    return wrong + (problem.compare("scipy", out, peer, bound, slack) if peer is not None else [])


def two_sigmas(rng):
    sigma = tuple(round(rng.uniform(0.4, 2.5), 3) for _ in range(2))
    return sigma if rng.random() < 0.5 else (sigma[0],) * 2


def wave(rng, verb):
    sigma, order, truncate = two_sigmas(rng), tuple(int(n) for n in rng.integers(0, 3, 2)), 4.0
    options = {"sigma": f"{sigma[1]},{sigma[0]}"}
    if rng.random() < 0.5:
        truncate = round(rng.uniform(1.5, 5), 2)
        options["truncate"] = text(truncate)
    if verb == "gaussian-derivative":
        # By either name.
        verb = str(rng.choice([verb, "gaussian"]))
        parts = [(1, sigma, order)]
        options["order"] = f"{order[1]},{order[0]}"
    elif verb == "laplacian-of-gaussian":
        parts = [(1, sigma, (0, 2)), (1, sigma, (2, 0))]
    elif verb == "gaussian-gradient":
        parts = [(1, sigma, (0, 1)), (1, sigma, (1, 0))]
    else:
        low, high = sorted(sigma)
        parts = [(1, (low, low), (0, 0)), (-1, (high, high), (0, 0))]
        options |= {"sigma-low": low, "sigma-high": high}
        del options["sigma"]
    radius = max(int(truncate * s + 0.5) for s in sigma)
    problem = Problem(rng, (2 * radius + 1, 2 * radius + 1))
    if problem.border == "crop" and verb == "dog":
        # Masks of two sizes leave two.
        problem.border, problem.options["border"] = "reflect", "reflect"

    def judge(out):
        done = [blurred(problem, *part[1:], truncate) for part in parts]
        reference = sum(part[0] * total for part, (total, _, _) in zip(parts, done))
        if verb == "gaussian-gradient":
            reference = np.hypot(done[0][0], done[1][0])
        bound = sum(bound for _, bound, _ in done) + EPS * abs(reference)
        peers = [peer for _, _, peer in done]
        peer = None
        if all(peer is not None for peer in peers) and verb == "gaussian-gradient":
            along = dict(sigma=sigma, truncate=truncate, mode=SCIPY_MODES[problem.border])
            peer = problem.by_planes(lambda plane: ndimage.gaussian_gradient_magnitude(plane, **along))
        elif all(peer is not None for peer in peers):
            peer = sum(part[0] * peer for part, peer in zip(parts, peers))
            if verb == "laplacian-of-gaussian":
                along = dict(sigma=sigma, truncate=truncate, mode=SCIPY_MODES[problem.border])
                peer = problem.by_planes(lambda plane: ndimage.gaussian_laplace(plane, **along))
        return judged(problem, out, reference, bound, peer)

    return problem.job(verb, f"sigma {sigma} order {order}", options, judge, ["separable"])


def unsharp(rng, verb):
    sigma, amount = round(rng.uniform(0.3, 2.5), 3), round(rng.uniform(-1, 3), 2)
    options = {"sigma": text(sigma), "amount": amount}
    problem = Problem(rng, (1, 1))
    if problem.border == "crop":
        problem.border, problem.options["border"] = "reflect101", "reflect101"
    threshold = 0.0
    if problem.dtype == "u8" and rng.random() < 0.5:
        threshold = round(rng.uniform(0, 40), 2)
        options["threshold"] = threshold

    def judge(out):
        blur, bound, _ = blurred(problem, (sigma, sigma), (0, 0), 4.0)
        image = problem.image.astype(np.float64)
        reference = image + amount * (image - blur)
        reference = np.where(abs(image - blur) < threshold, image, reference)
        bound = abs(amount) * bound + 2 * EPS * (abs(reference) + abs(image) + abs(amount * image))
        # Differences that may be on either side of the threshold.
        unclear = (abs(abs(image - blur) - threshold) < NEAR) & (threshold > 0)
        return judged(problem, np.where(unclear, 0, out).astype(out.dtype), np.where(unclear, 0, reference), bound, None)

    return problem.job(verb, f"sigma {sigma} amount {amount}", options, judge, ["separable"])


# Gradients and windows.


def gradient(rng, verb):
    operator, ksize = str(rng.choice(["sobel", "scharr"])), 3
    options = {"operator": operator}
    if operator == "sobel" and rng.random() < 0.5:
        ksize = options["ksize"] = int(rng.choice([3, 5, 7]))
    smooth = np.array([3, 10, 3]) if operator == "scharr" else difference(0, ksize)
    row = difference(1, ksize)
    direction = bool(rng.random() < 0.4)
    options["direction"] = direction
    problem = Problem(rng, (ksize, ksize), ["f32"] if direction else None, "u8" if direction else None)

    def judge(out):
        (gx, mag_x), (gy, mag_y) = problem.sums(np.outer(smooth, row)), problem.sums(np.outer(row, smooth))
        whole = problem.dtype == "u8" and problem.value == int(problem.value)
        bound = 0.0 if whole else (2 * ksize + 5) * EPS * (mag_x + mag_y)
        if direction:
            # An angle is off by as much of a turn as the vector is of its length; half a turn either way is the same.
            off = 4 * EPS + 2 * bound / np.maximum(np.hypot(gx, gy), 1e-30)
            error = out.astype(np.float64) - np.arctan2(gy, gx)
            error = (error + np.pi) % (2 * np.pi) - np.pi if not whole else error
            return problem.compare("numpy", out, out - error, np.where(off > 1, np.inf, off))
        reference = np.hypot(gx, gy)
        bound = bound + 2 * EPS * reference
        slack = 1e-9 if whole else NEAR + bound
        wrong = problem.compare("numpy", out, reference, bound, slack)
        if problem.has_scipy((3, 3)) and (operator, ksize) == ("sobel", 3):
            by = dict(derivative=ndimage.sobel, mode=SCIPY_MODES[problem.border])
            peer = problem.by_planes(lambda plane: ndimage.generic_gradient_magnitude(plane, **by))
            wrong += problem.compare("scipy", out, peer, bound, slack)
        return wrong

    return problem.job(verb, f"{operator} {ksize} direction {direction}", options, judge, ["separable", "paired"])


def local_mean(rng, verb):
    size = tuple(int(side) for side in rng.choice([1, 2, 3, 5, 15, 31], 2))
    border, value, option = random_border(rng, [*SCIPY_MODES])
    if border == "constant" and value not in range(256):
        value, option = 7.0, "constant:7"
    options, image = {"border": option}, random_image(rng, "u8", random_shape(rng))
    out_type = random_out_type(rng, options, "u8", ALL_TYPES)
    job = masks.exact_mean(options, image, size, Outside((border, border), (value, value)), out_type, rng)
    job.verb, job.kind = verb, "named"
    return job


def local_std(rng, verb):
    size = tuple(int(side) for side in rng.integers(1, 12, 2))
    given = {}
    if rng.random() < 0.4:
        # Gray integers to the same, in rows wider than the window by 32 and more; some windows are tall.
        if rng.random() < 0.2:
            size = (int(rng.integers(48, 60)), size[1])
        shape = (size[0] + int(rng.integers(0, 30)), size[1] + 32 + int(rng.integers(0, 500 if rng.random() < 0.3 else 60)))
        dtype = str(rng.choice(["u8", "u16", "i16"]))
        given = {"out_types": [dtype], "dtype": dtype, "shape": shape}
    problem = Problem(rng, size, **given)
    square = size[0] == size[1] and rng.random() < 0.5
    options = {"size": str(size[0]) if square else f"{size[1]}x{size[0]}"}

    def judge(out):
        extended = extend(problem.image, size, (size[0] // 2, size[1] // 2), problem.border, problem.value)
        windows = np.lib.stride_tricks.sliding_window_view(extended, size, axis=(0, 1))
        reference, mean_square = windows.std(axis=(-2, -1)), (windows**2).mean(axis=(-2, -1))
        off = (sum(size) + 8) * 2.0**-52 * mean_square
        bound = 2 * EPS * reference + np.minimum(np.sqrt(off), off / np.maximum(reference, 1e-300))
        wrong = problem.compare("numpy", out, reference, bound, NEAR + bound)
        if problem.dtype != "f32" and problem.value == int(problem.value):
            # Integers, whose root alone is rounded.
            count = size[0] * size[1]
            sums, squares = windows.sum(axis=(-2, -1)), (windows**2).sum(axis=(-2, -1))
            exact = np.sqrt(count * squares - sums**2) / count
            wrong += problem.compare("integers", out, exact, EPS * exact, 0.0)
        return wrong

    return problem.job(verb, f"window {size}", options, judge, ["local-std"])


# Of each filter that `apron filters` lists: what makes its problems, and how often it is drawn.
PROBLEMS = {
    "sobel": (derivative, 0.12),
    "scharr": (derivative, 0.05),
    "prewitt": (derivative, 0.04),
    "roberts": (derivative, 0.04),
    "farid": (farid, 0.04),
    "laplacian": (laplacian, 0.1),
    "sharpen": (effect, 0.04),
    "emboss": (effect, 0.02),
    "motion-blur": (effect, 0.04),
    "gaussian-derivative": (wave, 0.08),
    "laplacian-of-gaussian": (wave, 0.06),
    "gaussian-gradient": (wave, 0.04),
    "dog": (wave, 0.06),
    "unsharp": (unsharp, 0.1),
    "gradient": (gradient, 0.1),
    "local-mean": (local_mean, 0.03),
    "local-std": (local_std, 0.12),
}


def named(rng):
    weights = np.array([weight for _, weight in PROBLEMS.values()])
    name = str(rng.choice(list(PROBLEMS), p=weights / weights.sum()))
    return PROBLEMS[name][0](rng, name)


def without_problem(apron):
    """The filters that the program lists and that nothing here compares."""
    told = subprocess.run([apron, "filters", "--json"], capture_output=True, text=True, check=True)
    return [known["name"] for known in json.loads(told.stdout)["filters"] if known["name"] not in PROBLEMS]
