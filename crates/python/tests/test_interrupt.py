"""Signals while the CPU works for long: Ctrl-C ends the work."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from apron import ndimage

#: Works for many seconds, and prints when it was interrupted.
CHILD = """
import signal
import time
import numpy as np
import apron
from apron import ndimage

# A shell's background job inherits that the signal is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
image, weights = np.ones({shape}, {dtype!r}), np.random.rand(*{sides})
print("begins", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic())
# Arrays are as they were, and so are the threads.
assert image.all() and ndimage.uniform_filter(np.ones((200, 300)), 3).all()
"""
CALLS = {
    "mask": ((3000, 3000), "f4", (201, 201), "ndimage.correlate(image, weights)"),
    "mask of integers": ((3000, 3000), "u1", (101, 101), "ndimage.correlate(image, weights)"),
    "mask of a volume": ((200, 300, 300), "f4", (25, 25, 25), "ndimage.correlate(image, weights)"),
    "taps": ((150, 500, 500), "f8", (2001,), "[ndimage.correlate1d(image, weights, axis) for axis in range(3)]"),
    "taps of a row": ((40_000_000,), "f4", (4001,), "ndimage.correlate1d(image, weights)"),
    "counts": ((100, 1_000_000), "f4", (), "apron.histogram(image, np.linspace(0, 2, 1000) ** 2)"),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_the_work(name):
    shape, dtype, sides, call = CALLS[name]
    code = CHILD.format(shape=shape, dtype=dtype, sides=sides, call=call)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    ended, _ = child.communicate(timeout=100)
    assert child.returncode == 0
    late = float(ended) - sent
    print(f"{name}: {late:.3f} s after the signal")
    # Less than 0.1 s where nothing else runs.
    assert late < 1


def test_other_signals_are_handled_meanwhile():
    random, handled = np.random.default_rng(1), []
    # Equal weights are a box, which is done before a signal comes. A fast machine takes some tenths of a second.
    image, weights = random.random((2000, 2000)), random.random((91, 91))
    before = signal.signal(signal.SIGALRM, lambda *_: handled.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        begin = time.monotonic()
        found = ndimage.correlate(image, weights)
        end = time.monotonic()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any(begin + 0.02 < at < end - 0.02 for at in handled)
    np.testing.assert_array_equal(found, ndimage.correlate(image, weights))
