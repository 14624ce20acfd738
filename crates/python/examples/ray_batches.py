"""Batches of images through Ray Data: a Gaussian of each image, and the histogram of what it gives.

    python ray_batches.py results.npz --images 64 --side 256 --batch 16

The images lie in Ray's object store. A batch is a read-only array of shape (images, rows, columns), which Ray gives to a worker
without a copy.
"""

import argparse
import functools
import time

import numpy as np

import apron
from apron import ndimage

#: Bins of the histograms of bytes.
BINS = 16


def made(images, side):
    """Returns pseudo-random images of uint8."""
    return np.random.default_rng(1).integers(0, 256, (images, side, side), np.uint8)


def filtered(batch, sigma):
    """Filters a batch along the rows and columns of its images, and counts each result."""
    blurred = ndimage.gaussian_filter(batch["data"], sigma, axes=(1, 2))
    counts = np.stack([apron.histogram(image, BINS, (0, 256))[0] for image in blurred])
    return {"blurred": blurred, "counts": counts, "read_only": np.full(len(blurred), not batch["data"].flags.writeable)}


def by_ray(images, sigma, batch):
    """Returns the results of all images, in their order, in a dictionary of arrays."""
    import ray.data

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    work = functools.partial(filtered, sigma=sigma)
    # A block for each batch, so that workers take batches side by side.
    blocks = [images[start : start + batch] for start in range(0, len(images), batch)]
    dataset = ray.data.from_numpy(blocks).map_batches(work, batch_size=batch, batch_format="numpy", zero_copy_batch=True)
    parts = list(dataset.iter_batches(batch_size=batch, batch_format="numpy"))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def main():
    parser = argparse.ArgumentParser(description="Filters batches of images by Ray Data.")
    parser.add_argument("results", help="the file that is written, .npz")
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--side", type=int, default=256, help="side of the square images, in pixels")
    parser.add_argument("--batch", type=int, default=16, help="images in a batch")
    parser.add_argument("--sigma", type=float, default=2.0, help="standard deviation of the Gaussian, in pixels")
    given = parser.parse_args()
    if min(given.images, given.side, given.batch) < 1:
        parser.error(f"images, side and batch are {given.images}, {given.side}, {given.batch}, but must be 1 or more")
    images = made(given.images, given.side)
    start = time.perf_counter()
    found = by_ray(images, given.sigma, given.batch)
    print(f"{len(images)} images of {given.side}x{given.side} in {time.perf_counter() - start:.2f} s, Ray's start included")
    np.savez(given.results, **found)


if __name__ == "__main__":
    main()
