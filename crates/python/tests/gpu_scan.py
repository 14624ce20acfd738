"""Filters of arrays on a GPU, by shape and type: that they equal the host's, and where `cupyx.scipy.ndimage` is not slower.

    python3 gpu_scan.py [--shapes "2048,2048 1024,1024,3"] [--types uint8,float32] [--cases 1000]
"""

import argparse
import functools
import sys
import time

import cupy
import cupyx.scipy.ndimage as theirs
import numpy as np

from apron import ndimage as own

RANDOM = np.random.default_rng(3)
INTEGERS = "u1 i1 u2 i2 u4 i4".split()


@functools.cache
def weights(sides, is_own):
    taps = np.random.default_rng(1).random(sides)
    taps /= taps.sum()
    return taps if is_own else cupy.asarray(taps)


def filters(axes, ndim):
    """Filters along ``axes`` of arrays of ``ndim`` axes, each a function of a module, an array and an output."""

    def sides(among, side):
        return tuple(side if axis in among else 1 for axis in range(ndim))

    def by_axis(value, other):
        return [value if axis in axes else other for axis in range(ndim)]

    def mask(among, side):
        return lambda of, x, out: of.correlate(x, weights(sides(among, side), of is own), output=out)

    def line(count, axis):
        return lambda of, x, out: of.correlate1d(x, weights((count,), of is own), axis=axis, output=out)

    return {
        "gaussian of sigma 2": lambda of, x, out: of.gaussian_filter(x, by_axis(2.0, 0.0), output=out),
        "mean of 5": lambda of, x, out: of.uniform_filter(x, by_axis(5, 1), output=out),
        "mean of 9 along the last": lambda of, x, out: of.uniform_filter1d(x, 9, axis=axes[-1], output=out),
        "5 taps along the first": line(5, axes[0]),
        "25 taps along the last": line(25, axes[-1]),
        "mask of 3": mask(axes, 3),
        "mask of 5": mask(axes, 5),
        "row of 7": mask(axes[-1:], 7),
        "column of 7": mask(axes[:1], 7),
        "sobel": lambda of, x, out: of.sobel(x, axis=axes[0], output=out),
        "prewitt": lambda of, x, out: of.prewitt(x, axis=axes[-1], output=out),
        "laplace": lambda of, x, out: of.laplace(x, output=out),
        "laplacian of a gaussian": lambda of, x, out: of.gaussian_laplace(x, 1.5, output=out),
        "gradient of a gaussian": lambda of, x, out: of.gaussian_gradient_magnitude(x, 1.5, output=out),
    }


def median(run, repeat=12):
    """Returns the median time of calls with their work, in microseconds."""
    run(), run()
    cupy.cuda.Device().synchronize()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        cupy.cuda.Device().synchronize()
        times.append((time.perf_counter() - start) * 1e6)
    return sorted(times)[repeat // 2]


def behind(shapes, types):
    """Prints the filters that take over 0.9 of the time of `cupyx`'s."""
    count = slower = 0
    for shape in shapes:
        # Colours are not filtered, but by filters that have no choice of axes.
        axes = tuple(range(len(shape) - 1 if len(shape) > 2 and shape[-1] <= 4 else len(shape)))
        for dtype in types:
            array = cupy.asarray((RANDOM.random(shape) * 200).astype(dtype))
            out = cupy.empty_like(array)
            for name, call in filters(axes, len(shape)).items():
                mine, other = (median(lambda: call(of, array, out)) for of in (own, theirs))
                count += 1
                if mine > 0.9 * other:
                    slower += 1
                    print(f"{shape} {dtype} {name}: {mine:.1f} us, cupyx {other:.1f}", flush=True)
    print(f"{slower} of {count} filters take over 0.9 of the time of cupyx")


def differing(cases):
    """Compares random calls on arrays on a GPU with those on the host; returns the number of those that differ."""
    found = 0
    for case in range(cases):
        shape = (*(int(side) for side in RANDOM.integers(3, 14, RANDOM.integers(1, 4))), int(RANDOM.integers(1, 6)))
        if case % 10 == 0:
            shape = (1100, int(RANDOM.integers(2, 9)))
        dtype = str(RANDOM.choice([*INTEGERS, "f4", "f8"]))
        host = (RANDOM.random(shape) * 100).astype(dtype)
        ndim, mode = len(shape), str(RANDOM.choice(["reflect", "mirror", "nearest", "wrap", "constant"]))
        axis, around = int(RANDOM.integers(0, ndim)), {"mode": mode, "cval": float(RANDOM.integers(0, 5))}
        sides = [int(side) for side in RANDOM.integers(1, 5, ndim)]
        # On a GPU the axes between the first and the last one with several taps are three at most, and one behind them.
        if ndim == 4:
            sides[0] = sides[3] = 1
        taps = RANDOM.random(sides) - 0.3
        calls = {
            "sobel": lambda x: own.sobel(x, axis, **around),
            "prewitt": lambda x: own.prewitt(x, axis, **around),
            "gaussian": lambda x: own.gaussian_filter(x, 1.3, **around),
            "mean": lambda x: own.uniform_filter(x, 3, **around),
            "mean along an axis": lambda x: own.uniform_filter1d(x, 5, axis, **around),
            "laplace": lambda x: own.laplace(x, **around),
            "laplacian of a gaussian": lambda x: own.gaussian_laplace(x, 1.2, **around),
            "taps": lambda x: own.correlate1d(x, [0.2, 0.5, 0.3], axis, **around),
            "mask": lambda x: own.correlate(x, taps, **around),
        }
        name = str(RANDOM.choice(list(calls)))
        expected, result = calls[name](host), calls[name](cupy.asarray(host)).get()
        are_equal = np.array_equal(result, expected)
        if not (are_equal or (dtype not in INTEGERS and np.allclose(result, expected, rtol=2e-5, atol=2e-3))):
            found += 1
            print(f"{name} of {shape} {dtype} {mode}, axis {axis}, mask {sides}: differs from the host's result", flush=True)
    print(f"{cases} random calls, {found} of them differ")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", default="2048,2048 1024,1024,3 64,256,256")
    parser.add_argument("--types", default="uint8,uint16,int32,float32,float64")
    parser.add_argument("--cases", type=int, default=1000)
    given = parser.parse_args()
    found = differing(given.cases)
    behind([tuple(map(int, shape.split(","))) for shape in given.shapes.split()], given.types.split(","))
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
