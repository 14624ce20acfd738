"""Filters of arrays: the layer between SciPy's functions and the compiled ones."""

import functools
import math
import numbers
import operator

import numpy as np

from . import _apron
from ._arguments import MODES, check_mode, groups, output_of, stored
from ._foreign import Foreign

#: The largest number of f32: compiled taps and constants beside samples of other types than f64 are up to it.
_MOST_SINGLE = float(np.finfo(np.float32).max)

#: Most taps along an axis.
MAX_TAPS = 1 << 16


@functools.lru_cache(maxsize=1024)
def gaussian_taps(sigma, order, radius):
    """Returns the taps of a Gaussian's derivative, for correlation.

    The Gaussian ``exp(-x^2 / (2 sigma^2))`` at whole numbers is divided by its sum. Its derivative of any order is the Gaussian times
    a polynomial ``q``, which follows from that of the previous order: ``q' - x / sigma^2 q``.
    """
    x = np.arange(-radius, radius + 1, dtype=np.float64)
    bell = np.exp(-0.5 / (sigma * sigma) * x**2)
    bell /= bell.sum()
    polynomial = np.polynomial.Polynomial([1.0])
    slope = np.polynomial.Polynomial([0.0, -1.0 / (sigma * sigma)])
    for _ in range(order):
        polynomial = polynomial.deriv() + slope * polynomial
    taps = (polynomial(x) * bell)[::-1].copy()
    taps.flags.writeable = False
    return taps


class Plan:
    """Correlations along axes, one after the other: ``passes`` of (axis, taps, origin, mode); for a mean, taps are their number."""

    def __init__(self, passes, cval):
        self.passes, self.cval = passes, cval
        is_real = not isinstance(cval, complex) and np.ndim(cval) == 0 and not np.iscomplexobj(cval)
        try:
            self.compiled = self.compile(cval) if is_real and abs(cval) <= _MOST_SINGLE else None
        except ValueError:
            if not self.has_large_taps():
                raise
            self.compiled = None

    def compile(self, cval):
        return _apron.Passes([(axis, taps, origin, mode, float(cval)) for axis, taps, origin, mode in self.passes])

    def has_large_taps(self):
        return any(factor_of(taps) != 1 for _, taps, _, _ in self.passes)

    def real(self, input, dtype, cval, device=None):
        """Filters a real array."""
        if self.compiled is not None and cval is self.cval:
            return _apron.separable(input, dtype, self.compiled, device)
        if not math.isfinite(cval):
            return _beside_infinity(input, dtype, self.passes, float(cval), device)
        if self.has_large_taps() or (abs(cval) > _MOST_SINGLE and input.dtype != np.float64):
            return _in_doubles(input, dtype, self.passes, float(cval), device)
        return _apron.separable(input, dtype, self.compile(cval), device)


def planned(make):
    """Caches the plans that ``make`` returns, by its arguments; without cache if an argument is a list, which has no hash."""
    kept = functools.lru_cache(maxsize=1024, typed=True)(make)

    def plan(*arguments):
        try:
            return kept(*arguments)
        except TypeError:
            return make(*arguments)

    return plan


def along(input, output, plan, promotes=True):
    """Runs a plan on an array; complex arrays are filtered part by part, and ``promotes`` is as in `output_of`."""
    if isinstance(input, Foreign):
        return input.along(output, plan)
    if output is None and input.dtype.isnative and input.size and input.dtype.kind != "c":
        return plan.real(input, input.dtype, plan.cval)
    is_complex = input.dtype.kind == "c"
    dtype, target = output_of(output, input, is_complex, promotes)
    if input.size == 0:
        return stored(np.zeros(input.shape, dtype), target)
    if not is_complex:
        return stored(plan.real(input, dtype, plan.cval), target)
    result = np.empty(input.shape, dtype)
    result.real = plan.real(input.real, result.real.dtype, np.real(plan.cval))
    result.imag = plan.real(input.imag, result.imag.dtype, np.imag(plan.cval))
    return stored(result, target)


def _beside_infinity(input, dtype, passes, cval, device):
    """Filters arrays beside which lies no number: as part of an array that has it."""
    for axis, taps, origin, mode in passes:
        if mode.endswith("constant"):
            width, length = taps if isinstance(taps, int) else len(taps), input.shape[axis]
            around = [(width, width) if other == axis else (0, 0) for other in range(input.ndim)]
            input = np.pad(input.astype(np.float64), around, constant_values=cval)
            wider = Plan([(axis, taps, origin, "nearest")], 0.0).real(input, dtype, 0.0, device)
            input = np.take(wider, range(width, width + length), axis)
        else:
            input = Plan([(axis, taps, origin, mode)], 0.0).real(input, dtype, 0.0, device)
    return input


