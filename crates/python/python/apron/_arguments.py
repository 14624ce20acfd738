"""Conversion and checks of the arguments of SciPy's filters."""

import operator
import warnings
from collections.abc import Iterable

import numpy as np

#: SciPy's names of borders, and those of `numpy.pad`.
MODES = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}


def rounded(numbers):
    """Returns the first integer of an array that f64 does not represent, or None."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8:
        return None
    large = numbers[(numbers > 2**53) | (numbers < -(2**53))]
    # What f64 holds has no bits below its lowest.
    return next((one for one in map(int, large) if int(float(one)) != one), None)


def check_rounded(numbers, what):
    """Refuses integers that f64 would round."""
    if (one := rounded(numbers)) is not None:
        raise ValueError(f"apron: one of the {what} is {one}, but must be an integer that f64 holds, as {int(float(one))}")


def check_real(numbers, what):
    """Refuses complex numbers."""
    if numbers.dtype.kind == "c":
        raise TypeError(f"apron: type of the {what} is {numbers.dtype}, but must be real")


def doubles(numbers, what):
    """Returns weights as an array of f64 in C order; complex numbers, and integers that f64 would round, are refused."""
    numbers = np.asarray(numbers)
    check_real(numbers, what)
    check_rounded(numbers, what)
    return np.asarray(numbers, np.float64, order="C")


def check_mode(mode):
    """Returns a border's name, or raises RuntimeError, as SciPy does."""
    if not isinstance(mode, str) or mode not in MODES:
        raise RuntimeError(f"boundary mode not supported: mode is {mode!r}, but must be one of {', '.join(MODES)}")
    return mode


def for_each(value, count):
    """Returns a value for each of ``count`` axes: the same for all, or a sequence of ``count`` values."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError(
            f"sequence argument must have length equal to input rank: length is {len(values)}, but must be {count}"
        )
    return values


def by_axis(value, axes, ndim, other):
    """Returns a value for each of an array's axes, and ``other`` where ``axes`` lack it.

    A sequence is in the order of ``axes``, but in that of the array if they are all of its axes, as in SciPy.
    """
    if len(axes) == ndim and isinstance(value, (int, float)):
        return [value] * ndim
    values = [other] * ndim
    for axis, one in zip(axes if len(axes) < ndim else range(ndim), for_each(value, len(axes))):
        values[axis] = one
    return values


def axis_of(axis, ndim):
    """Returns an axis as a number from 0 on."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim


def axes_of(axes, ndim):
    """Returns axes as numbers from 0 on; all axes by default."""
    if axes is None:
        return tuple(range(ndim))
    if np.isscalar(axes):
        axes = (axes,)
    elif not isinstance(axes, Iterable):
        raise ValueError("axes must be an integer, iterable of integers, or None")
    axes = [operator.index(axis) for axis in axes]
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range: it must be {-ndim} to {ndim - 1}")
    axes = tuple(axis % ndim for axis in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"axes must be unique, but are {axes}")
    return axes


def output_of(output, input, complex_output=False, promotes=True):
    """Returns the type of a result, and the array in which it is stored, or None for a new one.

    A complex result needs a complex output; with ``promotes``, a real type becomes the complex type, with a warning.
    """
    if output is None:
        dtype = np.promote_types(input.dtype, np.complex64) if complex_output else input.dtype
        return dtype.newbyteorder("="), None
    if isinstance(output, (type, np.dtype)):
        dtype = np.dtype(output)
        if complex_output and dtype.kind != "c":
            if not promotes:
                raise RuntimeError(f"output must have complex dtype, but has {dtype}")
            warnings.warn("promoting specified output dtype to complex", stacklevel=4)
            dtype = np.promote_types(dtype, np.complex64)
        return _in_order(dtype, input.shape)
    if isinstance(output, str):
        dtype = np.dtype(output)
        if complex_output and dtype.kind != "c":
            raise RuntimeError(f"output must have complex dtype, but has {dtype}")
        if not issubclass(dtype.type, np.number):
            raise RuntimeError(f"output must have numeric dtype, but has {dtype}")
        return _in_order(dtype, input.shape)
    output = np.asarray(output)
    if output.shape != input.shape:
        raise RuntimeError(f"output shape not correct: it is {output.shape}, but must be {input.shape}")
    if complex_output and output.dtype.kind != "c":
        raise RuntimeError(f"output must have complex dtype, but has {output.dtype}")
    return output.dtype.newbyteorder("="), output


def _in_order(dtype, shape):
    """Returns a type in the machine's byte order; and if the type has the other order, an array of the type itself."""
    return dtype.newbyteorder("="), None if dtype.isnative else np.empty(shape, dtype)


def stored(result, output):
    """Returns a result, or the array in which it is stored."""
    if output is None:
        return result
    output[...] = result
    return output


def groups(sides):
    """Returns the number of a mask's axes if adjacent axes of one tap count as one."""
    return sum(1 for at, side in enumerate(sides) if side > 1 or at == 0 or sides[at - 1] > 1)
