#!/usr/bin/env python3
"""Compares the apron command line with NumPy, SciPy and, where it is there, OpenCV.

Random problems, one JSON line each, run in one `apron batch`; see README.md.
"""

import argparse
import copy
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy
from scipy import ndimage

import histograms

try:
    import cv2
except ImportError:
    cv2 = None

SCIPY_MODES = {
    "constant": "constant",
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect101": "mirror",
    "wrap": "wrap",
}
BORDERS = [*SCIPY_MODES, "crop"]
LIMITS = {"u8": (0, 255), "i16": (-32768, 32767), "u16": (0, 65535)}
TYPES = {"u8": np.uint8, "i16": np.int16, "u16": np.uint16, "f32": np.float32}
EPS = 2.0**-24  # the largest relative error of rounding to f32
NEAR = 1e-4  # a reference whose taps are not the f32 ones may round otherwise this near to x.5


class Job:
    """What apron is asked, and how the answer is judged."""

    # Whether it writes a result, which is judged; else its report is.
    loads = True
    # Verbs whose operation has another name.
    OPERATIONS = {"convolve": ["correlate"], "gaussian": ["separable"]}

    def __init__(self, verb, about, options, image, judge, arrays=(), kind=None, operations=None):
        self.verb = verb
        self.operations = operations or Job.OPERATIONS.get(verb, [verb])  # whose variants may be asked for
        self.kind = kind or verb  # what it is counted as
        self.about = about
        self.options = options  # keys of the JSON line, without files
        self.image = image
        self.judge = judge  # output array -> list of complaints
        self.arrays = dict(arrays)  # option -> array that is passed as a .npy file

    def by(self, variant):
        """The same by a variant, which may refuse it."""
        job = copy.copy(self)
        job.options = {**self.options, "variant": variant}
        return job

    def line(self, folder, index):
        """Writes the inputs; returns the JSON line and where the result will be."""
        source, result = folder / f"{index}.npy", folder / f"{index}.out.npy"
        np.save(source, self.image)
        job = {"verb": self.verb, "in": str(source), "out": str(result), **self.options}
        for option, array in self.arrays.items():
            path = folder / f"{index}.{option}.npy"
            np.save(path, array)
            job[option] = str(path)
        return json.dumps(job), result


# The reference: index arrays by hand, since np.pad treats axes of length 1 in its own way.


def index_map(first, count, n, border):
    """Positions in an axis of length n that stand for first, first + 1, ...; -1 for the constant."""
    i = np.arange(first, first + count)
    if border in ("constant", "crop"):
        return np.where((i < 0) | (i >= n), -1, i)
    if border == "replicate":
        return np.clip(i, 0, n - 1)
    if border == "wrap":
        return i % n
    if border == "reflect":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    if n == 1:
        return np.zeros_like(i)
    i = i % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def extend(image, size, anchor, border, value):
    """The f64 image with all that a mask of this (height, width) sees; crop adds nothing."""
    image = image.astype(np.float64)
    if border == "crop":
        return image
    for axis in (0, 1):
        n = image.shape[axis]
        index = index_map(-anchor[axis], n + size[axis] - 1, n, border)
        image = np.take(image, index, axis=axis)
        outside = [slice(None)] * image.ndim
        outside[axis] = index < 0
        image[tuple(outside)] = value
    return image


def slide(extended, mask):
    """Sums and sums of magnitudes of tap times sample, over all windows inside."""
    mask = mask.astype(np.float64)
    height = extended.shape[0] - mask.shape[0] + 1
    width = extended.shape[1] - mask.shape[1] + 1
    total = np.zeros((height, width) + extended.shape[2:])
    magnitude = np.zeros_like(total)
    for (j, i), tap in np.ndenumerate(mask):
        product = tap * extended[j : j + height, i : i + width]
        total += product
        magnitude += abs(product)
    return total, magnitude


# Comparisons, each a list of complaints.


def worst(bad, out, reference, error):
    where = np.unravel_index(np.argmax(np.where(bad, error, -1)), bad.shape)
    at = tuple(int(i) for i in where)
    return f"{int(bad.sum())} of {bad.size} samples; at {at}: {out[at]!r}, expected {reference[at]!r}"


