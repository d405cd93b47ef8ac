"""The settings of clients: in each client's own form, with this server and this key in them."""

import json
import shlex
import tomllib

import pytest

from contextstudio.accounts.domain.connecting import (
    CLIENTS,
    Connection,
    connection,
    connections,
)

URL, KEY = "https://studio.test", "cs_secret"


def settings(client: str, url: str = URL, key: str = KEY) -> Connection:
    return connection(client, url, key)


def exported(found: Connection) -> dict[str, str]:
    """The variables that the shell's lines set."""
    (text,) = [block.text for block in found.blocks if block.place == "Shell"]
    words = (shlex.split(line) for line in text.splitlines())
    return dict(word[1].split("=", 1) for word in words if word[0] == "export")


def test_every_client_is_given_the_server_and_the_key() -> None:
    found = connections(f"{URL}/", KEY)
    assert [one.client for one in found] == list(CLIENTS)
    for one in found:
        texts = "".join(block.text for block in one.blocks)
        assert URL in texts, one.client
        assert f"{URL}//" not in texts, one.client
        assert KEY in texts, one.client


def test_an_unknown_client_has_no_settings() -> None:
    with pytest.raises(KeyError):
        connection("telnet", URL, KEY)


@pytest.mark.parametrize(
    ("client", "variables"),
    [
        ("claude-code", {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_AUTH_TOKEN": KEY}),
        ("gemini-cli", {"GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_API_KEY": KEY}),
        ("aider", {"OPENAI_API_BASE": f"{URL}/v1", "OPENAI_API_KEY": KEY}),
        ("openai", {"OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_API_KEY": KEY}),
        ("anthropic", {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": KEY}),
        ("google-genai", {"GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_API_KEY": KEY}),
        ("python", {"CONTEXTSTUDIO_URL": URL, "CONTEXTSTUDIO_KEY": KEY}),
        ("codex", {"CONTEXTSTUDIO_KEY": KEY}),
        ("opencode", {"CONTEXTSTUDIO_KEY": KEY}),
    ],
)
def test_variables_have_the_names_that_clients_read(
    client: str, variables: dict[str, str]
) -> None:
    assert exported(settings(client)) == variables


def test_a_shell_takes_any_address_and_key_as_one_word() -> None:
    found = settings("openai", "http://a b'c", "cs_$(x)")
    assert exported(found) == {
        "OPENAI_BASE_URL": "http://a b'c/v1",
        "OPENAI_API_KEY": "cs_$(x)",
    }


def test_files_are_in_the_form_that_clients_read() -> None:
    codex = tomllib.loads(settings("codex", 'http://"a"').blocks[0].text)
    provider = codex["model_providers"][codex["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == (
        'http://"a"/v1',
        "responses",
    )
    assert provider["env_key"] == "CONTEXTSTUDIO_KEY"
    opencode = json.loads(settings("opencode").blocks[0].text)
    for name in ("anthropic", "openai"):
        options = opencode["provider"][name]["options"]
        assert options == {"baseURL": f"{URL}/v1", "apiKey": "{env:CONTEXTSTUDIO_KEY}"}
    mcp = json.loads(settings("mcp").blocks[0].text)["mcpServers"]["contextstudio"]
    assert mcp["url"] == f"{URL}/mcp"
    assert mcp["headers"] == {"Authorization": f"Bearer {KEY}"}
