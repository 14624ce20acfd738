"""Arrays of CuPy, PyTorch and other libraries, without a copy: on a GPU, on its stream. Results are arrays of the same library."""

import functools
import math
import sys

import numpy as np

from . import _apron
from ._arguments import groups


def as_array(array):
    """Returns a NumPy array, or the wrapper of an array of another library."""
    if type(array) is np.ndarray:
        return array
    library = type(array).__module__.partition(".")[0]
    if library == "cupy":
        return _CuPy(array)
    if library == "torch" and hasattr(array, "data_ptr"):
        return _Torch(array) if array.is_cuda else _TorchOnHost(array)
    if isinstance(array, Foreign):
        return array
    if hasattr(array, "__cuda_array_interface__") or _is_on_gpu(array):
        return _Other(array)
    return np.asarray(array)


def in_order(array):
    """Returns an array in the machine's byte order; types in another are not equal to NumPy's."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _is_on_gpu(array):
    """Whether an array offers DLPack, and is on a CUDA GPU."""
    return hasattr(array, "__dlpack_device__") and int(array.__dlpack_device__()[0]) == 2


def on_host(numbers):
    """Returns numbers, such as weights, as a NumPy array, wherever they are."""
    if hasattr(numbers, "__cuda_array_interface__"):
        numbers = numbers.get() if hasattr(numbers, "get") else numbers.cpu()
    return np.asarray(numbers)


def beside(array, other, what):
    """Returns another array as an array of the library of ``array``, on the same device."""
    other = as_array(other)
    if type(other) is not type(array):
        raise TypeError(f"apron: {what} is a {type(other).__name__.lstrip('_')} array, but must be of the library and place of the array")
    return other


def computed(array, shape, dtype, run, output=None):
    """Returns the result of ``run`` for an array, as an array of the same library: ``run(samples)`` returns a NumPy array, and
    ``run(samples, output=room)`` writes an array on a GPU. ``output`` is written if it has the result's shape and type, as in OpenCV."""
    if isinstance(array, Foreign):
        return array.computed(shape, np.dtype(dtype), run, output)
    result = run(array).reshape(shape)
    if output is None or output.shape != result.shape or output.dtype != result.dtype:
        return result
    output[...] = result
    return output


def dtype_of(dtype):
    """Returns NumPy's dtype for a type of any library; names must be those of numeric types, as in SciPy."""
    if type(dtype).__module__.partition(".")[0] == "torch":
        return _dtype_of_torch(dtype)
    found = np.dtype(dtype)
    if isinstance(dtype, str) and not issubclass(found.type, np.number):
        raise RuntimeError(f"output must have numeric dtype, but has {found}")
    return found


def keeps_type(output, array):
    """Returns whether a filter's result, in ``output`` or of that type, has the array's type."""
    if output is None:
        return True
    dtype = as_array(output).dtype if hasattr(output, "shape") else dtype_of(output)
    return dtype == array.dtype


