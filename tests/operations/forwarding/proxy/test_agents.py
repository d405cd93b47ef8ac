"""Habits of agents as they are: what Claude Code, Codex, Gemini CLI and opencode send."""

import json
from typing import Any

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy
from .forms import MODEL, Said, ran

RUN = {"name": "run_shell_command", "parameters": {"type": "OBJECT"}}


def post(proxy: Proxy, path: str, body: dict[str, Any]) -> Any:
    reply = httpx.post(
        proxy.url + path, json=body, headers=proxy.headers, timeout=PATIENCE_SECONDS
    )
    return reply.raise_for_status().json()


class GeminiCLI:
    """Gives each call of the model an id of its own, whatever the model called it."""

    path = "/v1beta/models/gemini-2.5-flash:generateContent"

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.said: list[dict[str, Any]] = []
        self.calls = 0

    def ask(self, text: str) -> None:
        self._send({"role": "user", "parts": [{"text": text}]})

    def answer(self, output: str) -> None:
        """The results of the last reply's calls."""
        calls = [
            part["functionCall"]
            for part in self.said[-1]["parts"]
            if "functionCall" in part
        ]
        for call in calls:
            self.calls += 1
            call["id"] = f"{call['name']}_17955_{self.calls}"
        results = [
            {"name": call["name"], "id": call["id"], "response": {"output": output}}
            for call in calls
        ]
        parts = [{"functionResponse": result} for result in results]
        self._send({"role": "user", "parts": parts})

    def _send(self, content: dict[str, Any]) -> None:
        self.said.append(content)
        body = {
            "contents": self.said,
            "tools": [{"functionDeclarations": [RUN]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
        }
        reply = post(self.proxy, self.path, body)
        self.said.append(reply["candidates"][0]["content"])


def ask_twice_with_a_digest_between(proxy: Proxy) -> None:
    cli = GeminiCLI(proxy)
    cli.ask("Which files are there?")
    cli.answer("first.txt")
    proxy.operate(type="digest", targets=["m1"], summary="They asked for files.")
    cli.ask("And now?")
    cli.answer("second.txt")


def test_a_result_stays_with_its_call_where_a_client_names_calls_itself(
    proxy: Proxy,
) -> None:
    run = Said("I run it.", calls=(("run_shell_command", {"command": "ls"}),))
    both = run._replace(calls=2 * run.calls)
    proxy.provider.script = [run, Said("One file."), both, Said("The same.")]
    ask_twice_with_a_digest_between(proxy)
    for message in proxy.provider.last.json["contents"]:
        for part in message["parts"]:
            if response := part.get("functionResponse"):
                assert response["response"]["output"] in ("first.txt", "second.txt")
    calls = [
        call["id"] for one in proxy.messages() for call in one.get("tool_calls", ())
    ]
    results = [
        result["tool_call_id"]
        for one in proxy.messages()
        for result in one.get("tool_results", ())
    ]
    assert len(set(calls)) == 3
    assert results == calls


def test_a_result_goes_out_under_the_id_of_its_call_where_a_client_names_calls_itself(
    proxy: Proxy,
) -> None:
    run = Said("I run it.", calls=(("run_shell_command", {"command": "ls"}),))
    proxy.provider.script = [run, Said("One file."), run, Said("The same.")]
    ask_twice_with_a_digest_between(proxy)
    parts = [
        part
        for content in proxy.provider.last.json["contents"]
        for part in content["parts"]
    ]
    calls = [part["functionCall"]["id"] for part in parts if "functionCall" in part]
    results = [
        part["functionResponse"]["id"] for part in parts if "functionResponse" in part
    ]
    assert len(calls) == 2
    assert results == calls


def test_a_result_that_a_client_changes_once_is_reworded_once(proxy: Proxy) -> None:
    """Gemini CLI sends each result twice once it has resumed a conversation."""
    run = Said("I run it.", calls=(("run_shell_command", {"command": "ls"}),))
    replies = [run, Said("One file."), Said("Yes."), Said("Very."), Said("Really.")]
    proxy.provider.script = replies
    cli = GeminiCLI(proxy)
    cli.ask("Which files are there?")
    cli.answer("first.txt")
    cli.ask("Only that?")
    cli.said[2]["parts"] *= 2
    cli.ask("Are you sure?")
    assert proxy.session()["head"] == 1
    cli.ask("Really?")
    assert proxy.session()["head"] == 1


def test_an_agent_that_is_started_again_is_asked_its_question_and_not_its_digest(
    proxy: Proxy,
) -> None:
    """It runs under the same name, and a person digested its first run."""
    headers = {**proxy.headers, "X-Session-Id": "boats"}
    prompt = {"role": "system", "content": "Be brief."}
    question = {"role": "user", "content": "How many boats are in the harbour?"}

    def run(*said: dict[str, str]) -> list[dict[str, Any]]:
        body = {"model": MODEL, "messages": [prompt, question, *said]}
        url = f"{proxy.url}/v1/chat/completions"
        reply = httpx.post(url, json=body, headers=headers, timeout=PATIENCE_SECONDS)
        reply.raise_for_status()
        sent: list[dict[str, Any]] = proxy.provider.last.json["messages"]
        return sent

    proxy.provider.script = [Said("I counted 21."), Said("22."), Said("23.")]
    run()
    proxy.operate(type="digest", targets=["m1", "m2"], summary="21 boats were counted.")
    assert run() == [prompt, question]
    again = [{"role": "assistant", "content": "22."}, question]
    assert run(*again) == [prompt, question, *again]
    (digest, *_) = proxy.operations(proxy.session()["id"])
    assert digest["status"] == "suspended"


def item(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    content = [{"type": kind, "text": text}]
    return {"type": "message", "role": role, "content": content}


@pytest.mark.parametrize("instructions", [None, "You are a coding agent."])
def test_prompts_that_are_items_stay_items_under_an_operation(
    proxy: Proxy, instructions: str | None
) -> None:
    """Codex and opencode say most of their prompts so."""
    said = [
        item("developer", "Be careful with the user's files."),
        item("developer", "Skills: none."),
        item(
            "user",
            "<environment_context>\n  <cwd>/home/x</cwd>\n</environment_context>",
        ),
        item("user", "Which files are there?"),
    ]
    body = {"model": MODEL, "store": False, "input": said}
    if instructions is not None:
        body["instructions"] = instructions
    reply = post(proxy, "/v1/responses", body)
    said += [reply["output"][0], item("user", "And now?")]
    proxy.operate(
        type="digest", targets=[proxy.messages()[-2]["key"]], summary="Files."
    )
    post(proxy, "/v1/responses", body)
    sent = proxy.provider.last.json
    assert sent.get("instructions") == instructions
    assert sent["input"][:3] == said[:3]
    assert sent["input"][4:] == said[4:]
    assert "Files." in str(sent["input"][3])


NAMESPACE = {"type": "namespace", "name": "functions", "tools": [{"name": "exec"}]}


@pytest.mark.parametrize(
    ("window", "edit", "kept"),
    [
        (1, {}, [0, 1, 6]),
        (0, {"type": "snip", "targets": ["m1", "m2"]}, [0, 1, 4, 5, 6]),
        (
            0,
            {
                "type": "revise",
                "targets": ["m0"],
                "replacements": [{"role": "developer", "content": "Be brief."}],
            },
            [0, 2, 3, 4, 5, 6],
        ),
    ],
    ids=["window", "snip", "revised-prompt"],
)
def test_tools_that_stand_before_the_prompt_stay_there(
    proxy: Proxy, window: int, edit: dict[str, Any], kept: list[int]
) -> None:
    """Codex gives them to some models in an item, which is no message."""
    said = [
        {"type": "additional_tools", "role": "developer", "tools": [NAMESPACE]},
        item("developer", "Be careful with the user's files."),
        item("user", "Which files are there?"),
    ]
    body = {"model": MODEL, "store": False, "input": said}
    for question in ("And now?", "Thanks"):
        reply = post(proxy, "/v1/responses", body)
        said += [reply["output"][0], item("user", question)]
    path = f"/api/sessions/{proxy.session()['id']}"
    policy = {"policy": {"window": window}}
    proxy.api.put(f"{path}/policy", json=policy).raise_for_status()
    if edit:
        proxy.operate(**edit)
    post(proxy, "/v1/responses", body)
    sent = proxy.provider.last.json
    assert sent["input"] == [said[at] for at in kept]
    assert ("Be brief." in sent.get("instructions", "")) == (1 not in kept)
    roles = [one["role"] for one in proxy.messages()]
    assert roles == ["developer", *3 * ["user", "assistant"]]
    (last, *_) = proxy.api.get(f"{path}/requests").raise_for_status().json()["items"]
    assert last["tools"] == 1


def test_a_prompt_item_that_is_changed_is_said_beside_the_items(proxy: Proxy) -> None:
    said = [item("developer", "Be careful."), item("user", "Which files are there?")]
    body = {"model": MODEL, "store": False, "input": said}
    reply = post(proxy, "/v1/responses", body)
    said += [reply["output"][0], item("user", "And now?")]
    proxy.operate(
        type="revise",
        targets=["m0"],
        replacements=[{"role": "developer", "content": "Be brief."}],
    )
    post(proxy, "/v1/responses", body)
    sent = proxy.provider.last.json
    assert "Be brief." in sent["instructions"]
    assert sent["input"] == said[1:]


def test_a_system_message_among_others_stays_where_its_client_has_it(
    proxy: Proxy,
) -> None:
    """Claude Code says which agents and skills there are behind the first question."""
    reminder = "<system-reminder>\nToday's date is 2026-11-25.\n</system-reminder>"
    said: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": reminder},
                {"type": "text", "text": "Which files are there?"},
            ],
        },
        {"role": "system", "content": "Available agent types: none."},
    ]
    body = {"model": MODEL, "max_tokens": 9, "system": "Be brief.", "messages": said}
    for question in ("And now?", "And then?", "Really?"):
        reply = post(proxy, "/v1/messages", body)
        said.append({"role": "assistant", "content": reply["content"]})
        said.append({"role": "user", "content": question})
    proxy.operate(type="digest", targets=["m4", "m5"], summary="They asked again.")
    post(proxy, "/v1/messages", body)
    sent = proxy.provider.last.json["messages"]
    assert sent[:3] == said[:3]
    assert "They asked again." in str(sent[3])
    # Where it would stand between two of a user's, the provider refuses it.
    proxy.operate(type="snip", targets=["m3"])
    post(proxy, "/v1/messages", body)
    sent = proxy.provider.last.json["messages"]
    assert {one["role"] for one in sent} == {"user", "assistant"}
    assert "Available agent types: none." in str(sent)


