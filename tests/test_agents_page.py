"""What docs/agents.md says is run as it stands, and its settings are those that are printed."""

import sys
from collections.abc import Iterator

import httpx
import pytest

from contextstudio.accounts.domain.connecting import (
    CURL,
    PYTHON,
    Connection,
    connections,
)
from tests.servers import PATIENCE_SECONDS

from .operations.forwarding.proxy.provider import Provider, running_provider
from .servers import ROOT, Server, StartServer
from .test_documentation import LANGUAGES, LIMIT, Example, examples, is_said, run

pytestmark = pytest.mark.sqlite
"""As the examples of the other documents, on the database that a first start makes."""

PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
EXAMPLES = examples(PAGE)
OF_CLIENTS = [
    one
    for one in connections("http://127.0.0.1:8000", "cs_KEY")
    if one.client not in (PYTHON, CURL)  # shown as examples
]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def proxying_server(start_server: StartServer) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS", "1")
        yield start_server()


@pytest.mark.parametrize("one", OF_CLIENTS, ids=lambda one: one.client)
def test_the_settings_of_a_client_are_those_that_are_printed(one: Connection) -> None:
    for block in one.blocks:
        assert f"\n{block.text}\n```" in PAGE
    assert one.note in PAGE


@pytest.mark.skipif("sh" not in LANGUAGES, reason="the examples need curl")
def test_the_examples_do_what_the_page_says(
    proxying_server: Server,
    provider: Provider,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """In the order of their languages: the shell's set up what Python's go on with."""
    environment = {
        **proxying_server.environment(),
        "STUDIO": proxying_server.url,
        "KEY": proxying_server.key("read,propose,edit"),
        "OPENAI_API_KEY": "sk-provider",
        "FOLDER": str(tmp_path_factory.mktemp("examples")),
        "PYTHONPATH": str(ROOT),
    }
    # The first request imports the protocol, which takes seconds.
    httpx.post(f"{proxying_server.url}/mcp", json={}, timeout=PATIENCE_SECONDS)
    own = {
        "http://127.0.0.1:8000": proxying_server.url,
        "https://api.openai.com": provider.url,
        ".venv/bin/python manage.py": f"{sys.executable} {ROOT / 'manage.py'}",
        "python3 ": f"{sys.executable} ",
    }
    for language, command, end in (
        ("sh", ["bash", "-e", "-c"], f"echo '{LIMIT}'\n"),
        ("python", [sys.executable, "-c"], f"\nprint('{LIMIT}')\n"),
    ):
        blocks = [one for one in EXAMPLES if one.language == language]
        script = "".join(f"{block.source}{end}" for block in blocks)
        for name, here in own.items():
            script = script.replace(name, here)
        check(blocks, run(command, script, environment))
    assert provider.last.header("authorization") == "Bearer sk-provider"


def check(blocks: list[Example], printed: list[str]) -> None:
    for example, output in zip(blocks, printed, strict=True):
        if example.printed is not None:
            assert is_said(output, example.printed), f"{example.source}\n{output}"


# What each client sends, from what its settings say: path, header and the provider's form.
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
CLAUDE = CHAT | {"max_tokens": 9}
RESPONSES = {"model": "m", "input": [{"role": "user", "content": "Hello"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
GENERATE = "/v1beta/models/m:generateContent"
REQUESTS = {
    "codex": ("/v1", "/responses", "Authorization", RESPONSES),
    "gemini-cli": ("", GENERATE, "x-goog-api-key", GEMINI),
    "google-genai": ("", GENERATE, "x-goog-api-key", GEMINI),
    "claude-code": ("", "/v1/messages", "Authorization", CLAUDE),
    "anthropic": ("", "/v1/messages", "x-api-key", CLAUDE),
    "opencode": ("/v1", "/chat/completions", "Authorization", CHAT),
    "aider": ("/v1", "/chat/completions", "Authorization", CHAT),
    "cline": ("/v1", "/chat/completions", "Authorization", CHAT),
    "openai": ("/v1", "/chat/completions", "Authorization", CHAT),
}


@pytest.mark.parametrize("client", REQUESTS)
def test_what_a_client_sends_by_its_settings_reaches_the_provider(
    client: str, proxying_server: Server, provider: Provider
) -> None:
    """Clients add their own path to the base URL, and send the key in a header of their own."""
    key = proxying_server.key()
    admin = {"Authorization": f"Bearer {key}"}
    for name in ("openai", "anthropic", "gemini"):
        where = f"{proxying_server.url}/api/projects/demo/upstreams/{name}"
        upstream = {"base_url": provider.url, "api_key": "sk-provider"}
        httpx.put(
            where, json=upstream, headers=admin, timeout=PATIENCE_SECONDS
        ).raise_for_status()
    [settings] = [
        one for one in connections(proxying_server.url, key) if one.client == client
    ]
    base, path, header, body = REQUESTS[client]
    texts = "\n".join(block.text for block in settings.blocks)
    assert f"{proxying_server.url}{base}" in texts
    value = f"Bearer {key}" if header == "Authorization" else key
    headers = {header: value, "anthropic-version": "2023-06-01"}
    if "messages" not in path.split("/"):
        del headers["anthropic-version"]
    url = f"{proxying_server.url}{base}{path}"
    answer = httpx.post(url, json=body, headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    assert provider.last.path.endswith(path)
    assert key not in str(provider.last.headers)