class Foreign:
    """An array of another library: the attributes that it shares with NumPy's arrays, and its filters."""

    def __init__(self, native, dtype):
        self.native, self.shape, self.dtype = native, tuple(native.shape), dtype
        self.ndim, self.size = len(self.shape), math.prod(self.shape)
        if dtype.kind == "c":
            raise TypeError(f"apron: dtype is {dtype}, but must be real on a GPU and in PyTorch")

    def room(self, output):
        """Returns the array into which a result is written, and the array into which it is then copied, if that is another."""
        if output is None:
            return self.empty(self.dtype), None
        if isinstance(output, (str, type, np.dtype)) or type(output).__name__ == "dtype":
            return self.empty(dtype_of(output)), None
        target = as_array(output)
        if type(target) is not type(self):
            raise TypeError(f"output is a {type(output).__module__} array, but must be of the input's library and place")
        if target.shape != self.shape:
            raise RuntimeError(f"output shape not correct: it is {target.shape}, but must be {self.shape}")
        # What is no array in C order is copied as it was taken.
        return (target, None) if target.native is output else (self.empty(target.dtype), output)

    def empty(self, dtype):
        """Makes an uninitialised array of this shape."""
        return self.made(self.shape, dtype)

    def zeros(self, dtype):
        """Makes an array of the library, of this shape."""
        return self.filled(self.shape, dtype)

    def fits(self, output, shape, dtype):
        """Returns an array into which a result of this shape and type can be written, or ``None``."""
        target = None if output is None else as_array(output)
        is_one = target is not None and type(target) is type(self) and target.native is output
        return target if is_one and target.shape == tuple(shape) and target.dtype == dtype else None

    def counted(self, edges, are_even):
        """Returns counts of samples between edges."""
        return self.of_host(_apron.histogram(self.given(), edges, are_even))

    def values_counted(self, least, count):
        """Returns counts of ``count`` values of an integer type of 8 or 16 bits, from ``least`` on, or of all values of the type
        from there on if they are more; and the least and the largest value that occurs. Of 32 bits, counts of the values from
        0 on; none if some values are below 0 or too large for an attempt."""
        few = np.iinfo(self.dtype)
        if few.bits > 16:
            return None
        counts = _apron.histogram(self.given(), (few.min, few.max + 1, few.max - few.min + 1), True)
        found = counts.nonzero()[0] + few.min
        counts = np.concatenate([counts, np.zeros(max(least + count - few.max - 1, 0), counts.dtype)])
        return self.of_host(counts[least - few.min :]), found[0], found[-1]

    def filtered(self, output, run):
        """Returns the array that ``run(room)`` writes."""
        room, target = self.room(output)
        if self.size:
            run(room)
        if target is None:
            return room.native
        target[...] = room.native
        return target


#: Values from 0 on that are counted before the largest one is known: as many, or up to the most if more are asked for.
_ATTEMPTED, _MOST_ATTEMPTED = 1 << 14, 1 << 17


class _OnGpu(Foreign):
    """An array on a GPU, with the address of its samples, in C order, and a stream."""

    def given(self):
        """Returns the argument of compiled functions: the address, the shape, the type, and the stream of all work."""
        return (self.address, self.shape, self.dtype, self.stream)

    def parts(self, leading):
        """Returns the parts of the array along its leading axes, one after the other."""
        if leading == 0:
            return [self.given()]
        size = math.prod(self.shape[leading:]) * self.dtype.itemsize
        count = math.prod(self.shape[:leading])
        return [(self.address + part * size, self.shape[leading:], self.dtype, self.stream) for part in range(count)]

    def computed(self, shape, dtype, run, output):
        room = self.fits(output, shape, dtype) or self.made(shape, dtype)
        run(self.given(), output=room.given())
        return room.native

    def along(self, output, plan):
        passes = plan.compiled if plan.compiled is not None else plan.compile(plan.cval)

        def run(room):
            _apron.separable(self.given(), room.dtype, passes, None, room.given())

        return self.filtered(output, run)

    def dense(self, output, weights, origins, mode, cval):
        leading = 0
        if weights.ndim > 3:
            wide = [axis for axis, side in enumerate(weights.shape) if side > 1]
            if len(wide) > 3:
                raise ValueError(f"apron: the mask has taps along {len(wide)} axes, but must have them along up to 3 on a GPU")
            # The axes before the first one with several taps count volumes.
            leading = wide[0] if wide and groups(weights.shape) > 3 else 0
        taps = np.ascontiguousarray(weights, np.float64).reshape(-1)
        given = (taps, weights.shape[leading:], origins[leading:], mode, float(cval))

        def run(room):
            for part, result in zip(self.parts(leading), room.parts(leading)):
                _apron.correlate(part, room.dtype, *given, None, result)

        return self.filtered(output, run)

    def counted(self, edges, are_even):
        counts = self.made((len(edges) - 1,), np.int64)
        _apron.histogram(self.given(), edges, are_even, None, None, counts.given())
        return counts.native

    def values_counted(self, least, count):
        few = np.iinfo(self.dtype)
        if few.bits > 16:
            if count > _MOST_ATTEMPTED:
                return None
            # One more, since the last count is of two values.
            counts = self.made((max(count, _ATTEMPTED) + 1,), np.int64)
            low, high, are_all = _apron.count_values(self.given(), counts.given())
            return (counts.native, low, high) if are_all and high < counts.size - 1 else None
        size = few.max - few.min + 1
        counts = type(self)(self.filled((max(size, least + count - few.min),), np.int64))
        low, high, _ = _apron.count_values(self.given(), (counts.address, (size,), counts.dtype, counts.stream))
        return counts.native[least - few.min :], low, high

    def extremes(self):
        """Returns the least and the largest sample as an array on the host; as f64 if integers are beyond 2^53."""
        ends = np.array(_apron.extremes(self.given()))
        are_rounded = self.dtype.kind in "iu" and (np.abs(ends) >= 2.0**53).any()
        return ends if are_rounded else ends.astype(self.dtype)


