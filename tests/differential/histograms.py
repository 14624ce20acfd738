"""Problems of histograms and of what is made of them, against NumPy, OpenCV and scikit-image: all exact.

`check.py` draws from MAKERS by `histograms`.
"""

import json

import numpy as np

from common import Job

try:
    import cv2
except ImportError:
    cv2 = None
try:
    from skimage import exposure, filters
except ImportError:
    exposure = filters = None


def shape_of(rng, channels=True):
    side = lambda: int(1 + rng.integers(0, 200 if rng.random() < 0.2 else 40))
    return (side(), side()) + ((int(rng.integers(2, 5)),) if channels and rng.random() < 0.4 else ())


def image_of(rng, dtype, shape):
    """Of all values, of few, or of those around one, so that histograms have gaps and peaks."""
    kind = rng.random()
    if dtype in ("f32", "f64"):
        image = rng.standard_normal(shape) * 100
        if dtype == "f64" and kind > 0.8:
            # Samples that f32 does not tell apart.
            image = 1 + np.rint(image) * 2.0**-50
        return (np.rint(image) if kind < 0.3 else image).astype(dtype.replace("f", "float"))
    info = np.iinfo({"u8": np.uint8, "u16": np.uint16, "i16": np.int16}[dtype])
    if kind < 0.4:
        image = rng.integers(info.min, info.max + 1, shape)
    elif kind < 0.55:
        image = rng.choice(rng.integers(info.min, info.max + 1, int(rng.integers(1, 6))), shape)
    else:
        middle, width = rng.integers(info.min, info.max + 1), rng.random() * (info.max - info.min) / 4
        image = np.clip(np.rint(rng.normal(middle, width, shape)), info.min, info.max)
    return image.astype(info.dtype)


def planes(image):
    """The channels, one after the other."""
    three = image.reshape(image.shape[0], image.shape[1], -1)
    return [three[..., c] for c in range(three.shape[2])]


def equal(what, out, expected):
    expected = np.asarray(expected)
    if out.dtype != expected.dtype or out.shape != expected.shape:
        return [f"{what}: {out.dtype} {out.shape}, expected {expected.dtype} {expected.shape}"]
    bad = np.argwhere(out != expected)
    if not len(bad):
        return []
    at = tuple(int(i) for i in bad[0])
    return [f"{what}: {len(bad)} of {out.size} differ; at {at}: {out[at]!r}, expected {expected[at]!r}"]


class Told(Job):
    """A job that writes no file: its report is judged."""

    loads = False

    def line(self, folder, index):
        line, result = super().line(folder, index)
        job = json.loads(line)
        del job["out"]
        return json.dumps(job), result


