"""What problems are made of: jobs, the reference's sums, comparisons, and random parts."""

import copy
import json

import numpy as np

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
        if {"scale", "delta", "divisor", "offset"} & options.keys():
            # Sums that are scaled to integers are an operation of their own.
            if options.get("out-type", np.dtype(image.dtype).kind)[0] in "ui":
                self.operations = ["scaled"]
        if options.get("method") == "fft":
            self.operations = ["fft"]
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

    def given(self, result, report):
        """Returns what is judged: the array that was written, or the report."""
        return np.load(result) if self.loads else report


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


class Outside:
    """What lies outside, by axis (rows, columns), and which pixels are computed."""

    def __init__(self, names, values, extent="same"):
        self.names, self.values, self.extent = names, values, extent

    def seen(self, image, size, anchor):
        """The f64 image with all that a mask of this (height, width) sees; crop adds nothing."""
        image = image.astype(np.float64)
        # Along the rows first, as constants of two axes meet in the corners.
        for axis in (1, 0):
            n, more, border = image.shape[axis], size[axis] - 1, self.names[axis]
            if border == "crop":
                continue
            if self.extent == "same":
                first, count = -anchor[axis], n
            elif self.extent == "full":
                first, count = -more, n + more
            else:
                first, count = self.extent[axis][0] - anchor[axis], self.extent[axis][1]
            index = index_map(first, count + more, n, border)
            image = np.take(image, index, axis=axis)
            outside = [slice(None)] * image.ndim
            outside[axis] = index < 0
            image[tuple(outside)] = self.values[axis]
        return image


def extend(image, size, anchor, border, value):
    """The same with one border for both axes, for the image's own pixels."""
    return Outside((border, border), (value, value)).seen(image, size, anchor)


def slide(extended, mask, number=np.float64):
    """Sums and sums of magnitudes of tap times sample, in this type, over all windows inside."""
    mask = mask.astype(number)
    height = extended.shape[0] - mask.shape[0] + 1
    width = extended.shape[1] - mask.shape[1] + 1
    total = np.zeros((height, width) + extended.shape[2:], number)
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


def random_dtype(rng):
    """Mostly a type that kernels take as it is."""
    return str(rng.choice(["u16", "i16"] if rng.random() < 0.2 else ["u8", "f32"]))


def is_sample(value, dtype):
    """Whether an image of the type can have this value."""
    return dtype == "f32" or (value == int(value) and LIMITS[dtype][0] <= value <= LIMITS[dtype][1])


def random_image(rng, dtype, shape):
    if dtype != "f32":
        # Sometimes extremes only, which saturate.
        low, high = LIMITS[dtype]
        if rng.random() < 0.1:
            return rng.choice(np.array([low, high], TYPES[dtype]), shape)
        return rng.integers(low, high, shape, TYPES[dtype], endpoint=True)
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4)).astype(np.float32)


def random_border(rng, borders):
    """The border's name, its value (0 unless constant), and the option."""
    border = str(rng.choice(borders))
    if border != "constant" or rng.random() < 0.3:
        return border, 0.0, border
    value = float(rng.choice([rng.integers(-50, 300), np.float32(rng.uniform(-50, 300))]))
    # The shortest text that gives the same f32.
    return border, value, f"constant:{np.float32(value)!s}"


def random_outside(rng, options, border, value, dtype, shape):
    """The border as it is, or now and then another along the columns, and other pixels than the image's."""
    names, values = [border, border], [value, value]
    # Constants of one axis have to be samples, and cropped images are no larger than they are.
    if border != "crop" and is_sample(value, dtype) and rng.random() < 0.2:
        names[0] = str(rng.choice([name for name in SCIPY_MODES if name != border]))
        if names[0] != "constant":
            options["border"] += f",{names[0]}"
        else:
            values[0] = float(rng.integers(0, 200))
            options["border"] += f",constant:{values[0]:g}"
    extent, draw = "same", rng.random()
    if border != "crop" and draw < 0.15:
        extent, options["full"] = "full", True
    elif border != "crop" and draw < 0.3:
        extent = [(int(rng.integers(-9, n + 9)), int(rng.integers(1, n + 9))) for n in shape[:2]]
        (y, height), (x, width) = extent
        options["region"] = f"{x},{y},{width}x{height}"
    return Outside(names, values, extent)


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


def random_bells(rng, shape):
    """A mask that is a sum of two columns times rows: two bells."""
    mask = 0
    for sigma in rng.uniform(2, 6, 2):
        column, row = (np.exp(-(((np.arange(side) - side / 2) / sigma) ** 2)) for side in shape)
        mask = mask + rng.uniform(0.01, 1) * np.outer(column, row)
    return mask.astype(np.float32)


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
