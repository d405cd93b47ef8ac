"""Tools of ours in a client's own requests: it sees their calls nowhere, the session holds all."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from operations.forwarding.proxy.tools.forms import FORMS
from operations.forwarding.proxy.tools.gemini import GeminiTools
from operations.forwarding.proxy.tools.offering import MAX_ROUNDS
from tests.servers import PATIENCE_SECONDS
from tests.validators import VALIDATORS

from .conftest import Proxy
from .forms import MODEL, Said
from .provider import REPLY
from .test_clients import CLIENTS, RESULT, Talk

NOTE = ("manage_scratchpad", {"action": "append", "content": "Boats: 21."})
READ = ("manage_scratchpad", {"action": "read"})
PATH = "/v1/chat/completions"
GEMINI = "/v1beta/models/gemini-2.5-flash:generateContent"
PATHS = {
    "openai": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/messages",
    "gemini": "Content",
}
both = pytest.mark.parametrize("stream", [False, True], ids=["at-once", "streaming"])
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of the libraries themselves
    # What the proxy does with calls and streams is the same on each database.
    pytest.mark.sqlite,
]


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def client(
    request: pytest.FixtureRequest, proxy: Proxy, stream: bool
) -> Iterator[Talk]:
    for provider in ("openai", "anthropic", "gemini"):
        proxy.lead(provider, tools="context, recall").raise_for_status()
    talk: Talk = request.param(proxy, stream)
    yield talk
    talk.close()


def seen(client: Any) -> str:
    """All that a client keeps of its conversation."""
    said = getattr(client, "said", None)
    return repr(client.chat.get_history() if said is None else said)


def roles(proxy: Proxy) -> list[str]:
    """Who said what the session holds, results as those of a tool."""
    return ["tool" if one["tool_results"] else one["role"] for one in proxy.messages()]


def scratchpad(proxy: Proxy) -> str:
    path = f"/api/sessions/{proxy.session()['id']}/scratchpad"
    found: str = proxy.api.get(path).raise_for_status().json()["content"]
    return found


@both
def test_calls_of_ours_are_answered_and_only_the_last_reply_is_passed_on(
    client: Talk, proxy: Proxy
) -> None:
    proxy.provider.script = [
        Said("I note it.", calls=(NOTE,)),
        Said("I look.", calls=(READ,), first=2),
        Said("Noted."),
    ]
    assert client.ask("Note the boats") == "Noted."
    assert "manage_scratchpad" not in seen(client)
    assert "I note it." not in seen(client)
    assert scratchpad(proxy) == "Boats: 21."
    asked = proxy.provider.asked
    assert len(asked) == 3
    assert all(b"manage_scratchpad" in one.body for one in asked)
    assert b'"session_id"' not in asked[0].body  # the conversation says it by itself
    beginning = ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert roles(proxy) == [*beginning, "assistant"]
    # The model knows in the next turn what it did.
    assert client.ask("Thanks") == "You said: Thanks"
    sent = proxy.provider.last.json
    told = json.dumps(sent.get("messages") or sent.get("input") or sent["contents"])
    assert told.index("I note it.") < told.index("I look.") < told.index("Noted.")
    assert roles(proxy) == [*beginning, "assistant", "user", "assistant"]
    assert proxy.session()["head"] == 0  # nothing is taken for an edit of the client's


@both
def test_beside_a_call_of_the_clients_own_ours_is_answered_and_the_reply_is_sent_whole(
    client: Talk, proxy: Proxy
) -> None:
    """As its model made it, or what is signed in it would no longer hold."""
    proxy.provider.script = [Said("Let me look.", "Paris", calls=(NOTE,))]
    assert client.ask("How is the weather?") == "Let me look."
    assert "manage_scratchpad" not in seen(client)
    assert "get_weather" in seen(client)
    assert scratchpad(proxy) == "Boats: 21."
    assert roles(proxy) == ["system", "user", "assistant"]
    assert client.use_tool() == REPLY
    last = proxy.provider.last
    form = next(form for form, path in PATHS.items() if path in last.path)
    messages = last.json.get("messages") or last.json.get("input")
    called = FORMS[form].calls(messages or last.json["contents"])
    assert [one.name for one in called] == ["manage_scratchpad", "get_weather"]
    # The client's own members may be what other providers accept.
    found = [one for one in VALIDATORS[form](last.json) if "permitted" not in one]
    assert found == []
    assert client.ask("Thanks") == "You said: Thanks"
    assert "manage_scratchpad" not in seen(client)
    held = proxy.messages()
    said = [one for one in held if one["role"] != "system"]
    called = [call["function"]["name"] for call in said[1]["tool_calls"]]
    assert called == ["manage_scratchpad", "get_weather"]
    results = [one["content"] for each in held for one in each["tool_results"]]
    assert len(results) == 2
    assert results[1] == RESULT
    assert [one["role"] for one in said[-3:]] == ["assistant", "user", "assistant"]
    assert proxy.session()["head"] == 0


@both
def test_a_model_that_goes_on_calling_is_asked_without_calls_at_last(
    client: Talk, proxy: Proxy
) -> None:
    rounds = range(1, MAX_ROUNDS + 2)
    proxy.provider.script = [Said("Again.", calls=(READ,), first=n) for n in rounds]
    assert client.ask("Go on") == "Again."
    assert "manage_scratchpad" not in seen(client)
    asked = [one.json for one in proxy.provider.asked]
    assert len(asked) == MAX_ROUNDS + 1
    chosen = [one.get("tool_choice") or one.get("toolConfig") for one in asked]
    assert not any(chosen[:-1])
    assert "none" in json.dumps(chosen[-1]).lower()
    proxy.provider.script = []
    assert client.ask("Thanks") == "You said: Thanks"


def ask(proxy: Proxy, *messages: Any, offered: str = "context", **body: Any) -> Any:
    """A request without a library; the reply."""
    said = [
        {"role": "user", "content": one} if isinstance(one, str) else one
        for one in messages
    ]
    return httpx.post(
        proxy.url + PATH,
        json={"model": MODEL, "messages": said, **body},
        headers=proxy.headers | {"X-ContextStudio-Tools": offered},
        timeout=PATIENCE_SECONDS,
    )


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, {"toolConfig": {}}),
        ({"toolConfig": "none"}, {"toolConfig": {}}),
        (
            {"toolConfig": {"retrievalConfig": {}, "functionCallingConfig": {}}},
            {"toolConfig": {"retrievalConfig": {}}},
        ),
        (
            {"tool_config": {"function_calling_config": {"mode": "ANY"}}},
            {"tool_config": {}},
        ),
    ],
)
def test_calls_are_forbidden_beside_whatever_settings_a_client_of_gemini_has(
    given: dict[str, Any], asked: dict[str, Any]
) -> None:
    name, value = GeminiTools().without_calls(given)
    calling = {"functionCallingConfig": {"mode": "NONE"}}
    assert {name: json.loads(value)} == {
        member: kept | calling for member, kept in asked.items()
    }


def test_a_header_chooses_tools_for_one_request(proxy: Proxy) -> None:
    proxy.lead("openai", tools="recall").raise_for_status()
    ask(proxy, "One", offered="manage_scratchpad")
    names = [one["function"]["name"] for one in proxy.provider.last.json["tools"]]
    assert names == ["manage_scratchpad"]
    assert proxy.provider.last.header("x-contextstudio-tools") is None
    ask(proxy, "One", offered="")
    assert "tools" not in proxy.provider.last.json
    refused = ask(proxy, "One", offered="no_such")
    assert refused.status_code == 422
    assert "no_such" in refused.json()["detail"]


def test_an_upstream_takes_known_tools_only(proxy: Proxy) -> None:
    assert proxy.lead("openai", tools=" edit , recall").json()["tools"] == "edit,recall"
    assert proxy.lead("openai", tools="no_such").status_code == 422


def test_a_tool_of_the_clients_own_keeps_its_name(proxy: Proxy) -> None:
    own = {"name": "manage_scratchpad", "parameters": {"type": "object"}}
    proxy.provider.script = [Said("I note it.", calls=(NOTE,))]
    reply = ask(
        proxy, "One", offered="context", tools=[{"type": "function", "function": own}]
    )
    (call,) = reply.json()["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "manage_scratchpad"
    listed = proxy.provider.last.json["tools"]
    names = [one["function"]["name"] for one in listed]
    assert names.count("manage_scratchpad") == 1
    assert len(names) > 1


@pytest.mark.parametrize("path", [PATH, GEMINI])
@pytest.mark.parametrize("own", [{"a": 1}, ["x"], 5, True, ""], ids=str)
def test_tools_that_are_no_list_of_objects_pass_as_they_are(
    proxy: Proxy, path: str, own: Any
) -> None:
    said = {"messages": [{"role": "user", "content": "One"}], "model": MODEL}
    if path == GEMINI:
        said = {"contents": [{"role": "user", "parts": [{"text": "One"}]}]}
    reply = httpx.post(
        proxy.url + path,
        json={**said, "tools": own},
        headers=proxy.headers | {"X-ContextStudio-Tools": "recall"},
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == 200
    assert proxy.provider.last.json["tools"] == own


def test_declarations_that_are_no_list_are_left_to_the_provider(proxy: Proxy) -> None:
    own = [{"functionDeclarations": [{"name": "f"}]}, {"functionDeclarations": 5}]
    said = {"contents": [{"role": "user", "parts": [{"text": "One"}]}], "tools": own}
    reply = httpx.post(
        proxy.url + GEMINI,
        json=said,
        headers=proxy.headers | {"X-ContextStudio-Tools": "recall"},
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == 200
    assert proxy.provider.last.json == said


@pytest.mark.parametrize("path", [PATH, GEMINI])
def test_tools_that_are_null_are_none_of_the_clients(proxy: Proxy, path: str) -> None:
    said = {"messages": [{"role": "user", "content": "One"}], "model": MODEL}
    if path == GEMINI:
        said = {"contents": [{"role": "user", "parts": [{"text": "One"}]}]}
    reply = httpx.post(
        proxy.url + path,
        json={**said, "tools": None},
        headers=proxy.headers | {"X-ContextStudio-Tools": "recall"},
        timeout=PATIENCE_SECONDS,
    )
    assert reply.status_code == 200
    assert "recall" in str(proxy.provider.last.json["tools"])


@pytest.mark.parametrize(
    ("path", "tools"),
    [(PATH, 5), (PATH, True), (GEMINI, [{"functionDeclarations": 5}])],
)
def test_malformed_tools_are_left_to_the_provider_beside_operations_too(
    proxy: Proxy, path: str, tools: Any
) -> None:
    said: dict[str, Any] = {
        "messages": [{"role": "user", "content": "One"}],
        "model": MODEL,
    }
    if path == GEMINI:
        said = {"contents": [{"role": "user", "parts": [{"text": "One"}]}]}

    def ask(**members: Any) -> httpx.Response:
        body, sent = said | members, proxy.headers | {"X-Session-Id": "odd"}
        return httpx.post(
            proxy.url + path, json=body, headers=sent, timeout=PATIENCE_SECONDS
        )

    ask()
    proxy.operate(type="digest", start_idx=0, end_idx=0, summary="They count.")
    assert ask(tools=tools).status_code == 200
    assert proxy.provider.last.json["tools"] == tools
    assert b"They count." in proxy.provider.last.body


@pytest.mark.parametrize(
    ("config", "count"),
    [("generationConfig", "candidateCount"), ("generation_config", "candidate_count")],
)
def test_of_several_candidates_none_is_offered_tools(
    proxy: Proxy, config: str, count: str
) -> None:
    for many in (2, 1):
        body = {
            "contents": [{"role": "user", "parts": [{"text": "One"}]}],
            config: {count: many},
        }
        httpx.post(
            proxy.url + GEMINI,
            json=body,
            headers=proxy.headers | {"X-ContextStudio-Tools": "recall"},
            timeout=PATIENCE_SECONDS,
        ).raise_for_status()
        assert ("tools" in proxy.provider.last.json) is (many == 1)


def test_beside_the_functions_of_old_no_tools_are_offered(proxy: Proxy) -> None:
    """OpenAI refuses a request with both."""
    own = {"name": "look", "parameters": {"type": "object", "properties": {}}}
    assert ask(proxy, "One", offered="recall", functions=[own]).status_code == 200
    assert "tools" not in proxy.provider.last.json
    assert proxy.provider.last.json["functions"] == [own]


def test_a_refusal_is_an_answer_to_the_model(proxy: Proxy) -> None:
    proxy.provider.script = [
        Said("", calls=(("snip_messages", {"start_idx": 90, "end_idx": 91}),)),
        Said("", calls=(("recall", {"ref_id": "[recall:msg-00000000]"}),), first=2),
        Said("Done."),
    ]
    reply = ask(proxy, "One", offered="edit,recall")
    assert reply.json()["choices"][0]["message"]["content"] == "Done."
    *_, first, _, second = proxy.provider.last.json["messages"]
    assert json.loads(first["content"])["status"] == 422
    assert "reference not found" in second["content"]


def test_what_an_operation_of_the_models_changes_is_in_its_next_request(
    proxy: Proxy,
) -> None:
    """Also what it wrote as STATE, and a text by its reference."""
    said: list[Any] = ["Count the boats", "Which is the oldest?"]
    proxy.provider.script = [
        Said("They are 21.\n\n### STATE\nGoal: count boats\n"),
        Said(
            "",
            calls=(("digest_messages", {"range": [0, 1], "summary": "They counted."}),),
        ),
        Said("", calls=(("recall", {"ref_id": "[recall:m0]"}),), first=2),
        Said("The Ariel."),
    ]
    first = ask(proxy, said[0], offered="edit,recall").json()
    said.insert(1, first["choices"][0]["message"])
    ask(proxy, *said, offered="edit,recall")
    _, asked, folded, recalled = (one.json["messages"] for one in proxy.provider.asked)
    assert "### STATE\nGoal: count boats" in asked[0]["content"]
    assert "Count the boats" in json.dumps(asked)
    assert "They counted." in json.dumps(folded)
    assert "Count the boats" not in json.dumps(folded)
    assert "Count the boats" in recalled[-1]["content"]
    rows = proxy.api.get(f"/api/sessions/{proxy.session()['id']}/requests").json()
    assert [one["status"] for one in rows["items"]] == ["answered"] * 4


def test_a_client_that_cut_its_beginning_off_is_followed(proxy: Proxy) -> None:
    """What was answered for it stands behind the same message as before."""
    said: list[Any] = []
    for turn in range(4):
        said.append(f"Turn {turn}")
        if turn in (1, 2):
            proxy.provider.script = [Said("", calls=(READ,), first=turn), Said("Read.")]
        reply = ask(proxy, *said).json()
        said.append(reply["choices"][0]["message"])
    said = [*said[2:], "Last"]
    ask(proxy, *said)
    sent = [one["role"] for one in proxy.provider.last.json["messages"]]
    turn = ["user", "assistant", "tool", "assistant"]
    assert sent == [*turn, *turn, "user", "assistant", "user"]


def test_a_purge_takes_what_was_answered_with_it(proxy: Proxy) -> None:
    """What the model noted remains; its call, and what its client sends of the turn, don't."""
    proxy.provider.script = [Said("", calls=(NOTE,)), Said("Noted.")]
    ask(proxy, "Note the boats")
    session = proxy.session()["id"]
    proxy.api.post(
        "/api/tools/remove_group", json={"session_id": session, "group_id": 1}
    ).raise_for_status()
    ask(proxy, "Note the boats", {"role": "assistant", "content": "Noted."}, "Thanks")
    layer, *sent = proxy.provider.last.json["messages"]
    assert layer["role"] == "system"
    assert sent == [{"role": "user", "content": "Thanks"}]
    assert "Note the boats" not in str(proxy.messages())


