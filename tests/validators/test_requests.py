"""The validators tell recorded requests that a provider accepts from those that it refuses.

Each invalid one names the words of the refusal and where they are known from.
"""

import ast
import json
from pathlib import Path

import pytest

from . import VALIDATORS

REQUESTS = Path(__file__).parent / "requests"
VALID = sorted(REQUESTS.glob("*/valid/*.json"))
INVALID = sorted(REQUESTS.glob("*/invalid/*.json"))


@pytest.mark.parametrize("provider", VALIDATORS)
def test_what_a_provider_accepts_is_accepted(provider: str) -> None:
    files = [path for path in VALID if path.parts[-3] == provider]
    assert len(files) >= 12
    for path in files:
        request = json.loads(path.read_bytes())["request"]
        assert VALIDATORS[provider](request) == [], path.stem


@pytest.mark.parametrize("provider", VALIDATORS)
def test_what_a_provider_refuses_is_refused_with_its_words(provider: str) -> None:
    files = [path for path in INVALID if path.parts[-3] == provider]
    assert len(files) >= 15
    for path in files:
        recorded = json.loads(path.read_bytes())
        problems = VALIDATORS[provider](recorded["request"])
        assert recorded["source"].startswith("https://")
        assert any(recorded["refusal"] in problem for problem in problems), (
            path.stem,
            problems,
        )


def test_no_validator_knows_the_product() -> None:
    imported = {
        name
        for path in Path(__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        for name in _imported(node)
    }
    assert not imported & {"operations", "threads", "contextstudio", "django"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


@pytest.mark.parametrize("provider", VALIDATORS)
@pytest.mark.parametrize("request_", [None, [], "text", {}, {"messages": 1}])
def test_anything_else_is_refused_too(provider: str, request_: object) -> None:
    assert VALIDATORS[provider](request_)  # type: ignore[arg-type]  # what is no object
