"""Problems of what pixels are and what lies around them: padding, constants by channel, alpha, floats of 16 bits.

`check.py` draws from MAKERS by `pixels`.
"""

import numpy as np

from common import (
    EPS, LIMITS, SCIPY_MODES, Job, Outside, compare, literal, random_image, slide,
)

try:
    import cv2
except ImportError:
    cv2 = None

SAMPLES = {"u8": np.uint8, "i16": np.int16, "u16": np.uint16, "f16": np.float16, "f32": np.float32}
NUMPY_MODES = {"replicate": "edge", "reflect": "symmetric", "reflect101": "reflect", "wrap": "wrap"}


def image_of(rng, dtype, shape):
    if dtype == "f16":
        # All bit patterns but those that are no numbers, or numbers of one size.
        if rng.random() < 0.5:
            return (rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4)).astype(np.float16)
        bits = rng.integers(0, 0x7C00, shape) | rng.choice([0, 0x8000], shape)
        return bits.astype(np.uint16).view(np.float16)
    return random_image(rng, dtype, shape)


def sides(rng, channels):
    return tuple(int(side) for side in rng.integers(1, 40, 2)) + ((channels,) if channels > 1 else ())


def constants(rng, dtype, channels):
    """A sample for each channel, and how the option has them."""
    low, high = LIMITS.get(dtype, (-100, 100))
    values = [int(value) for value in rng.integers(low, high, channels, endpoint=True)]
    return np.array(values, np.float64), "constant:" + ":".join(map(str, values))


def outside_of(rng, dtype, channels, border=None):
    """What lies outside an axis: a border's name, its values and the option."""
    border = border or str(rng.choice(list(SCIPY_MODES)))
    if border != "constant":
        return border, 0.0, border
    values, option = constants(rng, dtype, channels)
    return border, values if channels > 1 else float(values[0]), option


def both_axes(rng, dtype, channels):
    """The same along both axes, or not; with the option."""
    y = outside_of(rng, dtype, channels)
    x = y if rng.random() < 0.5 else outside_of(rng, dtype, channels)
    option = y[2] if x is y else f"{x[2]},{y[2]}"
    return (y[0], x[0]), (y[1], x[1]), option


def padded(rng):
    """`np.pad` and `cv2.copyMakeBorder`, where these have the border, and an index map by hand."""
    dtype, channels = str(rng.choice(list(SAMPLES))), int(rng.integers(1, 5))
    image = image_of(rng, dtype, sides(rng, channels))
    names, values, option = both_axes(rng, dtype, channels)
    above, below, left, right = (int(side) for side in rng.integers(0, 60, 4))
    extent = [(-above, image.shape[0] + above + below), (-left, image.shape[1] + left + right)]
    options = {"border": option}
    if rng.random() < 0.3:
        (y, height), (x, width) = extent = [(int(rng.integers(-50, n + 9)), int(rng.integers(1, n + 60))) for n in image.shape[:2]]
        options["region"] = f"{x},{y},{width}x{height}"
    else:
        options["by"] = f"{above},{below},{left},{right}"
    around = ((above, below), (left, right)) + ((0, 0),) * (image.ndim - 2)

    def judge(out):
        if out.dtype != image.dtype:
            return [f"{out.dtype}, expected {image.dtype}"]
        expected = Outside(names, values, extent).seen(image, (1, 1), (0, 0)).astype(image.dtype)
        wrong = differ("by hand", out, expected)
        # NumPy has another order along axes of length 1.
        if "by" in options and names[0] == names[1] and names[0] in NUMPY_MODES and min(image.shape[:2]) > 1:
            wrong += differ("numpy", out, np.pad(image, around, NUMPY_MODES[names[0]]))
        if cv2 is not None and "by" in options and names == ("constant", "constant") and values[0] is values[1] and dtype != "f16":
            # OpenCV's scalars have four numbers.
            value = np.resize(np.append(np.atleast_1d(values[0]), [0, 0, 0]), 4)
            made = cv2.copyMakeBorder(image, above, below, left, right, cv2.BORDER_CONSTANT, value=[float(v) for v in value])
            wrong += differ("opencv", out, made.reshape(out.shape))
        return wrong

    return Job("pad", f"{dtype} {image.shape}", options, image, judge)


def differ(what, out, expected):
    if out.shape != expected.shape:
        return [f"{what}: {out.shape}, expected {expected.shape}"]
    # By the bits: zeros have signs.
    bad = np.argwhere(out.view(f"u{out.itemsize}") != expected.view(f"u{out.itemsize}"))
    return [f"{what}: {len(bad)} of {out.size} differ, first at {bad[0]}"] if len(bad) else []


def weights_of(rng):
    """A mask of eighths, whose sums with integers are exact."""
    size = tuple(int(side) for side in rng.integers(1, 8, 2))
    return size, (rng.integers(-8, 9, size) / 8).astype(np.float32)


