"""The pytest plugin: the level of all proofs by an option, and the functions of a failed proof in the report.

Installed with Lemmata (entry point `pytest11`). It is imported in every run of pytest, so it imports nothing heavy.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from .assertions import LEVEL

LEVELS = ("proved", "supported")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the setting."""
    text = ("what lm.assert_gradient and lm.assert_equal ask for, where a test does not say: 'proved' for every size, "
            "or 'supported' by numbers at many points")
    parser.getgroup("lemmata").addoption("--lemmata-level", choices=LEVELS, default=None, help=text)
    parser.addini("lemmata_level", text, default="proved")


def pytest_configure(config: pytest.Config) -> None:
    """Set the level: the option, else the setting."""
    level = config.getoption("--lemmata-level") or config.getini("lemmata_level")
    if level not in LEVELS:
        raise pytest.UsageError(f"lemmata_level is {level!r}; it is one of {', '.join(LEVELS)}")
    token = LEVEL.set(level)
    config.add_cleanup(lambda: LEVEL.reset(token))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, pytest.TestReport,
                                                                                          pytest.TestReport]:
    """Add a section with both functions as formulas to the report of a proof that failed."""
    report = yield
    proving = sys.modules.get("lemmata.code_proof")
    error = call.excinfo.value if call.excinfo is not None else None
    if proving is not None and isinstance(error, proving.NotProved) and error.proof.formulas:
        report.sections.append(("lemmata: what the functions compute", "\n".join(error.proof.formula_lines())))
    return report
