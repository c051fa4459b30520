"""Imports go down only; the pillars never import each other; and the checker that says so is seen to fail."""

import pytest

from .floors import PILLARS, ROOF, ROOT, SYMBOLIC_MAY_IMPORT, python_files, rooms_imported, violations


def test_every_import_goes_down() -> None:
    files = python_files()
    for top in (ROOF, *PILLARS, "tests"):
        assert any(path.is_relative_to(ROOT / top) for path in files), f"no Python file found in {top}/"
    found = [
        violation
        for path in files
        for violation in violations(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


def test_table_has_no_cycle_and_no_unknown_room() -> None:
    below: set[str] = set()
    for room, may_import in SYMBOLIC_MAY_IMPORT.items():
        modules = {target for target in may_import if "." in target}
        for module in sorted(modules):
            needs = rooms_imported(ROOT.joinpath("symbolic", *module.split(".")).with_suffix(".py"))
            assert needs <= below, f"{room} may import {module}, which imports {sorted(needs - below)}"
        rooms = may_import - modules
        assert rooms <= below, f"{room} may import {sorted(rooms - below)}, which does not stand below it"
        below.add(room)


def test_table_names_every_folder_of_symbolic() -> None:
    rooms = {path.name for path in (ROOT / "symbolic").iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert rooms <= set(SYMBOLIC_MAY_IMPORT), f"no row in the table: {sorted(rooms - set(SYMBOLIC_MAY_IMPORT))}"


def test_second_path_and_canonical_form_never_meet() -> None:
    assert "canonical" not in SYMBOLIC_MAY_IMPORT["checking"]
    assert "checking" not in SYMBOLIC_MAY_IMPORT["canonical"]


def test_every_folder_with_python_files_is_a_package() -> None:
    # A folder without __init__.py would work from the sources and be missing from the wheel.
    folders = {path.parent for path in python_files() if path.relative_to(ROOT).parts[0] in (ROOF, *PILLARS)}
    assert not [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()]


def test_pillars_stand_beside_the_roof_not_in_it() -> None:
    for pillar in PILLARS:
        assert not (ROOT / ROOF / pillar).exists(), f"{ROOF}/{pillar} would hide {pillar}/"


@pytest.mark.parametrize(
    ("path", "source", "part_of_complaint"),
    [
        # between the pillars, and bare names anywhere
        ("symbolic/calculus/rules.py", "from ...numeric import softmax", "reaches out of its pillar"),
        ("numeric/softmax.py", "from ..symbolic.language import array", "reaches out of its pillar"),
        ("symbolic/theorems/softmax.py", "import lemmata.numeric.softmax", "imports inside a pillar are relative"),
        ("symbolic/theorems/softmax.py", "import numeric", "bare import of numeric"),
        ("lemmata/verification.py", "import numeric.softmax as reference", "bare import of numeric.softmax"),
        ("lemmata/cli.py", "def main():\n    from symbolic import array", "bare import of symbolic.array"),
        ("tests/numeric/test_softmax.py", "from numeric.softmax import softmax", "bare import of numeric.softmax"),
        ("docs/build.py", "import importlib\nimportlib.import_module('symbolic')", "bare import of symbolic"),
        ("setup.py", "__import__('numeric')", "bare import of numeric"),
        # out of the pillar to the roof
        ("symbolic/language/nodes.py", "from ... import verification", "reaches out of its pillar"),
        ("symbolic/language/nodes.py", "from lemmata.symbolic.language import sizes", "are relative"),
        ("numeric/__init__.py", "from .. import cli", "reaches out of its pillar"),
        # up, or sideways
        ("symbolic/language/nodes.py", "from ..canonical import form", "may not import symbolic/canonical"),
        ("symbolic/language/nodes.py", "from .. import canonical", "may not import symbolic/canonical"),
        ("symbolic/language/nodes.py", "from .. import *", "may not import"),
        ("symbolic/canonical/form.py", "from ..checking.exact import value", "may not import symbolic/checking"),
        ("symbolic/checking/exact.py", "def f():\n    from ..canonical import form", "may not import"),
        ("symbolic/checking/deep/er.py", "from ...canonical import form", "may not import symbolic/canonical"),
        ("symbolic/calculus/rules.py", "if TYPE_CHECKING:\n    from ..derivations import Step", "may not import"),
        ("symbolic/rendering/__init__.py", "from ..calculus import gradient", "may not import symbolic/calculus"),
        ("symbolic/rendering/pages.py", "from ..derivations import replay", "may not import symbolic/derivations"),
        ("symbolic/attic/old.py", "from ..language import nodes", "has no row"),
        # libraries
        ("symbolic/language/arrays.py", "import numpy as np", "symbolic/language imports numpy"),
        ("symbolic/__init__.py", "from numpy import pi", "imports numpy"),
        ("symbolic/codegen/callables.py", "import numpy as np", "inside a function only"),
        ("symbolic/checking/balls.py", "def f():\n    import scipy.special", "symbolic/checking imports scipy"),
        ("numeric/softmax.py", "import sympy", "the witness is plain NumPy"),
        ("numeric/softmax.py", "from mpmath import exp", "the witness is plain NumPy"),
    ],
)
def test_a_wrong_import_is_refused(path: str, source: str, part_of_complaint: str) -> None:
    found = violations(path, source)
    assert len(found) == 1
    assert part_of_complaint in found[0]
    assert found[0].startswith(f"{path}:{len(source.splitlines())}: ")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("symbolic/theorems/softmax.py", "from ..derivations.steps import Step\nfrom ..rendering import latex"),
        ("symbolic/calculus/rules.py", "import sympy\nfrom ..language import nodes\nfrom . import table"),
        ("symbolic/__init__.py", "from .language import array\nfrom .theorems import softmax"),
        ("symbolic/tracing/reader.py", "import numpy as np"),
        ("symbolic/rendering/pages.py", "from ..derivations.model import Derivation"),
        ("symbolic/codegen/callables.py", "def load(source):\n    import numpy as np"),
        ("numeric/softmax.py", "import numpy as np\nfrom .arguments import axis"),
        ("lemmata/verification.py", "from . import numeric, symbolic\nfrom lemmata.numeric import softmax"),
        ("tests/numeric/test_softmax.py", "from lemmata.numeric.softmax import softmax\nimport numerics, symbolics"),
        ("docs/build.py", "text = 'import symbolic'  # only words"),
    ],
)
def test_a_right_import_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []
