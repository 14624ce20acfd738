"""Problems of JPEG files beside OpenCV, whose files apron's must be byte for byte.

`check.py` draws from `jpegs`, if there is an OpenCV.
"""

import json

import numpy as np

from common import Job

try:
    import cv2
except ImportError:
    cv2 = None

# Decoders differ in the inverse cosine transform. Colours of half the resolution they widen in ways of their own, which only the mean
# tells from a fault.
DECODED, WIDENED = 3, 1.0
FULL, *HALVED = 0x411111, 0x211111, 0x221111


class File(Job):
    """A job whose input or result is a JPEG file of these bytes."""

    def __init__(self, options, image, judge, jpeg=None):
        about = "x".join(map(str, image.shape))
        super().__init__("correlate", about, {"mask": "identity", **options}, image, judge, kind="jpeg")
        self.jpeg = jpeg

    def line(self, folder, index):
        line, result = super().line(folder, index)
        job = json.loads(line)
        if self.jpeg is None:
            result = result.with_suffix(".jpg")
            job["out"] = str(result)
        else:
            source = folder / f"{index}.jpg"
            source.write_bytes(self.jpeg)
            job["in"] = str(source)
        return json.dumps(job), result

    def given(self, result, report):
        return result.read_bytes() if self.jpeg is None else super().given(result, report)


def picture(rng, least=1):
    height, width = (int(side) for side in rng.integers(least, 90, 2))
    channels = int(rng.choice([1, 3]))
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin((x * a + y * b) / 9) for a, b in rng.uniform(-2, 2, (channels, 2))]
    noise = rng.normal(0, rng.choice([0, 5, 60]), (height, width, channels))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def encoded(image, *options):
    bgr = image[..., ::-1] if image.shape[2] == 3 else image
    return cv2.imencode(".jpg", np.ascontiguousarray(bgr), list(options))[1].tobytes()


def jpegs(rng):
    if rng.random() < 0.5:
        image = picture(rng)
        quality = int(rng.integers(1, 100))
        expected = encoded(image, cv2.IMWRITE_JPEG_QUALITY, quality)

        def judge(jpeg):
            return [] if jpeg == expected else [f"opencv: {len(jpeg)} bytes are not its {len(expected)}"]

        return File({"quality": quality}, image.squeeze(-1) if image.shape[2] == 1 else image, judge)

    image = picture(rng, least=16)
    sampling = int(rng.choice([FULL, *HALVED]))
    options = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(1, 101))]
    options += [cv2.IMWRITE_JPEG_PROGRESSIVE, int(rng.integers(2)), cv2.IMWRITE_JPEG_OPTIMIZE, int(rng.integers(2))]
    options += [cv2.IMWRITE_JPEG_RST_INTERVAL, int(rng.choice([0, 3]))]
    options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling]
    jpeg = encoded(image, *options)
    decoded = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_UNCHANGED)
    expected = decoded[..., ::-1] if decoded.ndim == 3 else decoded

    def near(out):
        if out.dtype != np.uint8 or out.shape != expected.shape:
            return [f"opencv: {out.dtype} {out.shape}"]
        differences = abs(out.astype(int) - expected)
        widened = sampling != FULL and out.ndim == 3
        differs, most = (differences.mean(), WIDENED) if widened else (differences.max(), DECODED)
        return [] if differs <= most else [f"opencv: differs by {differs}, more than {most}"]

    return File({}, image, near, jpeg)
