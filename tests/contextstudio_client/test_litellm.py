"""The callback in LiteLLM's own proxy, with a provider behind it and a real server beside it."""

import json
import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from contextstudio_client import Client
from tests.operations.forwarding.proxy.provider import Asked, Provider, running_provider
from tests.servers import PATIENCE_SECONDS, Server

pytestmark = pytest.mark.sqlite
"""The hook asks by HTTP; which database answers changes nothing for it."""

SECONDS_TO_START = 120
MASTER_KEY = "sk-master"
LAUNCH = """
import socket, sys, types
# Imported at the start for a route of transcriptions, with a library for sound of its own.
sys.modules["soundfile"] = types.ModuleType("soundfile")
import uvicorn
from litellm.proxy.proxy_server import app
config = uvicorn.Config(app, log_level="warning", lifespan="on")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""
"""Serves on a socket that listens already."""


@dataclass
class Gateway:
    """LiteLLM's proxy."""

    url: str
    provider: Provider

    def ask(
        self, path: str, body: dict[str, Any], session: str | None, **headers: str
    ) -> httpx.Response:
        headers |= {"Authorization": f"Bearer {MASTER_KEY}"}
        if session:
            headers["x-litellm-session-id"] = session
        return httpx.post(
            f"{self.url}{path}", json=body, headers=headers, timeout=PATIENCE_SECONDS
        )

    def chat(
        self, messages: list[Any], session: str | None, *, stream: bool = False
    ) -> httpx.Response:
        body = {"model": "chat", "messages": messages, "stream": stream}
        return self.ask("/v1/chat/completions", body, session)

    @property
    def sent(self) -> list[Any]:
        """The messages that the provider was sent last."""
        messages: list[Any] = self.asked[-1].json["messages"]
        return messages

    @property
    def asked(self) -> list[Asked]:
        """The requests that the provider was sent; LiteLLM also looks what it is."""
        return [one for one in self.provider.asked if one.method == "POST"]


@pytest.fixture(scope="module")
def studio(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key()) as client:
        yield client


@pytest.fixture(scope="module")
def gateway(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    folder: Path = tmp_path_factory.mktemp("litellm")
    with running_provider() as provider:
        behind = {"api_base": provider.url, "api_key": "sk-provider"}
        models = {"chat": "openai/gpt-4o", "claude": "anthropic/claude-sonnet-4-5"}
        config = {
            "model_list": [
                {"model_name": name, "litellm_params": {"model": model, **behind}}
                for name, model in models.items()
            ],
            "litellm_settings": {
                "callbacks": ["contextstudio_client.litellm.callback"]
            },
            "general_settings": {"master_key": MASTER_KEY},
        }
        for one in config["model_list"]:
            if one["model_name"] == "chat":
                one["litellm_params"]["api_base"] += "/v1"
        (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
        environment = {
            **os.environ,
            "CONFIG_FILE_PATH": str(folder / "config.yaml"),
            "CONTEXTSTUDIO_URL": server.url,
            "CONTEXTSTUDIO_KEY": server.key(),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "PYTHONWARNINGS": "ignore",
        }
        environment.pop("DATABASE_URL", None)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            process = subprocess.Popen(
                [sys.executable, "-c", LAUNCH, str(listener.fileno())],
                env=environment,
                cwd=Path(__file__).parents[2],
                pass_fds=[listener.fileno()],
            )
        try:
            # Whoever asks before it serves stands in line; if it ends, so does the line.
            health = httpx.get(f"{url}/health/liveliness", timeout=SECONDS_TO_START)
            health.raise_for_status()
            yield Gateway(url, provider)
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def name() -> str:
    return str(uuid.uuid4())


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_is_the_session_and_operations_are_in_the_next_request(
    gateway: Gateway, studio: Client, name: str, stream: bool
) -> None:
    said: list[Any] = [{"role": "user", "content": "One"}]
    answer = gateway.chat(said, name, stream=stream)
    assert answer.status_code == 200, answer.text
    session = studio.session(external_id=name)
    recorded = session.messages()
    assert [one.role for one in recorded] == ["user", "assistant"]
    said += [
        {"role": "assistant", "content": recorded[1].content},
        {"role": "user", "content": "Two"},
    ]
    session.record("digest", start_idx=0, end_idx=1, summary="They counted.")
    assert gateway.chat(said, name, stream=stream).status_code == 200
    assert len(gateway.sent) == 2
    assert "They counted." in gateway.sent[0]["content"]
    assert gateway.sent[1]["content"] == "Two"
    assert [one.role for one in session.messages()] == ["user", "assistant"] * 2


def test_a_conversation_whose_beginning_is_left_out_still_begins_with_a_user(
    gateway: Gateway, studio: Client, name: str
) -> None:
    """LiteLLM sends it to other providers too, most of which refuse one that doesn't."""
    said: list[Any] = [{"role": "user", "content": "One"}]
    assert gateway.chat(said, name).status_code == 200
    session = studio.session(external_id=name)
    said += [
        {"role": "assistant", "content": session.messages()[1].content},
        {"role": "user", "content": "Two"},
    ]
    session.record("snip", start_idx=0, end_idx=0)
    assert gateway.chat(said, name).status_code == 200
    assert [one["role"] for one in gateway.sent] == ["user", "assistant", "user"]
    assert len(session.messages()) == 4


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_with_a_tool_call_is_recorded_as_the_client_sends_it_again(
    gateway: Gateway, studio: Client, name: str, stream: bool
) -> None:
    said: list[Any] = [{"role": "user", "content": "How is the weather?"}]
    assert gateway.chat(said, name, stream=stream).status_code == 200
    session = studio.session(external_id=name)
    call = session.messages()[1]
    assert call.tool_calls
    said += [
        {"role": "assistant", "content": call.content, "tool_calls": call.tool_calls},
        {"role": "tool", "tool_call_id": call.tool_calls[0]["id"], "content": "Sunny"},
    ]
    assert gateway.chat(said, name, stream=stream).status_code == 200
    roles = [one.role for one in session.messages()]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_what_no_json_holds_is_the_request_s_fault(gateway: Gateway, name: str) -> None:
    """LiteLLM takes NaN; with 503 its clients would send the same again and again."""
    body = (
        b'{"model": "chat", "messages": [{"role": "user", "content": "Hi", "x": NaN}]}'
    )
    answer = httpx.post(
        f"{gateway.url}/v1/chat/completions",
        content=body,
        headers={
            "Authorization": f"Bearer {MASTER_KEY}",
            "Content-Type": "application/json",
            "x-litellm-session-id": name,
        },
        timeout=PATIENCE_SECONDS,
    )
    assert answer.status_code == 422
    assert "nan (at messages.0.x)" in answer.text


IN_ANTHROPICS_FORM = {
    "model": "claude",
    "max_tokens": 100,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "One"}],
}


