#!/usr/bin/env python3
"""Compares the apron command line with NumPy, SciPy and, where it is there, OpenCV.

Random problems, one JSON line each, run in one `apron batch`; see README.md.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy
from scipy import ndimage

import complexes
import doubles
import histograms
import integers
import jpegs
import named
import pixels
import volumes
from common import NEAR, SCIPY_MODES, Job, compare
from masks import cv2, gaussian, histogram, masked, opencv, rgba, separable, small_mean

MAKERS = [
    (gaussian, 0.2),
    (masked, 0.3),
    (rgba, 0.15),
    (separable, 0.2),
    (small_mean, 0.1),
    (histogram, 0.1),
    (opencv, 0.05),
    (named.named, 0.3),
    (histograms.histograms, 0.5),
    (pixels.pixels, 0.3),
    (doubles.doubles, 0.3),
    (complexes.complexes, 0.2),
    (integers.integers, 0.5),
    (volumes.volumes, 0.4),
    (jpegs.jpegs, 0.1),
]


def make(seed, index):
    # Each problem has one generator, so that it does not depend on how many there are.
    rng = np.random.default_rng([seed, index])
    makers = [maker for maker in MAKERS if cv2 is not None or maker[0] not in (opencv, jpegs.jpegs)]
    weights = np.array([weight for _, weight in makers])
    return makers[rng.choice(len(makers), p=weights / weights.sum())][0](rng)


# Photo.


def photo_jobs(seed):
    rng = np.random.default_rng([seed, 1 << 32])
    height, width = 3000, 4000
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    image = np.empty((height, width, 3), np.uint8)
    for c in range(3):
        period_x, period_y, phase = rng.uniform(300, 3000, 3)
        smooth = 128 + 60 * np.sin(x / period_x * 6 + phase) + 50 * np.cos(y / period_y * 6)
        image[..., c] = np.clip(smooth + rng.normal(0, 12, smooth.shape), 0, 255)
    value = 20.0

    def job(border):
        mode = SCIPY_MODES[border]

        def judge(out):
            if out.dtype != np.uint8 or out.shape != image.shape:
                return [f"scipy: {out.dtype} {out.shape}"]
            largest, near, differ = 0, 0, 0
            wrong = []
            # Channel by channel, for memory's sake.
            for c in range(3):
                plane = image[..., c].astype(np.float64)
                reference = ndimage.gaussian_filter(plane, 3.0, mode=mode, cval=value)
                error = abs(out[..., c] - np.rint(reference))
                largest = max(largest, int(error.max()))
                near += int((abs(reference - np.floor(reference) - 0.5) <= NEAR).sum())
                differ += int((error > 0).sum())
                wrong += compare(f"scipy, channel {c}", out[..., c], "u8", reference, None, NEAR)
            print(
                f"photo {width}x{height}x3 gaussian sigma 3 {border}: largest deviation {largest}, "
                f"{differ} samples differ, {near} were within {NEAR:g} of a rounding boundary"
            )
            return wrong

        options = {"sigma": 3, "border": f"constant:{value:g}" if border == "constant" else border}
        return Job("gaussian", f"{width}x{height}x3", options, image, judge, kind="photo")

    return [job(border) for border in SCIPY_MODES]


def run(apron, device, jobs, folder, first=0):
    """Runs all jobs in one process, numbered from `first`; returns complaints as (number, job, text)."""
    if not jobs:
        return [], Counter()
    lines, results = zip(*(job.line(folder, number) for number, job in enumerate(jobs, first)))
    path = folder / f"jobs-{first}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run([apron, "batch", path, "--device", device, "--quiet"], capture_output=True, text=True)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    if len(reports) != len(jobs):
        text = f"apron batch: exit {done.returncode}, {len(reports)} of {len(jobs)} jobs: {done.stderr}"
        return [(first, None, text)], Counter()
    wrong, ran = [], Counter()
    for number, (job, report, result) in enumerate(zip(jobs, reports, results), first):
        # Of a filter that is made of several, the last has the operation's name.
        parts = report.get("variant", "").split(" + ")
        if report["ok"] and job.options.get("variant", parts[0]) not in parts:
            wrong.append((number, job, f"apron: ran {report['variant']}"))
        elif report["ok"]:
            ran[report["operation"], parts[-1]] += 1
            given = job.given(result, report)
            wrong += [(number, job, complaint) for complaint in job.judge(given)]
        elif "variant" in job.options and "device does not have" in report["error"]:
            ran["refused,", "being beyond a variant's limits"] += 1
        else:
            wrong.append((number, job, f"apron: {report['error']}"))
    return wrong, ran


# Rounds of further problems for variants that were no work for the problems before.
MOST_ROUNDS = 30


def by_variants(apron, device, seed, problems, folder, photos):
    """Runs each problem by every variant that takes it, and then others until each variant took one."""
    known = variants(apron)
    every = [(operation, name) for operation, names in known.items() for name in names]
    jobs, wrong, ran, missing = [], [], Counter(), every
    for first in range(0, MOST_ROUNDS * problems, problems):
        made = [make(seed, index) for index in range(first, first + problems)] + (photos if first == 0 else [])
        names = lambda job: dict.fromkeys(name for operation, name in missing if operation in job.operations)
        more = [job.by(name) for job in made for name in names(job)]
        found, took = run(apron, device, more, folder, len(jobs))
        jobs, wrong, ran = jobs + more, wrong + found, ran + took
        missing = [variant for variant in every if not ran[variant]]
        # A few problems are not meant for all variants.
        if not missing or problems < 200:
            return jobs, wrong, ran
    return jobs, wrong + [(len(jobs), None, f"{' '.join(variant)} took no problem") for variant in missing], ran


def variants(apron):
    """The variants of each operation, and all of them as reports name them."""
    told = subprocess.run([apron, "kernels", "--json"], capture_output=True, text=True, check=True)
    known = {}
    for kernel in json.loads(told.stdout)["kernels"]:
        names = known.setdefault(kernel["operation"], [])
        names += [kernel["variant"]] if kernel["variant"] not in names else []
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apron", type=Path, default=Path("target/release/apron"), help="the binary [%(default)s]")
    parser.add_argument("--device", default="cpu", help="where apron runs [%(default)s]")
    parser.add_argument("--seed", type=int, help="[random]")
    parser.add_argument("--problems", type=int, default=150, help="how many [%(default)s]")
    parser.add_argument("--variants", action="store_true", help="each problem by every variant that takes it")
    parser.add_argument("--photo", action="store_true", help="also blur a 12-megapixel photo at each border")
    args = parser.parse_args()
    if not args.apron.is_file():
        parser.error(f"{args.apron} is not there: build it, or say --apron PATH")
    # A name without a folder would be searched in PATH.
    args.apron = args.apron.resolve()
    seed = args.seed if args.seed is not None else int(np.random.SeedSequence().entropy % 2**32)
    opencv_version = cv2.__version__ if cv2 else "none"
    print(f"seed {seed}, device {args.device}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, opencv {opencv_version}", flush=True)

    missing = named.without_problem(args.apron)
    if missing:
        print(f"FAILED no problem in named.py for {', '.join(missing)}")
        return 1
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="apron-check-"))
    photos = photo_jobs(seed) if args.photo else []
    if args.variants:
        jobs, wrong, ran = by_variants(args.apron, args.device, seed, args.problems, folder, photos)
    else:
        jobs = [make(seed, index) for index in range(args.problems)] + photos
        wrong, ran = run(args.apron, args.device, jobs, folder)

    kinds = Counter(job.kind for job in jobs)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{time.monotonic() - start:.1f} s")
    if wrong:
        for number, job, complaint in wrong:
            print(f"FAILED {number} {job.verb} {job.about} {job.options}: {complaint}" if job else f"FAILED {complaint}")
        print(f"{len(wrong)} complaints about {len(jobs)} problems; inputs and jobs are kept in {folder}")
        return 1
    shutil.rmtree(folder)
    print(f"{len(jobs)} problems agree: {counted}")
    print(", ".join(f"{count} {' '.join(variant)}" for variant, count in sorted(ran.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
