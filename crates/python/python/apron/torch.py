"""Linear filters of PyTorch's tensors, with gradients, as operators that ``torch.compile`` does not split.

Tensors are on the host or on a GPU, and have any number of axes; ``axes=(-2, -1)`` filters each image of a batch. The arguments are
those of `apron.ndimage` except for ``output``, and results have the same type, device and bits. Gradients are exact: they are the
filter's transpose, in which the samples of a border add to the gradient of the samples that they repeat, and the order of sums is the
same in every run.

Errors are those of `apron.ndimage`.

>>> import torch
>>> import apron.torch
>>> image = torch.arange(5.0, dtype=torch.float64, requires_grad=True)
>>> apron.torch.uniform_filter(image, 3, mode="nearest")[:2].sum().backward()
>>> image.grad * 3
tensor([3., 2., 1., 0., 0.], dtype=torch.float64)
"""

import numpy as np
import torch
from torch import library

from . import ndimage
from ._arguments import MODES, axes_of, by_axis, check_mode, check_rounded, doubles, for_each
from ._filters import Plan, along, check_origin
from ._foreign import as_array, on_host

__all__ = [
    "convolve",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "separable",
    "sobel",
    "uniform_filter",
]


def correlate(input, weights, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Correlates with a mask: `apron.ndimage.correlate`, with gradients of the tensor and of the mask.

    Parameters
    ----------
    input : tensor
    weights : tensor, array or sequence with as many axes as ``axes``
        A mask on a GPU is copied to the host, which waits for it.
    mode, cval, origin, axes : as of `apron.ndimage.correlate`

    Returns
    -------
    tensor of the input's shape and type

    >>> import torch
    >>> from apron.torch import correlate
    >>> mask = torch.tensor([1.0, 0.0, -1.0], requires_grad=True)
    >>> edges = correlate(torch.tensor([[0.0, 1.0, 4.0], [0.0, 2.0, 8.0]]), mask, axes=-1)
    >>> edges.tolist()
    [[-1.0, -4.0, -3.0], [-2.0, -8.0, -6.0]]
    >>> edges.sum().backward()
    >>> mask.grad
    tensor([ 3., 15., 27.])
    """
    return _with_mask(input, weights, mode, cval, origin, axes, False)


def convolve(input, weights, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Convolves with a mask: `apron.ndimage.convolve`; the arguments are those of `correlate`.

    >>> import torch
    >>> from apron.torch import convolve
    >>> convolve(torch.tensor([0.0, 1.0, 0.0, 0.0]), [1.0, 2.0, 3.0])
    tensor([1., 2., 3., 0.])
    """
    return _with_mask(input, weights, mode, cval, origin, axes, True)


def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0):
    """Correlates along an axis: `apron.ndimage.correlate1d`; ``weights`` are as of `separable`.

    >>> import torch
    >>> from apron.torch import correlate1d
    >>> correlate1d(torch.tensor([2.0, 8.0, 0.0, 4.0]), [1, 3])
    tensor([ 8., 26.,  8., 12.])
    """
    return separable(input, [weights], mode, cval, origin, axes=axis)


