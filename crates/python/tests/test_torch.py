"""Filters of PyTorch's tensors: results, gradients, and programs of `torch.compile`; on a GPU where there is one.

    python -m pytest tests/test_torch.py
"""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import library

import apron.torch as own
from apron import ndimage
from apron._arguments import MODES

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MASK = np.arange(6.0).reshape(2, 3) ** 1.5 - 4
#: Functions that `apron.ndimage` has, too, with arguments for tensors of two axes.
CALLS = {
    "correlate": dict(weights=MASK, origin=(-1, 1)),
    "convolve": dict(weights=MASK, origin=(0, -1)),
    "correlate1d": dict(weights=[1.0, 2.5, -1.0, 3.0], axis=0, origin=1),
    "gaussian_filter": dict(sigma=(0.8, 0.6), order=(0, 1)),
    "gaussian_filter1d": dict(sigma=0.7, axis=0),
    "uniform_filter": dict(size=(2, 3), origin=(-1, 0)),
    "sobel": dict(axis=0),
}


def random(*shape, dtype=torch.float64, requires_grad=True):
    tensor = torch.rand(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64) * 100
    return tensor.to(DEVICE, dtype).requires_grad_(requires_grad)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8, torch.int32])
def test_results_have_the_bits_of_ndimage(name, dtype):
    image = random(20, 31, dtype=dtype, requires_grad=dtype.is_floating_point)
    found = getattr(own, name)(image, mode="wrap", **CALLS[name])
    expected = getattr(ndimage, name)(image.detach().cpu().numpy(), mode="wrap", **CALLS[name])
    assert found.dtype == dtype and found.device == image.device
    np.testing.assert_array_equal(found.detach().cpu().numpy(), expected)


def test_separable_correlates_along_each_axis():
    image, taps = random(9, 11, requires_grad=False), ([1.0, 2.5, -1.0], torch.tensor([3.0, 1.0]))
    first = own.correlate1d(image, taps[0], 0, "wrap", origin=1)
    expected = own.correlate1d(first, taps[1], 1, "nearest")
    assert torch.equal(own.separable(image, taps, ("wrap", "nearest"), origin=(1, 0)), expected)
    assert torch.equal(own.separable(image, taps[:1], "wrap", origin=1, axes=0), first)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
def test_tensors_have_gradients_and_those_have_gradients(name, mode):
    def filtered(image):
        return getattr(own, name)(image, mode=mode, cval=2.5, **CALLS[name])

    for shape in [(4, 5), (1, 3)]:
        assert torch.autograd.gradcheck(filtered, random(*shape))
    assert torch.autograd.gradgradcheck(filtered, random(2, 3))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape, sides", [((3,), (10,)), ((2, 3), (9, 4)), ((2, 1, 2), (3, 8, 5))])
def test_windows_may_be_larger_than_the_tensor(mode, shape, sides):
    for origin in (0, -1):
        assert torch.autograd.gradcheck(lambda image: own.uniform_filter(image, sides, mode, origin=origin), random(*shape))


def test_any_axes_are_filtered():
    batch, image = random(2, 3, 4, 5), random(3, 4, 5)
    assert torch.autograd.gradcheck(lambda batch: own.gaussian_filter(batch, 1.0, axes=(-1, -2)), batch)
    given = dict(weights=MASK, mode="mirror", origin=(1, -1), axes=(2, 0))
    assert torch.autograd.gradcheck(lambda image: own.correlate(image, **given), image)
    expected = ndimage.correlate(image.detach().cpu().numpy(), **given)
    np.testing.assert_array_equal(own.correlate(image, **given).detach().cpu().numpy(), expected)
    # Origins of a mask along all axes are in the order of the tensor's axes, as in SciPy.
    flat, given = random(3, 4), dict(weights=MASK, origin=(-1, 1), axes=(1, 0))
    expected = ndimage.correlate(flat.detach().cpu().numpy(), **given)
    np.testing.assert_array_equal(own.correlate(flat, **given).detach().cpu().numpy(), expected)
    for layout in (image.transpose(0, 2), image[:, ::2]):
        assert torch.autograd.gradcheck(lambda layout: own.sobel(layout, 1), layout.detach().requires_grad_())


@pytest.mark.parametrize("mode", ["reflect", "constant"])
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_masks_have_gradients(name, mode):
    def filtered(image, weights):
        return getattr(own, name)(image, weights, mode, 2.5, (-1, 1))

    given = random(3, 4), torch.tensor(MASK, device=DEVICE, requires_grad=True)
    assert torch.autograd.gradcheck(filtered, given) and torch.autograd.gradgradcheck(filtered, given)
    taps = [torch.tensor(MASK[at], device=DEVICE, requires_grad=True) for at in range(2)]
    assert torch.autograd.gradcheck(lambda *taps: own.separable(given[0].detach(), taps, mode), taps)


