"""Problems of volumes: masks of three dimensions, taps along each axis, and the named filters. `check.py` draws from MAKERS by
`volumes`. Axes of arrays are (z, y, x), those of options (x, y, z)."""

import numpy as np
from scipy import ndimage

from common import BORDERS, EPS, LIMITS, SCIPY_MODES, Job, index_map, random_image, worst
from doubles import UNIT

DTYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f16": np.float16, "f32": np.float32, "f64": np.float64}
WIDE = np.longdouble


class Problem:
    """The volume, its type and the output's, the borders by axis (z, y, x), and the options that say so."""

    def __init__(self, rng, least=(1, 1, 1), borders=BORDERS, constants=True):
        self.dtype = str(rng.choice(["f32", "f32", "f64", "u8", "u16", "i16", "f16"]))
        self.out_type = self.dtype if rng.random() < 0.5 else str(rng.choice(list(DTYPES)))
        side = lambda: int(rng.integers(0, 70 if rng.random() < 0.1 else 12))
        shape = tuple(low + side() for low in least)
        if rng.random() < 0.25:
            # One channel is written as none.
            shape += (int(rng.integers(2, 5)),)
        if self.dtype in ("f64", "f16"):
            self.image = rng.standard_normal(shape).astype(DTYPES[self.dtype])
        else:
            self.image = random_image(rng, self.dtype, shape)
        names = [str(rng.choice(borders)) for _ in range(3)] if rng.random() < 0.4 else [str(rng.choice(borders))] * 3
        value = float(np.float32(rng.uniform(-50, 300))) if constants and rng.random() < 0.7 else 0.0
        self.names, self.value = names, value
        texts = [f"constant:{value!r}" if name == "constant" else name for name in names]
        self.options = {"volume": True, "border": ",".join(texts[::-1]) if len(set(texts)) > 1 else texts[0]}
        if self.out_type != self.dtype:
            self.options["out-type"] = self.out_type
        self.part = None
        if "crop" not in names and rng.random() < 0.2:
            corner = [int(rng.integers(0, side)) for side in shape[:3]]
            size = [int(rng.integers(1, side - first + 1)) for side, first in zip(shape, corner)]
            self.part = tuple(slice(first, first + count) for first, count in zip(corner, size))
            x, y, z = corner[::-1]
            self.options["region"] = f"{x},{y},{z},{size[2]}x{size[1]}x{size[0]}"
        self.wide = not {self.dtype, self.out_type} <= {"f32", "f16"}
        self.unit = UNIT if self.wide else EPS

    def number(self, taps):
        """Taps as sums weigh by them."""
        return taps if self.wide else taps.astype(np.float32).astype(np.float64)

    def seen(self, size, anchor, full=False):
        """The volume with all that a mask of this (depth, height, width) sees, in longdouble."""
        image = self.image.astype(WIDE)
        # Along the rows first: where constants of two axes meet, the later one holds.
        for axis in (2, 1, 0):
            n, more, border = image.shape[axis], size[axis] - 1, self.names[axis]
            if border == "crop":
                continue
            first, count = (-more, n + more) if full else (-anchor[axis], n)
            index = index_map(first, count + more, n, border)
            image = np.take(image, index, axis=axis)
            outside = [slice(None)] * image.ndim
            outside[axis] = index < 0
            image[tuple(outside)] = self.value if self.wide else np.float32(self.value)
        return image

    def judged(self, what, out, reference, bound):
        """Floats within the bound and one more rounding; integers equal but next to a rounding boundary."""
        if self.part:
            bound = np.broadcast_to(np.asarray(bound, WIDE), reference.shape)[self.part]
            reference = reference[self.part]
        if out.dtype != DTYPES[self.out_type] or out.shape != reference.shape:
            return [f"{what}: {out.dtype} {out.shape}, expected {self.out_type} {reference.shape}"]
        bound = np.broadcast_to(np.asarray(bound, WIDE), reference.shape)
        if self.out_type in LIMITS:
            limited = np.clip(reference, *LIMITS[self.out_type])
            error = abs(out - np.rint(limited))
            near = abs(limited - np.floor(limited) - WIDE(0.5)) <= bound
            bad = error > np.where(near, 1, 0)
        else:
            unit, least = {"f16": (2.0**-11, 2.0**-25), "f32": (EPS, 2.0**-149), "f64": (UNIT, 0.0)}[self.out_type]
            error = abs(out.astype(WIDE) - reference)
            bad = ~(error <= bound + 2 * unit * abs(reference) + least)
            if self.out_type == "f16":
                bad &= ~(np.isinf(out) & (abs(reference) > 65000))
        return [f"{what}: {worst(bad, out, reference.astype(np.float64), error)}"] if bad.any() else []

    def job(self, verb, about, options, judge, arrays=(), operations=None):
        about = f"volume {self.dtype}->{self.out_type} {self.image.shape} {about}"
        kind = f"volume {verb}"
        return Job(verb, about, self.options | options, self.image, judge, arrays, kind, operations or ["volume"])


