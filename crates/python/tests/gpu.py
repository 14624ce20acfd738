"""Tries arrays of CuPy and PyTorch on a GPU, and prints times beside cupyx.scipy.ndimage.

    python tests/gpu.py

Needs an NVIDIA GPU, NumPy, SciPy, and CuPy or PyTorch, or both. The status is 1 if a check fails.
"""

import sys
import traceback

import numpy as np

import apron
import calls
from apron import ndimage as own
from gpu_times import RANDOM, cupy_first, cupy_times, cupy_times_of_counts, image_of, in_bursts, numpy_times, torch_times

TYPES = "? u1 i1 u2 i2 u4 i4 i8 f2 f4 f8".split()
CALLS = {
    "gaussian_filter": lambda of, x: of.gaussian_filter(x, 1.5),
    "gaussian_filter, derivative": lambda of, x: of.gaussian_filter(x, 1.5, order=1, mode="wrap"),
    "uniform_filter": lambda of, x: of.uniform_filter(x, 5, mode="constant"),
    "sobel": lambda of, x: of.sobel(x, mode="nearest"),
    "prewitt": lambda of, x: of.prewitt(x, 0),
    "laplace": lambda of, x: of.laplace(x),
    "correlate": lambda of, x: of.correlate(x, mask_of(x), mode="mirror", axes=tuple(range(x.ndim))[-3:]),
    "convolve1d": lambda of, x: of.convolve1d(x, [1.0, 2.5, -1.0, 3.0], axis=0),
    "gaussian_gradient_magnitude": lambda of, x: of.gaussian_gradient_magnitude(x, 1.0),
    "gaussian_laplace": lambda of, x: of.gaussian_laplace(x, 1.0),
}
failures = 0


def mask_of(x):
    """Returns a mask of up to three axes."""
    axes = min(x.ndim, 3)
    return np.arange(3.0**axes).reshape((3,) * axes) ** 0.5


def check(what, good, detail=""):
    global failures
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {what} {detail}", flush=True)


def attempt(section):
    """Runs a section, whose exceptions are failures."""
    global failures
    try:
        section()
    except Exception:
        failures += 1
        print(f"FAIL {section.__name__}")
        traceback.print_exc(file=sys.stdout)


def compare(library, to_gpu, to_host, types=TYPES):
    """Compares all functions, types and numbers of axes with the CPU's results."""
    for shape in [(1000,), (61, 83), (17, 23, 31), (3, 9, 11, 13)]:
        for dtype in types:
            wrong = []
            image = image_of(dtype, shape)
            for name, call in CALLS.items():
                expected = call(own, image)
                try:
                    found = to_host(call(own, to_gpu(image)))
                except Exception as error:
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
                    continue
                # Magnitudes of integers are cut by each library's own root.
                exact = "magnitude" not in name
                if found.dtype != expected.dtype or found.shape != expected.shape:
                    wrong.append(f"{name}: {found.dtype}{found.shape}")
                elif exact and not np.array_equal(found, expected, equal_nan=dtype[0] == "f"):
                    difference = np.abs(found.astype(float) - expected.astype(float)).max()
                    wrong.append(f"{name}: up to {difference}")
            check(f"{library} {shape} {np.dtype(dtype).name}: {len(CALLS)} functions equal the CPU's", not wrong, wrong)
    image = image_of("f4", (61, 83))
    for bins, range in ((10, None), (64, (0, 50)), ([0, 1, 50, 100], None)):
        (counts, edges), expected = apron.histogram(to_gpu(image), bins, range), np.histogram(image, bins, range)
        same = np.array_equal(to_host(counts), expected[0]) and np.array_equal(to_host(edges), expected[1])
        check(f"{library} histogram {bins} {range} equals NumPy's", same)


def compare_lists(library, to_gpu, to_host, types):
    """Compares the calls of `calls.py` with the CPU's results."""
    several = {shape: calls.IMAGES + (calls.COLOURS if shape[2:] == (3,) else []) for shape in [(61, 83), (61, 83, 1), (61, 83, 3)]}
    bytes_alone = {(61, 83, 3): calls.BYTES}
    for dtype, lists in [*((one, several) for one in types), ("u1", bytes_alone), *((one, {(301, 977): calls.SAMPLES}) for one in ("i4", "f4", "f8"))]:
        for shape, listed in lists.items():
            image, wrong = image_of(dtype, shape), []
            for at, call in enumerate(listed):
                given, expected = to_gpu(image), call(image)
                try:
                    found = call(given)
                    here = to_host(found)
                except Exception as error:
                    wrong.append(f"{at}: {type(error).__name__}: {error}")
                    continue
                if type(found) is not type(given) or here.dtype != expected.dtype or here.shape != expected.shape:
                    wrong.append(f"{at}: {type(found)} {here.dtype}{here.shape}")
                elif not np.allclose(here, expected, rtol=1e-12 if here.dtype == "f8" else 0, atol=0):
                    wrong.append(f"{at}: up to {np.abs(here.astype(float) - expected.astype(float)).max()}")
            check(f"{library} {shape} {dtype}: {len(listed)} functions of cv, exposure and histograms equal the CPU's", not wrong, wrong)


