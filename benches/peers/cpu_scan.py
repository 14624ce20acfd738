"""Apron's CPU device beside OpenCV and SciPy, workload by workload: writes benches/record/cpu-scan.md.

    python3 benches/peers/cpu_scan.py target/release/apron [--rounds N] [--only PATTERN] [--write FILE]

All have two threads, but SciPy, which has one. In every round Apron and then the others run each workload: the median of
5 runs; the least median of the rounds is written, since other work on the machine only adds time. Outputs are there
already, but SciPy's intermediate ones.
"""

import argparse
import datetime
import json
import os
import subprocess
import time

os.environ["RAYON_NUM_THREADS"] = "2"

import cv2
import numpy as np
import scipy
from scipy import ndimage

import peer

EDGE = {"borderType": cv2.BORDER_REPLICATE}
# OpenCV takes other ways from this number of taps of a mask on: a DFT.
DFT_TAPS = 121


def works():
    """The names of all workloads; those of one image are adjacent."""
    for pixel in ("u8", "u16", "f32"):
        for channels in ("", "x3", "x4"):
            picture = f"{pixel} 2048x2048{channels}"
            if channels == "x4" and pixel != "u8":
                continue
            for side in (3, 5, 9, 15, 31, 63, 127, 255, 511):
                yield f"box {picture} window {side}x{side}"
            for side in (3, 5, 9, 17, 33, 65):
                yield f"separable {picture} radius {side // 2}"
            for side in (3, 5, 9, 17, 33, 65):
                yield f"gauss {picture} mask {side}x{side}"
            for size in ("2x2", "3x3", "4x4", "5x5", "7x7", "9x9", "3x9", "9x3", "1x31", "15x15", "31x31"):
                yield f"dense {picture} mask {size}"
            if not channels:
                yield f"local-std {picture} window 15x15"
                yield f"local-std {picture} window 255x255"
                if pixel != "f32":
                    yield f"histogram {picture} uniform"
                if pixel != "u16":
                    yield f"composed {picture} gradient"


def binomial(taps):
    """Binomial weights, as those of the bench."""
    row = np.ones(1)
    for _ in range(taps - 1):
        row = np.convolve(row, [0.5, 0.5])
    return row.astype(np.float32)


def opencv(work, image, out):
    """What OpenCV has to run, and a remark on it."""
    if work.operation == "histogram":
        bins = 256 if work.pixel == "u8" else 65536
        return (lambda: cv2.calcHist([image], [0], None, [bins], [0, bins])), ""
    if work.operation == "composed":
        def gradient():
            x, y = (cv2.Sobel(image, cv2.CV_32F, *order, **EDGE) for order in ((1, 0), (0, 1)))
            return cv2.magnitude(x, y)

        return gradient, "three calls"
    if work.operation == "local-std":
        return None, ""
    if work.operation == "separable":
        taps = peer.weights(2 * work.radius() + 1)
        return (lambda: cv2.sepFilter2D(image, -1, taps, taps, dst=out, **EDGE)), ""
    width, height = work.extent()
    if work.operation == "gauss":
        taps = binomial(width)
        if work.pixel == "f32":
            return (lambda: cv2.sepFilter2D(image, -1, taps, taps, dst=out, **EDGE)), "sepFilter2D"
        return (lambda: cv2.GaussianBlur(image, (width, width), width**0.5 / 2, dst=out, **EDGE)), "fixed point"
    if work.operation == "box":
        remark = "scaled in f32" if work.pixel == "u16" else ""
        return (lambda: cv2.blur(image, (width, height), dst=out, **EDGE)), remark
    mask = peer.weights(height, width)
    return (lambda: cv2.filter2D(image, -1, mask, dst=out, **EDGE)), "DFT" if width * height > DFT_TAPS else ""


def scipys(work, image, out):
    """What SciPy has to run; of large masks nothing, which take it seconds."""
    if work.channels > 1 or work.operation in ("histogram", "composed", "local-std"):
        return None
    if work.operation == "separable":
        taps = peer.weights(2 * work.radius() + 1)
    elif work.operation == "gauss":
        taps = binomial(work.extent()[0])
    elif work.operation == "box":
        return lambda: ndimage.uniform_filter(image, work.extent()[::-1], output=out, mode="nearest")
    else:
        width, height = work.extent()
        mask = peer.weights(height, width)
        return (lambda: ndimage.correlate(image, mask, output=out, mode="nearest")) if mask.size < 90 else None

    def both():
        between = ndimage.correlate1d(image, taps, axis=1, output=np.float32, mode="nearest")
        ndimage.correlate1d(between, taps, axis=0, output=out, mode="nearest")

    return both


def median(run, reps):
    """The median time of a run, in milliseconds."""
    run()
    times = []
    for _ in range(reps):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)[reps // 2]


def aprons(program, names):
    """Apron's times, in one run of the bench."""
    command = [program, "bench", "--device", "cpu", "--json", "--reps", "5"]
    command += [argument for name in names for argument in ("--work", name)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {work["work"]: work["ms"] for work in report["workloads"]}, report["machine"]["cpu"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", default="benches/record/cpu-scan.md")
    arguments = parser.parse_args()
    cv2.setNumThreads(2)
    names = [name for name in works() if arguments.only in name]
    least, remarks = {}, {}
    load = []

    def take(name, who, milliseconds):
        least[name, who] = min(least.get((name, who), float("inf")), milliseconds)

    for turn in range(arguments.rounds):
        # As many at a time as one image has.
        for picture in dict.fromkeys(tuple(name.split()[1:3]) for name in names):
            some = [name for name in names if tuple(name.split()[1:3]) == picture]
            load.append(os.getloadavg()[0])
            times, cpu = aprons(arguments.program, some)
            image = peer.Work(some[0]).image()
            out = np.empty_like(image)
            for name in some:
                take(name, "apron", times[name])
                work = peer.Work(name)
                run, remarks[name] = opencv(work, image, out)
                if run:
                    take(name, "opencv", median(run, 5))
                run = scipys(work, image, out)
                if run and turn == 0:
                    take(name, "scipy", median(run, 1))
    write(arguments, names, least, remarks, (cpu, load))


def write(arguments, names, least, remarks, machine):
    cpu, load = machine
    today = datetime.date.today().isoformat()
    lines = [
        "# The CPU device beside OpenCV and SciPy, size by size",
        "",
        f"{today}, {cpu} (two cores); OpenCV {cv2.__version__} and Apron with two threads, SciPy {scipy.__version__} with one; "
        f"load of the machine {min(load):.1f} to {max(load):.1f}. Milliseconds: the least of {arguments.rounds} median(s) of 5 "
        "runs, Apron and OpenCV in turn, of SciPy one run. The last number is Apron's time over OpenCV's. Made by "
        "`benches/peers/cpu_scan.py`, which says what each library runs. On a loaded machine times near multiples of 4 are of threads "
        "that waited for their slice.",
        "",
        "| work | Apron | OpenCV | SciPy | Apron / OpenCV | |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        apron, opencv, scipy_ms = (least.get((name, who)) for who in ("apron", "opencv", "scipy"))
        ratio = f"{apron / opencv:.2f}" if opencv else ""
        ratio = f"**{ratio}**" if opencv and apron > 1.1 * opencv else ratio
        cells = [f"{value:.2f}" if value else "" for value in (apron, opencv, scipy_ms)]
        lines.append(f"| {name} | {' | '.join(cells)} | {ratio} | {remarks[name]} |")
    with open(arguments.write, "w") as file:
        file.write("\n".join(lines) + "\n")


main()
