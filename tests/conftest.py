"""Settings of all tests: Hypothesis draws the same examples in every run, and says so.

``HYPOTHESIS_PROFILE=hunt`` draws many other examples instead (a failure then prints how to repeat it).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile(
    "same", derandomize=True, deadline=None, print_blob=True, database=None, suppress_health_check=SLOW_DRAWS
)
settings.register_profile("hunt", parent=settings.get_profile("same"), derandomize=False, max_examples=2000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "same")
settings.load_profile(PROFILE)


def pytest_report_header() -> str:
    """The line that tells how examples are drawn."""
    drawn = "examples drawn from fixed seeds" if PROFILE == "same" else "fresh examples"
    return f"hypothesis profile: {PROFILE} ({drawn})"