def beside_scipy(library, to_gpu, to_host, rounds=200):
    """Compares filters of bytes with SciPy's results: the CPU's might share a fault with the GPU's."""
    import scipy.ndimage as theirs

    wrong = []
    for _ in range(rounds):
        image = RANDOM.integers(0, 256, tuple(RANDOM.integers(1, 70, int(RANDOM.integers(1, 3)))), np.uint8)
        mode, dtype = (str(RANDOM.choice(names)) for names in (["reflect", "mirror", "nearest", "wrap", "constant"], ["u1", "i1", "i2"]))
        side, outside = int(RANDOM.integers(1, 6)), float(RANDOM.choice([0, 7, 2.5]))
        # Whole numbers and others, with sums within 16 bits and beyond.
        taps = RANDOM.integers(-9, 10, side) * float(RANDOM.choice([1, 0.5]))
        mask = RANDOM.integers(-4, 5, (side,) * image.ndim) * float(RANDOM.choice([1, 40, 0.25]))
        for name, call in {
            "sobel": lambda of, x: of.sobel(x, output=dtype, mode=mode),
            "uniform_filter": lambda of, x: of.uniform_filter(x, side, output=dtype, mode=mode),
            "laplace": lambda of, x: of.laplace(x, output=dtype, mode=mode),
            "correlate1d": lambda of, x: of.correlate1d(x, taps, output=dtype, mode=mode, cval=outside),
            "correlate": lambda of, x: of.correlate(x, mask, output=dtype, mode=mode, cval=outside),
        }.items():
            if not np.array_equal(to_host(call(own, to_gpu(image))), call(theirs, image)):
                wrong.append((name, image.shape, mode, dtype, side, outside))
    check(f"{library}: {5 * rounds} random filters of bytes equal SciPy's", not wrong, wrong[:5])


def extremes_of_64_bits(library, to_gpu, to_host):
    """Compares histograms from the least to the largest of 64 bits, and filters along axes of one sample, with NumPy's and SciPy's."""
    import scipy.ndimage as theirs

    lost = []
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        for samples in (RANDOM.integers(limits.min, limits.max, (5000, 2), dtype), np.array([[limits.min, 0], [0, limits.max]], dtype)):
            counts, edges = (to_host(one) for one in apron.histogram(to_gpu(samples), 7))
            cells = to_host(apron.histogramdd(to_gpu(samples), 7)[0])
            same = np.array_equal(edges, np.histogram_bin_edges(samples, 7)) and np.array_equal(cells, apron.histogramdd(samples, 7)[0])
            if counts.sum() != samples.size or cells.sum() != len(samples) or not same:
                lost.append((dtype, counts.sum(), cells.sum(), same))
    check(f"{library}: histograms hold the extremes of 64 bits", not lost, lost)
    wrong = []
    for dtype in ("u1", "i2", "i4", "f4", "f8"):
        for shape in ((1, 3, 4), (1, 30, 41), (1, 1, 5), (3, 1, 4), (2, 1, 3, 1)):
            samples = RANDOM.integers(0, 9, shape).astype(dtype)
            for axis in range(len(shape)):
                for weights in ([0, 0, 5], [2], [1, 2, 1, 3]):
                    found = to_host(own.correlate1d(to_gpu(samples), weights, axis, mode="constant", cval=2))
                    if not np.array_equal(found, theirs.correlate1d(samples, weights, axis, mode="constant", cval=2)):
                        wrong.append((dtype, shape, axis, weights))
    check(f"{library}: axes of one sample are filtered as SciPy does", not wrong, wrong[:5])


def late(image, busy):
    """Enqueues an image of 512x512 that is there after many products of matrices."""
    for _ in range(20):
        busy = busy @ busy * 0
    return image + busy[:512, :512]