def counts(rng):
    """`numpy.histogram` by edges or by a range, of masked pixels or all, together or apart, cumulated or not."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32", "f64"]))
    image = image_of(rng, dtype, shape_of(rng))
    low, high = float(image.min()) - 3, float(image.max()) + 3
    options, arrays = {}, {}
    if rng.random() < 0.6:
        edges = np.sort(rng.uniform(low, high, int(rng.integers(2, 60))))
        # Edges on samples, equal edges, and ends that hold everything.
        edges[rng.random(edges.size) < 0.3] = rng.choice(image.reshape(-1))
        edges = np.sort(np.rint(edges) if rng.random() < 0.3 else edges)
        if rng.random() < 0.2:
            edges[0], edges[-1] = -np.inf, np.inf
        bins, extent = edges, None
        if rng.random() < 0.5 and np.isfinite(edges).all():
            options["edges"] = ",".join(repr(float(edge)) for edge in edges)
        else:
            arrays["edges"] = edges
    elif dtype != "u8" and rng.random() < 0.4:
        # The range of the samples that count, of all channels together.
        # Bins of samples next to each other must have a width.
        options["bins"] = bins = int(rng.choice([2, 7, 256] if dtype == "f64" else [2, 7, 256, 1000, 40000]))
        extent = "found"
    else:
        bins, extent = int(rng.choice([2, 7, 256, 1000, 40000, 70000])), (low, high)
        if rng.random() < 0.3:
            extent = (float(np.rint(low)), float(np.rint(high) + 1))
        options.update(bins=bins, range=f"{extent[0]!r},{extent[1]!r}")
    roi = None
    # Kernels do not find the range of the f64 samples under a mask.
    if rng.random() < 0.4 and not (dtype == "f64" and extent == "found"):
        roi = rng.choice(np.array([0, 1, 255], np.uint8), image.shape[:2])
        arrays["roi-mask"] = roi
    options["per-channel"] = apart = bool(rng.random() < 0.5)
    options["cumulative"] = cumulative = bool(rng.random() < 0.3)

    def judge(out):
        chosen = [plane[roi != 0] if roi is not None else plane for plane in planes(image)]
        samples = np.stack(chosen)
        over = extent if extent != "found" else (samples.min(), samples.max()) if samples.size else None
        found = [np.histogram(plane, bins, over)[0] for plane in (chosen if apart else [samples])]
        found = [np.cumsum(each) if cumulative else each for each in found]
        return equal("numpy", out, np.stack(found) if apart else found[0])

    about = f"{dtype} {image.shape}{' masked' if roi is not None else ''}"
    return Job("histogram", about, options, image, judge, arrays, kind="counts")


def weights(rng):
    """`numpy.histogram` with weights: even bins in NumPy's order, and so to the bit; uneven ones it sums otherwise."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32", "f64"]))
    # Sometimes more samples than NumPy sums at a time.
    shape = (300, 260) if rng.random() < 0.1 else shape_of(rng)
    image = image_of(rng, dtype, shape)
    weight = rng.standard_normal(image.shape[:2]) * 10.0 ** rng.integers(-8, 9, image.shape[:2])
    if rng.random() < 0.3:
        weight = weight.astype(np.float32)
    low, high = float(image.min()) - 3, float(image.max()) + 3
    options, arrays = {"per-channel": bool(rng.random() < 0.5)}, {"weights": weight}
    uneven = rng.random() < 0.4
    if uneven:
        bins, extent = np.unique(rng.uniform(low, high, int(rng.integers(2, 40)))), None
        arrays["edges"] = bins
    else:
        bins, extent = int(rng.choice([1, 7, 256, 700])), (low, high)
        options.update(bins=bins, range=f"{low!r},{high!r}")

    def judge(out):
        apart = options["per-channel"]
        wide = weight.astype(np.float64)
        three = image.reshape(*image.shape[:2], -1)
        chosen = planes(image) if apart else [three]
        found = [np.histogram(each, bins, extent, weights=wide if apart else np.broadcast_to(wide[..., None], three.shape))[0] for each in chosen]
        expected = np.stack(found) if apart else found[0]
        if not uneven:
            return equal("numpy", out, expected)
        if out.dtype != expected.dtype or out.shape != expected.shape:
            return [f"numpy: {out.dtype} {out.shape}, expected {expected.dtype} {expected.shape}"]
        # It takes differences of sums of all weights below.
        error = abs(out - expected).max()
        bound = 1e-15 * image.size * abs(wide).sum() * three.shape[2]
        return [] if error <= bound else [f"numpy: {error} away, more than {bound}"]

    about = f"{dtype} {image.shape} {'uneven' if uneven else bins} bins"
    return Job("histogram", about, options, image, judge, arrays, kind="weights", operations=["weighted"])


