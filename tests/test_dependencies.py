"""What docs/dependencies.md says of licences holds for what the locks install."""

import re
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from .servers import ROOT

SECTION = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
SECTION = SECTION.partition("## Licences\n")[2].partition("\n## ")[0]


def locked(path: str) -> set[str]:
    lock = (ROOT / path).read_text("utf-8")
    return set(re.findall(r"^([\w.-]+)(?:\[.*?\])?==", lock, re.MULTILINE))


def listed(table: str) -> dict[str, str]:
    """The licence of each package of the table whose second column has this title."""
    _, _, rows = SECTION.partition(f"| {table} |\n|---|---|\n")
    found: dict[str, str] = {}
    for row in rows.split("\n\n")[0].splitlines():
        licence, names = row.strip("| ").split(" | ")
        for name in names.partition(":")[0].split(", "):
            assert name not in found
            found[name] = licence
    return found


RUN, TESTS = listed("Installed to run"), listed("Installed for tests as well")
MEANING = listed("Installed with the extra `meaning`")


def test_every_locked_package_is_listed_and_no_other() -> None:
    run = locked("requirements.lock")
    assert set(RUN) == run
    with_meaning = locked("requirements-meaning.lock")
    assert set(MEANING) == with_meaning - run
    assert set(TESTS) == locked("tests/requirements.lock") - with_meaning


def test_the_extra_installs_the_same_versions_of_what_is_there() -> None:
    def pins(path: str) -> set[str]:
        lines = (ROOT / path).read_text("utf-8").splitlines()
        return {line for line in lines if "==" in line}

    assert pins("requirements.lock") <= pins("requirements-meaning.lock")
    assert pins("requirements-meaning.lock") <= pins("tests/requirements.lock")


def test_licences_are_those_that_packages_state() -> None:
    compared = 0
    for name, licence in (RUN | MEANING | TESTS).items():
        try:
            stated = metadata(name).get("License-Expression")
        except PackageNotFoundError:  # for other platforms
            continue
        if stated is not None:
            assert licence == stated, name
            compared += 1
    assert compared > 50


@pytest.mark.parametrize("family", ["GPL", "MPL"])
def test_what_asks_something_of_who_ships_it_is_spoken_of(family: str) -> None:
    concerned = {name for name, licence in RUN.items() if family in licence}
    for name in RUN:
        try:
            words = metadata(name)
        except PackageNotFoundError:
            continue
        stated = [words.get("License"), *(words.get_all("Classifier") or [])]
        if any(family in (word or "").split("\n")[0] for word in stated):
            concerned.add(name)
    assert concerned
    _, _, said = SECTION.partition("\n**LGPL.**")
    assert all(re.search(rf"\b{re.escape(name)}\b", said) for name in concerned)