def cupy_memory():
    import cupy

    image, out = cupy.asarray(image_of("f4", (512, 512))), cupy.zeros((512, 512), "f4")
    before = image.data.ptr, out.data.ptr
    found = own.gaussian_filter(image, 2.0, output=out)
    check("CuPy: the result is the given array, at its address", found is out and found.data.ptr == before[1])
    check("CuPy: the input stays at its address", image.data.ptr == before[0])
    expected = own.gaussian_filter(image.get(), 2.0)
    check("CuPy: what was written there equals the CPU's", np.array_equal(out.get(), expected))
    check("CuPy: in place", np.array_equal(own.gaussian_filter(image, 2.0, output=image).get(), expected))
    pool = cupy.get_default_memory_pool()
    used = pool.used_bytes()
    result = own.sobel(out)
    check("CuPy: a call takes the result's memory alone", pool.used_bytes() - used == result.nbytes)
    check("CuPy: a transposed array", np.array_equal(own.sobel(out.T).get(), own.sobel(out.get().T)))
    given, stream = cupy.asarray(expected), cupy.cuda.Stream(non_blocking=True)
    with stream:
        # The library's own kernels are loaded when they are first used, which waits for those that run.
        late(given, cupy.ones((6000, 6000), "f4"))
        stream.synchronize()
        blurred = own.gaussian_filter(late(given, cupy.ones((6000, 6000), "f4")), 2.0)
        early = not stream.done
        stream.synchronize()
    check("CuPy: a call on a busy stream returns before the stream is done", early)
    check("CuPy: and its work comes after what was enqueued", np.array_equal(blurred.get(), own.gaussian_filter(expected, 2.0)))


class ByInterface:
    """An array that offers the CUDA Array Interface alone."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__
        self.array = array


class ByDlpack:
    """An array that offers DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def cupy_protocols():
    import cupy

    image = cupy.asarray(image_of("f4", (61, 83)))
    expected = own.gaussian_filter(image.get(), 2.0)
    for offer in (ByInterface, ByDlpack):
        found = own.gaussian_filter(offer(image), 2.0)
        check(f"{offer.__name__}: the result is a GpuArray", isinstance(found, apron.GpuArray), repr(found))
        for name, taken in {"cupy.asarray": cupy.asarray(found), "cupy.from_dlpack": cupy.from_dlpack(found)}.items():
            check(f"{offer.__name__}: {name} has its address", taken.data.ptr == found.address)
            check(f"{offer.__name__}: {name} equals the CPU's", np.array_equal(taken.get(), expected))
        del found
        check(f"{offer.__name__}: the memory lives as long as who took it", np.array_equal(taken.get(), expected))
        out = cupy.zeros_like(image)
        own.gaussian_filter(offer(image), 2.0, output=offer(out))
        check(f"{offer.__name__}: output= is written in place", np.array_equal(out.get(), expected))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        taken = cupy.from_dlpack(own.gaussian_filter(ByDlpack(image), 2.0))
        check("a stream that takes a result waits for it", np.array_equal(taken.get(), expected))
    counts = apron.histogram(ByDlpack(image), 9)[0]
    check("ByDlpack: histogram equals NumPy's", np.array_equal(counts, np.histogram(image.get(), 9)[0]))


def cupy_images():
    import cupy

    gpu, array = apron.Device("gpu"), image_of("u1", (61, 83, 3))
    expected = apron.Device("cpu").upload(array).gaussian(1.5).download()
    for offer in (lambda given: given, ByInterface, ByDlpack):
        given = cupy.asarray(array)
        image = gpu.upload(offer(given))
        given[...] = 0
        check("an image of an array on the GPU is a copy", np.array_equal(image.download(), array))
        blurred = image.gaussian(1.5)
        for name, taken in {"cupy.asarray": cupy.asarray(blurred), "cupy.from_dlpack": cupy.from_dlpack(blurred)}.items():
            check(f"{name} of an image equals the CPU's", np.array_equal(taken.get(), expected))
        same = taken.data.ptr == cupy.asarray(blurred).data.ptr
        del blurred, image
        check("and shares its memory, which lives on", same and np.array_equal(taken.get(), expected))
    check("a filter of an image gives an array", np.array_equal(cupy.asarray(own.sobel(gpu.upload(array))).get(), own.sobel(array)))
    for name, call, kind in [
        ("a region is not shared", lambda: gpu.upload(array).region(1, 1, 9, 9).__dlpack__(), ValueError),
        ("an image of the host is not shared", lambda: apron.Device("cpu").upload(array).__dlpack__(), BufferError),
        ("the CPU takes no array on a GPU", lambda: apron.Device("cpu").upload(cupy.asarray(array)), TypeError),
    ]:
        try:
            check(name, not call())
        except kind as error:
            check(name, True, str(error))