def coloured(rng):
    """A filter with constants by channel."""
    dtype, channels = str(rng.choice(["u8", "u16", "i16", "f32"])), int(rng.integers(2, 5))
    image = image_of(rng, dtype, sides(rng, channels))
    border, values, option = outside_of(rng, dtype, channels, "constant")
    size, mask = weights_of(rng)
    out_type = dtype if rng.random() < 0.5 else "f32"
    options = {"border": option, "mask": literal(mask), "out-type": out_type}

    def judge(out):
        seen = Outside((border, border), (values, values)).seen(image, size, (size[0] // 2, size[1] // 2))
        reference, magnitude = slide(seen, mask)
        slack = 1e-9 * magnitude if dtype == "f32" else 0 * magnitude
        return compare("numpy", out, out_type, reference, (mask.size + 3) * EPS * magnitude, slack)

    return Job("correlate", f"constants {dtype}->{out_type} {image.shape} mask {size}", options, image, judge, kind="constants")


def alpha(rng):
    """A filter, and the input's last channel under its anchor."""
    dtype, channels = str(rng.choice(["u8", "u16", "i16", "f32"])), int(rng.choice([2, 4]))
    image = image_of(rng, dtype, sides(rng, channels))
    size, mask = weights_of(rng)
    names, values, option = both_axes(rng, dtype, channels)
    anchor = tuple(int(rng.integers(0, side)) for side in size)
    extent = "same"
    options = {"mask": literal(mask), "keep-alpha": True, "anchor": f"{anchor[1]},{anchor[0]}"}
    if rng.random() < 0.3 and size[0] <= image.shape[0] and size[1] <= image.shape[1]:
        names, values, option = ("crop", "crop"), (0.0, 0.0), "crop"
    elif rng.random() < 0.3:
        extent, options["full"] = "full", True
    elif rng.random() < 0.3:
        extent = [(int(rng.integers(-9, n + 9)), int(rng.integers(1, n + 9))) for n in image.shape[:2]]
        (y, height), (x, width) = extent
        options["region"] = f"{x},{y},{width}x{height}"
    options["border"] = option
    out_type = str(rng.choice(["u8", "i16", "f32"]))
    options["out-type"] = out_type

    def judge(out):
        seen = Outside(names, values, extent).seen(image, size, anchor)
        reference, magnitude = slide(seen, mask)
        one = np.zeros(size)
        one[anchor] = 1
        reference[..., -1] = slide(seen, one)[0][..., -1]
        slack = 1e-9 * magnitude if dtype == "f32" else 0 * magnitude
        return compare("numpy", out, out_type, reference, (mask.size + 3) * EPS * magnitude, slack)

    return Job("correlate", f"alpha {dtype}->{out_type} {image.shape} mask {size}", options, image, judge, kind="alpha")


def halves(rng):
    """A filter of floats of 16 bits, or to them: the f32 sum rounded once more."""
    dtype = str(rng.choice(["f16", "f16", "u8", "f32"]))
    out_type = "f16" if dtype != "f16" else str(rng.choice(["f16", "f32", "u8", "i16"]))
    image = image_of(rng, dtype, sides(rng, int(rng.integers(1, 4))))
    size, mask = weights_of(rng)
    border = str(rng.choice([name for name in SCIPY_MODES if name != "constant"]))
    options = {"border": border, "mask": literal(mask), "out-type": out_type}

    def judge(out):
        seen = Outside((border, border), (0.0, 0.0)).seen(image, size, (size[0] // 2, size[1] // 2))
        reference, magnitude = slide(seen, mask)
        bound = (mask.size + 3) * EPS * magnitude
        if out_type != "f16":
            return compare("numpy", out, out_type, reference, bound, 1e-9 * magnitude)
        if out.dtype != np.float16 or out.shape != reference.shape:
            return [f"{out.dtype} {out.shape}, expected float16 {reference.shape}"]
        # Between what the ends of the bound round to.
        with np.errstate(over="ignore"):
            low, high = (reference - bound).astype(np.float16), (reference + bound).astype(np.float16)
        bad = ~((low <= out) & (out <= high))
        return [f"numpy: {int(bad.sum())} of {bad.size} samples, first at {np.argwhere(bad)[0]}"] if bad.any() else []

    return Job("correlate", f"{dtype}->{out_type} {image.shape} mask {size}", options, image, judge, kind="halves")


def half_counts(rng):
    """Counts of floats of 16 bits between edges."""
    image = image_of(rng, "f16", sides(rng, 1))
    edges = np.sort(rng.uniform(float(image.min()) - 1, float(image.max()) + 1, int(rng.integers(2, 40))))
    edges = np.unique(edges.astype(np.float32)).astype(np.float64)
    if len(edges) < 2:
        return halves(rng)
    options = {"edges": ",".join(repr(float(edge)) for edge in edges)}

    def judge(out):
        expected = np.histogram(image.astype(np.float64), edges)[0]
        return [] if np.array_equal(out.reshape(-1), expected) else [f"numpy: {out}, expected {expected}"]

    return Job("histogram", f"f16 {image.shape}", options, image, judge, kind="half counts")


MAKERS = [padded, coloured, alpha, halves, half_counts]


def pixels(rng):
    return MAKERS[rng.integers(len(MAKERS))](rng)