def compare(what, out, out_type, reference, bound, slack):
    """f32 within `bound`; integers equal, but for +-1 within `slack` of a rounding boundary."""
    if out.dtype != TYPES[out_type] or out.shape != reference.shape:
        return [f"{what}: {out.dtype} {out.shape}, expected {out_type} {reference.shape}"]
    if out_type == "f32":
        error = abs(out.astype(np.float64) - reference)
        bad = ~(error <= bound)
    else:
        limited = np.clip(reference, *LIMITS[out_type])
        error = abs(out - np.rint(limited))
        near = abs(limited - np.floor(limited) - 0.5) <= slack
        bad = error > np.where(near & (slack > 0), 1, 0)
    return [f"{what}: {worst(bad, out, reference, error)}"] if bad.any() else []


# Random parts of problems.


def random_shape(rng, least=(1, 1)):
    # Mostly small, where borders matter most; sometimes larger than a tile.
    side = lambda low: int(low + rng.integers(0, 160 if rng.random() < 0.15 else 36))
    shape = (side(least[0]), side(least[1]))
    return shape + (3,) if rng.random() < 0.4 else shape


def random_floats(rng, most):
    """Now and then: a square mask of odd side, and the shape of an image whose rows are whole 16 bytes of f32."""
    side = 2 * int(rng.integers(1, (most + 1) // 2)) + 1
    shape = random_shape(rng, (side, side))
    return (side, side), (shape[0], shape[1] + -shape[1] % 4) + shape[2:]


def random_image(rng, dtype, shape):
    if dtype == "u8":
        # Sometimes extremes only, which saturate.
        extremes = rng.random() < 0.1
        return rng.choice(np.array([0, 255], np.uint8), shape) if extremes else rng.integers(0, 256, shape, np.uint8)
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4)).astype(np.float32)


def random_border(rng, borders):
    """The border's name, its value (0 unless constant), and the option."""
    border = str(rng.choice(borders))
    if border != "constant" or rng.random() < 0.3:
        return border, 0.0, border
    value = float(rng.choice([rng.integers(-50, 300), np.float32(rng.uniform(-50, 300))]))
    # The shortest text that gives the same f32.
    return border, value, f"constant:{np.float32(value)!s}"


def random_taps(rng, shape):
    """Taps, and whether sums of them times bytes are exact in f64 whatever the order."""
    if isinstance(shape, tuple) and rng.random() < 0.3:
        # A column times a row, or all alike: problems with methods of their own.
        (column, dyadic_y), (row, dyadic_x) = random_taps(rng, shape[0]), random_taps(rng, shape[1])
        if rng.random() < 0.5:
            return np.full(shape, row[0]), dyadic_x
        return np.outer(column, row).astype(np.float32), dyadic_y and dyadic_x
    if rng.random() < 0.4:
        # Multiples of 1/8: many sums are ties.
        return (rng.integers(-8, 9, shape) / 8).astype(np.float32), True
    taps = rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 2)
    return taps.astype(np.float32), False


def literal(taps):
    rows = np.atleast_2d(taps)
    return "; ".join(" ".join(f"{tap:.9g}" for tap in row) for row in rows)


def put_taps(rng, options, arrays, option, taps):
    if rng.random() < 0.5:
        arrays[option] = taps
    else:
        options[option] = literal(taps)


def text(value):
    return repr(float(value))


def random_out_type(rng, options, dtype, types):
    """The output's type; the input's need not be said."""
    out_type = str(rng.choice(types))
    if out_type != dtype or rng.random() < 0.5:
        options["out-type"] = out_type
    return out_type


