"""CuPy: the filters of cupyx.scipy.ndimage with border nearest, bincount and histogram; and cuFFT for large masks."""

import cupy
from cupyx.scipy import fft, ndimage

import peer

print(f"# cupy: {cupy.__version__}")


def busy():
    large = cupy.ones((8192, 8192), cupy.float32)
    large @ large


def prepare(work):
    if work.operation in ("chain", "fft"):  # no one call of CuPy's
        return None
    image = cupy.asarray(work.image())
    if work.operation == "histogram":
        if work.channels > 1:
            return None
        samples = image.ravel()
        if work.pixel == "f32":
            return lambda: cupy.histogram(samples, 256, (0, 1))
        return lambda: cupy.bincount(samples, minlength=256)
    out = cupy.empty_like(image)
    sums = cupy.float64 if work.pixel == "f64" else cupy.float32
    if work.operation == "volume":
        return volume(work, image, out, sums)
    if work.operation in ("separable", "gauss"):
        taps = peer.weights(2 * work.radius() + 1) if work.operation == "separable" else [1, 4, 6, 4, 1]
        taps = cupy.asarray(taps, sums)
        taps /= taps.sum()
        between = cupy.empty(image.shape, sums)

        def both():
            ndimage.correlate1d(image, taps, axis=1, output=between, mode="nearest")
            ndimage.correlate1d(between, taps, axis=0, output=out, mode="nearest")

        return both
    width, height = work.extent()
    if work.operation == "box":
        size = (height, width) + (1,) * (image.ndim - 2)
        return lambda: ndimage.uniform_filter(image, size, output=out, mode="nearest")
    mask = cupy.asarray(peer.weights(height, width)).reshape((height, width) + (1,) * (image.ndim - 2))
    return lambda: ndimage.correlate(image, mask, output=out, mode="nearest")


def volume(work, image, out, sums):
    """Taps along the three axes, a mask of three dimensions, or a mean."""
    if (side := work.side()) is None:
        taps = cupy.asarray(peer.weights(2 * work.radius() + 1))
        between = [cupy.empty(image.shape, sums) for _ in range(2)]

        def all_axes():
            ndimage.correlate1d(image, taps, axis=2, output=between[0], mode="nearest")
            ndimage.correlate1d(between[0], taps, axis=1, output=between[1], mode="nearest")
            ndimage.correlate1d(between[1], taps, axis=0, output=out, mode="nearest")

        return all_axes
    if work.rest.startswith("window"):
        return lambda: ndimage.uniform_filter(image, side, output=out, mode="nearest")
    mask = cupy.asarray(peer.weights(side, side, side))
    return lambda: ndimage.correlate(image, mask, output=out, mode="nearest")


def prepare_fft(work):
    """A large mask as a product of spectra, the mask's kept: cuFFT's two transforms, and the pixels whose windows are whole."""
    if work.operation not in ("dense", "fft") or work.pixel != "f32" or work.channels > 1:
        return None
    width, height = work.extent()
    if width * height < FEWEST_FFT_TAPS:
        return None
    image = cupy.asarray(work.image())
    # Zeros outside the image; a size of small factors.
    size = tuple(fft.next_fast_len(side + more - 1, real=True) for side, more in zip(image.shape, (height, width)))
    mask = cupy.fft.rfft2(cupy.asarray(peer.weights(height, width))[::-1, ::-1], size)
    return lambda: cupy.fft.irfft2(cupy.fft.rfft2(image, size) * mask, size)


# Fewer taps are faster as sums.
FEWEST_FFT_TAPS = 15 * 15

timing = {
    "event": cupy.cuda.Event,
    "elapsed": cupy.cuda.get_elapsed_time,
    "synchronize": cupy.cuda.Device().synchronize,
    "free": cupy.get_default_memory_pool().free_all_blocks,
    "busy": busy,
}
failed = [peer.report_all(name, of, **timing) for name, of in (("CuPy", prepare), ("cuFFT", prepare_fft))]
raise SystemExit(int(any(failed)))
