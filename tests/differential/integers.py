"""Problems of bool and of integers of 8 to 64 bits: sums by whole numbers, casts as C's, and SciPy's own results.

Taps are whole numbers or halves, so that all sums are exact, and results are equal to the last bit.
"""


import math

import numpy as np
from scipy import ndimage

from common import BORDERS, SCIPY_MODES, Job, Outside, random_shape, slide
from histograms import Told, equal

TYPES = {"bool": "?", "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8"}
FLOATS = {"f16": "f2", "f32": "f4", "f64": "f8"}


def image_of(rng, dtype, shape, most=1 << 40):
    """Whole numbers up to `most`, whose sums f64 holds: few, small, or around the ends of the type."""
    if dtype == "bool":
        return rng.random(shape) < rng.random()
    info = np.iinfo(TYPES[dtype])
    low, high = max(info.min, -most), min(info.max, most)
    kind = rng.random()
    if kind < 0.3:
        low, high = max(low, -100), min(high, 100)
    elif kind < 0.4:
        return rng.choice(np.array([low, high], TYPES[dtype]), shape)
    return rng.integers(low, high, shape, TYPES[dtype], endpoint=True)


def limits(dtype):
    info = np.iinfo(TYPES[dtype])
    return int(info.min), int(info.max)


def cast(sums, dtype, rounding, overflow):
    """What sums become: by Python's whole numbers, which have no limits."""
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            return sums.astype(FLOATS[dtype])
    whole = np.rint(sums) if rounding == "half-even" else np.trunc(sums)
    if dtype == "bool":
        return whole != 0
    low, high = limits(dtype)
    of = lambda x: min(max(int(x), low), high) if overflow == "saturate" else (int(x) - low) % (high - low + 1) + low
    flat = [of(x) for x in whole.ravel()]
    return np.array(flat, object).reshape(whole.shape).astype(TYPES[dtype])


def options_of(rng, dtype):
    """Type and casts of the output, at least one of them new."""
    old = ["u8", "u16", "i16", "f16", "f32"]
    out_type = str(rng.choice([*TYPES, *FLOATS]))
    options = {"out-type": out_type}
    rounding, overflow = "half-even", "saturate"
    if rng.random() < 0.5:
        rounding, overflow = str(rng.choice([rounding, "toward-zero"])), str(rng.choice([overflow, "wrap"]))
    if dtype in old and out_type in old and (rounding, overflow) == ("half-even", "saturate"):
        rounding = "toward-zero"
    options |= {"rounding": rounding, "overflow": overflow}
    return out_type, rounding, overflow, options


def outside_of(rng, dtype):
    border, value = str(rng.choice(BORDERS)), 0.0
    text = border
    if border == "constant":
        value = float(rng.integers(0, 2) if dtype == "bool" else rng.integers(0, 120))
        text = f"constant:{value:g}"
    return text, Outside((border, border), (value, value))


def taps_of(rng, size):
    return rng.integers(-6, 7, size) / 2


