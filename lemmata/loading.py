"""Functions of the user's own files, by reference: ``model.py:loss`` or ``package.module:loss``.

A file is imported as Python imports it, so its code runs: give only files that you would import. Formulas are read by
another door (`symbolic.language.formulas`), which runs nothing.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

_REFERENCE = re.compile(r"(?P<module>.+\.py|[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*(\.[^\W\d]\w*)*)")

_READ = "__lemmata_read__"


def is_reference(text: str) -> bool:
    """Whether a word refers to a function in a file or module; a formula never does.

    >>> is_reference("models/model.py:loss"), is_reference("package.losses:focal"), is_reference("sum(y*z)")
    (True, True, False)
    """
    return _REFERENCE.fullmatch(text.strip()) is not None


def load_function(reference: str) -> Callable[..., Any]:
    """The function that a reference means; its module is imported, and so executed.

    A file's own folder (for a file of a package: the folder of the package) is put on Python's path, as for
    ``python file.py``.

    >>> load_function("statistics:mean")([1, 2, 6])
    3

    Raises `FormulaError` with what is wrong: no such file, no such name in it (with the nearest one), an error while it
    was imported (with its line).
    """
    from .symbolic.language.errors import FormulaError

    found = _REFERENCE.fullmatch(reference.strip())
    if found is None:
        raise FormulaError(f"cannot read {reference!r}; write file.py:function, e.g. model.py:loss")
    value: Any = load_module(found["module"])
    for part in found["name"].split("."):
        if not hasattr(value, part):
            known = [n for n, v in vars(value).items() if callable(v)
                     and not n.startswith("_")] if hasattr(value, "__dict__") else []
            close = difflib.get_close_matches(part, known, 3) or known[:8]
            raise FormulaError(f"{found['module']} has no {found['name']!r}; it has: "
                               f"{', '.join(close) or 'no functions'}")
        value = getattr(value, part)
    if not inspect.isroutine(value):
        raise FormulaError(f"{reference} is not a function but {type(value).__name__}")
    return value


def load_module(name: str) -> ModuleType:
    """The module of a path ending in ``.py``, or of a dotted name."""
    from .symbolic.language.errors import FormulaError

    if not name.endswith(".py"):
        _put_on_path(Path.cwd())
        return _imported(name, lambda: importlib.import_module(name))
    file = Path(name).resolve()
    if not file.is_file():
        raise FormulaError(f"there is no file {name} (looked for {file})")
    if (file.parent / "__init__.py").is_file():  # relative imports need the package
        top, parts = file.parent, [] if file.stem == "__init__" else [file.stem]
        while (top / "__init__.py").is_file():
            parts.insert(0, top.name)
            top = top.parent
        _put_on_path(top)
        return _imported(name, lambda: importlib.import_module(".".join(parts)))
    _put_on_path(file.parent)
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known if not _changed(known, file) else _imported(name, lambda: _executed(file.stem, file))
    # A name that is taken (a user's own random.py) stays that of the other module.
    unique = file.stem if known is None else f"{file.stem}_{zlib.crc32(str(file).encode()):08x}"
    known = sys.modules.get(unique)
    return known if known is not None and not _changed(known, file) else _imported(name,
                                                                                   lambda: _executed(unique, file))


def _changed(module: ModuleType, file: Path) -> bool:
    """Whether a file was written since it was executed here: a verdict must be about the code that stands there."""
    return getattr(module, _READ, None) not in (None, file.read_bytes())


def source_files(*functions: Callable[..., Any]) -> tuple[Path, ...]:
    """The files in which functions are written, each once."""
    found = (inspect.getsourcefile(inspect.unwrap(f)) for f in functions if inspect.isfunction(inspect.unwrap(f)))
    return tuple(dict.fromkeys(Path(f).resolve() for f in found if f))


def _executed(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, _READ, file.read_bytes())
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _imported(name: str, work: Callable[[], ModuleType]) -> ModuleType:
    from .symbolic.language.errors import FormulaError

    try:
        return work()
    except SyntaxError as error:
        raise FormulaError(f"{error.filename}:{error.lineno}: {error.msg}: {(error.text or '').strip()}") from None
    except (Exception, SystemExit) as error:
        place, trail = "", error.__traceback__
        while trail is not None:
            file = trail.tb_frame.f_code.co_filename
            if file == name or Path(file).name == Path(name).name:
                place = f"{file}:{trail.tb_lineno}: "
            trail = trail.tb_next
        raise FormulaError(f"{place}importing {name} failed: {type(error).__name__}: {error}") from error


def _put_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
