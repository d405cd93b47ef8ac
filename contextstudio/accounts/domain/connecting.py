"""The settings with which a client works through this server, with a key.

Each client is told of another address in its own way: shell variables, a file, or form fields. The
text for each is defined here, for the page, the command and the documents.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass

CLAUDE_CODE, CODEX, GEMINI_CLI = "claude-code", "codex", "gemini-cli"
OPENCODE, AIDER, CLINE = "opencode", "aider", "cline"
OPENAI, ANTHROPIC, GOOGLE = "openai", "anthropic", "google-genai"
PYTHON, MCP, CURL = "python", "mcp", "curl"

_KEY = "CONTEXTSTUDIO_KEY"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy, and where it belongs: `place` is a file, `Shell` or `Python`."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of one client. `provider` is the upstream that it needs, if it needs one."""

    client: str
    title: str
    provider: str
    blocks: tuple[Snippet, ...]
    note: str = ""


def connections(url: str, key: str) -> list[Connection]:
    """The settings of every known client, for a server and a key.

    `url` is the server's address, such as `http://127.0.0.1:8000`.
    """
    url = url.rstrip("/")
    return [make(url, key) for make in _CLIENTS.values()]


def connection(client: str, url: str, key: str) -> Connection:
    """The settings of one client. Raises KeyError for a name that isn't in `CLIENTS`."""
    return _CLIENTS[client](url.rstrip("/"), key)


def _shell(*lines: str, **variables: str) -> Snippet:
    exports = [
        f"export {name}={shlex.quote(value)}" for name, value in variables.items()
    ]
    return Snippet("Shell", "\n".join([*exports, *lines]))


def _claude_code(url: str, key: str) -> Connection:
    header = shlex.quote(f"X-ContextStudio-Key: {key}")
    return Connection(
        CLAUDE_CODE,
        "Claude Code",
        ANTHROPIC,
        (
            _shell(
                "unset ANTHROPIC_API_KEY",
                "claude",
                ANTHROPIC_BASE_URL=url,
                ANTHROPIC_AUTH_TOKEN=key,
            ),
        ),
        "To stay signed in with your own account, set "
        f"ANTHROPIC_CUSTOM_HEADERS={header} instead of ANTHROPIC_AUTH_TOKEN. "
        'Both also go into "env" of ~/.claude/settings.json.',
    )


def _codex(url: str, key: str) -> Connection:
    # JSON's syntax for strings is also that of TOML's basic strings.
    config = f"""model_provider = "contextstudio"

[model_providers.contextstudio]
name = "ContextStudio"
base_url = {json.dumps(f"{url}/v1")}
env_key = "{_KEY}"
wire_api = "responses\""""
    return Connection(
        CODEX,
        "Codex",
        OPENAI,
        (Snippet("~/.codex/config.toml", config), _shell("codex", **{_KEY: key})),
        "The first line belongs above every [table] of the file.",
    )


def _gemini_cli(url: str, key: str) -> Connection:
    return Connection(
        GEMINI_CLI,
        "Gemini CLI",
        "gemini",
        (_shell("gemini", GOOGLE_GEMINI_BASE_URL=url, GEMINI_API_KEY=key),),
        'Choose "Use Gemini API Key". For gemini -p alone, set "security.auth.selectedType" to '
        '"gemini-api-key" in ~/.gemini/settings.json. Except on this machine, it takes only an '
        "https address.",
    )


def _opencode(url: str, key: str) -> Connection:
    options = {"options": {"baseURL": f"{url}/v1", "apiKey": f"{{env:{_KEY}}}"}}
    config = {
        "$schema": "https://opencode.ai/config.json",
        "provider": {ANTHROPIC: options, OPENAI: options},
    }
    return Connection(
        OPENCODE,
        "opencode",
        f"{ANTHROPIC} or {OPENAI}",
        (
            Snippet("~/.config/opencode/opencode.json", json.dumps(config, indent=2)),
            _shell("opencode", **{_KEY: key}),
        ),
    )


def _aider(url: str, key: str) -> Connection:
    return Connection(
        AIDER,
        "aider",
        OPENAI,
        (
            _shell(
                "aider --model openai/MODEL",
                OPENAI_API_BASE=f"{url}/v1",
                OPENAI_API_KEY=key,
            ),
        ),
        "MODEL is the provider's name for the model.",
    )


def _cline(url: str, key: str) -> Connection:
    fields = f"API Provider: OpenAI Compatible\nBase URL: {url}/v1\nAPI Key: {key}"
    return Connection(
        CLINE,
        "Cline",
        OPENAI,
        (
            Snippet("Settings of the extension", f"{fields}\nModel ID: MODEL"),
            _shell(
                f"cline auth -p openai -k {shlex.quote(key)} -b {shlex.quote(url)}/v1 -m MODEL",
                "cline",
            ),
        ),
        "The second is for Cline in the terminal. MODEL is the provider's name for the model.",
    )


def _openai(url: str, key: str) -> Connection:
    return Connection(
        OPENAI,
        "OpenAI SDK",
        OPENAI,
        (_shell(OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY=key),),
        "To name the session, send the header X-Session-Id, as with "
        "default_headers={'X-Session-Id': 'run-17'}.",
    )


def _anthropic(url: str, key: str) -> Connection:
    return Connection(
        ANTHROPIC,
        "Anthropic SDK",
        ANTHROPIC,
        (_shell(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY=key),),
    )


def _google(url: str, key: str) -> Connection:
    return Connection(
        GOOGLE,
        "Google Gen AI SDK",
        "gemini",
        (_shell(GOOGLE_GEMINI_BASE_URL=url, GEMINI_API_KEY=key),),
    )


def _python(url: str, key: str) -> Connection:
    code = """from contextstudio_client import Client

with Client() as studio, studio.session(external_id="run-17") as session:
    applied = session.apply([{"role": "user", "content": "How many boats?"}])
    print(applied.messages)"""
    return Connection(
        PYTHON,
        "Python client",
        "",
        (_shell(CONTEXTSTUDIO_URL=url, CONTEXTSTUDIO_KEY=key), Snippet("Python", code)),
    )


def _mcp(url: str, key: str) -> Connection:
    server = {
        "type": "http",
        "url": f"{url}/mcp",
        "headers": {"Authorization": f"Bearer {key}"},
    }
    config = {"mcpServers": {"contextstudio": server}}
    return Connection(
        MCP,
        "MCP",
        "",
        (Snippet("Configuration of the MCP client", json.dumps(config, indent=2)),),
    )


def _curl(url: str, key: str) -> Connection:
    header = shlex.quote(f"Authorization: Bearer {key}")
    where = shlex.quote(f"{url}/api/sessions?limit=1")
    return Connection(
        CURL, "curl", "", (Snippet("Shell", f"curl -s -H {header} {where}"),)
    )


_CLIENTS: dict[str, Callable[[str, str], Connection]] = {
    CLAUDE_CODE: _claude_code,
    CODEX: _codex,
    GEMINI_CLI: _gemini_cli,
    OPENCODE: _opencode,
    AIDER: _aider,
    CLINE: _cline,
    OPENAI: _openai,
    ANTHROPIC: _anthropic,
    GOOGLE: _google,
    PYTHON: _python,
    MCP: _mcp,
    CURL: _curl,
}
CLIENTS = tuple(_CLIENTS)
"""The known clients, by the names that `manage.py connect` takes."""
