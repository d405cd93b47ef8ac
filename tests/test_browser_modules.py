"""The browser's modules: what they import, and those that need no document, run by Node."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .servers import ROOT

SCRIPTS = ROOT / "static" / "js"
LAYERS = ["base", "live", "thread", "editing"]
"""Each imports only from itself and from those before it; `sessions` from `base` alone."""
MODULES = sorted(SCRIPTS.rglob("*.js"))
TESTS = sorted((ROOT / "tests" / "js").glob("*.test.mjs"))
RUNS_MODULES = (20, 19)
"""The first Node that knows a module by its syntax."""


def node_version() -> tuple[int, ...]:
    """Of the Node at hand; empty where there is none."""
    if not shutil.which("node"):
        return ()
    printed = subprocess.run(["node", "--version"], capture_output=True, text=True)
    return tuple(map(int, re.findall(r"\d+", printed.stdout)[:3]))


RUNNABLE = TESTS if node_version() >= RUNS_MODULES else []
"""Where there is no such Node, only the browser's tests run what these do."""
_IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];""", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", RUNNABLE, ids=name_of)
def test_modules_without_a_document_do_what_their_tests_say(path: Path) -> None:
    done = subprocess.run(
        ["node", "--test", str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_is_there_and_stands_below_it(path: Path) -> None:
    folder = path.parent.name
    allowed = {"base", "sessions"} if folder == "sessions" else set(LAYERS)
    if folder in LAYERS:
        allowed = set(LAYERS[: LAYERS.index(folder) + 1])
    for name in _IMPORT.findall(path.read_text("utf-8")):
        target = (path.parent / name).resolve()
        assert target.is_file(), name
        assert path.parent == SCRIPTS or target.parent.name in allowed, name


def test_nothing_asks_by_a_dialog_of_the_browser() -> None:
    asks = re.compile(r"(?<![\w.])(?:window\.)?(?:alert|confirm|prompt)\(")
    scripts = [path for path in MODULES if asks.search(path.read_text("utf-8"))]
    assert scripts == []
    pages = (ROOT / "templates").rglob("*.html")
    attributes = re.compile(r"hx-(?:confirm|prompt)")
    assert [path for path in pages if attributes.search(path.read_text("utf-8"))] == []