@pytest.mark.parametrize(
    "note",
    [
        "<system-reminder>\nToday's date is 2026-11-25.\n</system-reminder>",
        "<session_context>\nThis is the Gemini CLI.\n</session_context>",
        "<environment_context>\n<cwd>/home/x</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /home/x\n\nBe careful.",
    ],
)
@pytest.mark.parametrize("is_apart", [True, False])
def test_a_session_is_named_by_what_its_user_typed(
    proxy: Proxy, note: str, is_apart: bool
) -> None:
    texts = [{"type": "text", "text": text} for text in (note, "Which files?")]
    said = (
        [{"role": "user", "content": [text]} for text in texts]
        if is_apart
        else [{"role": "user", "content": texts}]
    )
    post(proxy, "/v1/chat/completions", {"model": MODEL, "messages": said})
    assert proxy.session()["title"] == "Which files?"


def test_a_title_that_is_asked_for_before_all_else_is_a_side_call_of_its_conversation(
    proxy: Proxy,
) -> None:
    """As opencode asks for it: under the conversation's name, before the conversation."""
    path, run = "/s/harbour/v1/chat/completions", {"name": "run", "parameters": {}}
    tools = [{"type": "function", "function": run}]
    asked = [{"role": "user", "content": "Which files?"}]
    title = [{"role": "user", "content": "Generate a title for this:"}, *asked]
    post(proxy, path, {"model": MODEL, "messages": title})
    post(proxy, path, {"model": MODEL, "messages": asked, "tools": tools})
    sessions = {one["external_id"]: one for one in proxy.sessions()}
    conversation, side = sessions["harbour"], sessions[None]
    assert conversation["title"] == "Which files?"
    assert proxy.operations(conversation["id"]) == []
    for session, roles in ((conversation, "ua"), (side, "uua")):
        held = [one["role"][0] for one in proxy.messages(session["id"])]
        assert "".join(held) == roles


