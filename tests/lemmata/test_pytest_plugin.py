"""The pytest plugin, run by pytest in another folder: the report of a failed proof, and the level by option or
setting.
"""

from __future__ import annotations

import pytest

import lemmata.api  # noqa: F401  (imported once, not again in every run inside of this process)
from lemmata.assertions import LEVEL

pytest_plugins = ["pytester"]

TESTS = """
import numpy as np
import lemmata as lm

def loss(z, y):
    return np.mean((z - y) ** 2)

def right(z, y):
    return 2 * (z - y) / z.size

def wrong(z, y):
    return 2 * (z - y) / z.shape[1]

def ordered(z):
    return np.sum(np.sort(z) ** 2)

def ordered_grad(z):
    return 2 * z

def test_right():
    lm.assert_gradient(loss, right, wrt="z", shapes={"z": "N,K", "y": "N,K"})

def test_wrong():
    lm.assert_gradient(loss, wrong, wrt="z", shapes={"z": "N,K", "y": "N,K"})

def test_ordered():
    lm.assert_gradient(ordered, ordered_grad, wrt="z", shapes={"z": "K"}, domains={"z": "distinct"})

def test_ordered_supported():
    lm.assert_gradient(ordered, ordered_grad, wrt="z", shapes={"z": "K"}, domains={"z": "distinct"}, level="supported")

def test_ordered_proved():
    lm.assert_gradient(ordered, ordered_grad, wrt="z", shapes={"z": "K"}, domains={"z": "distinct"}, level="proved")
"""


@pytest.fixture
def tests(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with the tests above; the plugin is there because Lemmata is installed."""
    pytester.makepyfile(test_model=TESTS)
    return pytester


def test_a_failed_proof_shows_functions_counterexample_and_what_is_wrong(tests: pytest.Pytester) -> None:
    result = tests.runpytest_inprocess("-k", "right or wrong", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*lm.assert_gradient(loss, wrong*",
            "E*refuted by a counterexample",
            "E*sizes   K = 2, N = 2",
            "E*z *[[][[]*",
            "E*dz[[]0, 0]  differences of loss  *",
            "E*wrong  *",
            "E*the claim lacks the factor 1/N",
            "*lemmata: what the functions compute*",
            "*loss = (1/(K N)) Σ_*",
            "*wrong[[]i, j] = *z_ij − *y_ij*",
        ]
    )
    assert "code_proof.py" not in result.stdout.str()  # the traceback ends in the test


@pytest.mark.parametrize(
    ("words", "setting", "passed"),
    [
        ([], "", 2),
        (["--lemmata-level=supported"], "", 3),
        ([], "supported", 3),
        (["--lemmata-level", "proved"], "supported", 2),
    ],
)
def test_the_level(words: list[str], setting: str, passed: int, tests: pytest.Pytester) -> None:
    """An assertion's own level counts before the option, the option before the setting."""
    if setting:
        tests.makeini(f"[pytest]\nlemmata_level = {setting}\n")
    result = tests.runpytest_inprocess("-k", "right or ordered", "-p", "no:cacheprovider", *words)
    result.assert_outcomes(passed=passed, failed=4 - passed)
    result.stdout.fnmatch_lines(["E*supported: not proved*", "E*np.sort is not read*"])
    assert LEVEL.get() == "proved"  # of this run, not of the one inside


def test_an_unknown_level_is_refused(tests: pytest.Pytester) -> None:
    result = tests.runpytest_subprocess("--lemmata-level=believed")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--lemmata-level*believed*proved*supported*"])
    tests.makeini("[pytest]\nlemmata_level = believed\n")
    again = tests.runpytest_subprocess()
    assert again.ret == pytest.ExitCode.USAGE_ERROR
    again.stderr.fnmatch_lines(["*lemmata_level is 'believed'; it is one of proved, supported*"])


def test_the_plugin_imports_nothing_heavy(tests: pytest.Pytester) -> None:
    tests.makepyfile(
        test_light="""
        import sys

        def test_light():
            assert "lemmata.pytest_plugin" in sys.modules
            assert not {"sympy", "numpy", "flint"} & set(sys.modules)
    """
    )
    tests.runpytest_subprocess("test_light.py", "-p", "no:hypothesispytest").assert_outcomes(passed=1)
