"""Other libraries' times of whole jobs, for `apron bench --jobs --peers`: a Gaussian of sigma 2 from host memory to host
memory, or from a `.npy` file to a `.npy` file.

Takes names such as "job f32 8192x8192 touched", and prints NAME,PEER,MILLISECONDS: the median of runs by the clock on the
wall, after one to warm up. `fresh` has the library allocate its result, `touched` and `pinned` write into memory that was
written before; that of `pinned` is page-locked. `mask64` is a dense mask of 64x64, `histogram` counts 256 bins, and
`photos-png` and `photos-jpg` are 32 photographs from JPEG files to files. `copies` are what the wires need at least: pinned
copies of the job's bytes in its directions at once, a plain copy of the file, and cuInit with a context for `first`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

SIGMA, TAPS, REPS, PHOTOS = 2.0, 17, 5, 32


def median(run):
    run()
    times = []
    for _ in range(REPS):
        start = time.perf_counter()
        result = run()
        # A run that takes its own time returns it, in seconds.
        times.append(result if isinstance(result, float) else time.perf_counter() - start)
        del result
    return sorted(times)[REPS // 2] * 1e3


def mask64():
    return ((np.arange(64 * 64) % 7) / 4096).astype(np.float32).reshape(64, 64)


def photo(side):
    x, y, channel = np.arange(side), np.arange(side)[:, None], np.arange(3)
    smooth = (np.sin(x / 97) * 60)[None, :, None] + (np.sin((y + 31 * channel) / 61) * 40)[:, None]
    return (128 + smooth + np.random.default_rng(1).integers(0, 16, smooth.shape, np.uint8)).astype(np.uint8)


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
    if road == "mask64":
        out, mask = np.ones_like(image), mask64()
        return lambda: cv2.filter2D(image, -1, mask, dst=out)
    if road == "histogram":
        return lambda: cv2.calcHist([image], [0], None, [256], [0, 256])
    if road.startswith("photos"):
        from concurrent.futures import ThreadPoolExecutor

        folder, cores = tempfile.TemporaryDirectory(prefix="apron-peer-"), len(os.sched_getaffinity(0))
        photos = [os.path.join(folder.name, f"{number}.jpg") for number in range(PHOTOS)]
        cv2.imwrite(photos[0], photo(image.shape[0]))
        for path in photos[1:]:
            shutil.copyfile(photos[0], path)
        extension = "." + road.split("-")[1]

        def one(path):
            cv2.imwrite(path[:-4] + "-out" + extension, blur(cv2.imread(path)))

        def pool(_folder=folder):
            cv2.setNumThreads(1)
            with ThreadPoolExecutor(cores) as threads:
                list(threads.map(one, photos))
            cv2.setNumThreads(-1)

        return pool
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
    if road == "histogram":
        return lambda: cupy.asnumpy(cupy.histogram(cupy.asarray(image), bins=256, range=(0, 256))[0])
    if road not in ("fresh", "touched", "pinned"):
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
    if road == "histogram" and image.dtype == np.float32:
        source = torch.from_numpy(image)
        return lambda: torch.histc(source.to("cuda"), 256, 0, 256).cpu()
    if road == "mask64":
        source, mask = torch.from_numpy(image), torch.from_numpy(mask64()).to("cuda")[None, None]
        out = torch.ones_like(source)

        def large():
            padded = torch.nn.functional.pad(source.to("cuda")[None, None], (32, 31, 32, 31), mode="reflect")
            out.copy_(torch.nn.functional.conv2d(padded, mask)[0, 0])
            torch.cuda.synchronize()

        return large
    if image.dtype != np.float32 or road not in ("fresh", "touched", "pinned"):
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


def copies(image, road):
    if road == "npy":
        folder = tempfile.TemporaryDirectory(prefix="apron-peer-")
        source, target = os.path.join(folder.name, "in.npy"), os.path.join(folder.name, "out.npy")
        np.save(source, image)
        return lambda _folder=folder: shutil.copyfile(source, target)
    if road == "first":
        # In another program, whose start is not counted.
        code = """
import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
start = time.perf_counter()
context, device = ctypes.c_void_p(), ctypes.c_int()
for result in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
               cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)):
    assert result == 0, result
print(time.perf_counter() - start)
"""
        return lambda: float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    if road in ("photos-png", "photos-jpg", "fresh"):
        return None
    import torch

    there, back = torch.from_numpy(image).pin_memory(), torch.empty(image.shape, dtype=torch.from_numpy(image).dtype)
    back, on_gpu = back.pin_memory(), torch.empty_like(back, device="cuda")
    result, streams = torch.empty_like(on_gpu), [torch.cuda.Stream(), torch.cuda.Stream()]

    def both():
        with torch.cuda.stream(streams[0]):
            on_gpu.copy_(there, non_blocking=True)
        if not road.startswith("histogram"):
            with torch.cuda.stream(streams[1]):
                back.copy_(result, non_blocking=True)
        torch.cuda.synchronize()

    return both


def main():
    failed = False
    for name in sys.argv[1:]:
        found = re.fullmatch(r"job (f32|u8) (\d+)x(\d+) ([\w-]+)", name)
        if not found:
            continue
        pixel, width, height, road = found[1], int(found[2]), int(found[3]), found[4]
        random = np.random.default_rng(1)
        image = random.integers(0, 256, (height, width), dtype=np.uint8)
        image = image.astype(np.float32) if pixel == "f32" else image
        for peer, prepare in (("OpenCV", opencv), ("CuPy", cupy), ("PyTorch", torch), ("copies", copies)):
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