def test_messages_in_anthropics_form_have_their_system_beside_them(
    gateway: Gateway, studio: Client, name: str
) -> None:
    answer = gateway.ask("/v1/messages", IN_ANTHROPICS_FORM, name)
    assert answer.status_code == 200, answer.text
    session = studio.session(external_id=name)
    roles = [one.role for one in session.messages()]
    assert roles == ["system", "user", "assistant"]
    assert gateway.asked[-1].json["system"]


def test_a_system_beside_the_messages_that_an_operation_leaves_out_is_not_sent(
    gateway: Gateway, studio: Client, name: str
) -> None:
    gateway.ask("/v1/messages", IN_ANTHROPICS_FORM, name).raise_for_status()
    session = studio.session(external_id=name)
    session.record("snip", start_idx=0, end_idx=0)
    gateway.ask("/v1/messages", IN_ANTHROPICS_FORM, name).raise_for_status()
    assert "Be brief." not in json.dumps(gateway.asked[-1].json)


CLEARING = {"type": "clear_thinking_20251015", "keep": "all"}
OTHER = {"type": "clear_tool_uses_20250919"}


@pytest.mark.parametrize("kept", [[], [OTHER]])
def test_thinking_is_off_where_an_operation_left_out_what_it_needs(
    gateway: Gateway, studio: Client, name: str, kept: list[Any]
) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "14"}
    body = {
        **IN_ANTHROPICS_FORM,
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "context_management": {"edits": [CLEARING, *kept]},
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "One"},
            {"role": "assistant", "content": [thought, call]},
            {"role": "user", "content": [result]},
        ],
    }
    gateway.ask("/v1/messages", body, name).raise_for_status()
    assert gateway.asked[-1].json["thinking"] == body["thinking"]
    studio.session(external_id=name).record("snip", start_idx=0, end_idx=0)
    gateway.ask("/v1/messages", body, name).raise_for_status()
    sent = gateway.asked[-1].json
    assert "thinking" not in sent
    assert (sent.get("context_management") or {}).get("edits", []) == kept


def test_a_request_without_a_session_passes_as_it_is(
    gateway: Gateway, studio: Client
) -> None:
    before = [one.id for one in studio.sessions.list()]
    assert gateway.chat([{"role": "user", "content": "Whose?"}], None).is_success
    assert gateway.sent == [{"role": "user", "content": "Whose?"}]
    assert [one.id for one in studio.sessions.list()] == before


def test_what_can_not_be_rewritten_is_refused_before_it_is_sent(
    gateway: Gateway, studio: Client, name: str
) -> None:
    asked = len(gateway.asked)
    odd = [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    answer = gateway.chat(odd, name)
    assert answer.status_code == 422
    assert "ContextStudio" in answer.text
    assert len(gateway.asked) == asked
