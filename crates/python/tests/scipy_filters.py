"""SciPy's own tests of its filters, with the linear ones replaced by Apron's.

    python tests/scipy_filters.py

runs `scipy/ndimage/tests/test_filters.py` of the installed SciPy, with this file as a pytest plugin, and compares the cases that
fail with the list in `scipy_filters.txt`: it fails where they differ. A case is linear if it calls one of Apron's functions; what it
and others call besides, such as rank filters, stays SciPy's.
"""

import functools
import inspect
import sys
from pathlib import Path

import apron.ndimage

HERE = Path(__file__).parent
EXPECTED = HERE / "scipy_filters.txt"

#: How many of Apron's functions the running test has called.
calls = 0


def forwarded(name, own):
    @functools.wraps(own)
    def forward(*args, **kwargs):
        global calls
        calls += 1
        return own(*args, **kwargs)

    return forward


def swap():
    """Replaces SciPy's functions; its tests look up what a function can do in a table, by the function."""
    import scipy.ndimage
    from scipy._lib._array_api import xp_capabilities_table

    for name in apron.ndimage.__all__:
        theirs, own = getattr(scipy.ndimage, name), getattr(apron.ndimage, name)
        same_signature(name, theirs, own)
        wrapper = forwarded(name, own)
        xp_capabilities_table[wrapper] = xp_capabilities_table[theirs]
        setattr(scipy.ndimage, name, wrapper)


def same_signature(name, theirs, own):
    """Checks names, order and defaults of the arguments."""

    def described(function):
        parameters = inspect.signature(function).parameters.values()
        return [(one.name, one.kind, one.default) for one in parameters]

    if described(theirs) != described(own):
        raise AssertionError(f"{name}{inspect.signature(own)}, but SciPy's is {name}{inspect.signature(theirs)}")


class Outcomes:
    """Counts the cases, and notes the linear ones that fail."""

    def __init__(self):
        self.passed = self.other = 0
        self.failed = {}

    def pytest_runtest_setup(self, item):
        global calls
        calls = 0

    def pytest_runtest_logreport(self, report):
        if report.when != "call":
            return
        name = report.nodeid.split("::", 1)[1]
        if calls == 0:
            self.other += 1
            if report.failed:
                self.failed[name] = report
        elif report.failed:
            self.failed[name] = report
        elif report.passed:
            self.passed += 1


def reasons(path):
    """Reads the list of the cases that are known not to pass: a name, two spaces or more, and the reason."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("  ", 1) for line in lines)


def verdict(title, outcomes, expected):
    """Prints the counts, and returns whether the failures are those that are listed."""
    failed, listed = set(outcomes.failed), set(expected)
    print(f"{title}: {outcomes.passed} passed, {len(failed)} failed, {outcomes.other} call none of Apron's functions")
    for name in sorted(failed - listed):
        print(f"  fails, and is not listed: {name}")
    for name in sorted(listed - failed):
        print(f"  is listed, and does not fail: {name}")
    return failed == listed


def main():
    import pytest

    swap()
    outcomes = Outcomes()
    pytest.main(
        ["-q", "--no-header", "-p", "no:cacheprovider", "--pyargs", "scipy.ndimage.tests.test_filters", *sys.argv[1:]],
        plugins=[outcomes],
    )
    good = verdict("SciPy's tests of filters", outcomes, reasons(EXPECTED))
    # 1,796 with SciPy 1.17.1; far fewer would mean that nothing was replaced.
    return 0 if good and outcomes.passed + len(outcomes.failed) > 1500 else 1


if __name__ == "__main__":
    sys.exit(main())
