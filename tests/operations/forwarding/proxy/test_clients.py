"""Providers' own clients, plain httpx and LiteLLM's SDK talk through the proxy.

Each has the same conversation with a tool: what it keeps of it is what the session holds.

Their packages take seconds to import: only the process that asks them does.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy
from .forms import MODEL
from .provider import REPLY

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION: dict[str, Any] = {"name": "get_weather", "parameters": SCHEMA}
RESULT = "21, sunny"
PROMPT = "Be brief."


class Talk(Protocol):
    """One client with its conversation."""

    def ask(self, text: str) -> str:
        """Say this; the answer's text."""

    def use_tool(self) -> str:
        """Give the result of the call that the last answer makes; the next answer's text."""

    def close(self) -> None: ...


class Chat:
    """A conversation in the form of Chat Completions, its answers by `complete`."""

    complete: Callable[[], dict[str, Any]]
    """Sends what was said; the reply as a message."""

    def __init__(self) -> None:
        self.said: list[Any] = [{"role": "system", "content": PROMPT}]

    def ask(self, text: str) -> str:
        self.said.append({"role": "user", "content": text})
        return self._next()

    def use_tool(self) -> str:
        call = self.said[-1]["tool_calls"][0]
        self.said.append(
            {"role": "tool", "tool_call_id": call["id"], "content": RESULT}
        )
        return self._next()

    def _next(self) -> str:
        self.said.append(self.complete())
        return str(self.said[-1]["content"])

    def close(self) -> None: ...


os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it asks the network for one
TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]


class OpenAI(Chat):
    def __init__(self, proxy: Proxy, stream: bool) -> None:
        super().__init__()
        import openai

        self.stream = stream
        self.client = openai.OpenAI(
            base_url=f"{proxy.url}/v1", api_key=proxy.key, max_retries=0
        )

    def complete(self) -> dict[str, Any]:
        asked: dict[str, Any] = {"model": MODEL, "messages": self.said, "tools": TOOLS}
        if not self.stream:
            whole = self.client.chat.completions.create(**asked)
            return whole.choices[0].message.model_dump(exclude_none=True)
        with self.client.chat.completions.stream(**asked) as events:
            said = events.get_final_completion().choices[0].message
        return said.model_dump(exclude_none=True, exclude={"parsed"})

    def close(self) -> None:
        self.client.close()


class LiteLLM(Chat):
    model, path = f"openai/{MODEL}", "/v1"

    def __init__(self, proxy: Proxy, stream: bool) -> None:
        super().__init__()
        self.proxy, self.stream = proxy, stream
        # In a thread of which nobody has said that it has no event loop, litellm's log of services
        # makes one that nobody closes.
        asyncio.set_event_loop(None)

    def complete(self) -> dict[str, Any]:
        import litellm

        answer: Any = litellm.completion(
            model=self.model,
            messages=self.said,
            tools=TOOLS,
            api_base=self.proxy.url + self.path,
            api_key=self.proxy.key,
            stream=self.stream,
            num_retries=0,
        )
        if self.stream:
            pieces = list(answer)
            _end_body(answer)
            answer = litellm.stream_chunk_builder(pieces)
        said: dict[str, Any] = answer.choices[0].message.model_dump(exclude_none=True)
        return said


def _end_body(stream: Any) -> None:
    """End the body of a response, which LiteLLM doesn't read beyond its last event.

    Left to the garbage collector, it is ended whenever that runs: perhaps while the next request
    holds the lock of httpcore's pool, for which it would wait for ever in the same thread.
    """
    lines = getattr(stream.completion_stream, "streaming_response", None)
    if lines is not None:
        lines.close()


class LiteLLMAnthropic(LiteLLM):
    model, path = "anthropic/claude-sonnet-4-5", ""


class LiteLLMGemini(LiteLLM):
    model, path = "gemini/gemini-2.5-flash", ""