def test_a_reply_is_known_that_comes_back_without_members_that_were_null(
    proxy: Proxy,
) -> None:
    """As programs send it that dump the Python SDKs' objects without what is None."""
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
    page = {"type": "web_search_result", "url": "https://example.org", "title": "Boats"}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}
    content = [
        call | {"input": {"query": "boats"}},
        result | {"content": [page | {"page_age": None, "encrypted_content": "a"}]},
        {"type": "text", "text": "14 boats.", "citations": None},
    ]
    usage = {"input_tokens": 9, "output_tokens": 9}
    message = {"type": "message", "role": "assistant", "content": content}
    reply = message | {"id": "msg_1", "model": MODEL, "usage": usage}
    reply |= {"stop_reason": "end_turn", "stop_sequence": None}
    raw = json.dumps(reply).encode()
    proxy.provider.raw = [("Content-Type", "application/json")], raw
    said: list[dict[str, Any]] = [{"role": "user", "content": "How many boats?"}]
    body = {"model": MODEL, "max_tokens": 9, "messages": said}
    post(proxy, "/v1/messages", body)
    pages = [page | {"encrypted_content": "a"}]
    text = {"type": "text", "text": "14 boats."}
    answer = [content[0], result | {"content": pages}, text]
    said.append({"role": "assistant", "content": answer})
    said.append({"role": "user", "content": "And ferries?"})
    post(proxy, "/v1/messages", body)
    assert proxy.session()["message_count"] == 4
    assert proxy.operations(proxy.session()["id"]) == []


