"""A Gaussian of an array that is larger than memory, from Zarr to Zarr.

    python large_zarr.py FOLDER --side 50000 --sigma 3 --chunk 2048 --threads 2

reads `FOLDER/input.zarr`, filters it by `apron.dask`, and writes `FOLDER/output.zarr`, of the input's type and chunks, in Zarr's
format 3. If there is no input, it makes one: a square image of uint8, pseudo-random. With `--workers 2`, blocks are filtered in
two processes of `dask.distributed`. It prints seconds and the peak of memory.
"""

import argparse
import contextlib
import resource
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import zarr

import apron.dask


def created(path, shape, chunks, dtype):
    """Creates an array that is stored as it is: noise does not compress."""
    return zarr.create_array(path, shape=shape, chunks=chunks, dtype=dtype, compressors=None, overwrite=True)


def noise(block_info=None):
    """Returns a block of pseudo-random samples; each block has another seed."""
    block = block_info[None]
    random = np.random.default_rng(block["chunk-location"])
    return random.integers(0, 256, block["chunk-shape"], np.uint8)


def make(path, side, chunk):
    """Writes the input, under another name until it is whole."""
    part = path.with_suffix(".part")
    array = created(part, (side, side), (min(chunk, side),) * 2, "u1")
    chunks = da.core.normalize_chunks(array.chunks, array.shape)
    samples = da.map_blocks(noise, chunks=chunks, dtype=np.uint8, meta=np.empty((0, 0), np.uint8))
    da.store(samples, array, lock=False)
    part.rename(path)


def peak():
    """Returns the peak of this process's memory in bytes; Linux counts it in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextlib.contextmanager
def cluster(workers, threads):
    """Runs blocks on threads of this process, or of workers; gives a function that returns the workers' peaks of memory."""
    if workers == 0:
        with dask.config.set(scheduler="threads", num_workers=threads):
            yield lambda: []
        return
    from distributed import Client, LocalCluster

    options = dict(n_workers=workers, threads_per_worker=threads, processes=True, dashboard_address=None)
    with LocalCluster(**options) as local, Client(local) as client:
        yield lambda: list(client.run(peak).values())


def at_least(least, kind=int):
    """Returns the reader of a number that has a lower limit."""

    def number(text):
        if not kind(text) >= least:
            raise argparse.ArgumentTypeError(f"{text} is given, but must be {least} or more")
        return kind(text)

    return number


def main():
    parser = argparse.ArgumentParser(description="Filters a Zarr array by a Gaussian, block by block.")
    parser.add_argument("folder", type=Path, help="where input.zarr and output.zarr lie")
    parser.add_argument("--side", type=at_least(1), default=50000, help="side of the square image that is made, in pixels")
    parser.add_argument("--sigma", type=at_least(0, float), default=3.0, help="standard deviation of the Gaussian, in pixels")
    parser.add_argument("--chunk", type=at_least(1), default=2048, help="side of its chunks, in pixels")
    parser.add_argument("--workers", type=at_least(0), default=0, help="processes; 0 for threads of this one alone")
    parser.add_argument("--threads", type=at_least(1), default=2, help="threads of each process")
    given = parser.parse_args()
    source, target = given.folder / "input.zarr", given.folder / "output.zarr"

    with cluster(given.workers, given.threads) as of_workers:
        if not source.exists():
            given.folder.mkdir(parents=True, exist_ok=True)
            start = time.perf_counter()
            make(source, given.side, given.chunk)
            print(f"{source}: made in {time.perf_counter() - start:.1f} s")

        stored = zarr.open_array(source, mode="r")
        print(f"{source}: {'x'.join(map(str, stored.shape))} of {stored.dtype}, {stored.nbytes / 1e9:.2f} GB")
        start = time.perf_counter()
        blurred = apron.dask.gaussian_filter(da.from_zarr(stored), given.sigma)
        # Without a lock: no two blocks of the result lie in one chunk.
        da.store(blurred, created(target, stored.shape, stored.chunks, stored.dtype), lock=False)
        print(f"{target}: Gaussian of sigma {given.sigma:g} in {time.perf_counter() - start:.1f} s")

        peaks = [peak(), *of_workers()]
        print(f"peak memory: {sum(peaks) / 1e6:.0f} MB, of the process and {len(peaks) - 1} workers")


if __name__ == "__main__":
    main()