@pytest.mark.parametrize("dtype, near", [(torch.float32, 1e-5), (torch.float16, 2e-2)])
def test_gradients_have_the_types_of_the_tensors(dtype, near):
    weights = torch.tensor(MASK, dtype=torch.float32, requires_grad=True)
    image, exact = random(12, 13, dtype=dtype), random(12, 13)
    found = torch.autograd.grad(own.correlate(image / 100, weights).square().sum(), (image, weights))
    expected = torch.autograd.grad(own.correlate(exact / 100, weights).square().sum(), (exact, weights))
    for one, other, of in zip(found, expected, (image, weights)):
        assert one.dtype == of.dtype and one.device == of.device
        torch.testing.assert_close(one.double(), other.double(), rtol=near, atol=near * float(other.abs().max()))


def test_gradients_are_the_same_in_every_run():
    image = random(301, 203, dtype=torch.float32)
    for mode in MODES:
        first, second = (torch.autograd.grad(own.gaussian_filter(image, 9.0, mode=mode).sum(), image)[0] for _ in range(2))
        assert torch.equal(first, second)


def test_tensors_without_samples_have_gradients():
    for shape in [(0,), (0, 3), (3, 0)]:
        image, weights = random(*shape), torch.ones((3,) * len(shape), requires_grad=True)
        (own.correlate(image, weights).sum() + own.uniform_filter(image, 3).sum()).backward()
        assert image.grad.shape == shape and not weights.grad.any()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", CALLS)
def test_programs_of_compile_have_no_breaks(name, backend):
    def loss(image):
        return getattr(own, name)(image.sin(), mode="mirror", **CALLS[name]).square().sum()

    torch._dynamo.reset()
    compiled, image = torch.compile(loss, fullgraph=True, backend=backend), random(6, 7)
    assert torch.equal(compiled(image), loss(image))
    found, expected = (torch.autograd.grad(run(image), image)[0] for run in (compiled, loss))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


def test_compiled_arguments_and_shapes_may_change():
    torch._dynamo.reset()
    for filter, values in [(own.gaussian_filter, (0.5, 1.0, 1.5, [1.0, 0.5], [0.5, 2.0])), (own.uniform_filter, (2, 3, 4, (5, 6)))]:
        compiled = torch.compile(filter, fullgraph=True, backend="aot_eager")
        for value in values:
            for shape in [(6, 7), (7, 8), (8, 9)]:
                image = random(*shape)
                assert torch.equal(compiled(image, value), filter(image, value))
    compiled = torch.compile(own.correlate, fullgraph=True, backend="aot_eager")
    for weights in (MASK, MASK[:1] + 1, torch.tensor(MASK, requires_grad=True)):
        assert torch.equal(compiled(random(6, 7), weights), own.correlate(random(6, 7), weights))
    compiled = torch.compile(own.correlate1d, fullgraph=True, backend="aot_eager")
    for origin in (2, 3, 4):
        found, expected = (run(random(6, 7), np.arange(9.0), origin=origin) for run in (compiled, own.correlate1d))
        assert torch.equal(found, expected)


@pytest.mark.parametrize("weights_require_grad", [False, True])
def test_operators_keep_the_rules_of_torch(weights_require_grad):
    image, mask = random(5, 4).T.detach().requires_grad_(), torch.tensor(MASK, requires_grad=weights_require_grad)
    taps = [torch.tensor(MASK[0]), torch.tensor(4)]
    for operator, given in {
        own._correlate: (image, mask, [0, 1], "mirror", 0.0),
        own._transposed: (image, mask, [0, 1], "mirror"),
        own._of_weights: (image, image.detach(), [2, 3], [0, 1], "mirror", 0.0),
        own._along: (image, taps, [1, 0], [0, 1], ["mirror", "wrap"], 0.0),
        own._along_transposed: (image, taps, [1, 0], [0, 1], ["mirror", "wrap"]),
    }.items():
        assert set(library.opcheck(operator, given).values()) == {"SUCCESS"}


@pytest.mark.parametrize(
    "call, error, part",
    [
        (lambda: own.correlate(random(3, 3), [1.0, 2.0]), RuntimeError, "weights have shape (2,), but must have 2 axes"),
        (lambda: own.correlate1d(random(3), []), RuntimeError, "their shape is (0,), but must be of one axis"),
        (lambda: own.correlate1d(random(3), [1, 2], origin=1), ValueError, "origin is 1, but must be -1 to 0"),
        (lambda: own.sobel(random(3), mode="mirrored"), RuntimeError, "mode is 'mirrored'"),
        (lambda: own.separable(random(3, 3), [[1, 2]]), RuntimeError, "length is 1, but must be 2"),
        (lambda: own.sobel(random(3, dtype=torch.complex64)), TypeError, "must be real"),
        (lambda: own.sobel(random(3, dtype=torch.bfloat16)), TypeError, "dtype is torch.bfloat16"),
        (lambda: ndimage.sobel(random(3)), RuntimeError, "filter it by apron.torch"),
    ],
)
def test_errors_name_the_value_and_the_limit(call, error, part):
    with pytest.raises(error) as found:
        call()
    assert part in str(found.value)


def test_torch_is_imported_by_its_module_alone():
    code = "import apron, sys; before = 'torch' in sys.modules; import apron.torch; sys.exit(before or 'torch' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
