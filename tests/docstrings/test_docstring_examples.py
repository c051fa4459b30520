"""Every example in a docstring of the package runs and gives what it says, one test a module.

Modules are imported under their installed names (lemmata.symbolic, lemmata.numeric); pytest's own --doctest-modules
would import them by folder, and so a second time, as other classes.
"""

import doctest
import importlib
import pkgutil
import types

import pytest

import lemmata
import lemmata.numeric
import lemmata.symbolic

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST


def _modules() -> list[str]:
    # The pillars are walked by name: in an editable install they do not lie in the roof's folder.
    packages = (lemmata, lemmata.symbolic, lemmata.numeric)
    found = {package.__name__ for package in packages}
    for package in packages:
        # A package that cannot be imported is named by its own test below, not while the tests are being collected.
        walk = pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda name: None)
        found.update(module.name for module in walk)
    return sorted(name for name in found if not name.endswith(".__main__"))


def _failures(module: types.ModuleType) -> str:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("name", _modules())
def test_docstring_examples(name: str) -> None:
    failures = _failures(importlib.import_module(name))
    assert not failures, failures


def test_a_wrong_example_is_seen() -> None:
    module = types.ModuleType("wrong", doc=">>> 1 + 1\n3\n")
    assert "Expected:\n    3\nGot:\n    2" in _failures(module)