def factor_of(taps):
    """Returns a power of 2 that makes finite taps beyond f32 of numbers within; 1 for others."""
    most = 0.0 if isinstance(taps, int) else float(np.abs(taps).max(initial=0.0))
    return 2.0 ** (127 - math.frexp(most)[1]) if _MOST_SINGLE < most < math.inf else 1.0


def _in_doubles(input, dtype, passes, cval, device):
    """Filters axis by axis in f64, what taps or a constant beyond f32 need, and stores in the result's type, as SciPy."""
    for axis, taps, origin, mode in passes:
        factor = factor_of(taps)
        taps = taps if factor == 1 else taps * factor
        samples = np.asarray(input, np.float64)
        sums = _apron.separable(samples, samples.dtype, _apron.Passes([(axis, taps, origin, mode, cval)]), device)
        with np.errstate(over="ignore"):
            input = _cast(sums / factor, dtype, device)
    return input


def dense(input, dtype, weights, origins, mode, cval, device=None):
    """Correlates an array with a mask of as many axes."""
    cval = float(cval)
    seen = [axis for axis, sides in enumerate(zip(input.shape, weights.shape)) if sides != (1, 1)]
    if groups(weights.shape) > 3 and len(seen) < input.ndim:
        # Axes of one sample and one tap do not count.
        part, mask = (one.reshape([one.shape[axis] for axis in seen]) for one in (input, weights))
        origins = [origins[axis] for axis in seen]
        return dense(part, dtype, mask, origins, mode, cval, device).reshape(input.shape)
    wide = [axis for axis, taps in enumerate(weights.shape) if taps > 1]
    leading = wide[0] if wide else 0
    if groups(weights.shape) > 3 and groups(weights.shape[leading:]) <= 3:
        # Along the axes before the first one with several taps, the array is filtered part by part.
        parts = input.reshape(-1, *input.shape[leading:])
        weights = weights.reshape(weights.shape[leading:])
        filtered = [dense(part, dtype, weights, origins[leading:], mode, cval, device) for part in parts]
        return np.stack(filtered).reshape(input.shape)
    if input.ndim > 3 and groups(weights.shape) > 3:
        return _cast(_by_slices(input, weights, origins, mode, cval, wide[0], device), dtype, device)
    if mode.endswith("constant") and not math.isfinite(cval):
        around = [(taps, taps) for taps in weights.shape]
        wider = np.pad(input.astype(np.float64), around, constant_values=cval)
        inside = tuple(slice(taps, taps + length) for taps, length in zip(weights.shape, input.shape))
        return dense(wider, dtype, weights, origins, "nearest", 0.0, device)[inside].copy()

    if abs(cval) > _MOST_SINGLE and mode.endswith("constant"):
        input = np.asarray(input, np.float64)
    if input.dtype.kind == "f" and dtype.kind in "biu" and not (math.isfinite(input.min()) and math.isfinite(input.max())):
        return _cast(dense(input, np.dtype(np.float64), weights, origins, mode, cval, device), dtype, device)

    def correlate(input, weights, dtype=dtype, cval=cval):
        taps = np.ascontiguousarray(weights, np.float64).reshape(-1)
        return _apron.correlate(input, dtype, taps, weights.shape, origins, mode, cval, device)

    try:
        result = correlate(input, weights)
    except ValueError:
        if (factor := factor_of(weights)) == 1:
            raise
        samples = np.asarray(input, np.float64)
        sums = dense(samples, samples.dtype, weights * factor, origins, mode, cval, device)
        with np.errstate(over="ignore"):
            return _cast(sums / factor, dtype, device)
    return without_taps_of_0(
        result,
        input,
        weights,
        correlate,
        lambda samples, taps: correlate(samples, taps, np.dtype(np.float32), 0.0),
    )


def _cast(sums, dtype, device):
    """Casts sums of f64; to integers those that are no numbers, too, as C does on x86-64, and so SciPy."""
    result = _apron.separable(sums, dtype, _apron.Passes([]), device)
    if dtype.kind in "biu" and not (are_numbers := np.isfinite(sums)).all():
        result[~are_numbers] = np.iinfo(dtype).min if dtype in (np.int32, np.int64) else 0
        if dtype == np.uint64:
            result[np.isnan(sums)] = 1 << 63
    return result