class Plain(Chat):
    """httpx, which reads the stream itself."""

    def __init__(self, proxy: Proxy, stream: bool) -> None:
        super().__init__()
        self.stream = stream
        self.client = httpx.Client(
            base_url=proxy.url, headers=proxy.headers, timeout=PATIENCE_SECONDS
        )

    def complete(self) -> dict[str, Any]:
        asked = {"model": MODEL, "messages": self.said, "tools": TOOLS}
        path = "/v1/chat/completions"
        if not self.stream:
            answer = self.client.post(path, json=asked).raise_for_status().json()
            said: dict[str, Any] = answer["choices"][0]["message"]
            return said
        words, calls = "", dict[str, Any]()
        with self.client.stream("POST", path, json=asked | {"stream": True}) as events:
            for line in events.iter_lines():
                if not line.startswith("data: {"):
                    continue
                delta = json.loads(line[6:])["choices"][0]["delta"]
                words += delta.get("content") or ""
                for call in delta.get("tool_calls") or ():
                    calls.setdefault("id", call.get("id"))
                    function = calls.setdefault("function", {"arguments": ""})
                    function.setdefault("name", call["function"].get("name"))
                    function["arguments"] += call["function"]["arguments"]
        said = {"role": "assistant", "content": words}
        return said | ({"tool_calls": [{"type": "function", **calls}]} if calls else {})

    def close(self) -> None:
        self.client.close()


class Anthropic:
    def __init__(self, proxy: Proxy, stream: bool) -> None:
        import anthropic

        self.stream, self.said = stream, list[Any]()
        self.client = anthropic.Anthropic(
            base_url=proxy.url, api_key=proxy.key, max_retries=0
        )

    def ask(self, text: str) -> str:
        self.said.append({"role": "user", "content": text})
        return self._next()

    def use_tool(self) -> str:
        call = next(
            one for one in self.said[-1]["content"] if one["type"] == "tool_use"
        )
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": RESULT}
        self.said.append({"role": "user", "content": [result]})
        return self._next()

    def _next(self) -> str:
        asked: dict[str, Any] = {
            "model": MODEL,
            "max_tokens": 100,
            "system": PROMPT,
            "messages": self.said,
            "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
        }
        if self.stream:
            with self.client.messages.stream(**asked) as events:
                answer = events.get_final_message()
        else:
            answer = self.client.messages.create(**asked)
        content = [one.model_dump(exclude_none=True) for one in answer.content]
        self.said.append({"role": "assistant", "content": content})
        return str(content[0]["text"])

    def close(self) -> None:
        self.client.close()


class Responses:
    def __init__(self, proxy: Proxy, stream: bool) -> None:
        import openai

        self.stream, self.said = stream, list[Any]()
        self.client = openai.OpenAI(
            base_url=f"{proxy.url}/v1", api_key=proxy.key, max_retries=0
        )

    def ask(self, text: str) -> str:
        self.said.append({"role": "user", "content": text})
        return self._next()

    def use_tool(self) -> str:
        call = self.said[-1]
        output = {"type": "function_call_output", "call_id": call["call_id"]}
        self.said.append(output | {"output": RESULT})
        return self._next()

    def _next(self) -> str:
        asked: dict[str, Any] = {
            "model": MODEL,
            "instructions": PROMPT,
            "input": self.said,
            "store": False,
            "tools": [{"type": "function", **FUNCTION}],
        }
        if self.stream:
            with self.client.responses.stream(**asked) as events:
                answer: Any = events.get_final_response()
        else:
            answer = self.client.responses.create(**asked)
        unsaid = {"parsed", "parsed_arguments"}
        dumped = (one.model_dump(exclude_none=True) for one in answer.output)
        self.said += [
            {k: v for k, v in one.items() if k not in unsaid} for one in dumped
        ]
        return str(answer.output_text)

    def close(self) -> None:
        self.client.close()