class _CuPy(_OnGpu):
    def __init__(self, array):
        cupy = sys.modules["cupy"]
        if not array.flags.c_contiguous:
            array = cupy.ascontiguousarray(array)
        super().__init__(array, array.dtype)
        self.address = array.data.ptr

    @property
    def stream(self):
        return (self.native.device.id, sys.modules["cupy"].cuda.get_current_stream().ptr)

    def made(self, shape, dtype):
        return _CuPy(sys.modules["cupy"].empty(shape, dtype))

    def filled(self, shape, dtype):
        return sys.modules["cupy"].zeros(shape, dtype)

    def of_host(self, array):
        return sys.modules["cupy"].asarray(array)

    def root(self, total):
        sys.modules["cupy"].sqrt(total, total, casting="unsafe")

    def as_type(self, dtype):
        return _CuPy(self.native.astype(dtype))

    def stacked(self, arrays):
        return _CuPy(sys.modules["cupy"].stack(arrays, -1))

    def interpolated(self, places, values):
        return sys.modules["cupy"].interp(self.native, self.of_host(places), self.of_host(values))

    def searched(self, edges, right):
        return sys.modules["cupy"].digitize(self.native, self.of_host(edges), right)

    def where(self, condition, first, second):
        return sys.modules["cupy"].where(condition, first, second)


class _Other(_OnGpu):
    """An array of any other library, by DLPack or by the CUDA Array Interface. Results are `GpuArray`."""

    def __init__(self, array):
        if isinstance(array, _apron.GpuArray):
            taken = array
        elif hasattr(array, "__cuda_array_interface__"):
            ordinal = array.__dlpack_device__()[1] if hasattr(array, "__dlpack_device__") else 0
            taken = _apron.GpuArray.of_interface(array, ordinal)
        else:
            taken = _apron.GpuArray.of_dlpack(array)
        super().__init__(taken, taken.dtype)
        self.native, self.taken, self.address, self.stream = array, taken, taken.address, taken.stream

    def room(self, output):
        room, target = super().room(output)
        if room.taken.read_only:
            raise ValueError("output array is read-only")
        return room, target

    def made(self, shape, dtype):
        return _Other(self.filled(shape, dtype))

    def filled(self, shape, dtype):
        return _apron.GpuArray.zeros(shape, np.dtype(dtype), self.stream)

    def of_host(self, array):
        return array

    # Counts are on the host, since nobody else can take a part of the array.
    counted, values_counted = Foreign.counted, Foreign.values_counted

    def fits(self, output, shape, dtype):
        target = super().fits(output, shape, dtype)
        if target is not None and target.taken.read_only:
            raise ValueError("output array is read-only")
        return target

    def _own(self, *_):
        raise TypeError("apron: this needs operations of the array's library: give an array of CuPy or PyTorch, as cupy.asarray makes one")

    as_type = stacked = interpolated = searched = where = root = _own


