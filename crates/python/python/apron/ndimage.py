"""The linear filters of `scipy.ndimage`: its signatures, defaults and results.

Sums are computed in f64, as in SciPy, except for arrays of float32 and float16 whose result is float32 or float16: these are summed
in f32, each sum within ``(taps + 3) * 2^-24 * sum |tap * sample|`` of the exact sum. Integer results are truncated toward zero, wrap,
and have the result's type between the passes of a filter of several axes. Floats are rounded once, at the end.

All functions take arrays of bool, integers of 8 to 64 bits, float16, float32, float64, complex64 and complex128, with any number of
axes and any strides, and return a new array or ``output``. As in SciPy, `correlate`, `convolve` and `laplace` skip samples under
weights of 0 that are NaN or infinite, while in all other filters such samples make the sum NaN. On a GPU such samples are not searched
for, since that would wait for the GPU: they make the sum NaN in all filters. NaN and infinities only affect means of windows that
contain them, while SciPy's running sums keep them up to the end of the line. Refused are weights of 64-bit integers that f64 does not
represent, more than 65,536 weights along an axis, also those of a Gaussian, and masks of three axes with more than 65,536 rows.

Arrays of CuPy and PyTorch are not copied, and their results are arrays of the same library. On a GPU, work is enqueued on the current
stream without waiting; complex numbers are not supported there.

Errors are SciPy's: `RuntimeError` for modes, sizes and shapes, `ValueError` for origins and axes, `TypeError` for other types.
"""

import numpy as np

from ._arguments import axes_of, axis_of, by_axis, check_mode, doubles, for_each, groups, output_of, stored
from ._filters import Plan, along, bell, check_origin, complex_parts, cross, dense, mean_pass, planned
from ._foreign import Foreign, as_array, keeps_type, on_host
from ._histograms import labelled_histogram as histogram

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "histogram",
    "laplace",
    "prewitt",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]


def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """Correlates along an axis: `scipy.ndimage.correlate1d`.

    Parameters
    ----------
    input : array
    weights : sequence of one number or more
    axis : int
    output : array or dtype, optional
        The array in which the result is stored, or the result's type; by default the input's type.
    mode : str
        The border: ``reflect``, ``mirror``, ``nearest``, ``wrap``, ``constant``, ``grid-mirror``, ``grid-wrap`` or
        ``grid-constant``.
    cval : number
        The value outside, for a constant border.
    origin : int
        Shift of the weights from their middle, in samples.

    Returns
    -------
    array of the input's shape

    >>> from apron.ndimage import correlate1d
    >>> import numpy as np
    >>> correlate1d(np.array([2, 8, 0, 4, 1, 9, 9, 0]), weights=[1, 3])
    array([ 8, 26,  8, 12,  7, 28, 36,  9])
    """
    input, weights = as_array(input), on_host(weights)
    if input.dtype.kind == "c" or weights.dtype.kind == "c":

        def part(input, weights, cval, dtype):
            return correlate1d(input, weights, axis, dtype, mode, cval, origin)

        return complex_parts(part, input, weights.conj(), output, cval)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError(f"no filter weights given: their shape is {weights.shape}, but must be of one axis")
    axis = axis_of(axis, input.ndim)
    check_origin(origin, len(weights))
    taps = doubles(weights, "weights")
    return along(input, output, Plan([(axis, taps, origin, check_mode(mode))], cval))


def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """Convolves along an axis: `scipy.ndimage.convolve1d`; the arguments are those of `correlate1d`.

    >>> from apron.ndimage import convolve1d
    >>> import numpy as np
    >>> convolve1d(np.array([2, 8, 0, 4, 1, 9, 9, 0]), weights=[1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
    weights = on_host(weights)[::-1]
    origin = -origin - (1 if len(weights) % 2 == 0 else 0)
    # `correlate1d` conjugates them.
    return correlate1d(input, weights.conj(), axis, output, mode, cval, origin)


def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Correlates with a mask: `scipy.ndimage.correlate`.

    Parameters
    ----------
    input : array
    weights : array with as many axes as ``axes``
    output, mode, cval : as of `correlate1d`
    origin : int or sequence of int, one for each of ``axes``
    axes : int or sequence of int, optional
        The axes of the mask; by default all.

    >>> from apron.ndimage import correlate
    >>> import numpy as np
    >>> correlate(np.arange(12).reshape(3, 4), [[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    array([[ 5,  4,  4,  3],
           [ 1,  0,  0, -1],
           [-3, -4, -4, -5]])
    """
    return _correlated(as_array(input), on_host(weights), output, mode, cval, origin, axes, False)


