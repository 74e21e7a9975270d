"""Gates in pytest: a fixture, and the tables of all its gates at the end of the run.

pytest loads this file if evalstats is installed (entry point ``pytest11``). Nothing else of
evalstats is imported before a test calls the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evalstats.questions.gates import Gate

#: The property of a test that contains the table of a gate. It is also in pytest's JUnit XML, and
#: pytest-xdist transfers it from workers.
_PROPERTY = "evalstats gate"


@pytest.fixture
def evalstats_gate(request: pytest.FixtureRequest) -> Callable[..., Gate]:
    """Fail the test unless a gate passes: call it like `evalstats.assert_not_worse`.

    The table of the gate, passed or not, is printed at the end of the run.
    """

    def asked(*sides: Any, **options: Any) -> Gate:
        __tracebackhide__ = True
        from evalstats.testing import assert_not_worse

        try:
            gate = assert_not_worse(*sides, **options)
        except AssertionError as error:
            request.node.user_properties.append((_PROPERTY, str(error)))
            raise
        request.node.user_properties.append((_PROPERTY, gate._page(findings=False).text()))
        return gate

    return asked


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of each gate below the name of its test, if there are any."""
    gates = [
        (report.nodeid, table)
        for reports in terminalreporter.stats.values()
        for report in reports
        # Set-up and tear-down reports of a test also have its properties.
        if getattr(report, "when", None) == "call"
        for name, table in report.user_properties
        if name == _PROPERTY
    ]
    if gates:
        terminalreporter.section("evalstats gates")
    for node, table in gates:
        terminalreporter.write_line(f"{node}\n{table}\n")