# Problems.


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
    dtype = str(rng.choice(["u8", "f32"]))
    border, value, option = random_border(rng, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 10, 2))
    shape = random_shape(rng, size if border == "crop" else (1, 1))
    types = list(TYPES)
    if rng.random() < 0.2:
        dtype, types = "f32", ["f32"]
        size, shape = random_floats(rng, 15)
    image = random_image(rng, dtype, shape)
    mask, dyadic = random_taps(rng, size)
    options, arrays = {"border": option}, {}
    out_type = random_out_type(rng, options, dtype, types)
    put_taps(rng, options, arrays, "mask", mask)
    anchor = (size[0] // 2, size[1] // 2)
    if rng.random() < 0.2:
        options["method"] = "direct"
    given = verb == "correlate" and rng.random() < 0.5
    if given:
        anchor = tuple(int(rng.integers(0, side)) for side in size)
        options["anchor"] = f"{anchor[1]},{anchor[0]}"

    def judge(out):
        turned, over = mask, anchor
        if verb == "convolve":
            turned, over = mask[::-1, ::-1], (size[0] - 1 - anchor[0], size[1] - 1 - anchor[1])
        reference, magnitude = slide(extend(image, size, over, border, value), turned)
        bound = (mask.size + 3) * EPS * magnitude
        # Sums that are exact in f64 have to be rounded right even at ties.
        exact = dyadic and dtype == "u8" and value == int(value)
        slack = np.zeros_like(magnitude) if exact else 1e-9 * magnitude
        wrong = compare("numpy", out, out_type, reference, bound, slack)
        # SciPy's 2-D extension is wrong for masks far larger than the image.
        if border != "crop" and not given and size[0] <= image.shape[0] and size[1] <= image.shape[1]:
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
    verb = str(rng.choice(["separable", "box"], p=[0.65, 0.35]))
    dtype = str(rng.choice(["u8", "f32"]))
    border, value, option = random_border(rng, BORDERS)
    size = tuple(int(side) for side in rng.integers(1, 12, 2))
    shape = random_shape(rng, size if border == "crop" else (1, 1))
    types = list(TYPES)
    if rng.random() < 0.2:
        dtype, types = "f32", ["f32"]
        size, shape = random_floats(rng, 17)
    elif verb == "box" and rng.random() < 0.6:
        size = tuple(int(side) for side in rng.choice([1, 2, 3, 15, 16, 17, 18, 31, 33, 64, 100, 255], 2))
        shape = random_shape(rng, size if border == "crop" else (1, 1))
    image = random_image(rng, dtype, shape)
    options, arrays = {"border": option}, {}
    out_type = random_out_type(rng, options, dtype, types)
    if verb == "box":
        taps_y, taps_x = (np.full(side, 1 / side, np.float32) for side in size)
        dyadic = all(side & (side - 1) == 0 for side in size)
        # Means of bytes are exact; beside a constant that is none they have taps.
        if dtype == "u8" and (border != "constant" or value in range(256)):
            return exact_mean(options, image, size, (border, value), out_type, rng)
        square = size[0] == size[1] and rng.random() < 0.5
        options["size"] = str(size[0]) if square else f"{size[1]}x{size[0]}"
    else:
        (taps_y, dyadic_y), (taps_x, dyadic_x) = random_taps(rng, size[0]), random_taps(rng, size[1])
        dyadic = dyadic_y and dyadic_x
        put_taps(rng, options, arrays, "taps-x", taps_x)
        put_taps(rng, options, arrays, "taps-y", taps_y)

    def judge(out):
        extended = extend(image, size, (size[0] // 2, size[1] // 2), border, value)
        # Along the rows first; the image is extended before, so constants are filtered too.
        rows, _ = slide(extended, taps_x[None, :])
        reference, _ = slide(rows, taps_y[:, None])
        magnitude, _ = slide(slide(abs(extended), abs(taps_x)[None, :])[0], abs(taps_y)[:, None])
        bound = (sum(size) + 3) * EPS * magnitude
        exact = dyadic and dtype == "u8" and value == int(value)
        slack = np.zeros_like(magnitude) if exact else 1e-9 * magnitude
        wrong = compare("numpy", out, out_type, reference, bound, slack)
        if verb == "box":
            # Means as they are meant: the f32 taps are off by EPS in each axis.
            mean, _ = slide(slide(extended, np.full((1, size[1]), 1 / size[1]))[0], np.full((size[0], 1), 1 / size[0]))
            near = np.maximum(NEAR, 4 * EPS * magnitude)
            wrong += compare("mean", out, out_type, mean, bound + 2 * EPS * magnitude, near)
            wrong += compare_uniform(out, out_type, image, size, (border, value), bound + 2 * EPS * magnitude, near)
        return wrong

    about = f"{dtype}->{out_type} {image.shape} taps {size[0]} down, {size[1]} across"
    both = verb == "box" and dtype == out_type == "f32"
    return Job(verb, about, options, image, judge, arrays, operations=["separable"] + ["box"] * both)


def compare_uniform(out, out_type, image, size, border, bound, slack):
    """SciPy's mean, whose extension is right for windows up to the image's size."""
    name, value = border
    if name == "crop" or size[0] > image.shape[0] or size[1] > image.shape[1]:
        return []
    filtered = ndimage.uniform_filter(
        image.astype(np.float64), size + (1,) * (image.ndim - 2), mode=SCIPY_MODES[name], cval=value
    )
    return compare("scipy", out, out_type, filtered, bound, slack)


def exact_mean(options, image, size, border, out_type, rng):
    """A mean of bytes: sums of integers, divided, half to even, nothing else."""
    square = size[0] == size[1] and rng.random() < 0.5
    options["size"] = str(size[0]) if square else f"{size[1]}x{size[0]}"

    def judge(out):
        extended = extend(image, size, (size[0] // 2, size[1] // 2), *border)
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
        return wrong + compare_uniform(out, out_type, image, size, border, 4 * EPS * abs(expected), exact + NEAR)

    return Job("box", f"u8->{out_type} {image.shape} mean {size[0]} high, {size[1]} wide", options, image, judge, kind="mean")


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
        # OpenCV drops the last axis of one channel; it sums in f32 in an order of its own.
        return compare("opencv", out, "f32", expected.reshape(image.shape).astype(np.float64), 1e-5 * magnitude, 0)

    return Job("correlate", f"{image.shape} mask {size}", options, image, judge, arrays, kind="opencv")


def toned(rng):
    return histograms.make(rng, Job)


MAKERS = [(gaussian, 0.2), (masked, 0.3), (rgba, 0.15), (separable, 0.2), (histogram, 0.1), (opencv, 0.05), (toned, 0.3)]


def make(seed, index):
    # Each problem has a generator of its own, so that it does not depend on how many there are.
    rng = np.random.default_rng([seed, index])
    makers = [maker for maker in MAKERS if cv2 is not None or maker[0] is not opencv]
    weights = np.array([weight for _, weight in makers])
    return makers[rng.choice(len(makers), p=weights / weights.sum())][0](rng)


# Photo.


def photo_jobs(seed):
    rng = np.random.default_rng([seed, 1 << 32])
    height, width = 3000, 4000
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    image = np.empty((height, width, 3), np.uint8)
    for c in range(3):
        period_x, period_y, phase = rng.uniform(300, 3000, 3)
        smooth = 128 + 60 * np.sin(x / period_x * 6 + phase) + 50 * np.cos(y / period_y * 6)
        image[..., c] = np.clip(smooth + rng.normal(0, 12, smooth.shape), 0, 255)
    value = 20.0

    def job(border):
        mode = SCIPY_MODES[border]

        def judge(out):
            if out.dtype != np.uint8 or out.shape != image.shape:
                return [f"scipy: {out.dtype} {out.shape}"]
            largest, near, differ = 0, 0, 0
            wrong = []
            # Channel by channel, for memory's sake.
            for c in range(3):
                plane = image[..., c].astype(np.float64)
                reference = ndimage.gaussian_filter(plane, 3.0, mode=mode, cval=value)
                error = abs(out[..., c] - np.rint(reference))
                largest = max(largest, int(error.max()))
                near += int((abs(reference - np.floor(reference) - 0.5) <= NEAR).sum())
                differ += int((error > 0).sum())
                wrong += compare(f"scipy, channel {c}", out[..., c], "u8", reference, None, NEAR)
            print(
                f"photo {width}x{height}x3 gaussian sigma 3 {border}: largest deviation {largest}, "
                f"{differ} samples differ, {near} were within {NEAR:g} of a rounding boundary"
            )
            return wrong

        options = {"sigma": 3, "border": f"constant:{value:g}" if border == "constant" else border}
        return Job("gaussian", f"{width}x{height}x3", options, image, judge, kind="photo")

    return [job(border) for border in SCIPY_MODES]


def run(apron, device, jobs, folder):
    """Runs all jobs in one process; returns complaints as (job number, text)."""
    lines, results = zip(*(job.line(folder, index) for index, job in enumerate(jobs)))
    path = folder / "jobs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run([apron, "batch", path, "--device", device, "--quiet"], capture_output=True, text=True)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    if len(reports) != len(jobs):
        return [(None, f"apron batch: exit {done.returncode}, {len(reports)} of {len(jobs)} jobs: {done.stderr}")], Counter()
    wrong, ran = [], Counter()
    for index, (job, report, result) in enumerate(zip(jobs, reports, results)):
        if report["ok"] and job.options.get("variant", report.get("variant")) != report.get("variant"):
            wrong.append((index, f"apron: ran {report.get('variant')}"))
        elif report["ok"]:
            ran[f"{report['operation']} {report['variant']}"] += 1
            given = np.load(result) if job.loads else report
            wrong += [(index, complaint) for complaint in job.judge(given)]
        elif "variant" in job.options and "device does not have" in report["error"]:
            ran["refused, being beyond a variant's limits"] += 1
        else:
            wrong.append((index, f"apron: {report['error']}"))
    return wrong, ran


def variants(apron):
    """The variants of each operation, and all of them as reports name them."""
    told = subprocess.run([apron, "kernels", "--json"], capture_output=True, text=True, check=True)
    known = {}
    for kernel in json.loads(told.stdout)["kernels"]:
        names = known.setdefault(kernel["operation"], [])
        names += [kernel["variant"]] if kernel["variant"] not in names else []
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apron", type=Path, default=Path("target/release/apron"), help="the binary [%(default)s]")
    parser.add_argument("--device", default="cpu", help="where apron runs [%(default)s]")
    parser.add_argument("--seed", type=int, help="[random]")
    parser.add_argument("--problems", type=int, default=150, help="how many [%(default)s]")
    parser.add_argument("--variants", action="store_true", help="each problem by every variant that takes it")
    parser.add_argument("--photo", action="store_true", help="also blur a 12-megapixel photo at each border")
    args = parser.parse_args()
    if not args.apron.is_file():
        parser.error(f"{args.apron} is not there: build it, or say --apron PATH")
    seed = args.seed if args.seed is not None else int(np.random.SeedSequence().entropy % 2**32)
    opencv_version = cv2.__version__ if cv2 else "none"
    print(f"seed {seed}, device {args.device}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, opencv {opencv_version}", flush=True)

    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="apron-check-"))
    jobs = [make(seed, index) for index in range(args.problems)]
    if args.photo:
        jobs += photo_jobs(seed)
    if args.variants:
        known = variants(args.apron)
        names = lambda job: dict.fromkeys(name for operation in job.operations for name in known.get(operation, []))
        jobs = [job.by(name) for job in jobs for name in names(job)]
    wrong, ran = run(args.apron, args.device, jobs, folder) if jobs else ([], Counter())
    # Of few problems, some variants may take none.
    if args.variants and args.problems >= 200:
        never = [f"{operation} {name}" for operation in known for name in known[operation]]
        wrong += [(None, f"{name} took none of the problems") for name in never if not ran[name]]

    kinds = Counter(job.kind for job in jobs)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{time.monotonic() - start:.1f} s")
    if wrong:
        for index, complaint in wrong:
            job = jobs[index] if index is not None else None
            print(f"FAILED {index} {job.verb} {job.about} {job.options}: {complaint}" if job else f"FAILED {complaint}")
        print(f"{len(wrong)} complaints about {len(jobs)} problems; inputs and jobs.jsonl are kept in {folder}")
        return 1
    shutil.rmtree(folder)
    print(f"{len(jobs)} problems agree: {counted}")
    print(", ".join(f"{count} {name}" for name, count in sorted(ran.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