def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Convolves with a mask: `scipy.ndimage.convolve`; the arguments are those of `correlate`.

    >>> from apron.ndimage import convolve
    >>> import numpy as np
    >>> convolve(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), np.arange(9).reshape(3, 3), mode="constant")
    array([[0, 1, 2],
           [3, 4, 5],
           [6, 7, 8]])
    """
    return _correlated(as_array(input), on_host(weights), output, mode, cval, origin, axes, True)


def _correlated(input, weights, output, mode, cval, origin, axes, flipped):
    if input.dtype.kind == "c" or weights.dtype.kind == "c":

        def part(input, weights, cval, dtype):
            return _correlated(input, weights, dtype, mode, cval, origin, axes, flipped)

        weights = weights if flipped else weights.conj()
        return complex_parts(part, input, weights, output, cval)
    weights, axes = doubles(weights, "weights"), axes_of(axes, input.ndim)
    if (wide := sum(side > 0 for side in weights.shape)) != len(axes):
        raise RuntimeError(f"weights.ndim ({wide}) must match len(axes) ({len(axes)})")
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    origins = by_axis(origin, axes, input.ndim, 0)
    # The mask's axes are in the order of the array's, as in SciPy.
    others = [axis for axis in range(input.ndim) if axis not in axes]
    weights = np.expand_dims(weights, tuple(others)) if others else weights
    if flipped:
        weights = np.flip(weights)
        origins = [-one - (1 if side % 2 == 0 else 0) for one, side in zip(origins, weights.shape)]
    for one, side in zip(origins, weights.shape):
        check_origin(one, side)
    mode = check_mode(mode)
    if isinstance(input, Foreign):
        return input.dense(output, weights, origins, mode, cval)
    dtype, target = output_of(output, input)
    if input.size == 0:
        return stored(np.zeros(input.shape, dtype), target)
    return stored(dense(input, dtype, weights, origins, mode, cval), target)


def gaussian_filter1d(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    """Blurs along an axis by a Gaussian, or by its derivative: `scipy.ndimage.gaussian_filter1d`.

    Parameters
    ----------
    input, axis, output, mode, cval : as of `correlate1d`
    sigma : float
        The standard deviation, in samples.
    order : int
        The order of the derivative, 0 or more.
    truncate : float
        Radius of the Gaussian, in standard deviations.
    radius : int, optional
        Radius of the Gaussian, in samples, instead of ``truncate``.

    >>> from apron.ndimage import gaussian_filter1d
    >>> gaussian_filter1d([1.0, 2.0, 3.0, 4.0, 5.0], 1).round(4)
    array([1.427 , 2.0678, 3.    , 3.9322, 4.573 ])
    """
    input = as_array(input)
    return along(input, output, _gaussian1d(input.ndim, sigma, axis, order, mode, cval, truncate, radius))


@planned
def _gaussian1d(ndim, sigma, axis, order, mode, cval, truncate, radius):
    axis = axis_of(axis, ndim)
    return Plan([(axis, bell(sigma, order, truncate, radius), 0, check_mode(mode))], cval)


def gaussian_filter(
    input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    """Blurs by a Gaussian, or by its derivatives: `scipy.ndimage.gaussian_filter`.

    Parameters
    ----------
    input, output, cval : as of `correlate1d`
    sigma, order, mode, radius : one for all axes, or a sequence with one for each of ``axes``
    truncate : float
    axes : int or sequence of int, optional
        The axes that are filtered; by default all.

    >>> from apron.ndimage import gaussian_filter
    >>> import numpy as np
    >>> gaussian_filter(np.arange(50, step=2).reshape(5, 5), sigma=1)
    array([[ 4,  6,  8,  9, 11],
           [10, 12, 14, 15, 17],
           [20, 22, 24, 25, 27],
           [29, 31, 33, 34, 36],
           [35, 37, 39, 40, 42]])
    """
    input = as_array(input)
    return _along_or_copy(input, output, False, _gaussian(input.ndim, sigma, order, mode, cval, truncate, radius, axes))


@planned
def _gaussian(ndim, sigma, order, mode, cval, truncate, radius, axes):
    axes = axes_of(axes, ndim)
    orders, sigmas, modes, radii = (for_each(value, len(axes)) for value in (order, sigma, mode, radius))
    passes = [
        (axis, bell(sigma, order, truncate, radius), 0, check_mode(mode))
        for axis, sigma, order, mode, radius in zip(axes, sigmas, orders, modes, radii)
        if sigma > 1e-15
    ]
    return Plan(passes, cval)


def _along_or_copy(input, output, promotes, plan):
    """Runs a plan; one without passes casts complex samples to a real type, as SciPy, unless it ``promotes`` types."""
    if plan.passes or isinstance(input, Foreign):
        return along(input, output, plan, promotes)
    dtype, target = output_of(output, input, promotes and input.dtype.kind == "c")
    return stored(input.astype(dtype), target)


def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """Averages ``size`` samples along an axis: `scipy.ndimage.uniform_filter1d`; the other arguments are those of `correlate1d`.

    >>> from apron.ndimage import uniform_filter1d
    >>> import numpy as np
    >>> uniform_filter1d(np.array([2, 8, 0, 4, 1, 9, 9, 0]), size=3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    input = as_array(input)
    return along(input, output, Plan([mean_pass(axis_of(axis, input.ndim), size, origin, mode)], cval))


def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Averages over windows: `scipy.ndimage.uniform_filter`.

    Parameters
    ----------
    input, output, cval : as of `correlate1d`
    size, mode, origin : one for all axes, or a sequence with one for each of ``axes``
    axes : int or sequence of int, optional
        The axes that are filtered; by default all.

    >>> from apron.ndimage import uniform_filter
    >>> import numpy as np
    >>> uniform_filter(np.array([[0, 0, 9], [0, 9, 0], [9, 0, 0]]), 3, mode="constant")
    array([[1, 2, 2],
           [2, 3, 2],
           [2, 2, 1]])
    """
    input = as_array(input)
    return _along_or_copy(input, output, True, _uniform(input.ndim, size, mode, cval, origin, axes))


@planned
def _uniform(ndim, size, mode, cval, origin, axes):
    axes = axes_of(axes, ndim)
    sizes, origins, modes = (for_each(value, len(axes)) for value in (size, origin, mode))
    passes = [
        mean_pass(axis, int(size), origin, mode)
        for axis, size, origin, mode in zip(axes, sizes, origins, modes)
        if size > 1
    ]
    return Plan(passes, cval)


def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """Sobel's derivative along an axis: `scipy.ndimage.sobel`.

    Differences ``-1 0 1`` along the axis, and sums ``1 2 1`` along all others; ``mode`` is one for all axes, or a sequence.

    >>> from apron.ndimage import sobel
    >>> import numpy as np
    >>> sobel(np.array([[0.0, 1.0, 4.0], [0.0, 1.0, 4.0]]))
    array([[ 4., 16., 12.],
           [ 4., 16., 12.]])
    """
    return _derivative(as_array(input), axis, output, mode, cval, (1.0, 2.0, 1.0))


def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """Prewitt's derivative along an axis: `scipy.ndimage.prewitt`.

    Differences ``-1 0 1`` along the axis, and sums ``1 1 1`` along all others; ``mode`` is one for all axes, or a sequence.

    >>> from apron.ndimage import prewitt
    >>> import numpy as np
    >>> prewitt(np.array([[0.0, 1.0, 4.0], [0.0, 1.0, 4.0]]))
    array([[ 3., 12.,  9.],
           [ 3., 12.,  9.]])
    """
    return _derivative(as_array(input), axis, output, mode, cval, (1.0, 1.0, 1.0))


def _derivative(input, axis, output, mode, cval, smooth):
    return along(input, output, _difference(input.ndim, axis, mode, cval, smooth), promotes=False)


@planned
def _difference(ndim, axis, mode, cval, smooth):
    axis = axis_of(axis, ndim)
    modes = [check_mode(one) for one in for_each(mode, ndim)]
    smooth, difference = np.array(smooth), np.array([-1.0, 0.0, 1.0])
    others = [(other, smooth, 0, modes[other]) for other in range(ndim) if other != axis]
    return Plan([(axis, difference, 0, modes[axis]), *others], cval)


def generic_laplace(
    input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None
):
    """Sums second derivatives by a function: `scipy.ndimage.generic_laplace`.

    ``derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)`` derives along an axis.

    >>> from apron.ndimage import correlate1d, generic_laplace
    >>> def second(input, axis, output, mode, cval):
    ...     return correlate1d(input, [1, -2, 1], axis, output, mode, cval)
    >>> generic_laplace([0.0, 0.0, 1.0, 0.0], second)
    array([ 0.,  1., -2.,  1.])
    """

    def add(total, other):
        total += other

    def nothing(*_):
        pass

    return _generic(
        input, derivative2, output, mode, cval, extra_arguments, extra_keywords, axes, nothing, add, nothing
    )


def generic_gradient_magnitude(
    input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None
):
    """The magnitude of a gradient by a function: `scipy.ndimage.generic_gradient_magnitude`.

    ``derivative(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)`` derives along an axis.

    >>> from apron.ndimage import generic_gradient_magnitude, sobel
    >>> import numpy as np
    >>> generic_gradient_magnitude(np.array([[0.0, 3.0], [4.0, 7.0]]), sobel)
    array([[20., 20.],
           [20., 20.]])
    """

    def square(total):
        total *= total

    def add(total, other):
        square(other)
        total += other

    def root(array, total):
        if isinstance(array, Foreign):
            array.root(total)
        else:
            np.sqrt(total, total, casting="unsafe")

    return _generic(input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes, square, add, root)


def _generic(input, derive, output, mode, cval, arguments, keywords, axes, first, add, last):
    """Derives along each axis, and combines the results in the order of the axes."""
    array, keywords = as_array(input), keywords or {}
    axes = axes_of(axes, array.ndim)
    if len(axes) == 0:
        return _along_or_copy(array, output, False, Plan([], 0.0))
    modes = for_each(mode, len(axes))
    if isinstance(array, Foreign):
        room, target = array.room(output)
        dtype, total, input = room.dtype, array.zeros(room.dtype), array.native
        target = room.native if target is None else target
    else:
        (dtype, target), input = output_of(output, array), array
        total = np.zeros(input.shape, dtype)
    derive(input, axes[0], total, modes[0], cval, *arguments, **keywords)
    first(total)
    for axis, mode in zip(axes[1:], modes[1:]):
        add(total, derive(input, axis, dtype, mode, cval, *arguments, **keywords))
    last(array, total)
    return stored(total, target)


def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    """Sums second differences ``1 -2 1`` along the axes: `scipy.ndimage.laplace`.

    ``mode`` is one for all axes, or a sequence with one for each of ``axes``.

    >>> from apron.ndimage import laplace
    >>> import numpy as np
    >>> laplace(np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[ 0.,  1.,  0.],
           [ 1., -4.,  1.],
           [ 0.,  1.,  0.]])
    """
    array = as_array(input)
    among = axes_of(axes, array.ndim)
    sides = [3 if axis in among else 1 for axis in range(min(among, default=0), array.ndim)]
    is_one_mask = 1 < len(among) <= 3 and groups(sides) <= 3
    # One mask: floats need not be stored between the axes, and whole sums that wrap may be taken in any order.
    is_whole = isinstance(array, Foreign) and array.dtype.kind in "iu" and array.dtype.itemsize <= 4
    is_whole = is_whole and np.ndim(cval) == 0 and abs(cval) < 2**31 and cval == int(cval)
    if isinstance(mode, str) and is_one_mask and (array.dtype.kind == "f" or is_whole) and keeps_type(output, array):
        return correlate(array, cross(len(among)), output, mode, cval, axes=among)

    def second(input, axis, output, mode, cval):
        return correlate1d(input, [1, -2, 1], axis, output, mode, cval)

    return generic_laplace(array, second, output, mode, cval, axes=axes)


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """Sums second derivatives of a Gaussian blur: `scipy.ndimage.gaussian_laplace`.

    Other arguments are those of `gaussian_filter`.

    >>> from apron.ndimage import gaussian_laplace
    >>> import numpy as np
    >>> spot = np.zeros((5, 5))
    >>> spot[2, 2] = 100
    >>> gaussian_laplace(spot, 1)[2].round(2)
    array([  5.55,  -9.58, -31.83,  -9.58,   5.55])
    """
    input = as_array(input)
    sigmas = by_axis(sigma, axes_of(axes, input.ndim), input.ndim, 0.0)

    def second(input, axis, output, mode, cval, **kwargs):
        order = [2 if other == axis else 0 for other in range(input.ndim)]
        return gaussian_filter(input, sigmas, order, output, mode, cval, **kwargs)

    return generic_laplace(input, second, output, mode, cval, extra_keywords=kwargs, axes=axes)


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The magnitude of the gradient of a Gaussian blur: `scipy.ndimage.gaussian_gradient_magnitude`.

    Other arguments are those of `gaussian_filter`.

    >>> from apron.ndimage import gaussian_gradient_magnitude
    >>> import numpy as np
    >>> gaussian_gradient_magnitude(np.tile(np.arange(9.0), (9, 1)), 1)[4].round(2)
    array([0.36, 0.85, 0.99, 1.  , 1.  , 1.  , 0.99, 0.85, 0.36])
    """

    def first(input, axis, output, mode, cval, **kwargs):
        order = [1 if other == axis else 0 for other in range(input.ndim)]
        return gaussian_filter(input, sigma, order, output, mode, cval, **kwargs)

    return generic_gradient_magnitude(input, first, output, mode, cval, extra_keywords=kwargs, axes=axes)
