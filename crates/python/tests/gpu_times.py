"""Times of arrays of CuPy and PyTorch on a GPU, beside cupyx.scipy.ndimage and CuPy; `gpu.py` prints them."""

import time

import numpy as np

import apron
from apron import cv
from apron import ndimage as own

RANDOM = np.random.default_rng(1)


def image_of(dtype, shape):
    return (RANDOM.random(shape) * 100).astype(dtype)


def best(run, wait, repeat=30):
    """Returns the least time of calls, in microseconds, with the work of the GPU."""
    run(), wait()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run(), wait()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def in_bursts(run, wait, calls=200):
    """Returns the time of a call among many that are enqueued, in microseconds."""
    run(), wait()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    enqueued = time.perf_counter() - start
    wait()
    return enqueued / calls * 1e6, (time.perf_counter() - start) / calls * 1e6


def cupy_first():
    import cupy

    # The driver's own start of a process's first kernel and first pool of memory is CuPy's here.
    image = cupy.asarray(image_of("f4", (512, 512))) + 1
    memory = cupy.cuda.runtime
    memory.freeAsync(memory.mallocAsync(1 << 20, 0), 0)
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    own.gaussian_filter(image, 2.0)
    enqueued = time.perf_counter() - start
    cupy.cuda.Device().synchronize()
    print(f"first call on a CuPy array: {enqueued * 1e3:.2f} ms, {(time.perf_counter() - start) * 1e3:.2f} ms with its work")


def cupy_times():
    import cupy
    import cupyx.scipy.ndimage as theirs

    wait = cupy.cuda.Device().synchronize
    small = cupy.asarray(image_of("f4", (64, 64)))
    for name, call in {"gaussian": lambda of: of.gaussian_filter(small, 1.0), "sobel": lambda of: of.sobel(small)}.items():
        (enqueue, each), (their_enqueue, theirs_each) = (in_bursts(lambda: call(of), wait) for of in (own, theirs))
        print(
            f"64x64 {name}: {enqueue:.1f} us a call to enqueue, {each:.1f} us with its work; "
            f"cupyx {their_enqueue:.1f}, {theirs_each:.1f}"
        )
    for sigma in (1.2345, 2.3456, 3.4567):
        image = cupy.asarray(image_of("f4", (512, 512)))
        times = []
        for of in (own, theirs):
            wait()
            start = time.perf_counter()
            of.gaussian_filter(image, sigma)
            wait()
            times.append((time.perf_counter() - start) * 1e3)
        print(f"sigma {sigma}, never used before: {times[0]:.3f} ms; cupyx {times[1]:.3f} ms")
    for dtype in ("f4", "f8", "u1"):
        for shape in ((2048, 2048), (4096, 4096), (256, 256, 256)):
            image = cupy.asarray(image_of(dtype, shape))
            mask = RANDOM.random((7, 7) if len(shape) == 2 else (3, 3, 3))
            weights = cupy.asarray(mask)
            for name, call in {
                "gaussian 2": lambda of, w: of.gaussian_filter(image, 2.0),
                "uniform 15": lambda of, w: of.uniform_filter(image, 15),
                "sobel": lambda of, w: of.sobel(image),
                f"correlate {mask.shape[0]}": lambda of, w: of.correlate(image, w),
            }.items():
                mine = best(lambda: call(own, mask), wait, 10)
                other = best(lambda: call(theirs, weights), wait, 5)
                print(f"{dtype} {shape} {name}: {mine:.0f} us; cupyx {other:.0f} us, {other / mine:.1f} x", flush=True)


def cupy_times_of_counts():
    import cupy

    wait = cupy.cuda.Device().synchronize
    samples, rows = cupy.asarray(image_of("f4", (4096, 4096))), cupy.asarray(image_of("f4", (1_000_000, 3)))
    weights, words = samples / 7, cupy.asarray(RANDOM.integers(0, 60_000, 1 << 24).astype("u2"))
    ranges = [(0, 100)] * 3
    for name, mine, theirs in [
        ("percentile of f4 4096x4096", lambda: apron.percentile(samples, [5, 50, 95]), lambda: cupy.percentile(samples, [5, 50, 95])),
        ("histogram of f4 4096x4096", lambda: apron.histogram(samples, 256, (0, 100)), lambda: cupy.histogram(samples, 256, (0, 100))),
        (
            "its weights of f4",
            lambda: apron.histogram(samples, 256, (0, 100), weights=weights),
            lambda: cupy.histogram(samples, 256, (0, 100), weights=weights),
        ),
        ("bincount of 2^24 u2", lambda: apron.bincount(words), lambda: cupy.bincount(words)),
        (
            "histogramdd of 1000000x3 f4, 32^3 bins",
            lambda: apron.histogramdd(rows, 32, ranges),
            lambda: cupy.histogramdd(rows, bins=32, range=ranges),
        ),
    ]:
        own_time, their_time = best(mine, wait, 10), best(theirs, wait, 5)
        print(f"{name}: {own_time:.0f} us; cupy {their_time:.0f} us, {their_time / own_time:.1f} x", flush=True)
    image = cupy.asarray(image_of("u1", (4096, 4096, 3)))
    grey = cupy.ascontiguousarray(image[:, :, 0])
    for name, call in {
        "GaussianBlur 9x9 of u1 x 3": lambda: cv.GaussianBlur(image, (9, 9), 2),
        "filter2D 5x5 of u1": lambda: cv.filter2D(grey, -1, np.ones((5, 5)) / 25),
        "Sobel of u1 to f4": lambda: cv.Sobel(grey, cv.CV_32F, 1, 0),
        "equalizeHist of u1": lambda: cv.equalizeHist(grey),
        "CLAHE of u1": lambda: cv.createCLAHE(2.0).apply(grey),
        "calcHist of u1": lambda: cv.calcHist([grey], [0], None, [256], [0, 256]),
        "threshold of u1 by Otsu": lambda: cv.threshold(grey, 0, 255, cv.THRESH_BINARY | cv.THRESH_OTSU),
    }.items():
        print(f"cv, 4096x4096, {name}: {best(call, wait, 10):.0f} us", flush=True)


def torch_times():
    import torch

    image, wait = torch.from_numpy(image_of("f4", (64, 64))).cuda(), torch.cuda.synchronize
    enqueue, each = in_bursts(lambda: own.gaussian_filter(image, 1.0), wait)
    print(f"64x64 gaussian of a tensor: {enqueue:.1f} us a call to enqueue, {each:.1f} us with its work")


def numpy_times():
    import scipy.ndimage as theirs

    gpu = apron.Device("gpu")
    for shape in ((64, 64), (2048, 2048), (8192, 8192)):
        image = image_of("f4", shape)
        mine = best(lambda: own.gaussian_filter(image, 2.0), lambda: None, 5)
        other = best(lambda: theirs.gaussian_filter(image, 2.0), lambda: None, 2)
        print(f"{shape} of the host, where auto chooses: {mine:.0f} us; SciPy {other:.0f} us; {gpu!r} is open")
