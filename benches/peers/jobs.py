"""Other libraries' times of whole jobs, for `apron bench --jobs --peers`: a Gaussian of sigma 2 from host memory to host
memory, or from a `.npy` file to a `.npy` file.

Takes names such as "job f32 8192x8192 touched", and prints NAME,PEER,MILLISECONDS: the median of runs by the clock on the
wall, after one to warm up. `fresh` has the library allocate its result, `touched` and `pinned` write into memory that was
written before, of which `pinned` is page-locked.
"""

import os
import re
import sys
import tempfile
import time

import numpy as np

SIGMA, TAPS, REPS = 2.0, 17, 5


def median(run):
    run()
    times = []
    for _ in range(REPS):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
        del result
    return sorted(times)[REPS // 2] * 1e3


def fact(name, value, told=set()):
    if name not in told:
        told.add(name)
        print(f"# {name}: {value}", flush=True)


def opencv(image, road):
    import cv2

    fact("opencv", f"{cv2.__version__} on {cv2.getNumThreads()} threads")
    blur = lambda image, **out: cv2.GaussianBlur(image, (TAPS, TAPS), SIGMA, **out)
    if road == "fresh":
        return lambda: blur(image)
    if road == "touched":
        out = np.ones_like(image)
        return lambda: blur(image, dst=out)
    if road == "npy":
        folder = tempfile.TemporaryDirectory(prefix="apron-peer-")
        source, target = os.path.join(folder.name, "in.npy"), os.path.join(folder.name, "out.npy")
        np.save(source, image)

        def run(_folder=folder):
            np.save(target, blur(np.load(source)))

        return run
    return None


def cupy(image, road):
    import cupy
    from cupyx.scipy import ndimage

    fact("cupy", cupy.__version__)
    if road == "npy":
        return None
    if road == "fresh":
        return lambda: cupy.asnumpy(ndimage.gaussian_filter(cupy.asarray(image), SIGMA))
    if road == "pinned":
        import cupyx

        source, out = cupyx.empty_like_pinned(image), cupyx.empty_like_pinned(image)
        source[...] = image
    else:
        source, out = image, np.ones_like(image)
    return lambda: ndimage.gaussian_filter(cupy.asarray(source), SIGMA).get(out=out)


def torch(image, road):
    import torch

    fact("torch", torch.__version__)
    if image.dtype != np.float32 or road == "npy":
        return None
    weights = np.exp(-0.5 * ((np.arange(TAPS) - TAPS // 2) / SIGMA) ** 2)
    taps = torch.tensor(weights / weights.sum(), dtype=torch.float32, device="cuda")
    source = torch.from_numpy(image)
    out = torch.ones_like(source)
    if road == "pinned":
        source, out = source.pin_memory(), out.pin_memory()

    def run():
        there = source.to("cuda", non_blocking=True)[None, None]
        rows = torch.nn.functional.conv2d(there, taps.reshape(1, 1, 1, -1), padding=(0, TAPS // 2))
        both = torch.nn.functional.conv2d(rows, taps.reshape(1, 1, -1, 1), padding=(TAPS // 2, 0))[0, 0]
        if road == "fresh":
            return both.cpu()
        out.copy_(both)
        torch.cuda.synchronize()

    return run


def main():
    failed = False
    for name in sys.argv[1:]:
        found = re.fullmatch(r"job (f32|u8) (\d+)x(\d+) (\w+)", name)
        if not found:
            continue
        pixel, width, height, road = found[1], int(found[2]), int(found[3]), found[4]
        random = np.random.default_rng(1)
        image = random.integers(0, 256, (height, width), dtype=np.uint8)
        image = image.astype(np.float32) if pixel == "f32" else image
        for peer, prepare in (("OpenCV", opencv), ("CuPy", cupy), ("PyTorch", torch)):
            try:
                run = prepare(image, road)
                if run:
                    print(f"{name},{peer},{median(run):.3f}", flush=True)
            except ImportError:
                pass
            except Exception as error:  # one job is not the others
                print(f"{name}, {peer}: {error!r}", file=sys.stderr)
                failed = True
            run = None
    sys.exit(1 if failed else 0)


main()
