"""Runs the tests of another library with its functions replaced by Apron's, and compares what fails with a list."""

import functools
import inspect

#: How many of Apron's functions the running test has called.
calls = 0


def forwarded(own):
    """Returns a function that counts its calls."""

    @functools.wraps(own)
    def forward(*args, **kwargs):
        global calls
        calls += 1
        return own(*args, **kwargs)

    return forward


def check_signature(name, theirs, own):
    """Checks names, order and defaults of the arguments."""

    def described(function):
        parameters = inspect.signature(function).parameters.values()
        return [(one.name, one.kind, one.default) for one in parameters]

    if described(theirs) != described(own):
        raise AssertionError(f"{name}{inspect.signature(own)}, but theirs is {name}{inspect.signature(theirs)}")


class Outcomes:
    """Counts the cases that call Apron's functions, and notes those that fail; a plugin of pytest."""

    def __init__(self):
        self.passed = self.other = 0
        self.failed = set()

    def pytest_runtest_setup(self, item):
        global calls
        calls = 0

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid.split("::", 1)[-1])
        elif report.when == "call" and calls == 0:
            self.other += 1
        elif report.when == "call" and report.passed:
            self.passed += 1


def listed(path):
    """Reads the list of the cases that are known not to pass: a name, two spaces, and the reason."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("  ", 1) for line in lines)


def run(title, module, expected, least, arguments):
    """Runs a module of tests, prints the counts, and returns an exit status.

    It is 0 if the cases that fail are those of the list ``expected``, and at least ``least`` call Apron's functions: far fewer would
    mean that nothing was replaced.
    """
    import pytest

    outcomes, expected = Outcomes(), listed(expected)
    pytest.main(["-q", "--no-header", "-W", "ignore", "-p", "no:cacheprovider", "--pyargs", module, *arguments], [outcomes])
    failed = outcomes.failed
    print(f"{title}: {outcomes.passed} passed, {len(failed)} failed, {outcomes.other} call none of Apron's functions")
    for name in sorted(failed):
        print(f"  fails: {name}: {expected.get(name, 'NOT LISTED')}")
    for name in sorted(expected.keys() - failed):
        print(f"  is listed, and does not fail: {name}")
    reached = outcomes.passed + len(failed)
    if reached < least:
        print(f"  only {reached} call Apron's functions, but {least} should")
    return 0 if failed == expected.keys() and reached >= least else 1
