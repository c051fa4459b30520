"""Lemmata: derive, prove and check the mathematics of deep learning, for every size.

    import lemmata as lm
    z, y = lm.array("z", "K"), lm.array("y", "K")
    lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(lm.sum(y), 1)])

The names live in `lemmata.api` (declare, derive, prove, verify) and in the array vocabulary (`sum`, `log`, `softmax`,
...); they are imported when first used, so that `import lemmata` and `lemmata --help` stay fast.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import *  # noqa: F403

__version__ = "0.1.0"
_MODULES = frozenset({p.stem for p in Path(__file__).parent.glob("*.py")} | {"numeric", "serving", "symbolic"})


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext lemmata`: expressions over our arrays are displayed in our notation."""
    import_module("lemmata.notebook").load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext lemmata`."""
    import_module("lemmata.notebook").unload(ipython)


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name in _MODULES:  # a submodule is set by its import, which asks here first
        raise AttributeError(f"module 'lemmata' has no attribute {name!r}")
    api = import_module("lemmata.api")
    from .symbolic.language.vocabulary import function_table

    if name in api.__all__:
        return getattr(api, name)
    table = function_table()
    if name in table:
        return table[name]
    raise AttributeError(f"module 'lemmata' has no attribute {name!r}; names: {', '.join(__dir__())}")


def __dir__() -> list[str]:
    api = import_module("lemmata.api")
    from .symbolic.language.vocabulary import function_table

    return sorted({*api.__all__, *function_table()})
