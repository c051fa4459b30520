"""Every public function of the pillar is documented with shapes or domain and an executed example, and listed."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable

import pytest

import lemmata.numeric

MODULES = sorted(module.name for module in pkgutil.iter_modules(lemmata.numeric.__path__))
FUNCTIONS = {
    f"{name}.{function_name}": function
    for name in MODULES
    for function_name, function in inspect.getmembers(
        importlib.import_module(f"lemmata.numeric.{name}"), inspect.isfunction
    )
    if function.__module__ == f"lemmata.numeric.{name}" and not function_name.startswith("_")
}


def test_every_module_is_listed_and_is_a_module() -> None:
    assert sorted(lemmata.numeric.__all__) == MODULES
    assert all(inspect.ismodule(getattr(lemmata.numeric, name)) for name in MODULES)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_has_an_example(name: str) -> None:
    function: Callable = FUNCTIONS[name]
    assert function.__doc__, f"{name} has no docstring"
    assert ">>> " in function.__doc__, f"{name} has no example"
    assert "return" in function.__annotations__, f"{name} is not annotated"