def without_taps_of_0(result, input, weights, correlate, count, skipped=None):
    """Returns sums as in SciPy and OpenCV, which skip taps of 0: a product of 0 and NaN or an infinity would be NaN.

    ``correlate(samples, weights)`` returns the sums, and ``count(samples, taps)`` sums in float32 without a constant; ``skipped``
    are the taps that are skipped, if these are not all taps of 0.
    """
    skipped = weights == 0 if skipped is None else skipped
    if not input.dtype.kind == result.dtype.kind == "f" or not np.any(skipped) or not np.isnan(result.min()):
        return result
    are_nan = np.isnan(result)
    result[are_nan] = correlate(np.where(np.isfinite(input), input, input.dtype.type(0)), weights)[are_nan]
    sees = lambda samples, taps: count(np.asarray(samples), taps) > 0  # noqa: E731
    rises = sees(input == np.inf, weights > 0) | sees(input == -np.inf, weights < 0)
    falls = sees(input == -np.inf, weights > 0) | sees(input == np.inf, weights < 0)
    result[rises & are_nan], result[falls & are_nan] = np.inf, -np.inf
    result[are_nan & (rises & falls | sees(np.isnan(input), ~skipped))] = np.nan
    if np.any(zeros := (weights == 0) & ~skipped):
        result[are_nan & sees(np.isinf(input), zeros)] = np.nan
    return result


def _by_slices(input, weights, origins, mode, cval, axis, device):
    """Sums, in f64, correlations with the slices of a mask along one of its axes."""
    taps, length = weights.shape[axis], input.shape[axis]
    anchor = taps // 2 + origins[axis]
    around = [(0, 0)] * input.ndim
    around[axis] = (anchor, taps - 1 - anchor)
    constant = {"constant_values": cval} if mode.endswith("constant") else {}
    wider = np.pad(input.astype(np.float64), around, mode=MODES[mode], **constant)
    origins = [0 if other == axis else origin for other, origin in enumerate(origins)]
    result = np.zeros(input.shape)
    for tap in range(taps):
        seen = np.take(wider, range(tap, tap + length), axis)
        slice_of_mask = np.take(weights, [tap], axis)
        with np.errstate(invalid="ignore"):
            # The sum of infinities of both signs is NaN here, as in a single sum.
            result += dense(seen, np.dtype(np.float64), slice_of_mask, origins, mode, cval, device)
    return result


def complex_parts(filter, input, weights, output, cval):
    """Filters a complex array, or by complex weights: ``filter(input, weights, cval, dtype)`` filters real parts.

    A ``dtype`` of None stands for the input's.
    """
    if input.dtype.kind != "c" and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    dtype, target = output_of(output, input, complex_output=True)
    result = np.empty(input.shape, dtype)
    part = result.real.dtype
    if input.dtype.kind != "c":
        result.real, result.imag = (filter(input, one, cval, part) for one in (weights.real, weights.imag))
    elif weights.dtype.kind != "c":
        result.real = filter(input.real, weights, np.real(cval), part)
        result.imag = filter(input.imag, weights, np.imag(cval), part)
    else:
        result.real = filter(input.real, weights.real, np.real(cval), part)
        result.real -= filter(input.imag, weights.imag, np.imag(cval), None)
        result.imag = filter(input.real, weights.imag, np.real(cval), part)
        result.imag += filter(input.imag, weights.real, np.imag(cval), None)
    return stored(result, target)


def check_origin(origin, taps):
    if not -(taps // 2) <= origin <= (taps - 1) // 2:
        raise ValueError(
            f"Invalid origin; origin is {origin}, but must be {-(taps // 2)} to {(taps - 1) // 2} for {taps} weights"
        )


def bell(sigma, order, truncate, radius):
    """Returns the taps of a Gaussian."""
    sigma = float(sigma)
    if radius is None:
        radius = int(truncate * sigma + 0.5)
    if not isinstance(radius, numbers.Integral) or radius < 0:
        raise ValueError(f"Radius must be a nonnegative integer, but is {radius!r}.")
    order = operator.index(order)
    if order < 0:
        raise ValueError(f"order must be non-negative, but is {order}")
    return gaussian_taps(sigma, order, int(radius))


def mean_pass(axis, size, origin, mode):
    """Returns a pass that averages."""
    if size < 1:
        raise RuntimeError(f"incorrect filter size: it is {size}, but must be 1 or more")
    size = operator.index(size)
    if size > MAX_TAPS:
        raise ValueError(f"apron: size is {size}, but must be 1 to {MAX_TAPS}")
    if not 0 <= size // 2 + origin < size:
        raise ValueError(f"invalid origin: it is {origin}, but must be {-(size // 2)} to {(size - 1) // 2}")
    return (axis, size, origin, check_mode(mode))


def cross(axes):
    """Returns the mask of second differences along all of its axes."""
    mask = np.zeros((3,) * axes)
    middle = (1,) * axes
    mask[middle] = -2 * axes
    for axis in range(axes):
        for side in (0, 2):
            mask[middle[:axis] + (side,) + middle[axis + 1 :]] = 1
    return mask
