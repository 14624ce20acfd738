"""The compiled part: few functions over arrays; see the modules that call them for SciPy's, OpenCV's and NumPy's names."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_Taps = NDArray[np.float64]

@final
class Device:
    def __new__(cls, name: str = "auto") -> Device: ...
    @property
    def name(self) -> str: ...
    def synchronize(self) -> None: ...
    def __enter__(self) -> Device: ...
    def __exit__(self, *error: object) -> None: ...

@final
class GpuArray:
    @staticmethod
    def zeros(shape: Sequence[int], dtype: np.dtype[Any], stream: tuple[int, int]) -> GpuArray: ...
    @staticmethod
    def of_dlpack(array: object) -> GpuArray: ...
    @staticmethod
    def of_interface(array: object, ordinal: int) -> GpuArray: ...
    @property
    def address(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def stream(self) -> tuple[int, int]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Passes:
    def __new__(cls, passes: Sequence[tuple[int, int | _Taps, int, str, float]]) -> Passes: ...

def separable(input: _Array, dtype: np.dtype[Any], passes: Passes, device: Device | None = None) -> _Array: ...
def correlate(
    input: _Array,
    dtype: np.dtype[Any],
    taps: _Taps,
    sides: Sequence[int],
    origins: Sequence[int],
    mode: str,
    cval: float,
    device: Device | None = None,
) -> _Array: ...
def histogram(
    input: _Array, edges: _Taps, even: bool, weights: _Taps | None = None, device: Device | None = None
) -> _Array: ...
def histogramdd(
    rows: _Array,
    edges: Sequence[_Taps],
    even: Sequence[bool],
    weights: _Taps | None = None,
    device: Device | None = None,
) -> _Taps: ...
def percentiles(input: _Array, percentiles: Sequence[float], device: Device | None = None) -> _Taps: ...
def places(input: _Array, bins: _Taps, right: bool) -> NDArray[np.int64]: ...

_OnGpu = tuple[int, Sequence[int], np.dtype[Any]]
_Stream = tuple[int, int]

def gpu_separable(input: _OnGpu, output: _OnGpu, passes: Passes, stream: _Stream) -> None: ...
def gpu_correlate(
    input: _OnGpu,
    output: _OnGpu,
    taps: _Taps,
    sides: Sequence[int],
    origins: Sequence[int],
    mode: str,
    cval: float,
    stream: _Stream,
) -> None: ...
def gpu_histogram(input: _OnGpu, edges: _Taps, even: bool, stream: _Stream) -> NDArray[np.int64]: ...
def gpu_extremes(input: _OnGpu, stream: _Stream) -> tuple[float, float]: ...

_Window = tuple[_Taps, _Taps] | tuple[_Taps, int, int] | tuple[int, int]

def planar(
    input: _Array,
    dtype: np.dtype[Any],
    window: _Window,
    scale: float,
    delta: float,
    anchor: tuple[int, int] | None,
    mode: str,
    device: Device | None = None,
) -> _Array: ...
def padded(
    input: _Array, x: int, y: int, width: int, height: int, mode: str, constants: Sequence[float]
) -> _Array: ...
def lookup(input: _Array, table: NDArray[np.uint8]) -> _Array: ...
def equalized(input: _Array) -> _Array: ...
def equalized_by_tiles(input: _Array, clip: float, across: int, down: int) -> _Array: ...
def matched(input: _Array, reference: _Array) -> _Array: ...
def otsu(input: _Array) -> int: ...
