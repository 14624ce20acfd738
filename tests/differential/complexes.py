"""Problems of complex numbers: linear filters of complex64 and complex128, which SciPy has, too.

`check.py` draws from `complexes`.
"""

import numpy as np
from scipy import ndimage

from common import SCIPY_MODES, Job, literal

# The largest relative error of rounding to f32 and to f64.
ROUNDING = {np.complex64: 2.0**-24, np.complex128: 2.0**-53}


def numbers(rng, shape, kind):
    parts = rng.standard_normal((2, *shape)) * 10.0 ** rng.integers(-3, 4)
    image = (parts[0] + 1j * parts[1]).astype(kind)
    # In either byte order.
    return image if rng.random() < 0.7 else image.astype(image.dtype.newbyteorder())


def complexes(rng):
    kind = [np.complex64, np.complex128][rng.integers(2)]
    channels = int(rng.integers(1, 3))
    volume = rng.random() < 0.3
    shape = tuple(int(side) for side in rng.integers(1, 30, 3 if volume else 2))
    image = numbers(rng, shape + ((channels,) if channels > 1 else ()), kind)
    border = str(rng.choice(list(SCIPY_MODES)))
    # The constant is real; beside a volume it is 0.
    value = 0.0 if volume or rng.random() < 0.3 else float(rng.integers(-50, 50))
    around = {"mode": SCIPY_MODES[border], "cval": value}
    options = {"border": f"constant:{value:g}" if border == "constant" else border}
    if volume:
        options["volume"] = True
    axes = tuple(range(len(shape)))
    verb = str(rng.choice(["gaussian", "box", "correlate"]))
    if verb == "correlate" and volume:
        verb = "gaussian"
    if verb == "gaussian":
        sigma = [round(float(sigma), 2) for sigma in rng.uniform(0.3, 3, len(shape))]
        options["sigma"] = ",".join(map(str, sigma[::-1]))
        taps = sum(2 * int(4 * one + 0.5) + 1 for one in sigma)
        magnify = 1.0

        def filtered(image, **around):
            return ndimage.gaussian_filter(image, sigma, axes=axes, **around)

    elif verb == "box":
        size = [int(side) for side in rng.integers(1, 8, len(shape))]
        options["size"] = "x".join(map(str, size[::-1]))
        taps, magnify = int(np.prod(size)), 1.0

        def filtered(image, **around):
            return ndimage.uniform_filter(image, size, axes=axes, **around)

    else:
        size = tuple(int(side) for side in rng.integers(1, 8, 2))
        mask = (rng.integers(-8, 9, size) / 8).astype(np.float64)
        options["mask"] = literal(mask)
        taps, magnify = mask.size, float(abs(mask).sum())

        def filtered(image, **around):
            weights = mask.reshape(size + (1,) * (image.ndim - 2))
            return ndimage.correlate(image, weights, **around)

    def judge(out):
        if out.dtype != kind or out.shape != image.shape:
            return [f"{out.dtype} {out.shape}, expected {np.dtype(kind)} {image.shape}"]
        reference = filtered(image.astype(np.complex128), **around)
        # Sums of magnitudes are at most those of the largest sample. SciPy's own sums are of f64, and running ones of means.
        largest = max(float(abs(image).max()), abs(value) if border == "constant" else 0.0)
        bound = (taps + 3) * (ROUNDING[kind] + 2.0**-52 * (1 + max(image.shape))) * magnify * largest
        # The taps of a Gaussian are summed up in another order.
        bound += 1e-12 * largest * magnify
        error = np.maximum(abs(out.real - reference.real), abs(out.imag - reference.imag))
        bad = np.argwhere(~(error <= bound))
        return [f"scipy: {len(bad)} of {out.size}, first at {bad[0]}, largest {error.max():g} > {bound:g}"] if len(bad) else []

    about = f"{np.dtype(kind)} {image.shape}"
    return Job(verb, about, options, image, judge, kind="complex", operations=["none"])
