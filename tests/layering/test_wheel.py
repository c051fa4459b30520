"""The wheel holds what the sources hold, and works elsewhere, beside files called numeric.py and symbolic.py."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .floors import PILLARS, ROOF, ROOT

DECOY = 'raise ImportError("a decoy was imported: this file is the user\'s, not ours")\n'

# Prints one line per module, after importing it; a wrong name or a file that was not packed ends it with an error.
IMPORT_EVERYTHING = """
import importlib, pathlib, pkgutil, lemmata
site = pathlib.Path(lemmata.__file__).parents[1]
names = [module.name for module in pkgutil.walk_packages(lemmata.__path__, "lemmata.")]
for name in ["lemmata", *(name for name in names if not name.endswith("__main__"))]:
    module = importlib.import_module(name)
    assert pathlib.Path(module.__file__).is_relative_to(site), module.__file__
    print(name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: built in place, leftovers of an earlier build would be packed too."""
    source = tmp_path_factory.mktemp("source")
    for name in (ROOF, *PILLARS):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "layering", source / "tests" / "layering")
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source)
    out = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source, cwd=source)
    (built,) = out.iterdir()
    return built


def test_wheel_holds_the_sources_under_their_installed_names(wheel: Path) -> None:
    # Every file counts, not only the modules: a template or a table that is not packed is missed by users alone.
    expected = {f"{ROOF}/{name}" for name in _files(ROOT / ROOF)}
    expected |= {f"{ROOF}/{pillar}/{name}" for pillar in PILLARS for name in _files(ROOT / pillar)}
    assert f"{ROOF}/py.typed" in expected
    packed = set(zipfile.ZipFile(wheel).namelist())
    metadata = {name for name in packed if name.split("/")[0].endswith(".dist-info")}
    assert packed - metadata == expected
    assert any(name.endswith("/LICENSE") for name in metadata)
    entry_points = next(name for name in metadata if name.endswith("/entry_points.txt"))
    assert "lemmata = lemmata.cli:main" in zipfile.ZipFile(wheel).read(entry_points).decode()


def test_installed_wheel_is_not_confused_by_decoys(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    for pillar in PILLARS:
        (elsewhere / f"{pillar}.py").write_text(DECOY)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    _run(*pip, "--target", site, wheel, cwd=elsewhere)

    imported = _run(sys.executable, "-c", IMPORT_EVERYTHING, cwd=elsewhere, pythonpath=site).split()
    assert {"lemmata", "lemmata.symbolic", "lemmata.numeric"} <= set(imported)

    # The decoys do stand first on the path: under a bare name it is they that are found.
    with pytest.raises(AssertionError, match="a decoy was imported"):
        _run(sys.executable, "-c", "import numeric", cwd=elsewhere, pythonpath=site)


def _files(folder: Path) -> list[str]:
    names = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [
        name.as_posix() for name in names if not any(part[0] == "." or part == "__pycache__" for part in name.parts)
    ]


def _run(*command: object, cwd: Path, pythonpath: Path | None = None) -> str:
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    environment.pop("PYTHONSAFEPATH", None)
    if pythonpath is not None:
        environment["PYTHONPATH"] = str(pythonpath)
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout
