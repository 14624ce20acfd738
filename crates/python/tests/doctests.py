"""Runs the examples in the docstrings of the module, and of the compiled part."""

import doctest
import importlib
import pkgutil
import sys

import apron


def compiled(module):
    """Lists the classes and functions of a compiled module, which doctest does not find by itself."""
    return {name: value for name, value in vars(module).items() if getattr(value, "__doc__", None) and name[0] != "_"}


def main():
    failed = attempted = 0
    names = [name for _, name, _ in pkgutil.walk_packages(apron.__path__, "apron.")]
    for name in ["apron", *names]:
        if name in OPTIONAL and not importlib.util.find_spec(OPTIONAL[name]):
            print(f"{name}: left out, {OPTIONAL[name]} is not installed")
            continue
        module = importlib.import_module(name)
        if name == "apron._apron":
            module.__test__ = compiled(module)
        result = doctest.testmod(module)
        failed, attempted = failed + result.failed, attempted + result.attempted
    print(f"doctests: {attempted} examples, {failed} failed")
    # Fewer would mean that they are not found.
    return failed > 0 or attempted < 50


#: Modules that need another one.
OPTIONAL = {"apron.dask": "dask", "apron.torch": "torch"}


if __name__ == "__main__":
    sys.exit(main())
