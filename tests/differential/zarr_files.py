#!/usr/bin/env python3
"""Reads and writes Zarr arrays by the package zarr and by apron, and compares them; see README.md."""

import argparse
import itertools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

TYPES = ["uint8", "uint16", "int16", "float16", "float32"]
SHAPES = [(301, 211), (301, 211, 3), (1, 1, 301, 211)]
VOLUMES = [(41, 70, 83), (41, 70, 83, 3), (1, 41, 70, 83)]


def codecs(shape):
    """Options of arrays of this shape, by a name."""
    turned = tuple(reversed(range(len(shape))))
    return {
        "default": {},
        "none": {"compressors": None},
        "zstd": {"compressors": ZstdCodec(level=5)},
        "gzip": {"compressors": GzipCodec(level=3)},
        "blosc": {"compressors": BloscCodec(cname="lz4", shuffle="bitshuffle")},
        "crc32c": {"compressors": [ZstdCodec(), Crc32cCodec()]},
        "big": {"serializer": BytesCodec(endian="big")},
        "transpose": {"filters": TransposeCodec(order=turned)},
        "shards": {"shards": tuple(64 if side > 4 else side for side in shape)},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apron", default="target/release/apron", type=Path)
    apron = parser.parse_args().apron.resolve()
    rng = np.random.default_rng(1)
    compared = 0
    with tempfile.TemporaryDirectory() as folder:

        def copy(source, target, volume):
            filter = ["box", "--size", "1", "--volume"] if volume else ["correlate", "--mask", "identity"]
            words = [apron, *filter, source, target, "--device", "cpu", "--quiet"]
            subprocess.run(words, check=True, cwd=folder)
            return Path(folder, target)

        for dtype, shape in itertools.product(TYPES, SHAPES + VOLUMES):
            volume = shape in VOLUMES
            for name, options in codecs(shape).items():
                what = f"{dtype} {shape} {name}"
                samples = (rng.random(shape) * 200).astype(dtype)
                # Chunks of the fill value are not stored.
                samples[..., :80, :80] = 0
                chunks = tuple(32 if side > 4 else side for side in shape)
                path = Path(folder, "in.zarr")
                given = zarr.create_array(path, shape=shape, dtype=dtype, chunks=chunks, overwrite=True, **options)
                given[...] = samples
                array = np.load(copy("in.zarr", "array.npy", volume))
                assert np.array_equal(array.reshape(shape), samples), what
                again = zarr.open_array(copy("in.zarr", "again.zarr", volume), mode="r")
                assert again.dtype == dtype and np.array_equal(again[...], samples), what
                assert again.metadata.to_dict() == given.metadata.to_dict(), what
                new = zarr.open_array(copy("array.npy", "new.zarr", volume), mode="r")
                assert new.dtype == dtype and np.array_equal(new[...], array), what
                compared += 1
    print(f"{compared} arrays of zarr {zarr.__version__} are equal, read and written")


main()