@torch.compiler.allow_in_graph
def separable(input, taps, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Correlates along axes, one after the other, each with its taps.

    Parameters
    ----------
    input : tensor
    taps : sequence with a tensor, array or sequence of numbers for each of ``axes``
        Those that require a gradient are applied as masks, axis by axis.
    mode, origin : one for all axes, or a sequence with one for each of ``axes``
    cval : float
    axes : int or sequence of int, optional
        The axes that are filtered; by default all.

    Returns
    -------
    tensor of the input's shape and type

    >>> import torch
    >>> from apron.torch import separable
    >>> separable(torch.tensor([[0.0, 1.0, 4.0], [0.0, 2.0, 8.0]]), [[1, 1], [-1, 0, 1]])
    tensor([[ 2.,  8.,  6.],
            [ 3., 12.,  9.]])
    """
    axes = axes_of(axes, input.ndim)
    taps = [_tensor(one) for one in for_each(taps, len(axes))]
    modes, origins = for_each(mode, len(axes)), for_each(origin, len(axes))
    if any(one.requires_grad for one in taps):
        for axis, weights, its_mode, its_origin in zip(axes, taps, modes, origins):
            input = correlate(input, weights, its_mode, cval, its_origin, axes=axis)
        return input
    for one, origin, mode in zip(taps, origins, modes):
        if one.ndim != 1 or len(one) < 1:
            raise RuntimeError(f"no filter weights given: their shape is {tuple(one.shape)}, but must be of one axis")
        check_origin(origin, len(one))
        check_mode(mode)
    return _along(input, taps, axes, origins, modes, float(cval))


def gaussian_filter1d(input, sigma, axis=-1, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    """Blurs along an axis by a Gaussian, or by its derivative: `apron.ndimage.gaussian_filter1d`.

    >>> import torch
    >>> from apron.torch import gaussian_filter1d
    >>> gaussian_filter1d(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), 1)
    tensor([1.4270, 2.0678, 3.0000, 3.9322, 4.5730])
    """
    return _planned(input, "_gaussian1d", sigma, axis, order, mode, cval, truncate, radius)


def gaussian_filter(input, sigma, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None):
    """Blurs by a Gaussian, or by its derivatives: `apron.ndimage.gaussian_filter`.

    >>> import torch
    >>> from apron.torch import gaussian_filter
    >>> batch = torch.zeros(8, 3, 32, 32)
    >>> gaussian_filter(batch, 1.5, axes=(-2, -1)).shape
    torch.Size([8, 3, 32, 32])
    """
    return _planned(input, "_gaussian", sigma, order, mode, cval, truncate, radius, axes)


def uniform_filter(input, size=3, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """Averages over windows: `apron.ndimage.uniform_filter`.

    >>> import torch
    >>> from apron.torch import uniform_filter
    >>> uniform_filter(torch.tensor([0.0, 3.0, 6.0, 12.0]), 3)
    tensor([ 1.,  3.,  7., 10.])
    """
    return _planned(input, "_uniform", size, mode, cval, origin, axes)


def sobel(input, axis=-1, mode="reflect", cval=0.0):
    """Sobel's derivative along an axis: `apron.ndimage.sobel`.

    >>> import torch
    >>> from apron.torch import sobel
    >>> sobel(torch.tensor([[0.0, 1.0, 4.0], [0.0, 1.0, 4.0]]))
    tensor([[ 4., 16., 12.],
            [ 4., 16., 12.]])
    """
    return _planned(input, "_difference", axis, mode, cval, (1.0, 2.0, 1.0))


def _tensor(numbers):
    """Returns weights as a tensor."""
    if isinstance(numbers, torch.Tensor):
        return numbers
    check_rounded(np.asarray(numbers), "weights")
    return torch.as_tensor(numbers, dtype=torch.float64, device="cpu")


def _settled(argument):
    """Returns an argument with numbers in place of the symbols of ``torch.compile``, which then compiles one program per value."""
    if isinstance(argument, (list, tuple)):
        return tuple(_settled(one) for one in argument)
    if isinstance(argument, torch.SymFloat):
        return float(argument)
    return int(argument) if isinstance(argument, torch.SymInt) else argument


@torch.compiler.allow_in_graph
def _with_mask(input, weights, mode, cval, origin, axes, flipped):
    """Correlates with a mask that gets one tap along the other axes; or convolves."""
    axes, weights = axes_of(axes, input.ndim), _tensor(weights)
    if weights.ndim != len(axes) or weights.numel() == 0:
        raise RuntimeError(f"weights have shape {tuple(weights.shape)}, but must have {len(axes)} axes, none of them empty")
    sides, origins = [1] * input.ndim, by_axis(origin, axes, input.ndim, 0)
    # The mask's axes are in the order of the array's, as in SciPy.
    for axis, side in zip(sorted(axes), weights.shape):
        sides[axis] = side
    weights = weights.reshape(sides)
    if flipped:
        weights = weights.flip(list(range(input.ndim)))
        origins = [-one - (1 if side % 2 == 0 else 0) for one, side in zip(origins, sides)]
    for one, side in zip(origins, sides):
        check_origin(one, side)
    return _correlate(input, weights, origins, check_mode(mode), float(cval))


@torch.compiler.allow_in_graph
def _planned(input, make, *arguments):
    """Filters as a function of `apron.ndimage`; a number of taps, for their mean, is a tensor without axes."""
    plan = getattr(ndimage, make)(input.ndim, *map(_settled, arguments))
    axes, taps, origins, modes = ([given[at] for given in plan.passes] for at in range(4))
    taps = [torch.tensor(one, device="cpu") for one in taps]
    return _along(input, taps, axes, origins, modes, float(plan.cval))


# The operators. A correlation with a mask is linear in the tensor, in the mask, and in the gradient of the result: each of the three
# operators below is the derivative of the two others, so that gradients have gradients.


def _operator(schema):
    """Makes an operator of a function that returns a new tensor."""
    name, _, arguments = schema.partition("(")
    return library.custom_op(f"apron::{name}", mutates_args=(), schema=f"({arguments} -> Tensor")


@_operator("correlate(Tensor input, Tensor weights, SymInt[] origins, str mode, float cval)")
def _correlate(input, weights, origins, mode, cval):
    """Correlates with a mask of as many axes."""
    return ndimage.correlate(input.detach(), on_host(weights.detach()), mode=mode, cval=cval, origin=origins)


@_operator("correlate_transposed(Tensor gradient, Tensor weights, SymInt[] origins, str mode)")
def _transposed(gradient, weights, origins, mode):
    """Returns the gradient of a correlation's input from that of its result."""
    mask, sides = np.flip(on_host(weights.detach())), weights.shape

    def flipped(wide):
        return ndimage.correlate(wide, mask, mode="constant", origin=[(side - 1) // 2 for side in sides])

    return _given_back(gradient.detach(), sides, origins, [mode] * len(sides), flipped)


@_operator("correlate_weights(Tensor input, Tensor gradient, SymInt[] sides, SymInt[] origins, str mode, float cval)")
def _of_weights(input, gradient, sides, origins, mode, cval):
    """Returns the gradient of a mask from that of the result: for each tap, the sum over the samples under it."""
    wide, lengths = input.detach(), gradient.shape
    for axis, (side, origin) in enumerate(zip(sides, origins)):
        before = side // 2 + origin
        if mode.endswith("constant"):
            ends = [0, 0] * (wide.ndim - 1 - axis) + [before, side - 1 - before]
            wide = torch.nn.functional.pad(wide, ends, value=cval)
        else:
            index = torch.from_numpy(_map(before, lengths[axis], side - 1 - before, mode))
            wide = wide.index_select(axis, index.to(wide.device))
    sums = wide.new_empty(sides)
    for tap in np.ndindex(*sides):
        seen = wide[tuple(slice(at, at + length) for at, length in zip(tap, lengths))]
        sums[tap] = (seen * gradient.detach()).sum()
    return sums


@_operator("separable(Tensor input, Tensor[] taps, SymInt[] axes, SymInt[] origins, str[] modes, float cval)")
def _along(input, taps, axes, origins, modes, cval):
    """Correlates along axes, one after the other."""
    return _run(input.detach(), [_host_taps(one) for one in taps], axes, origins, modes, cval)


@_operator("separable_transposed(Tensor gradient, Tensor[] taps, SymInt[] axes, SymInt[] origins, str[] modes)")
def _along_transposed(gradient, taps, axes, origins, modes):
    """Returns the gradient of the input of correlations along axes from that of their result."""
    taps = [_host_taps(one) for one in taps]
    sides, before, names = [1] * gradient.ndim, [0] * gradient.ndim, [""] * gradient.ndim
    for axis, one, origin, mode in zip(axes, taps, origins, modes):
        sides[axis], before[axis], names[axis] = one if isinstance(one, int) else len(one), origin, mode
    reverse = [one if isinstance(one, int) else one[::-1].copy() for one in taps]

    def flipped(wide):
        return _run(wide, reverse, axes, [(sides[axis] - 1) // 2 for axis in axes], ["constant"] * len(axes), 0.0)

    return _given_back(gradient.detach(), sides, before, names, flipped)


def _host_taps(taps):
    """Returns taps as an array; for a mean, their number."""
    return doubles(on_host(taps.detach()), "weights") if taps.ndim else int(taps)


def _run(input, taps, axes, origins, modes, cval):
    return along(as_array(input), None, Plan(list(zip(axes, taps, origins, modes)), cval))


def _given_back(gradient, sides, origins, modes, flipped):
    """Transposes a correlation.

    ``flipped`` correlates with the reversed taps, with zeros as the border: so each sample of the gradient adds to all samples under
    its window. Then the samples of the border are added to those that they repeat.
    """
    ends = [end for side in reversed(sides) for end in (0, side - 1)]
    wide = flipped(torch.nn.functional.pad(gradient, ends))
    for axis, (side, origin, mode) in enumerate(zip(sides, origins, modes)):
        if side > 1:
            wide = _folded(wide, axis, side // 2 + origin, gradient.shape[axis], mode)
    return wide


def _folded(wide, axis, before, length, mode):
    """Adds the samples before and after ``length`` others to those that the border repeats in their place."""
    inside = wide.narrow(axis, before, length).clone()
    if mode.endswith("constant") or length == 0:
        return inside
    stop, end = before + length, wide.shape[axis]
    index = _map(before, length, end - stop, mode)
    # From the edges outward, the border's map ascends or descends over `period` samples, or is constant.
    period = {"nearest": end, "mirror": max(length - 1, 1)}.get(mode, length)
    blocks = [(max(last - period, 0), last) for last in range(before, 0, -period)]
    blocks += [(first, min(first + period, end)) for first in range(stop, end, period)]
    for first, last in blocks:
        part, to = wide.narrow(axis, first, last - first), index[first:last]
        if to.min() == to.max():
            part = part.sum(axis, keepdim=True)
        elif to[0] > to[-1]:
            part = part.flip(axis)
        inside.narrow(axis, to.min(), part.shape[axis]).add_(part)
    return inside


def _map(before, length, behind, mode):
    """Returns which of ``length`` samples a border repeats for each sample before them, for themselves, and for each one after."""
    return np.pad(np.arange(length), (before, behind), mode=MODES[mode]) if length else np.arange(0)


for _filter in (_correlate, _transposed, _along, _along_transposed):
    _filter.register_fake(lambda input, *_: input.new_empty(input.shape))
_of_weights.register_fake(lambda input, gradient, sides, *_: input.new_empty(sides))


def _keep_two(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])
    ctx.rest = inputs[2:]


def _keep_taps(ctx, inputs, output):
    ctx.save_for_backward(*inputs[1])
    ctx.rest = inputs[2:]


def _correlate_backward(ctx, gradient):
    (input, weights), (origins, mode, cval) = ctx.saved_tensors, ctx.rest
    of_input = of_weights = None
    if ctx.needs_input_grad[0]:
        of_input = _transposed(gradient, weights, origins, mode)
    if ctx.needs_input_grad[1]:
        of_weights = _of_weights(input, gradient, weights.shape, origins, mode, cval).to(weights.device)
    return of_input, of_weights, None, None, None


def _transposed_backward(ctx, input):
    (gradient, weights), (origins, mode) = ctx.saved_tensors, ctx.rest
    of_gradient = of_weights = None
    if ctx.needs_input_grad[0]:
        of_gradient = _correlate(input, weights, origins, mode, 0.0)
    if ctx.needs_input_grad[1]:
        of_weights = _of_weights(input, gradient, weights.shape, origins, mode, 0.0).to(weights.device)
    return of_gradient, of_weights, None, None


def _of_weights_backward(ctx, weights):
    (input, gradient), (_, origins, mode, cval) = ctx.saved_tensors, ctx.rest
    of_input = of_gradient = None
    if ctx.needs_input_grad[0]:
        of_input = _transposed(gradient, weights, origins, mode)
    if ctx.needs_input_grad[1]:
        of_gradient = _correlate(input, weights, origins, mode, cval)
    return of_input, of_gradient, None, None, None, None


def _along_backward(ctx, gradient):
    taps, (axes, origins, modes, _) = ctx.saved_tensors, ctx.rest
    return _along_transposed(gradient, taps, axes, origins, modes), [None] * len(taps), None, None, None, None


def _along_transposed_backward(ctx, input):
    taps, (axes, origins, modes) = ctx.saved_tensors, ctx.rest
    return _along(input, taps, axes, origins, modes, 0.0), [None] * len(taps), None, None, None


_correlate.register_autograd(_correlate_backward, setup_context=_keep_two)
_transposed.register_autograd(_transposed_backward, setup_context=_keep_two)
_of_weights.register_autograd(_of_weights_backward, setup_context=_keep_two)
_along.register_autograd(_along_backward, setup_context=_keep_taps)
_along_transposed.register_autograd(_along_transposed_backward, setup_context=_keep_taps)
