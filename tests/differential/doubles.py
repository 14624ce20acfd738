"""Problems of f64: filters, and conversions from and to other types. `check.py` draws from MAKERS by `doubles`."""

import numpy as np
from scipy import ndimage

from common import BORDERS, LIMITS, SCIPY_MODES, TYPES, Job, Outside, random_border, random_shape, slide, worst

UNIT = 2.0**-53  # the largest relative error of rounding to f64
WIDE = np.longdouble


def image_of(rng, dtype, shape):
    """Numbers that only f64 holds, or all values of an integer type."""
    if dtype.startswith("f"):
        image = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4)
        return image.astype(dtype.replace("f", "float"))
    info = np.iinfo({"u": "uint", "i": "int"}[dtype[0]] + dtype[1:])
    most = min(info.max, 2**53)
    return rng.integers(max(info.min, -most), most, shape, endpoint=True).astype(info.dtype)


def types(rng):
    """Types of the image and of the output: f64 one of them, or integers that are read as f64."""
    draw = rng.random()
    if draw < 0.5:
        return "f64", "f64"
    if draw < 0.7:
        return "f64", str(rng.choice(["u8", "u16", "i16", "f32"]))
    return str(rng.choice(["u8", "i16", "f32", "i8", "i32", "u32", "i64"])), "f64"


def seen_wide(outside, image, size, anchor):
    """The image that masks see, and its magnitudes, in longdouble, which holds f64 exactly."""
    return outside.seen(image, size, anchor).astype(WIDE)


def judged(what, out, out_type, reference, bound):
    """f64 within the bound, f32 rounded once from there; integers equal but next to a rounding boundary."""
    expected = np.float64 if out_type == "f64" else TYPES[out_type]
    if out.dtype != expected or out.shape != reference.shape:
        return [f"{what}: {out.dtype} {out.shape}, expected {out_type} {reference.shape}"]
    if out_type in LIMITS:
        limited = np.clip(reference, *LIMITS[out_type])
        error = abs(out - np.rint(limited))
        near = abs(limited - np.floor(limited) - WIDE(0.5)) <= bound
        bad = error > np.where(near, 1, 0)
    else:
        if out_type == "f32":
            bound = bound + 2.0**-24 * abs(reference) + 2.0**-149
        error = abs(out.astype(WIDE) - reference)
        bad = ~(error <= bound)
    return [f"{what}: {worst(bad, out, reference.astype(np.float64), error)}"] if bad.any() else []


def outside_of(rng, options, names):
    border, _, option = random_border(rng, names)
    value = 0.0
    if border == "constant":
        value = float(rng.uniform(-50, 300))
        option = f"constant:{value!r}"
    options["border"] = option
    return border, value, Outside((border, border), (value, value))


def put_type(options, dtype, out_type):
    if dtype != "f64" or out_type != "f64":
        options["out-type"] = out_type


def is_exact_only_as_f64(dtype):
    return dtype in ("i32", "u32", "i64")


def dense(rng):
    dtype, out_type = types(rng)
    options = {}
    border, value, outside = outside_of(rng, options, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 10, 2))
    image = image_of(rng, dtype, random_shape(rng, size if border == "crop" else (1, 1)))
    mask = rng.standard_normal(size)
    put_type(options, dtype, out_type)

    def judge(out):
        total, magnitude = slide(seen_wide(outside, image, size, (size[0] // 2, size[1] // 2)), mask, WIDE)
        return judged("numpy", out, out_type, total, (mask.size + 3) * UNIT * magnitude)

    about = f"{dtype}->{out_type} {image.shape} mask {size}"
    return Job("correlate", about, options, image, judge, {"mask": mask}, kind="f64 correlate")


def separable(rng):
    dtype, out_type = types(rng)
    options = {}
    border, value, outside = outside_of(rng, options, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 40, 2))
    image = image_of(rng, dtype, random_shape(rng, size if border == "crop" else (1, 1)))
    column, row = rng.standard_normal(size[0]), rng.standard_normal(size[1])
    put_type(options, dtype, out_type)

    def judge(out):
        extended = seen_wide(outside, image, size, (size[0] // 2, size[1] // 2))
        rows, magnitudes = slide(extended, row[np.newaxis], WIDE)
        total, _ = slide(rows, column[:, np.newaxis], WIDE)
        magnitude, _ = slide(magnitudes, abs(column)[:, np.newaxis], WIDE)
        return judged("numpy", out, out_type, total, (sum(size) + 3) * UNIT * magnitude)

    about = f"{dtype}->{out_type} {image.shape} taps {size}"
    arrays = {"taps-x": row, "taps-y": column}
    return Job("separable", about, options, image, judge, arrays, kind="f64 separable")


def gaussian(rng):
    dtype, out_type = types(rng)
    options = {"sigma": repr(round(rng.uniform(0.3, 4), 3))}
    border, value, _ = outside_of(rng, options, list(SCIPY_MODES))
    image = image_of(rng, dtype, random_shape(rng))
    put_type(options, dtype, out_type)

    def judge(out):
        along = dict(sigma=float(options["sigma"]), axes=(0, 1), mode=SCIPY_MODES[border], cval=value)
        blurred = ndimage.gaussian_filter(image.astype(np.float64), **along).astype(WIDE)
        taps = 2 * (2 * int(4 * along["sigma"] + 0.5) + 1)
        along["cval"] = abs(value)
        # SciPy's sums are rounded as often, and its taps and ours once each.
        bound = 2 * (taps + 5) * UNIT * ndimage.gaussian_filter(abs(image.astype(np.float64)), **along)
        return judged("scipy", out, out_type, blurred, bound)

    return Job("gaussian", f"{dtype}->{out_type} {image.shape}", options, image, judge, kind="f64 gaussian")


def mean(rng):
    dtype, out_type = types(rng)
    options = {}
    border, value, outside = outside_of(rng, options, BORDERS)
    size = tuple(int(side) for side in rng.choice([1, 2, 3, 15, 17, 18, 31, 33, 64], 2))
    image = image_of(rng, dtype, random_shape(rng, size if border == "crop" else (1, 1)))
    options["size"] = f"{size[1]}x{size[0]}"
    put_type(options, dtype, out_type)

    def judge(out):
        extended = seen_wide(outside, image, size, (size[0] // 2, size[1] // 2))
        ones = np.ones(size)
        total, magnitude = slide(extended, ones, WIDE)
        bound = (sum(size) + 6) * UNIT * magnitude / ones.size
        return judged("numpy", out, out_type, total / WIDE(ones.size), bound)

    about = f"{dtype}->{out_type} {image.shape} window {size}"
    # Small windows are separable filters.
    return Job("box", about, options, image, judge, kind="f64 box", operations=["none"])


MAKERS = [dense, separable, gaussian, mean]


def doubles(rng):
    return MAKERS[rng.integers(len(MAKERS))](rng)