@functools.cache
def _dtype_of_torch(dtype):
    name = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(name)
    except TypeError:
        raise TypeError(f"apron: dtype is {dtype}, but must be bool, an integer, float16, float32 or float64") from None


class _Tensor:
    """The common part of PyTorch's tensors on a GPU and on the host."""

    def made(self, shape, dtype):
        return type(self)(self.native.new_empty(tuple(shape), dtype=_of_torch(dtype)))

    def filled(self, shape, dtype):
        return self.native.new_zeros(tuple(shape), dtype=_of_torch(dtype))

    def of_host(self, array):
        return sys.modules["torch"].from_numpy(np.asarray(array, order="C")).to(self.native.device)

    def root(self, total):
        total.copy_(total.double().sqrt())

    def as_type(self, dtype):
        return type(self)(self.native.to(_of_torch(dtype)))

    def stacked(self, arrays):
        return type(self)(sys.modules["torch"].stack(arrays, -1))

    def interpolated(self, places, values):
        """Interpolates between values at ascending places, as `numpy.interp`."""
        torch = sys.modules["torch"]
        places, values, samples = self.of_host(places), self.of_host(values), self.native.double()
        at = (torch.searchsorted(places, samples, right=True) - 1).clamp(0, max(len(places) - 2, 0))
        behind = (at + 1).clamp(max=len(places) - 1)
        slope = (values[behind] - values[at]) / (places[behind] - places[at])
        found = slope * (samples - places[at]) + values[at]
        found = torch.where(samples >= places[-1], values[-1], found)
        return torch.where(samples <= places[0], values[0], found)

    def searched(self, edges, right):
        return sys.modules["torch"].bucketize(self.native, self.of_host(edges), right=not right)

    def where(self, condition, first, second):
        torch = sys.modules["torch"]
        as_tensor = lambda one: one if torch.is_tensor(one) else torch.as_tensor(one, dtype=self.native.dtype, device=self.native.device)  # noqa: E731
        return torch.where(condition, as_tensor(first), as_tensor(second))


def _of_torch(dtype):
    return getattr(sys.modules["torch"], np.dtype(dtype).name)


class _Torch(_Tensor, _OnGpu):
    def __init__(self, tensor):
        if tensor.requires_grad:
            raise RuntimeError("apron: the tensor requires a gradient: filter it by apron.torch, or call tensor.detach() first")
        tensor = tensor.contiguous()
        super().__init__(tensor, _dtype_of_torch(tensor.dtype))
        self.address = tensor.data_ptr()

    @property
    def stream(self):
        device = self.native.device
        return (device.index, sys.modules["torch"].cuda.current_stream(device).cuda_stream)

    def empty(self, dtype):
        if dtype is self.dtype:
            return _Torch(sys.modules["torch"].empty_like(self.native))
        return self.made(self.shape, dtype)


class _TorchOnHost(_Tensor, Foreign):
    """A tensor on the host, as a NumPy array that shares its memory."""

    def __init__(self, tensor):
        if tensor.requires_grad:
            raise RuntimeError("apron: the tensor requires a gradient: filter it by apron.torch, or call tensor.detach() first")
        super().__init__(tensor, _dtype_of_torch(tensor.dtype))

    def given(self):
        return self.native.contiguous().numpy()

    def computed(self, shape, dtype, run, output):
        room = self.fits(output, shape, dtype) or self.made(shape, dtype)
        room.native.numpy()[...] = run(self.given()).reshape(shape)
        return room.native

    def along(self, output, plan):
        from ._filters import along

        return self.filtered(output, lambda room: along(self.native.numpy(), room.native.numpy(), plan))

    def dense(self, output, weights, origins, mode, cval):
        from ._filters import dense

        def run(room):
            room.native.numpy()[...] = dense(self.native.numpy(), room.dtype, weights, origins, mode, cval)

        return self.filtered(output, run)

    def extremes(self):
        array = self.native.numpy()
        return np.array([array.min(), array.max()])
