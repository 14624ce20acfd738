"""The taps of OpenCV's filters."""

import numpy as np

FILTER_SCHARR = -1

#: Gaussians of few taps that OpenCV has for sigma 0.
_SMALL = {
    1: [1],
    3: [0.25, 0.5, 0.25],
    5: [0.0625, 0.25, 0.375, 0.25, 0.0625],
    7: [0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125],
    9: [n / 256 for n in (4, 13, 30, 51, 60, 51, 30, 13, 4)],
}


def gaussian(ksize, sigma):
    if sigma <= 0 and ksize in _SMALL:
        return np.array(_SMALL[ksize], float)
    sigma = sigma if sigma > 0 else ((ksize - 1) * 0.5 - 1) * 0.3 + 0.8
    x = np.arange(ksize) - (ksize - 1) * 0.5
    # As in OpenCV: the two middle taps of an even size are 1, and not the Gaussian half a pixel beside its centre.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # The square of a small sigma may be 0.
        bell = np.where(np.abs(x) < 1, 1.0, np.exp(np.float64(-0.5) / (sigma * sigma) * x * x))
    return bell / bell.sum()


def in_parts(taps, parts):
    """Rounds symmetric taps to fractions with a denominator, from the outside in; each tap passes its rounding error on, and the middle
    tap takes the remainder."""
    half, lost = len(taps) // 2, 0.0
    rounded = np.zeros(len(taps))
    for at in range(half):
        exact = taps[at] * parts + lost
        rounded[at] = rounded[-1 - at] = np.rint(exact)
        lost = exact - rounded[at]
    rounded[half] = parts - rounded.sum()
    return rounded / parts


def derivatives(dx, dy, ksize, normalize=False):
    if ksize == FILTER_SCHARR:
        if (dx, dy) not in ((1, 0), (0, 1)):
            raise ValueError(f"apron: dx and dy are {dx} and {dy}, but must be 1 and 0, or 0 and 1")
        parts = {0: np.array([3.0, 10.0, 3.0]), 1: np.array([-1.0, 0.0, 1.0])}
        return parts[dx] / (16 if normalize and not dx else 1), parts[dy] / (16 if normalize and not dy else 1)
    if ksize % 2 == 0 or not 1 <= ksize <= 31:
        raise ValueError(f"apron: ksize is {ksize}, but must be odd, and 1 to 31")
    if not (0 <= dx and 0 <= dy and dx + dy > 0):
        raise ValueError(f"apron: dx and dy are {dx} and {dy}, but must be 0 or more, and one of them above")
    found = []
    for order in (dx, dy):
        side = 3 if ksize == 1 and order > 0 else ksize
        if order >= max(side, 3):
            raise ValueError(f"apron: the order is {order}, but must be below ksize, which is {side}")
        # Differences, convolved with binomial taps.
        taps = np.ones(1)
        for _ in range(order):
            taps = np.convolve(taps, [-1.0, 1.0])
        for _ in range(side - 1 - order):
            taps = np.convolve(taps, [1.0, 1.0])
        found.append(taps * (2.0 ** -(side - order - 1) if normalize else 1.0))
    return tuple(found)