def dense(rng):
    dtype = str(rng.choice([*TYPES]))
    out_type, rounding, overflow, options = options_of(rng, dtype)
    options["border"], outside = outside_of(rng, dtype)
    size = tuple(int(side) for side in rng.integers(1, 7, 2))
    image = image_of(rng, dtype, random_shape(rng, size if options["border"] == "crop" else (1, 1)))
    mask = taps_of(rng, size)

    def judge(out):
        sums, _ = slide(outside.seen(image, size, (size[0] // 2, size[1] // 2)), mask)
        return equal("numpy", out, cast(sums, out_type, rounding, overflow))

    about = f"{dtype}->{out_type} {image.shape} mask {size}"
    return Job("correlate", about, options, image, judge, {"mask": mask}, kind="integer correlate", operations=["none"])


def separable(rng):
    dtype = str(rng.choice([*TYPES]))
    out_type, rounding, overflow, options = options_of(rng, dtype)
    options["border"], outside = outside_of(rng, dtype)
    size = tuple(int(side) for side in rng.integers(1, 12, 2))
    image = image_of(rng, dtype, random_shape(rng, size if options["border"] == "crop" else (1, 1)), 1 << 36)
    column, row = taps_of(rng, size[0]), taps_of(rng, size[1])
    # Sums of f32 images are sums in f32.
    stored = rng.random() < 0.4 and out_type not in ("f16", "f32")
    if stored:
        options["store-between-passes"] = True
    # A constant border of the second pass is outside the stored result.
    if stored and options["border"].startswith("constant"):
        options["border"], outside = "reflect", Outside(("reflect", "reflect"), (0.0, 0.0))

    def judge(out):
        if not stored:
            sums, _ = slide(outside.seen(image, size, (size[0] // 2, size[1] // 2)), np.outer(column, row))
            return equal("numpy", out, cast(sums, out_type, rounding, overflow))
        down, _ = slide(outside.seen(image, (size[0], 1), (size[0] // 2, 0)), column[:, np.newaxis])
        down = cast(down, out_type, rounding, overflow)
        if out_type in ("u64", "i64") and abs(down.astype(float)).max() >= 1 << 46:
            return []  # its sums are rounded
        across, _ = slide(outside.seen(down, (1, size[1]), (0, size[1] // 2)), row[np.newaxis])
        return equal("numpy", out, cast(across, out_type, rounding, overflow))

    about = f"{dtype}->{out_type} {image.shape} taps {size}{' stored' if stored else ''}"
    arrays = {"taps-x": row, "taps-y": column}
    return Job("separable", about, options, image, judge, arrays, kind="integer separable", operations=["none"])


def scipys(rng):
    """`ndimage.correlate` and two passes of `correlate1d` with the output's type, as C casts."""
    dtype = str(rng.choice([*TYPES]))
    # A cast in C of a number that the type does not hold is not defined, so types are wide, and sums of 32 bits.
    out_type = str(rng.choice(["i32", "i64", "f64"]))
    border = str(rng.choice([*SCIPY_MODES]))
    options = {"out-type": out_type, "rounding": "toward-zero", "overflow": "wrap"}
    options["border"] = "constant:0" if border == "constant" else border
    image = image_of(rng, dtype, random_shape(rng)[:2], 1 << 20)
    mode = {"mode": SCIPY_MODES[border], "output": (TYPES | FLOATS)[out_type]}
    if rng.random() < 0.5:
        mask = taps_of(rng, tuple(int(side) for side in rng.integers(1, 7, 2)))
        judge = lambda out: equal("scipy", out, ndimage.correlate(image, mask, **mode))
        return Job("correlate", f"{dtype}->{out_type} {image.shape}", options, image, judge, {"mask": mask}, kind="integer scipy", operations=["none"])
    column, row = taps_of(rng, int(rng.integers(1, 9))), taps_of(rng, int(rng.integers(1, 9)))
    options["store-between-passes"] = True

    def judge(out):
        down = ndimage.correlate1d(image, column, 0, **mode)
        return equal("scipy", out, ndimage.correlate1d(down, row, 1, **mode))

    arrays = {"taps-x": row, "taps-y": column}
    return Job("separable", f"{dtype}->{out_type} {image.shape}", options, image, judge, arrays, kind="integer scipy", operations=["none"])


def counts(rng):
    """Bins between edges, by exact comparisons of whole numbers with f64, in all 64 bits."""
    dtype = str(rng.choice([name for name in TYPES if name not in ("u8", "u16", "i16")]))
    image = image_of(rng, dtype, random_shape(rng), 1 << 64)
    samples = [int(sample) for sample in image.ravel()]
    low, high = min(samples), max(samples)
    ends = sorted(float(x) for x in rng.choice(np.array([*samples, low, high], float), int(rng.integers(2, 12))))
    if rng.random() < 0.3:
        ends = [ends[0] - 2.5, *ends, ends[-1] + 1.5]

    def judge(out):
        expected = [0] * (len(ends) - 1)
        for sample in samples:
            below = sum(edge <= sample for edge in ends)  # Python compares exactly
            if below == len(ends) and ends[-1] == sample:
                below = max(at for at in range(1, len(ends)) if at)
            if 0 < below < len(ends):
                expected[below - 1] += 1
        return equal("exact", out, np.array(expected, np.int64))

    return Job("histogram", f"{dtype} {image.shape}", {}, image, judge, {"edges": np.array(ends)}, kind="integer histogram", operations=["none"])


def even(rng):
    """`numpy.histogram` over a range of whole numbers below 2^53."""
    dtype = str(rng.choice([name for name in TYPES if name not in ("u8", "u16", "i16", "bool")]))
    image = image_of(rng, dtype, random_shape(rng), 1 << 50)
    low, high = sorted(int(x) for x in rng.integers(int(image.min()) - 9, int(image.max()) + 9, 2))
    bins = int(rng.integers(1, 300))
    options = {"bins": bins, "range": f"{low},{high + 1}"}
    judge = lambda out: equal("numpy", out, np.histogram(image, bins, (low, high + 1))[0])
    return Job("histogram", f"{dtype} {image.shape}", options, image, judge, kind="integer histogram", operations=["none"])


def extremes(rng):
    """Smallest, largest and mean sample, and percentiles as NumPy's."""
    dtype = str(rng.choice([name for name in TYPES if name not in ("u8", "u16", "i16")]))
    image = image_of(rng, dtype, random_shape(rng)[:2], 1 << 50)
    percents = [0, 25, 50, float(np.round(rng.uniform(0, 100), 2)), 100]

    def judge(report):
        found = report["statistics"][0]
        numbers = image.astype(np.int64)
        exact = [int(numbers.min()), int(numbers.max())]
        wrong = [] if [found["min"], found["max"]] == exact else [f"extremes {found}, expected {exact}"]
        mean = sum(int(x) for x in numbers.ravel()) / numbers.size
        if found["mean"] != mean:
            wrong.append(f"mean {found['mean']}, expected {mean}")
        # Python's whole numbers have no limits.
        n, all = numbers.size, [int(x) for x in numbers.ravel()]
        deviation = math.sqrt(n * sum(x * x for x in all) - sum(all) ** 2) / n
        if abs(found["std"] - deviation) > 4e-16 * deviation:
            wrong.append(f"deviation {found['std']}, expected {deviation}")
        of = [percentile["value"] for percentile in found["percentiles"]]
        expected = np.percentile(numbers, percents)
        if not np.array_equal(of, expected):
            wrong.append(f"percentiles {of}, expected {expected}")
        return wrong

    options = {"percentile": ",".join(f"{percent:g}" for percent in percents)}
    return Told("stats", f"{dtype} {image.shape}", options, image, judge, kind="integer stats", operations=["none"])


def moved(rng):
    """Padding, which copies the samples."""
    dtype = str(rng.choice([*TYPES]))
    image = image_of(rng, dtype, random_shape(rng), 1 << 64)
    by, value = int(rng.integers(0, 9)), int(rng.integers(0, 2))
    border = str(rng.choice(["constant", "edge", "symmetric", "wrap"]))
    options = {"by": by, "border": {"constant": f"constant:{value}", "edge": "replicate", "symmetric": "reflect"}.get(border, border)}
    more = {"constant_values": value} if border == "constant" else {}
    judge = lambda out: equal("numpy", out, np.pad(image, [(by, by)] * 2 + [(0, 0)] * (image.ndim - 2), border, **more))
    return Job("pad", f"{dtype} {image.shape}", options, image, judge, kind="integer pad", operations=["none"])


MAKERS = [dense, dense, separable, separable, scipys, counts, even, extremes, moved]


def integers(rng):
    return MAKERS[rng.integers(len(MAKERS))](rng)
