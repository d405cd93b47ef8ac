"""docs/providers.md names every provider, every rule that is checked, and every pass."""

import re
from pathlib import Path

from operations.domain.providers import PROVIDERS
from operations.domain.providers.passes import findings
from operations.domain.providers.passes.findings import Finding
from operations.domain.providers.request import Severity

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "providers.md").read_text("utf-8")
FOUND = [value for value in vars(findings).values() if isinstance(value, Finding)]
RULES = {*range(1, 8), *range(9, 17), 19}


def rows(word: str) -> set[str]:
    """The first cells of the page's tables that match."""
    return set(re.findall(rf"^\| ({word}) \|", PAGE, re.MULTILINE))


def test_every_provider_is_named() -> None:
    assert {name.strip("`") for name in rows("`[a-z-]+`")} == set(PROVIDERS)


def test_every_rule_is_checked_and_named() -> None:
    assert {finding.rule for finding in FOUND} == {f"R{number}" for number in RULES}
    assert rows(r"R\d+") == {f"R{number}" for number in RULES}


def test_what_is_found_is_said_in_sentences_and_nothing_is_refused() -> None:
    for finding in FOUND:
        assert finding.severity is not Severity.REFUSED
        for sentence in (finding.detail.format(count=2), finding.repair):
            assert sentence[0].isupper() or sentence[0].isdigit()
            assert sentence.endswith(".")


def test_files_that_are_named_are_there() -> None:
    folder = ROOT / "operations" / "domain" / "providers"
    named = re.findall(r"`([a-z_/]+\.py)`", PAGE)
    assert named
    assert [name for name in named if not (folder / name).exists()] == []