def slide(extended, mask):
    """Sums and sums of magnitudes of tap times sample over all windows inside."""
    sides = [extended.shape[axis] - mask.shape[axis] + 1 for axis in range(3)]
    total = np.zeros(tuple(sides) + extended.shape[3:], WIDE)
    magnitude = np.zeros_like(total)
    for at, tap in np.ndenumerate(mask):
        part = WIDE(tap) * extended[tuple(slice(first, first + side) for first, side in zip(at, sides))]
        total += part
        magnitude += abs(part)
    return total, magnitude


def window(rng, most):
    """Sides of a window and the place of its anchor, as (z, y, x)."""
    size = tuple(int(side) for side in rng.integers(1, most + 1, 3))
    return size, tuple(int(rng.integers(0, side)) for side in size)


def placed(problem, rng, size, anchor):
    """Options of the anchor and of full output."""
    options, full = {}, "crop" not in problem.names and problem.part is None and rng.random() < 0.2
    if rng.random() < 0.5:
        options["anchor"] = ",".join(str(place) for place in anchor[::-1])
    else:
        anchor = tuple(side // 2 for side in size)
    if full:
        options["full"] = True
    return options, anchor, full


def dense(rng):
    size, anchor = window(rng, 4)
    problem = Problem(rng, size)
    verb = str(rng.choice(["correlate", "convolve"]))
    options, anchor, full = placed(problem, rng, size, anchor)
    mask = rng.standard_normal(size)
    taps = problem.number(mask)
    if verb == "convolve":
        # The anchor turns with the mask.
        taps, anchor = taps[::-1, ::-1, ::-1], tuple(side - 1 - place for side, place in zip(size, anchor))

    def judge(out):
        total, magnitude = slide(problem.seen(size, anchor, full), taps)
        return problem.judged("numpy", out, total, (mask.size + 3) * problem.unit * magnitude)

    return problem.job(verb, f"mask {size} at {anchor}", options, judge, {"mask": mask})


def separable(rng):
    size, anchor = window(rng, 9)
    problem = Problem(rng, size)
    options, anchor, full = placed(problem, rng, size, anchor)
    taps = [rng.standard_normal(side).astype(np.float32).astype(np.float64) for side in size]
    arrays = {f"taps-{name}": row for name, row in zip("zyx", taps)}
    if size[0] == 1 and "anchor" not in options and rng.random() < 0.5:
        taps[0], arrays = np.ones(1), {name: row for name, row in arrays.items() if name != "taps-z"}

    def judge(out):
        total = problem.seen(size, anchor, full)
        magnitude = abs(total)
        for axis, row in zip((2, 1, 0), (taps[2], taps[1], taps[0])):
            mask = row.reshape([-1 if axis == other else 1 for other in range(3)])
            total, magnitude = slide(total, mask)[0], slide(magnitude, abs(mask))[0]
        return problem.judged("numpy", out, total, (sum(size) + 3) * problem.unit * magnitude)

    return problem.job("separable", f"taps {size} at {anchor}", options, judge, arrays)


def mean(rng):
    size, anchor = window(rng, 7)
    problem = Problem(rng, size)
    options, anchor, full = placed(problem, rng, size, anchor)
    options["size"] = "x".join(str(side) for side in size[::-1]) if len(set(size)) > 1 else str(size[0])

    def judge(out):
        total = problem.seen(size, anchor, full)
        magnitude = abs(total)
        for axis in (2, 1, 0):
            mask = np.ones([size[axis] if axis == other else 1 for other in range(3)])
            total, magnitude = slide(total, mask)[0], slide(magnitude, mask)[0]
        count = WIDE(np.prod(size))
        # Of integers the exact quotient.
        exact = problem.dtype in LIMITS and problem.value == 0
        bound = 0 if exact and problem.out_type in LIMITS else (sum(size) + 4) * problem.unit * magnitude / count
        return problem.judged("numpy", out, total / count, bound)

    return problem.job("box", f"window {size}", options, judge)


def stored(rng):
    """Passes of SciPy's `correlate1d` and `uniform_filter1d`, each stored in the output's type as C casts."""
    problem = Problem(rng, borders=list(SCIPY_MODES), constants=False)
    # A cast in C of a number that the type does not hold is not defined: where the type stays, sums stay small.
    stays = rng.random() < 0.6
    problem.dtype = str(rng.choice(["u8", "u16", "i16", "f64"] if stays else ["u8", "i16"]))
    problem.out_type = problem.dtype if stays else str(rng.choice(["i32", "f64"]))
    dtype = np.int32 if problem.out_type == "i32" else DTYPES[problem.out_type]
    image = rng.integers(0, 40 if stays else 100, problem.image.shape[:3]).astype(DTYPES[problem.dtype])
    problem.options.pop("region", None)
    options = problem.options | {"out-type": problem.out_type, "store-between-passes": True}
    options |= {"rounding": "toward-zero", "overflow": "wrap"}
    modes = [SCIPY_MODES[name] for name in problem.names]
    if rng.random() < 0.4:
        size = [int(side) for side in rng.integers(1, 8, 3)]
        options["size"] = "x".join(str(side) for side in size[::-1])
        verb, arrays, about = "box", {}, f"size {size}"
        one = lambda out, axis: ndimage.uniform_filter1d(out, size[axis], axis, dtype, modes[axis])
    else:
        low, high, unit = (0, 3, 8) if stays else (-6, 7, 2)
        taps = [rng.integers(low, high, int(rng.integers(1, 8))) / unit for _ in range(3)]
        verb, arrays = "separable", {f"taps-{name}": row for name, row in zip("zyx", taps)}
        about = f"taps {[len(row) for row in taps]}"
        one = lambda out, axis: ndimage.correlate1d(out, taps[axis], axis, dtype, modes[axis])

    def judge(out):
        reference = image
        for axis in range(3):
            reference = one(reference, axis)
        # SciPy's running sums of f64 are not exact.
        bound = 1e-9 * (abs(reference).max() + 1) if problem.out_type == "f64" else 0
        wrong = out.dtype != dtype or out.shape != reference.shape or (abs(out - reference) > bound).any()
        return ["scipy: passes that are stored differ"] if wrong else []

    about = f"volume {problem.dtype}->{problem.out_type} {image.shape} stored, {about}"
    return Job(verb, about, options, image, judge, arrays, kind="volume stored", operations=["volume"])


def deviation(rng):
    size, _ = window(rng, 5)
    problem = Problem(rng, size)
    size, middle = tuple(int(side) for side in size), tuple(side // 2 for side in size)
    options = {"size": "x".join(str(side) for side in size[::-1]) if len(set(size)) > 1 else str(size[0])}

    def judge(out):
        numbers = problem.seen(size, middle)
        count = WIDE(np.prod(size))
        total, squares = slide(numbers, np.ones(size))[0] / count, slide(numbers**2, np.ones(size))[0] / count
        reference = np.sqrt(np.maximum(squares - total**2, 0))
        # Sums are of f64, and their difference may cancel.
        error = (sum(size) + 8) * UNIT * 2 * squares
        bound = np.minimum(np.sqrt(error), error / np.maximum(reference, 1e-300))
        return problem.judged("numpy", out, reference, bound)

    return problem.job("local-std", f"window {size}", options, judge, operations=["volume"])


def sigmas(rng):
    """Standard deviations as (z, y, x), and the option."""
    sigma = [round(float(rng.uniform(0.4, 2.2)), 2) for _ in range(3)]
    if rng.random() < 0.3:
        sigma = [sigma[0]] * 3
    return sigma, ",".join(str(one) for one in sigma[::-1]) if len(set(sigma)) > 1 else str(sigma[0])


def by_scipy(problem, verb, about, options, make, gain):
    """Compares with a filter of SciPy, whose error is that of sums of at most `gain` times the largest sample."""

    def judge(out):
        image = problem.image.astype(np.float64)
        modes = [SCIPY_MODES[name] for name in problem.names]
        planes = [image] if image.ndim == 3 else [image[..., channel] for channel in range(image.shape[3])]
        reference = [make(plane, modes) for plane in planes]
        reference = reference[0] if image.ndim == 3 else np.stack(reference, axis=3)
        bound = 200 * problem.unit * gain * (abs(image).max() + 1)
        return problem.judged("scipy", out, reference.astype(WIDE), bound)

    return problem.job(verb, about, options, judge, operations=["volume"])


def wave(rng):
    sigma, text = sigmas(rng)
    truncate = round(float(rng.uniform(2, 4)), 1)
    verb = str(rng.choice(["gaussian", "gaussian", "gaussian-derivative", "laplacian-of-gaussian", "gaussian-gradient"]))
    problem = Problem(rng, borders=list(SCIPY_MODES), constants=False)
    options = {"sigma": text, "truncate": truncate}
    along = dict(truncate=truncate)
    gain = max(1.0, 4 / min(sigma) ** 3)
    if verb in ("gaussian", "gaussian-derivative"):
        order = [int(one) for one in rng.integers(0, 4, 3)] if rng.random() < 0.6 else [0, 0, 0]
        options["order"] = ",".join(str(one) for one in order[::-1])
        gain = np.prod([max(1.0, (3 / one) ** of) for one, of in zip(sigma, order)])
        make = lambda plane, modes: ndimage.gaussian_filter(plane, sigma, order, mode=modes, **along)
        about = f"sigma {sigma} order {order}"
    elif verb == "laplacian-of-gaussian":
        # Its `gaussian_laplace` takes the modes to `generic_laplace`, one for each axis.
        make = lambda plane, modes: sum(
            ndimage.gaussian_filter(plane, sigma, [2 * (axis == other) for other in range(3)], mode=modes, **along)
            for axis in range(3)
        )
        about = f"sigma {sigma}"
    else:
        make = lambda plane, modes: np.sqrt(
            sum(
                ndimage.gaussian_filter(plane, sigma, [int(axis == other) for other in range(3)], mode=modes, **along) ** 2
                for axis in range(3)
            )
        )
        about = f"sigma {sigma}"
    if len(set(problem.names)) == 1 and verb == "laplacian-of-gaussian":
        make = lambda plane, modes: ndimage.gaussian_laplace(plane, sigma, mode=modes[0], **along)
    if len(set(problem.names)) == 1 and verb == "gaussian-gradient":
        make = lambda plane, modes: ndimage.gaussian_gradient_magnitude(plane, sigma, mode=modes[0], **along)
    return by_scipy(problem, verb, about, options, make, gain)


def difference(rng):
    verb = str(rng.choice(["sobel", "prewitt", "laplacian", "gradient"]))
    problem = Problem(rng, borders=list(SCIPY_MODES), constants=False)
    if verb == "laplacian":
        make = lambda plane, modes: ndimage.laplace(plane, mode=modes)
        return by_scipy(problem, verb, "", {}, make, 12)
    if verb == "gradient":
        make = lambda plane, modes: np.sqrt(sum(ndimage.sobel(plane, axis, mode=modes) ** 2 for axis in range(3)))
        return by_scipy(problem, verb, "", {}, make, 60)
    axis = int(rng.integers(0, 3))
    make = lambda plane, modes: getattr(ndimage, verb)(plane, axis, mode=modes)
    return by_scipy(problem, verb, f"axis {axis}", {"d" + "zyx"[axis]: 1}, make, 32)


def unsharp(rng):
    sigma, text = sigmas(rng)
    amount = round(float(rng.uniform(-1, 3)), 2)
    problem = Problem(rng, borders=list(SCIPY_MODES), constants=False)
    make = lambda plane, modes: plane + amount * (plane - ndimage.gaussian_filter(plane, sigma, mode=modes))
    return by_scipy(problem, "unsharp", f"sigma {sigma} amount {amount}", {"sigma": text, "amount": amount}, make, 8)


def band(rng):
    low, low_text = sigmas(rng)
    high = [round(one + float(rng.uniform(0, 1.5)), 2) for one in low]
    truncate = round(float(rng.uniform(2, 4)), 1)
    problem = Problem(rng, borders=list(SCIPY_MODES), constants=False)
    blur = lambda plane, sigma, modes: ndimage.gaussian_filter(plane, sigma, mode=modes, truncate=truncate)
    make = lambda plane, modes: blur(plane, low, modes) - blur(plane, high, modes)
    options = {"sigma-low": low_text, "sigma-high": ",".join(str(one) for one in high[::-1]), "truncate": truncate}
    return by_scipy(problem, "dog", f"sigma {low} {high}", options, make, 2)


MAKERS = [(dense, 0.25), (separable, 0.2), (mean, 0.15), (stored, 0.1), (deviation, 0.08), (wave, 0.2), (difference, 0.12), (unsharp, 0.06), (band, 0.04)]


def volumes(rng):
    weights = np.array([weight for _, weight in MAKERS])
    return MAKERS[rng.choice(len(MAKERS), p=weights / weights.sum())][0](rng)