class Gemini:
    def __init__(self, proxy: Proxy, stream: bool) -> None:
        from google import genai
        from google.genai import types

        self.stream = stream
        options = types.HttpOptions(base_url=proxy.url)
        self.client = genai.Client(api_key=proxy.key, http_options=options)
        declared = types.FunctionDeclaration(
            name="get_weather", parameters_json_schema=SCHEMA
        )
        config = types.GenerateContentConfig(
            system_instruction=PROMPT,
            tools=[types.Tool(function_declarations=[declared])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(
                disable=True
            ),
        )
        self.chat = self.client.chats.create(model="gemini-2.5-flash", config=config)

    def ask(self, text: str) -> str:
        return self._next(text)

    def use_tool(self) -> str:
        from google.genai import types

        part = types.Part.from_function_response(
            name="get_weather", response={"result": RESULT}
        )
        return self._next(part)

    def _next(self, said: Any) -> str:
        if not self.stream:
            return _text(self.chat.send_message(said))
        return "".join(map(_text, self.chat.send_message_stream(said)))

    def close(self) -> None:
        self.client.close()


class LiteLLMResponses(Responses):
    """LiteLLM's own way to the Responses API."""

    def __init__(self, proxy: Proxy, stream: bool) -> None:
        super().__init__(proxy, stream)
        self.proxy = proxy
        asyncio.set_event_loop(None)  # as for LiteLLM

    def _next(self) -> str:
        import litellm

        answer: Any = litellm.responses(
            model=f"openai/{MODEL}",
            instructions=PROMPT,
            input=self.said,
            store=False,
            tools=[{"type": "function", **FUNCTION}],
            api_base=f"{self.proxy.url}/v1",
            api_key=self.proxy.key,
            stream=self.stream,
            num_retries=0,
        )
        if self.stream:
            answer = [*answer][-1].response
        self.said += [one.model_dump(exclude_none=True) for one in answer.output]
        return str(answer.output_text)


def _text(answer: Any) -> str:
    parts = answer.candidates[0].content.parts or ()
    return "".join(part.text or "" for part in parts)


CLIENTS = (
    *(OpenAI, Plain, Anthropic, Responses, Gemini),
    *(LiteLLM, LiteLLMAnthropic, LiteLLMGemini, LiteLLMResponses),
)


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def client(
    request: pytest.FixtureRequest, proxy: Proxy, stream: bool
) -> Iterator[Talk]:
    talk: Talk = request.param(proxy, stream)
    yield talk
    talk.close()


pytestmark = [
    pytest.mark.sqlite,  # other tests of the proxy are of both databases
    pytest.mark.parametrize("stream", [False, True], ids=["at-once", "streaming"]),
    # Of the libraries themselves.
    pytest.mark.filterwarnings("ignore"),
]


def test_a_conversation_with_a_tool_is_what_the_session_holds(
    client: Talk, proxy: Proxy
) -> None:
    assert client.ask("How is the weather?") == "Let me look."
    assert client.use_tool() == REPLY
    assert client.ask("Thanks") == "You said: Thanks"
    held = proxy.messages()
    said = [(one["role"], one["content"]) for one in held]
    assert said == [
        ("system", PROMPT),
        ("user", "How is the weather?"),
        ("assistant", "Let me look."),
        ("tool" if held[3]["role"] == "tool" else "user", held[3]["content"]),
        ("assistant", REPLY),
        ("user", "Thanks"),
        ("assistant", "You said: Thanks"),
    ]
    (call,) = held[2]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
    (result,) = held[3]["tool_results"]
    assert result["content"] == RESULT
    assert all(one["status"] == "complete" for one in held)
    for asked in proxy.provider.asked:
        assert proxy.key not in f"{asked.headers} {asked.body!r} {asked.path}"


def test_an_operation_between_two_turns_is_in_the_next_request_and_only_there(
    client: Talk, proxy: Proxy
) -> None:
    client.ask("How is the weather?")
    client.use_tool()
    before = proxy.provider.last.body
    assert b"They looked." not in before
    made = proxy.operate(type="digest", range=[1, 4], summary="They looked.")
    client.ask("Thanks")
    sent = proxy.provider.last.body
    assert b"They looked." in sent
    assert b"How is the weather?" not in sent
    assert RESULT.encode() not in sent
    path = f"/api/operations/{made['operation_id']}/revert"
    proxy.api.post(path).raise_for_status()
    client.ask("Bye")
    sent = proxy.provider.last.body
    assert b"They looked." not in sent
    assert b"How is the weather?" in sent
    assert len(proxy.messages()) == 9
