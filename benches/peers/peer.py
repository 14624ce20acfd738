"""What the programs share that time Python libraries for `apron bench --peers`.

A program takes names of workloads, such as "dense f32 8192x8192 mask 7x7", and prints NAME,PEER,MILLISECONDS for
each that its library has: the median of 20 runs by events, after at least 5 to warm up. Runs below 50 us are timed
again, enqueued one behind the other while the GPU is busy with something else, so that it never waits for the host;
crates/cli/src/verbs/bench/burst.rs does the same. Of what fails it complains on standard error, and goes on.
"""

import re
import sys
import time

import numpy as np

NAME = re.compile(r"([\w-]+) (u8|u16|i16|f32|f64) (\d+)x(\d+)(?:x(\d+))? (.*)")


class Work:
    """A name, taken apart."""

    def __init__(self, name):
        found = NAME.fullmatch(name)
        if not found:
            raise ValueError("a name of another form")
        self.name, self.operation, self.pixel = name, found[1], found[2]
        self.width, self.height, self.channels = int(found[3]), int(found[4]), int(found[5] or 1)
        self.rest = found[6]
        self.depth = 1
        if self.operation == "volume":
            self.depth, self.channels = self.channels, 1

    def radius(self):
        return int(self.rest.split("radius ")[1])

    def side(self):
        """The side of a volume's mask or window; none for taps."""
        found = re.fullmatch(r"(?:mask|window) (\d+)x\d+x\d+", self.rest)
        return int(found[1]) if found else None

    def extent(self):
        """Width and height of the mask or window."""
        width, height = re.fullmatch(r"(?:mask|window) (\d+)x(\d+)", self.rest).groups()
        return int(width), int(height)

    def image(self):
        """The samples: planes of a volume, rows, columns and, if there are several, channels; of the kinds that the bench has."""
        shape = (self.height, self.width) + ((self.channels,) if self.channels > 1 else ())
        if self.depth > 1:
            shape = (self.depth,) + shape
        random = np.random.default_rng(1)
        if self.pixel in ("f32", "f64"):
            return random.random(shape, dtype=np.float32 if self.pixel == "f32" else np.float64)
        if self.pixel == "i16":
            return random.integers(-32768, 32768, shape, dtype=np.int16)
        if self.pixel == "u16":
            return random.integers(0, 256, shape, dtype=np.uint16) * np.uint16(257)
        if self.rest == "constant":
            return np.full(shape, 77, np.uint8)
        if self.rest == "two-valued":
            return random.integers(0, 2, shape, dtype=np.uint8) * np.uint8(255)
        if self.rest == "sorted":
            return np.repeat(np.arange(256, dtype=np.uint8), -(-np.prod(shape) // 256))[: np.prod(shape)].reshape(shape)
        if self.rest == "natural":
            return natural(random, *shape)
        return random.integers(0, 256, shape, dtype=np.uint8)


def natural(random, height, width):
    """Slopes and waves with noise on them."""
    wave = lambda length, size, count: (size * np.sin(np.arange(count) * (2 * np.pi / length))).astype(np.float32)
    across, down, slanted = wave(1531, 50, width), wave(2111, 40, height), wave(257, 20, width + height)
    image = np.empty((height, width), np.uint8)
    for y in range(height):
        noise = random.integers(0, 16, width, dtype=np.uint8)
        image[y] = np.clip(128 + across + down[y] + slanted[y : y + width] + noise - 7.5, 0, 255)
    return image


def weights(*shape):
    """Weights above 0 whose sum is 1."""
    weights = 0.1 + np.random.default_rng(2).random(shape, dtype=np.float32)
    return weights / weights.sum()


def timed(run, event):
    """The events around what `run` enqueues."""
    start, stop = event(), event()
    start.record()
    run()
    stop.record()
    return start, stop


def median(run, event, elapsed, synchronize, busy):
    """The median time of what `run` enqueues, in milliseconds."""
    warm, warm_ups = time.monotonic() + 0.05, 0
    while warm_ups < 5 or time.monotonic() < warm:
        run()
        synchronize()
        warm_ups += 1
    times = []
    for _ in range(20):
        start, stop = timed(run, event)
        synchronize()
        times.append(elapsed(start, stop))
    if sorted(times)[10] < 0.05:
        busy()
        runs = [timed(run, event) for _ in range(20)]
        synchronize()
        times = [elapsed(start, stop) for start, stop in runs]
    return sorted(times)[10]


def report_all(peer, prepare, event, elapsed, synchronize, free, busy):
    """Times every workload that `prepare` makes something to run of; `busy` enqueues work of some milliseconds. Returns
    whether one failed."""
    failed = False
    for name in sys.argv[1:]:
        try:
            run = prepare(Work(name))
            if run:
                print(f"{name},{peer},{median(run, event, elapsed, synchronize, busy):.5f}", flush=True)
        except Exception as error:  # one workload is not the others
            print(f"{name}: {error!r}", file=sys.stderr)
            failed = True
        run = None
        free()
    return failed
