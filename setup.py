"""Where the packages are. Everything else about the distribution stands in pyproject.toml.

The two pillars stand at the top of the repository, beside the roof, but are installed and imported *inside* it:
``symbolic/`` is ``lemmata.symbolic`` and ``numeric/`` is ``lemmata.numeric``. Under their bare names they would shadow,
or be shadowed by, a user's own ``numeric.py``, and another distribution already installs ``symbolic``.

``FOLDERS`` is the one place where this mapping is written. Sub-packages are found, not listed, so a new folder with an
``__init__.py`` needs no change here. That search is the reason for this file: pyproject.toml can map folders or find
packages, but it cannot find packages below a mapped folder.
"""

from setuptools import find_packages, setup

FOLDERS = {
    "lemmata": "lemmata",
    "lemmata.symbolic": "symbolic",
    "lemmata.numeric": "numeric",
}

setup(
    package_dir=FOLDERS,
    packages=[
        package
        for name, folder in FOLDERS.items()
        for package in (name, *(f"{name}.{found}" for found in find_packages(folder)))
    ],
)
