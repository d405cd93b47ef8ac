"""What docs/connect.md says is run as it stands, and prints what it says.

A fenced block marked `run` is run; the block right behind it, if it isn't marked, is what the
block prints, with `…` for anything. Blocks of one language share their names.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from contextstudio import environment as settings
from tests.servers import PATIENCE_SECONDS

from .operations.forwarding.proxy.provider import Provider, running_provider
from .servers import ROOT, Server, StartServer

PAGE = ROOT / "docs" / "connect.md"
SECONDS = 120
LANGUAGES = ["python", *(["sh"] if shutil.which("curl") else [])]
"""The shell's examples need curl, which not every machine has."""
LIMIT = "-- end of block --"
_FENCE = re.compile(r"^```(\w+)( run)?\n(.*?)^```$\n*", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A block to run and what it prints, None where the page doesn't say."""

    language: str
    source: str
    printed: str | None


def examples(text: str) -> list[Example]:
    found: list[Example] = []
    end = -1
    for block in _FENCE.finditer(text):
        language, is_run, body = block.groups()
        if is_run:
            found.append(Example(language, body, None))
        elif found and end == block.start():
            found[-1] = found[-1]._replace(printed=body)
        end = block.end() if is_run else -1
    return found


def is_said(printed: str, expected: str) -> bool:
    pieces = map(re.escape, expected.strip().split("…"))
    return re.fullmatch(".*?".join(pieces), printed.strip(), re.DOTALL) is not None


EXAMPLES = examples(PAGE.read_text("utf-8"))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(start_server: StartServer) -> Iterator[Server]:
    """One that may call this machine, where the provider is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS", "1")
        yield start_server()


@pytest.fixture(scope="module")
def environment(
    server: Server, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the examples find: the server under its own address, and a key of its own.

    Requests already go where the shell's examples lead them: Python's may run without these.
    """
    httpx.put(
        f"{server.url}/api/projects/demo/upstreams/openai",
        json={"base_url": f"{provider.url}/v1", "api_key": "sk-provider"},
        headers={"Authorization": f"Bearer {server.key()}"},
        timeout=PATIENCE_SECONDS,
    ).raise_for_status()
    return {
        **server.environment(),
        "STUDIO": server.url,
        "KEY": server.key("read,propose,edit"),
        "FOLDER": str(tmp_path_factory.mktemp("examples")),
    }


def run(command: list[str], script: str, environment: dict[str, str]) -> list[str]:
    """What each block of a script prints."""
    done = subprocess.run(
        [*command, script],
        env=environment,
        cwd=environment["FOLDER"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    *printed, _ = done.stdout.split(LIMIT)
    return printed


def test_the_page_has_examples_in_both_languages() -> None:
    assert {example.language for example in EXAMPLES} == {"sh", "python"}
    assert sum(example.printed is not None for example in EXAMPLES) >= 10


def test_every_example_is_run() -> None:
    fences = re.findall(r"^```(?:sh|python)\b", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(fences) == len(EXAMPLES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_examples_do_what_the_page_says(
    language: str, server: Server, provider: Provider, environment: dict[str, str]
) -> None:
    blocks = [example for example in EXAMPLES if example.language == language]
    if language == "sh":
        own = {
            "http://127.0.0.1:8000": server.url,
            "https://api.openai.com": provider.url,
            ".venv/bin/python manage.py": f"{sys.executable} {ROOT / 'manage.py'}",
            "python3 ": f"{sys.executable} ",
        }
        script = "".join(f"{block.source}echo '{LIMIT}'\n" for block in blocks)
        for name, here in own.items():
            script = script.replace(name, here)
        printed = run(["bash", "-e", "-c"], script, environment)
    else:
        script = "".join(f"{block.source}\nprint('{LIMIT}')\n" for block in blocks)
        printed = run([sys.executable, "-c"], script, environment)
    for example, output in zip(blocks, printed, strict=True):
        if example.printed is not None:
            assert is_said(output, example.printed), f"{example.source}\n{output}"


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FOLDERS = (
    "archive|bench|contextstudio(?:_client)?|operations|static|templates|tests|threads"
)
_PATH = re.compile(rf"`((?:{_FOLDERS})/[\w./-]*)`")
_MODULE = re.compile(r"\bpython -m ([\w.]+)")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for path in _PATH.findall(text):
        assert (ROOT / path).exists(), path
    for module in _MODULE.findall(text):
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").exists() or path.is_dir(), module
    for link in _LINK.findall(text):
        assert (page.parent / link).exists(), link


OF_DEVELOPERS = {"tools_page"}
"""Commands that only whoever works on the product calls."""


def test_the_page_for_operators_names_every_command_and_setting() -> None:
    page = (ROOT / "docs" / "production.md").read_text("utf-8")
    commands = {
        path.stem
        for app in ("archive", "contextstudio", "operations", "threads")
        for path in (ROOT / app).rglob("management/commands/*.py")
    } - {"__init__", *OF_DEVELOPERS}
    assert len(commands) > 10
    for name in commands | settings.KNOWN:
        assert f"`{name}`" in page, name