def torch_protocols():
    import torch

    image = torch.from_numpy(image_of("f4", (61, 83))).cuda()
    expected = own.gaussian_filter(image.cpu().numpy(), 2.0)
    found = own.gaussian_filter(ByDlpack(image), 2.0)
    for name, taken in {
        "torch.from_dlpack": torch.from_dlpack(found), "torch.as_tensor": torch.as_tensor(found, device="cuda")
    }.items():
        check(f"{name} has the result's address", taken.data_ptr() == found.address)
        check(f"{name} equals the CPU's", np.array_equal(taken.cpu().numpy(), expected))


def cupy_equal():
    import cupy

    compare("CuPy", cupy.asarray, cupy.asnumpy)
    compare_lists("CuPy", cupy.asarray, cupy.asnumpy, ["u1", "u2", "f4"])
    beside_scipy("CuPy", cupy.asarray, cupy.asnumpy)
    extremes_of_64_bits("CuPy", cupy.asarray, cupy.asnumpy)


def torch_memory():
    import torch

    image = torch.from_numpy(image_of("f4", (512, 512))).cuda()
    out = torch.zeros_like(image)
    found = own.gaussian_filter(image, 2.0, output=out)
    check("torch: the result is the given tensor, at its address", found is out)
    expected = own.gaussian_filter(image.cpu().numpy(), 2.0)
    check("torch: what was written there equals the CPU's", np.array_equal(out.cpu().numpy(), expected))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late(image, torch.ones((6000, 6000), device="cuda"))
        stream.synchronize()
        blurred = own.gaussian_filter(late(image, torch.ones((6000, 6000), device="cuda")), 2.0)
        early = not stream.query()
    stream.synchronize()
    check("torch: a call on a busy stream returns before the stream is done", early)
    check("torch: and its work comes after what was enqueued", np.array_equal(blurred.cpu().numpy(), expected))
    check("torch: a tensor of the host stays there", not own.sobel(image.cpu()).is_cuda)
    try:
        own.sobel(image.requires_grad_())
        check("torch: a tensor that requires a gradient is refused", False)
    except RuntimeError as error:
        check("torch: a tensor that requires a gradient is refused", "detach" in str(error))


def torch_equal():
    import torch

    # PyTorch does not add the other integers without a sign.
    types = "? u1 i1 i2 i4 i8 f2 f4 f8".split()
    compare("torch", lambda image: torch.from_numpy(image).cuda(), lambda tensor: tensor.cpu().numpy(), types)
    for place in ("cuda", "cpu"):
        compare_lists(
            f"torch on {place}", lambda image: torch.from_numpy(image).to(place), lambda tensor: tensor.cpu().numpy(), ["u1", "f4"]
        )


def images():
    """Compares `apron.Image` with the CPU's results, and a chain with its calls."""
    gpu, cpu = apron.Device("gpu"), apron.Device("cpu")
    work = lambda image: image.gaussian(2.0).filter("sobel", dx=1, dy=0).box(5, 5)  # noqa: E731
    for dtype in "u1 i2 f4 f8".split():
        array = image_of(dtype, (301, 203))
        mine, expected = (work(device.upload(array)) for device in (gpu, cpu))
        check(f"Image, {dtype}", np.array_equal(mine.download(), expected.download()), mine.report["variant"])
        part = [device.upload(array).region(3, 5, 100, 90).gaussian(1.0).download() for device in (gpu, cpu)]
        check(f"region, {dtype}", np.array_equal(*part))
    arrays = [image_of("u1", (480, 640)) for _ in range(4)]
    batch = work(gpu.upload_batch(arrays)).download()
    check("batch", all(np.array_equal(one, work(cpu.upload(array)).download()) for one, array in zip(batch, arrays)))
    stream = gpu.new_stream()
    check("stream", np.array_equal(work(stream.upload(arrays[0])).download(), batch[0]))
    chain = gpu.record(gpu.upload(arrays[0]), work)
    for number, array in enumerate(arrays):
        chain.load(array)
        check(f"chain, {number}", np.array_equal(chain.run()[0].download(), batch[number]))
    image = gpu.upload(arrays[0])
    of_chain, of_calls = in_bursts(chain.run, gpu.synchronize), in_bursts(lambda: work(image), gpu.synchronize)
    print(f"480x640 u1, three filters: {of_chain[1]:.1f} us a chain, {of_calls[1]:.1f} us by calls; its kernels {chain.elapsed() * 1e6:.1f} us")


def main():
    for library, sections in {
        "cupy": (cupy_first, cupy_memory, cupy_protocols, cupy_images, cupy_equal, cupy_times, cupy_times_of_counts),
        "torch": (torch_memory, torch_protocols, torch_equal, torch_times),
    }.items():
        try:
            __import__(library)
        except ImportError:
            print(f"{library} is not installed: left out")
            continue
        for section in sections:
            attempt(section)
    attempt(images)
    attempt(numpy_times)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
