"""Problems of masks, taps, windows and histograms."""

import numpy as np
from scipy import ndimage

from common import (
    BORDERS, EPS, NEAR, SCIPY_MODES, TYPES, Job, Outside, compare, extend, is_sample, literal, put_taps, random_bells,
    random_border, random_dtype, random_floats, random_image, random_out_type, random_outside, random_shape,
    random_taps, slide, text, worst,
)

try:
    import cv2
except ImportError:
    cv2 = None


def gaussian(rng):
    dtype = str(rng.choice(["u8", "f32"], p=[0.7, 0.3]))
    image = random_image(rng, dtype, random_shape(rng))
    border, value, option = random_border(rng, list(SCIPY_MODES))
    sigma_x = round(rng.uniform(0.2, 4), 3)
    sigma_y = sigma_x if rng.random() < 0.5 else round(rng.uniform(0, 4), 3)
    options = {"border": option, "sigma": text(sigma_x) if sigma_x == sigma_y else f"{sigma_x},{sigma_y}"}
    truncate = 4.0
    if rng.random() < 0.5:
        truncate = round(rng.uniform(0.5, 5), 2)
        options["truncate"] = text(truncate)
    out_type = random_out_type(rng, options, dtype, ["u8", "f32"] if dtype == "u8" else ["f32"])

    def blurred(samples, cval):
        along = dict(sigma=(sigma_y, sigma_x), axes=(0, 1), truncate=truncate, mode=SCIPY_MODES[border], cval=cval)
        return ndimage.gaussian_filter(samples.astype(np.float64), **along)

    def judge(out):
        taps = sum(2 * int(truncate * sigma + 0.5) + 1 for sigma in (sigma_x, sigma_y))
        # Two more roundings than a sum with given taps has: those of the taps of each axis.
        bound = (taps + 5) * EPS * blurred(abs(image), abs(value))
        return compare("scipy", out, out_type, blurred(image, value), bound, NEAR)

    about = f"{dtype}->{out_type} {image.shape}"
    return Job("gaussian", about, options, image, judge)


