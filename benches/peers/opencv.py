"""OpenCV's side of benches/opencv.rs: solves what standard input asks for, and tells the time.

Arguments: side of the image, threads. The first line of output is OpenCV's version. Then for each line

    dense|separable|box|histogram u8|f32 into|fresh TAPS...

comes one with the milliseconds of one run and the number in the middle of its result. `into` writes to an output that is
there already, `fresh` has OpenCV allocate it and frees it, within the time.
"""

import sys
import time

import cv2
import numpy as np

side, threads = map(int, sys.argv[1:])
cv2.setNumThreads(threads)

# As `bytes` in benches/opencv.rs.
x = np.arange(side * side, dtype=np.uint32)
x ^= x >> 16
x *= np.uint32(0x7FEB352D)
x ^= x >> 15
x *= np.uint32(0x846CA68B)
u8 = (x >> 24).astype(np.uint8).reshape(side, side)
images = {"u8": u8, "f32": u8.astype(np.float32) / np.float32(256)}
outputs = {name: np.zeros_like(image) for name, image in images.items()}

print(cv2.__version__, flush=True)
for line in sys.stdin:
    operation, pixels, memory, *taps = line.split()
    image, taps = images[pixels], np.array(taps, dtype=np.float32)
    edge = {"borderType": cv2.BORDER_REPLICATE}
    if memory == "into":
        edge["dst"] = outputs[pixels]
    if operation == "dense":
        width = int(len(taps) ** 0.5)
        mask = taps.reshape(width, width)
        run = lambda: cv2.filter2D(image, -1, mask, **edge)
    elif operation == "separable":
        run = lambda: cv2.sepFilter2D(image, -1, taps, taps, **edge)
    elif operation == "box":
        run = lambda: cv2.boxFilter(image, -1, (len(taps), len(taps)), **edge)
    else:
        run = lambda: cv2.calcHist([image], [0], None, [256], [0, 256])
    start = time.perf_counter()
    result = run()
    milliseconds = (time.perf_counter() - start) * 1e3
    middle = float(result.flat[128] if operation == "histogram" else result[side // 2, side // 2])
    start = time.perf_counter()
    del result
    milliseconds += (time.perf_counter() - start) * 1e3
    print(milliseconds, middle, flush=True)
