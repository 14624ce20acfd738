"""PyTorch: conv2d in full f32 by cuDNN, avg_pool2d, bincount and histc."""

import torch
import torch.nn.functional as F

import peer

print(f"# torch: {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
if not torch.cuda.is_available():
    raise SystemExit("PyTorch finds no GPU")
torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def on_gpu(array):
    return torch.from_numpy(array).cuda()


def planes(work):
    """The image as conv2d takes it: every channel is one image."""
    image = on_gpu(work.image())
    return (image.permute(2, 0, 1) if work.channels > 1 else image[None])[:, None].contiguous()


def busy():
    large = torch.ones(8192, 8192, device="cuda")
    torch.mm(large, large)


def prepare(work):
    if work.operation == "histogram":
        if work.channels > 1 or work.pixel == "u16":  # neither counts those
            return None
        samples = on_gpu(work.image()).flatten()
        if work.pixel == "f32":
            return lambda: torch.histc(samples, 256, 0, 1)
        return lambda: torch.bincount(samples, minlength=256)
    if work.pixel != "f32":  # conv2d has no bytes
        return None
    if work.operation == "volume":
        return volume(work)
    image = planes(work)
    if work.operation == "separable":
        radius = work.radius()
        taps = on_gpu(peer.weights(2 * radius + 1))
        rows, columns = taps[None, None, None, :], taps[None, None, :, None]
        return lambda: F.conv2d(F.conv2d(image, rows, padding=(0, radius)), columns, padding=(radius, 0))
    width, height = work.extent()
    padding = (height // 2, width // 2)
    if work.operation == "box":
        return lambda: F.avg_pool2d(image, (height, width), stride=1, padding=padding)
    mask = on_gpu(peer.weights(height, width))[None, None]
    return lambda: F.conv2d(image, mask, padding=padding)


def volume(work):
    """A mask of three dimensions, or a mean; taps along the axes are three masks."""
    image = on_gpu(work.image())[None, None]
    if (side := work.side()) is None:
        taps, radius = on_gpu(peer.weights(2 * work.radius() + 1)), work.radius()

        def all_axes():
            of = F.conv3d(image, taps[None, None, None, None, :], padding=(0, 0, radius))
            of = F.conv3d(of, taps[None, None, None, :, None], padding=(0, radius, 0))
            return F.conv3d(of, taps[None, None, :, None, None], padding=(radius, 0, 0))

        return all_axes
    if work.rest.startswith("window"):
        return lambda: F.avg_pool3d(image, side, stride=1, padding=side // 2)
    mask = on_gpu(peer.weights(side, side, side))[None, None]
    return lambda: F.conv3d(image, mask, padding=side // 2)


with torch.no_grad():
    failed = peer.report_all(
        "PyTorch",
        prepare,
        event=lambda: torch.cuda.Event(enable_timing=True),
        elapsed=lambda start, stop: start.elapsed_time(stop),
        synchronize=torch.cuda.synchronize,
        free=torch.cuda.empty_cache,
        busy=busy,
    )
raise SystemExit(int(failed))