# Behind a response that is only named


def respond(proxy: Proxy, said: Any, before: str = "") -> Any:
    """A request to Responses, with what it sends to the provider."""
    body = {"model": MODEL, "input": [said]}
    httpx.post(
        proxy.url + "/v1/responses",
        json=body | ({"previous_response_id": before} if before else {}),
        headers=proxy.headers | {"X-ContextStudio-Tools": "context"},
        timeout=PATIENCE_SECONDS,
    ).raise_for_status()
    return proxy.provider.last.json


def test_tools_are_offered_behind_a_response_that_is_named(proxy: Proxy) -> None:
    def user(text: str) -> Any:
        return {"role": "user", "content": text}

    proxy.provider.script = [
        Said("First.", name="a"),
        Said("I note it.", calls=(NOTE,), name="b"),
        Said("Noted.", name="c"),
        Said("Bye.", name="d"),
        Said("Noted again.", name="e"),
    ]
    respond(proxy, user("One"))
    sent = respond(proxy, user("Note it"), "resp_a")
    assert scratchpad(proxy) == "Boats: 21."
    assert sent["previous_response_id"] == "resp_a"
    kinds = [one.get("type") for one in sent["input"]]
    assert kinds == [None, "message", "function_call", "function_call_output"]
    sent = respond(proxy, user("Thanks"), "resp_c")
    assert (sent["previous_response_id"], len(sent["input"])) == ("resp_c", 1)
    assert sent["tools"]
    said = ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    assert roles(proxy) == [*said, "assistant"]
    assert proxy.session()["head"] == 0
    # Whoever asks the same again has the calls that were answered for it.
    sent = respond(proxy, user("Note it"), "resp_a")
    assert [one.get("type") for one in sent["input"]] == kinds


def test_a_response_of_which_a_client_knows_a_part_gets_all_results(
    proxy: Proxy,
) -> None:
    """Its provider keeps a call that the client brings no result of."""
    proxy.provider.script = [
        Said("Let me look.", "Paris", calls=(NOTE,), name="a"),
        Said("It is sunny.", name="b"),
        Said("Bye.", name="c"),
    ]
    respond(proxy, {"role": "user", "content": "How is the weather?"})
    result = {"type": "function_call_output", "call_id": "call_2", "output": "21"}
    for _ in range(2):  # also where it is asked again
        sent = respond(proxy, result, "resp_a")
        assert sent["previous_response_id"] == "resp_a"
        assert [one["call_id"] for one in sent["input"]] == ["call_1", "call_2"]
    sent = respond(proxy, {"role": "user", "content": "Thanks"}, "resp_b")
    assert (sent["previous_response_id"], len(sent["input"])) == ("resp_b", 1)
