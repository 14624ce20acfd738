"""The examples for large arrays and for batches have the results of the whole array and of each image."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import apron
from apron import ndimage

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments, home=None):
    """Runs an example, and returns what it prints."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    environment = os.environ | ({} if home is None else {"HOME": str(home)})
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(name):
    """Returns the module of an example."""
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("options", [("--threads", 2), ("--workers", 2, "--threads", 1)])
def test_large_zarr(tmp_path, options):
    zarr = pytest.importorskip("zarr")
    pytest.importorskip("distributed" if "--workers" in options else "dask.array")
    printed = run("large_zarr.py", tmp_path, "--side", 300, "--chunk", 64, "--sigma", 2, *options)
    source, target = (zarr.open_array(tmp_path / f"{name}.zarr", mode="r") for name in ("input", "output"))
    assert source.shape == (300, 300) and source.dtype == np.uint8 and source.nchunks == 25
    assert target.chunks == source.chunks and target.metadata.zarr_format == 3
    samples = source[:]
    # No two blocks have the same noise.
    assert 70 < samples.std() < 77 and not np.array_equal(samples[:64, :64], samples[64:128, :64])
    np.testing.assert_array_equal(target[:], ndimage.gaussian_filter(samples, 2.0))
    seconds, peak = printed.splitlines()[-2:]
    assert "Gaussian of sigma 2 in" in seconds and f"of the process and {2 * ('--workers' in options)} workers" in peak


def test_large_zarr_reads_what_is_there(tmp_path):
    zarr = pytest.importorskip("zarr")
    pytest.importorskip("dask.array")
    samples = np.random.default_rng(1).integers(0, 65536, (70, 90), np.uint16)
    zarr.create_array(tmp_path / "input.zarr", data=samples, chunks=(32, 40))
    assert "made" not in run("large_zarr.py", tmp_path, "--sigma", 1.5)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "input.zarr", mode="r")[:], samples)
    found = zarr.open_array(tmp_path / "output.zarr", mode="r")
    assert found.dtype == np.uint16 and found.chunks == (32, 40)
    np.testing.assert_array_equal(found[:], ndimage.gaussian_filter(samples, 1.5))


@pytest.mark.parametrize("option, value, least", [("--side", 0, 1), ("--workers", -1, 0), ("--sigma", "nan", 0)])
def test_large_zarr_names_the_limit(tmp_path, monkeypatch, capsys, option, value, least):
    pytest.importorskip("zarr")
    pytest.importorskip("dask.array")
    monkeypatch.setattr(sys, "argv", ["large_zarr.py", str(tmp_path), f"{option}={value}"])
    with pytest.raises(SystemExit):
        loaded("large_zarr").main()
    assert f"{option}: {value} is given, but must be {least} or more" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_ray_batches(tmp_path):
    pytest.importorskip("ray.data")
    # Ray keeps files in the user's folder.
    run("ray_batches.py", tmp_path / "found.npz", "--images", 11, "--side", 40, "--batch", 4, home=tmp_path)
    found = np.load(tmp_path / "found.npz")
    example = loaded("ray_batches")
    images = example.made(11, 40)
    assert images.shape == (11, 40, 40) and found["read_only"].all() and found["blurred"].dtype == np.uint8
    for image, blurred, counts in zip(images, found["blurred"], found["counts"], strict=True):
        np.testing.assert_array_equal(blurred, ndimage.gaussian_filter(image, 2.0))
        np.testing.assert_array_equal(counts, apron.histogram(blurred, example.BINS, (0, 256))[0])