def masked(rng):
    verb = str(rng.choice(["correlate", "convolve"]))
    dtype = random_dtype(rng)
    border, value, option = random_border(rng, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 10, 2))
    shape = random_shape(rng, size if border == "crop" else (1, 1))
    types = list(TYPES)
    if rng.random() < 0.2:
        dtype, types = "f32", ["f32"]
        size, shape = random_floats(rng, 15)
    image = random_image(rng, dtype, shape)
    mask, dyadic = random_taps(rng, size)
    if border != "crop" and rng.random() < 0.15:
        # A sum of columns times rows, which another method computes, for f32.
        size, types = tuple(int(side) for side in rng.integers(16, 24, 2)), ["f32"]
        mask, dyadic = random_bells(rng, size), False
    options, arrays = {"border": option}, {}
    outside = random_outside(rng, options, border, value, dtype, shape)
    out_type = random_out_type(rng, options, dtype, types)
    put_taps(rng, options, arrays, "mask", mask)
    anchor = (size[0] // 2, size[1] // 2)
    if rng.random() < 0.2:
        options["method"] = "direct"
    elif out_type == "f32" and rng.random() < 0.3:
        options["method"] = "fft"
    given = verb == "correlate" and rng.random() < 0.5
    if given:
        anchor = tuple(int(rng.integers(0, side)) for side in size)
        options["anchor"] = f"{anchor[1]},{anchor[0]}"

    def judge(out):
        turned, over = mask, anchor
        if verb == "convolve":
            turned, over = mask[::-1, ::-1], (size[0] - 1 - anchor[0], size[1] - 1 - anchor[1])
        reference, magnitude = slide(outside.seen(image, size, over), turned)
        bound = (mask.size + 3) * EPS * magnitude
        if options.get("method") == "fft":
            # The norm of a tile of 128x128 samples is at most 128 times the largest of them. Tiles are those of the whole
            # image, so that of a region's has samples that no window of the region sees.
            largest = max(abs(image.astype(np.float64)).max(), abs(value))
            bound = np.full_like(magnitude, 124 * EPS * 128 * largest * abs(mask).sum())
        # Sums that are exact in f64 have to be rounded right even at ties.
        exact = dyadic and dtype != "f32" and value == int(value)
        slack = np.zeros_like(magnitude) if exact else 1e-9 * magnitude
        wrong = compare("numpy", out, out_type, reference, bound, slack)
        # SciPy's 2-D extension is wrong for masks far larger than the image.
        plain = outside.names[0] == outside.names[1] and outside.extent == "same"
        if border != "crop" and plain and not given and size[0] <= image.shape[0] and size[1] <= image.shape[1]:
            function = getattr(ndimage, verb)
            planes = image.reshape(image.shape[0], image.shape[1], -1).astype(np.float64)
            weights = mask.astype(np.float64)
            filtered = [
                function(planes[..., c], weights, mode=SCIPY_MODES[border], cval=value) for c in range(planes.shape[2])
            ]
            expected = np.stack(filtered, axis=-1).reshape(image.shape)
            wrong += compare("scipy", out, out_type, expected, bound, slack)
        return wrong

    about = f"{dtype}->{out_type} {image.shape} mask {size[0]} high, {size[1]} wide"
    return Job(verb, about, options, image, judge, arrays)


def rgba(rng):
    border, value, option = random_border(rng, BORDERS)
    if border == "constant":
        value = float(rng.integers(0, 256))
        option = f"constant:{value:g}"
    least = (3, 3) if border == "crop" else (1, 1)
    image = random_image(rng, "u8", random_shape(rng, least)[:2] + (4,))
    weights = rng.integers(-3, 8, (3, 3))
    normalize = bool(weights.sum() > 0 and rng.random() < 0.7)
    options = {"border": option, "mask": literal(weights), "normalize": normalize}
    mask = (weights / weights.sum()).astype(np.float32) if normalize else weights.astype(np.float32)

    def judge(out):
        reference, magnitude = slide(extend(image, (3, 3), (1, 1), border, value), mask)
        # Sums that are exact in f64 have to be rounded right even at ties.
        sums = weights.sum()
        exact = not normalize or sums & (sums - 1) == 0
        slack = np.zeros_like(magnitude) if exact else 1e-9 * magnitude
        return compare("numpy", out, "u8", reference, None, slack)

    return Job("correlate", f"rgba {image.shape} mask 3x3", options, image, judge, kind="rgba")


def separable(rng):
    verb = str(rng.choice(["separable", "box"], p=[0.55, 0.45]))
    dtype = random_dtype(rng)
    border, value, option = random_border(rng, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 12, 2))
    shape = random_shape(rng, size if border == "crop" else (1, 1))
    types = list(TYPES)
    if rng.random() < 0.2:
        dtype, types = "f32", ["f32"]
        size, shape = random_floats(rng, 17)
    elif verb == "box" and rng.random() < 0.6:
        # Bytes over odd windows: pixels of four, or rows of gray that are wider than the window by 32, some in several strips and many of whole
        # vectors of 16.
        dtype, types = "u8", ["u8"]
        size = tuple(2 * int(side) + 1 for side in rng.integers(0, 20, 2))
        shape = random_shape(rng, size if border == "crop" else (1, 1))[:2] + (4,)
        if rng.random() < 0.5:
            width = size[1] + 32 + int(rng.integers(0, 1000 if rng.random() < 0.3 else 40))
            shape = (shape[0], width + (-width % 16 if rng.random() < 0.7 else 0))
    elif verb == "box" and rng.random() < 0.6:
        size = tuple(int(side) for side in rng.choice([1, 2, 3, 15, 16, 17, 18, 31, 33, 64, 100, 255], 2))
        shape = random_shape(rng, size if border == "crop" else (1, 1))
    image = random_image(rng, dtype, shape)
    options, arrays = {"border": option}, {}
    outside = random_outside(rng, options, border, value, dtype, shape)
    out_type = random_out_type(rng, options, dtype, types)
    if verb == "box":
        taps_y, taps_x = (np.full(side, 1 / side, np.float32) for side in size)
        dyadic = all(side & (side - 1) == 0 for side in size)
        # Means of bytes are exact, and of 16 bits over more than 7 samples on a side; beside a constant that is no sample they
        # have taps.
        exact_type = dtype == "u8" or (dtype in ("u16", "i16") and max(size) > 7)
        if exact_type and (border != "constant" or is_sample(value, dtype)):
            return exact_mean(options, image, size, outside, out_type, rng, dtype)
        square = size[0] == size[1] and rng.random() < 0.5
        options["size"] = str(size[0]) if square else f"{size[1]}x{size[0]}"
    else:
        (taps_y, dyadic_y), (taps_x, dyadic_x) = random_taps(rng, size[0]), random_taps(rng, size[1])
        dyadic = dyadic_y and dyadic_x
        put_taps(rng, options, arrays, "taps-x", taps_x)
        put_taps(rng, options, arrays, "taps-y", taps_y)

    def judge(out):
        extended = outside.seen(image, size, (size[0] // 2, size[1] // 2))
        # Along the rows first; the image is extended before, so constants are filtered too.
        rows, _ = slide(extended, taps_x[None, :])
        reference, _ = slide(rows, taps_y[:, None])
        magnitude, _ = slide(slide(abs(extended), abs(taps_x)[None, :])[0], abs(taps_y)[:, None])
        bound = (sum(size) + 3) * EPS * magnitude
        exact = dyadic and dtype != "f32" and value == int(value)
        slack = np.zeros_like(magnitude) if exact else 1e-9 * magnitude
        wrong = compare("numpy", out, out_type, reference, bound, slack)
        if verb == "box":
            # Means as they are meant: the f32 taps are off by EPS in each axis.
            mean, _ = slide(slide(extended, np.full((1, size[1]), 1 / size[1]))[0], np.full((size[0], 1), 1 / size[0]))
            near = np.maximum(NEAR, 4 * EPS * magnitude)
            wrong += compare("mean", out, out_type, mean, bound + 2 * EPS * magnitude, near)
            wrong += compare_uniform(out, out_type, image, size, outside, bound + 2 * EPS * magnitude, near)
        return wrong

    about = f"{dtype}->{out_type} {image.shape} taps {size[0]} down, {size[1]} across"
    both = verb == "box" and dtype == out_type == "f32"
    return Job(verb, about, options, image, judge, arrays, operations=["separable"] + ["box"] * both)


def compare_uniform(out, out_type, image, size, outside, bound, slack):
    """SciPy's mean, whose extension is right for windows up to the image's size."""
    (name, across), value = outside.names, outside.values[0]
    if name != across or name == "crop" or outside.extent != "same" or size[0] > image.shape[0] or size[1] > image.shape[1]:
        return []
    filtered = ndimage.uniform_filter(
        image.astype(np.float64), size + (1,) * (image.ndim - 2), mode=SCIPY_MODES[name], cval=value
    )
    return compare("scipy", out, out_type, filtered, bound, slack)


def small_mean(rng):
    """A mean of bytes over a small square of odd side, which two variants take as separable filters."""
    border, value, option = random_border(rng, BORDERS)
    if border == "constant":
        value = int(rng.integers(0, 256))
        option = f"constant:{value}"
    size = (2 * int(rng.integers(1, 9)) + 1,) * 2
    height, width = random_shape(rng, size if border == "crop" else (1, 1))[:2]
    # One of them takes only rows of whole words.
    image = random_image(rng, "u8", (height, width + -width % 16 if rng.random() < 0.6 else width))
    outside = Outside((border, border), (value, value))
    return exact_mean({"border": option}, image, size, outside, "u8", rng)


def exact_mean(options, image, size, outside, out_type, rng, dtype="u8"):
    """A mean of integers: sums of integers, divided, half to even, nothing else."""
    square = size[0] == size[1] and rng.random() < 0.5
    options["size"] = str(size[0]) if square else f"{size[1]}x{size[0]}"

    def judge(out):
        extended = outside.seen(image, size, (size[0] // 2, size[1] // 2))
        rows, _ = slide(extended, np.ones((1, size[1])))
        total = slide(rows, np.ones((size[0], 1)))[0].astype(np.int64)
        count = size[0] * size[1]
        if out_type == "f32":
            expected = (total / count).astype(np.float32)
        else:
            quotient, rest = np.divmod(total, count)
            expected = quotient + (2 * rest + (quotient & 1) > count)
        exact = np.zeros(expected.shape)
        wrong = compare("integers", out, out_type, expected.astype(np.float64), exact, exact)
        return wrong + compare_uniform(out, out_type, image, size, outside, 4 * EPS * abs(expected), exact + NEAR)

    about = f"{dtype}->{out_type} {image.shape} mean {size[0]} high, {size[1]} wide"
    return Job("box", about, options, image, judge, kind="mean")


def histogram(rng):
    dtype = str(rng.choice(["u8", "f32"]))
    image = random_image(rng, dtype, random_shape(rng))
    bins, extent, options, about = 256, None, {}, dtype
    if rng.random() < 0.6:
        bins = int(rng.integers(1, 400))
        options["bins"] = bins
    if dtype == "u8":
        extent = (0.0, 256.0)
        if rng.random() < 0.5:
            extent = tuple(sorted(float(end) for end in rng.integers(-20, 300, 2)))
            if rng.random() < 0.5:
                extent = (extent[0] - rng.random(), extent[1] + rng.random())
            options["range"] = f"{text(extent[0])},{text(extent[1])}"
    else:
        if rng.random() < 0.3:
            # Few values: many samples lie on edges.
            image = rng.integers(-4, 5, image.shape).astype(np.float32) / np.float32(4)
        if rng.random() < 0.6:
            middle, half = rng.normal(), abs(rng.normal()) + 0.1
            extent = (-1.0, 1.0) if rng.random() < 0.3 else (middle - half, middle + half)
            options["range"] = f"{text(extent[0])},{text(extent[1])}"
            # Samples exactly on edges.
            edges = np.linspace(*extent, bins + 1).astype(np.float32)
            image = np.where(rng.random(image.shape) < 0.2, rng.choice(edges, image.shape), image)
            odd = rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), image.shape)
            image = np.where(rng.random(image.shape) < 0.05, odd, image).astype(np.float32)
            about = "f32 with edges, NaN and inf"
    apart = bool(rng.random() < 0.5)
    options["per-channel"] = apart

    def judge(out):
        # Channels share the range that is found in all of them.
        ends = (image.min(), image.max()) if extent is None else extent
        planes = image.reshape(image.shape[0], image.shape[1], -1)
        if apart:
            counts = [np.histogram(planes[..., c], bins, ends)[0] for c in range(planes.shape[2])]
            expected = np.stack(counts)
        else:
            expected = np.histogram(image, bins, ends)[0]
        if out.dtype != np.int64 or out.shape != expected.shape:
            return [f"numpy: {out.dtype} {out.shape}, expected int64 {expected.shape}"]
        error = abs(out - expected)
        return [f"numpy: {worst(error > 0, out, expected, error)}"] if error.any() else []

    return Job("histogram", f"{about} {image.shape} bins {bins}", options, image, judge)


def opencv(rng):
    return opencv_box(rng) if rng.random() < 0.5 else opencv_mask(rng)


def opencv_box(rng):
    dtype = str(rng.choice(["u8", "f32"]))
    size = tuple(int(side) for side in rng.integers(1, 40, 2))
    image = random_image(rng, dtype, random_shape(rng, size))

    def judge(out):
        expected = cv2.boxFilter(image, -1, size[::-1], borderType=cv2.BORDER_REFLECT_101)
        expected = expected.reshape(image.shape).astype(np.float64)
        if dtype == "u8":
            # It multiplies by a rounded reciprocal: halves go either way.
            bad = abs(out.astype(np.float64) - expected) > (1 if size[0] * size[1] % 2 == 0 else 0)
            return [f"opencv: {worst(bad, out, expected, bad * 1.0)}"] if bad.any() else []
        extended = extend(abs(image), size, (size[0] // 2, size[1] // 2), "reflect101", 0)
        rows, _ = slide(extended, np.full((1, size[1]), 1 / size[1]))
        magnitude, _ = slide(rows, np.full((size[0], 1), 1 / size[0]))
        return compare("opencv", out, "f32", expected, 1e-5 * magnitude, 0)

    options, operations = {"size": f"{size[1]}x{size[0]}"}, ["box"] if dtype == "u8" else ["box", "separable"]
    return Job("box", f"{dtype} {image.shape} window {size}", options, image, judge, kind="opencv", operations=operations)


def opencv_mask(rng):
    size = tuple(int(side) for side in rng.integers(1, 8, 2))
    image = random_image(rng, "f32", random_shape(rng, size))
    mask, _ = random_taps(rng, size)
    options, arrays = {}, {}
    put_taps(rng, options, arrays, "mask", mask)

    def judge(out):
        expected = cv2.filter2D(image, cv2.CV_32F, mask, borderType=cv2.BORDER_REFLECT_101)
        extended = extend(image, size, (size[0] // 2, size[1] // 2), "reflect101", 0)
        _, magnitude = slide(extended, mask)
        # OpenCV drops the last axis of one channel; it sums in f32 in another order.
        return compare("opencv", out, "f32", expected.reshape(image.shape).astype(np.float64), 1e-5 * magnitude, 0)

    return Job("correlate", f"{image.shape} mask {size}", options, image, judge, arrays, kind="opencv")