def test_conversations_that_open_with_the_same_notes_stay_apart(proxy: Proxy) -> None:
    """Qwen Code begins each so, and names none; those of its sub-agents too."""
    note = "This is the Qwen Code. We are setting up the context for our chat."
    notes = [
        {"role": "system", "content": "You are an agent that works in a folder."},
        {"role": "user", "content": note},
        {"role": "assistant", "content": "Got it. Thanks for the context!"},
    ]
    talks = [
        [*notes, {"role": "user", "content": text}] for text in ("Boats?", "Ferries?")
    ]
    for question in ("And then?", "Thanks"):
        for said in talks:
            body = {"model": MODEL, "messages": said}
            reply = post(proxy, "/v1/chat/completions", body)
            said += [
                reply["choices"][0]["message"],
                {"role": "user", "content": question},
            ]
    found = {one["title"]: one["message_count"] for one in proxy.sessions()}
    assert found == {"Boats?": 7, "Ferries?": 7}


@pytest.mark.parametrize("stream", [False, True], ids=["at once", "streamed"])
def test_what_the_provider_s_own_shell_printed_is_kept(
    proxy: Proxy, stream: bool
) -> None:
    proxy.provider.script = [Said("One file.", runs="ls"), Said("Good.")]
    asked: list[Any] = [{"role": "user", "content": "What is there?"}]
    for more in ([], [*ran("ls"), {"role": "assistant", "content": "One file."}]):
        asked += [*more, {"role": "user", "content": "And?"}] if more else []
        body = {"model": MODEL, "input": asked, "stream": stream}
        url = f"{proxy.url}/v1/responses"
        with httpx.stream(
            "POST", url, json=body, headers=proxy.headers, timeout=PATIENCE_SECONDS
        ) as reply:
            reply.read()
    roles = [one["role"] for one in proxy.messages()]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert "pier.txt" in str(proxy.messages()[2])
    assert not proxy.operations(proxy.session()["id"])
