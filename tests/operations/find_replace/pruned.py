"""The texts of the session that is pruned, and results of the tool."""

from typing import Any

from django.test import Client

from tests.operations.support.rest import Tools, effective

VERBOSE = "START_VERBOSE_OUTPUT one two three four five END_VERBOSE_OUTPUT"
ANALYSIS = """Here's a detailed analysis.

Detailed analysis of all 47 files:
- File 1: 200 lines reviewed
- File 2: 150 lines reviewed
End of file analysis report

Recommendation: Refactor auth module"""
LOGS = (
    "LOG_1_START connection opened, 12 rows read LOG_1_END and then "
    "LOG_2_START connection opened, 99 rows read LOG_2_END"
)
CROSSED = "A 4567890123456789012345678901 B 12 C 4567890123456789012345678901 D"
PIP = "\n".join(
    [
        f"Collecting package-{n}\n  Downloading package_{n}-1.0.whl (1 kB)"
        for n in range(8)
    ]
    + ["Successfully installed package-1"]
)
TEXTS = [
    "Analyze this codebase",
    ANALYSIS,
    f"It said: {VERBOSE}.",
    LOGS,
    CROSSED,
    "ab 12 cd",
    f"first {VERBOSE.lower()}",
    f"second {VERBOSE.lower()} and {VERBOSE.lower()}",
    PIP,
]
LOWER = {"start": "start_verbose_output", "end": "end_verbose_output"}


def replace(call: Tools, *targets: Any, **more: Any) -> Any:
    return call("context", action="replace", targets=list(targets), **more)


def refused(call: Tools, *targets: Any, **more: Any) -> list[str]:
    """The errors of a refused call that has changed nothing."""
    answer = replace(call, *targets, **more)
    assert (answer["success"], answer["replacements"]) == (False, [])
    assert call.thread()["head"] == 0
    errors: list[str] = answer["errors"]
    return errors


def reads(agent: Client, session_id: str) -> list[str]:
    return [node["content"] for node in effective(agent, session_id)]
