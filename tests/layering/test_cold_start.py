"""`lemmata --help` answers without importing the heavy libraries; only a command that needs one pays for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from .floors import ROOF, ROOT

# What the console script does, and then the heavy libraries that this has imported, on the last line of stderr.
CONSOLE_SCRIPT = """
import sys
sys.argv = ["lemmata", *sys.argv[1:]]
from lemmata.cli import main
try:
    code = main()
except SystemExit as exit:
    code = exit.code
heavy = {"sympy", "flint", "numpy", "mpmath", "latexify", "scipy", "jax", "torch"}
print(*sorted(heavy & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.skipif(not (ROOT / ROOF / "cli.py").exists(), reason="there is no command line yet")
@pytest.mark.parametrize("arguments", [["--help"], ["derive", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONSOLE_SCRIPT, *arguments], cwd=tmp_path, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
    assert done.stderr.splitlines()[-1] == "", f"imported for {arguments}: {done.stderr.splitlines()[-1]}"