def pairs(rng):
    """`numpy.histogram2d` of two channels: even bins, or uneven ones."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32", "f64"]))
    image = image_of(rng, dtype, shape_of(rng, channels=False) + (int(rng.integers(1, 5)),))
    channels = rng.integers(0, image.shape[2], 2)
    chosen = [planes(image)[channel] for channel in channels]
    options, arrays = {"channels": f"{channels[0]},{channels[1]}"}, {}
    extents = [(float(np.rint(plane.min())) - 2, float(np.rint(plane.max())) + 3) for plane in chosen]
    if rng.random() < 0.4:
        edges = [np.unique(rng.uniform(*extent, int(rng.integers(2, 40)))) for extent in extents]
        edges = [np.array(extent) if len(each) < 2 else each for each, extent in zip(edges, extents)]
        arrays.update(edges=edges[0], edges2=edges[1])
        bins, extent = edges, None
    else:
        bins, extent = [int(count) for count in rng.choice([1, 5, 64, 300], 2)], extents
        options["bins"] = f"{bins[0]},{bins[1]}"
        options["range"] = ",".join(repr(end) for pair in extents for end in pair)

    def judge(out):
        expected = np.histogram2d(*(plane.reshape(-1) for plane in chosen), bins, extent)[0]
        return equal("numpy", out, expected.astype(np.int64))

    about = f"{dtype} {image.shape} channels {channels}"
    return Job("histogram2d", about, options, image, judge, arrays, operations=["joint"])


def joint(rng):
    """`numpy.histogramdd` of one to eight columns: even bins, given or found, and edges; weights, in one block of NumPy's order."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32", "f64"]))
    columns, rows = int(rng.integers(1, 9)), int(rng.integers(1, 3000 if rng.random() < 0.2 else 200))
    image = image_of(rng, dtype, (rows, columns))
    picked = rng.integers(0, columns, int(rng.integers(1, columns + 1)))
    chosen = image[:, picked]
    most = max(2, int(40000 ** (1 / picked.size)))
    options, arrays, extent = {"columns": ",".join(str(column) for column in picked)}, {}, None
    kind = rng.random()
    if kind < 0.4:
        edges = []
        for column in chosen.T:
            low, high = float(column.min()) - 2, float(column.max()) + 3
            each = np.sort(rng.uniform(low, high, int(rng.integers(2, min(most, 40) + 2))))
            # Edges on samples.
            each = np.where(rng.random(each.size) < 0.3, rng.choice(column, each.size), each)
            edges.append(np.sort(each))
        bins = edges
        options["edges"] = ";".join(",".join(repr(float(edge)) for edge in each) for each in edges)
    else:
        bins = [int(count) for count in rng.integers(1, most + 1, picked.size)]
        extents = [(float(column.min()) - 0.7, float(column.max()) - 0.1) for column in chosen.T]
        found = kind < 0.6 and dtype != "f64"
        if found and dtype == "f32":
            # Where bins have no width NumPy gives one, and Apron none.
            found = all(len(np.unique(np.linspace(c.min(), c.max(), n + 1))) == n + 1 for c, n in zip(chosen.T, bins) if c.min() < c.max())
        options["bins"] = ",".join(str(count) for count in bins)
        if not found:
            extent = [(low, high) if low < high else (low, low + 2) for low, high in extents]
            options["range"] = ",".join(repr(end) for pair in extent for end in pair)
    weight = None
    if rng.random() < 0.3:
        weight = rng.standard_normal(rows) * 10.0 ** rng.integers(-8, 9, rows)
        arrays["weights"] = weight
    options["density"] = density = bool(weight is None and rng.random() < 0.3)

    def judge(out):
        with np.errstate(invalid="ignore", divide="ignore"):
            expected, ends = np.histogramdd(chosen, bins, extent, density=density, weights=weight)
            if density and ends[0].dtype == np.float32:
                # NumPy rounds the widths between edges of f32 to f32, and Apron does not.
                expected = np.histogramdd(chosen, bins, extent)[0]
                total = expected.sum()
                for axis, each in enumerate(ends):
                    widths = np.diff(each.astype(np.float64))
                    expected = expected / widths.reshape([-1 if of == axis else 1 for of in range(len(ends))])
                expected /= total
        if density:
            # Bins between equal edges, and all if no row lies in one, have none.
            out, expected = (np.where(np.isnan(each), -1.0, each) for each in (out, expected))
        return equal("numpy", out, expected if density or weight is not None else expected.astype(np.int64))

    about = f"{dtype} {image.shape} columns {picked}{' weighted' if weight is not None else ''}"
    return Job("histogramdd", about, options, image, judge, arrays, operations=["joint"])


class Images(Told):
    """A job on two images."""

    def line(self, folder, index):
        line, result = super().line(folder, index)
        other = folder / f"{index}.other.npy"
        np.save(other, self.other)
        job = json.loads(line)
        job["in"] = [job["in"], str(other)]
        return json.dumps(job), result


def information(rng):
    """Entropies and mutual information of the joint histogram of two images, as scikit-image normalizes it."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32"]))
    first = image_of(rng, dtype, shape_of(rng, channels=False))
    # Independent, or the first one with some noise.
    second = image_of(rng, dtype, first.shape) if rng.random() < 0.5 else np.where(rng.random(first.shape) < 0.2, first[::-1], first)
    bins = int(rng.choice([2, 10, 64]))
    pairs = np.stack([first.reshape(-1), second.reshape(-1)], 1)
    ends = [(float(column.min()) - 1, float(column.max()) + 1) for column in pairs.T]
    options = {"bins": bins, "range": ",".join(repr(end) for pair in ends for end in pair), "information": True}

    def judge(report):
        share = np.histogramdd(pairs, bins, ends)[0] / len(pairs)
        entropy = lambda p: -float(sum(p[p > 0] * np.log(p[p > 0])))
        single = [entropy(share.sum(1)), entropy(share.sum(0))]
        joint = entropy(share)
        found = report["information"]
        near = lambda a, b: abs(a - b) <= 1e-12 * max(1, joint)
        exact = [("count", found["count"] == len(pairs)), ("joint", near(found["joint"], joint))]
        exact += [("entropies", all(near(a, b) for a, b in zip(found["entropies"], single, strict=True)))]
        exact += [("mutual", near(found["mutual"], max(0.0, sum(single) - joint)))]
        if joint > 0:
            exact += [("normalized", abs(found["normalized"] - sum(single) / joint) <= 1e-9)]
        return [f"numpy: {name} of {found}" for name, same in exact if not same]

    job = Images("histogramdd", f"{dtype} {first.shape} and another", options, first, judge, kind="information", operations=["joint"])
    job.other = second
    return job


def statistics(rng):
    """Extremes and percentiles are exact; NumPy rounds sums in another order."""
    dtype = str(rng.choice(["u8", "u16", "i16", "f32", "f64"]))
    image = image_of(rng, dtype, shape_of(rng))
    percents = sorted({0.0, 50.0, 100.0, round(float(rng.uniform(0, 100)), 3)}) if rng.random() < 0.8 else []
    options = {"per-channel": bool(rng.random() < 0.5)}
    if percents:
        options["percentile"] = ",".join(repr(percent) for percent in percents)

    def judge(report):
        wrong = []
        expected = planes(image) if options["per-channel"] else [image]
        for found, plane in zip(report["statistics"], expected, strict=True):
            exact = {"count": plane.size, "min": plane.min(), "max": plane.max()}
            wrong += [f"numpy: {name} {found[name]}, expected {value}" for name, value in exact.items() if found[name] != value]
            wide = plane.astype(np.float64)
            for name, value in {"mean": wide.mean(), "std": wide.std()}.items():
                if abs(found[name] - value) > 1e-12 * abs(wide).max():
                    wrong.append(f"numpy: {name} {found[name]!r}, expected {value!r}")
            values = [percentile["value"] for percentile in found["percentiles"]]
            # As i16 NumPy's own differences overflow.
            plane = plane if dtype in ("f32", "f64") else plane.astype(np.int64)
            if percents and values != list(np.percentile(plane, percents)):
                wrong.append(f"numpy: percentiles {percents}: {values}")
        return wrong

    return Told("stats", f"{dtype} {image.shape}", options, image, judge, operations=["stats"] if dtype in ("f32", "f64") else ["none"])


def equalize(rng):
    image = image_of(rng, "u8", shape_of(rng))
    judge = lambda out: equal("opencv", out, np.stack([cv2.equalizeHist(np.ascontiguousarray(p)) for p in planes(image)], -1).reshape(image.shape))
    return Job("equalize", f"{image.shape}", {}, image, judge)


def clahe(rng):
    dtype = str(rng.choice(["u8", "u8", "u8", "u8", "u16"]))
    image = image_of(rng, dtype, shape_of(rng))
    tiles = tuple(int(count) for count in rng.integers(1, 10, 2))
    clip = float(rng.choice([0, 0.5, 1, 2, 3.7, 40]))

    def judge(out):
        apply = cv2.createCLAHE(clipLimit=clip, tileGridSize=tiles).apply
        return equal("opencv", out, np.stack([apply(np.ascontiguousarray(p)) for p in planes(image)], -1).reshape(image.shape))

    options = {"clip": clip, "tiles": f"{tiles[0]}x{tiles[1]}"}
    return Job("clahe", f"{dtype} {image.shape}", options, image, judge)


def otsu(rng):
    image = image_of(rng, str(rng.choice(["u8", "u16"])), shape_of(rng, channels=False))

    def judge(out):
        threshold, _ = cv2.threshold(image, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        return equal("opencv", out, np.array([int(threshold)]))

    return Job("otsu", f"{image.dtype} {image.shape}", {}, image, judge, operations=["none"])


def classes(rng):
    count = int(rng.choice([2, 3, 3, 4]))
    image = image_of(rng, "u8", shape_of(rng, channels=False))
    # As many values as classes are needed.
    image.reshape(-1)[:6] = np.arange(0, 240, 40)[: image.size]
    if len(np.unique(image)) < count or count == 2:
        image, count = np.arange(0, 250, 5, dtype=np.uint8).reshape(5, 10), max(count, 3)
    judge = lambda out: equal("scikit-image", out, filters.threshold_multiotsu(image, count).astype(np.int64))
    return Job("otsu", f"{image.shape} {count} classes", {"classes": count}, image, judge, operations=["none"], kind="classes")


def match(rng):
    shape = shape_of(rng)
    image = image_of(rng, "u8", shape)
    reference = image_of(rng, "u8", shape_of(rng, channels=False) + shape[2:])

    def judge(out):
        three = [array.reshape(array.shape[0], array.shape[1], -1) for array in (image, reference)]
        return equal("scikit-image", out, exposure.match_histograms(*three, channel_axis=-1).reshape(image.shape))

    arrays = {"reference": reference}
    return Job("match", f"{image.shape} like {reference.shape}", {}, image, judge, arrays, operations=["lookup"])


MAKERS = [counts, counts, statistics, weights, pairs, joint, joint, information]
if cv2 is not None:
    # Some problem in a few hundred should be for each of the operations.
    MAKERS += [equalize, clahe, clahe, otsu]
if exposure is not None:
    MAKERS += [match, classes]


def histograms(rng):
    return MAKERS[rng.integers(len(MAKERS))](rng)
