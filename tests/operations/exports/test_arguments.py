"""The arguments of calls stay as the model wrote them, wherever a session is read."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import context, get, make_session, operate, post
from tests.people import caller
from tests.threads.support.rollouts import call, item, meta, output, said
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.body import canonical_parts, digest
from threads.domain.message import Message as Given
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.models import Body, Message, Session
from threads.sessions.services import NewSession, create_session

WRITTEN = [
    '{"workdir":"/lamp","cmd":"ls -l"}',
    '{"path": "b.py", "lines": {"to": 20, "from": 1}}',
    '{"text":"caf\\u00e9 \\/ 1.0","n":1.0}',
]
"""Arguments as models write them: members in no order, with and without blanks, escapes."""
PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"


def calls(*texts: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": "run", "arguments": text},
        }
        for place, text in enumerate(texts)
    ]


def conversation(*texts: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": None, "tool_calls": calls(*texts)},
        *(
            {"role": "tool", "tool_call_id": f"call_{place}", "content": "done"}
            for place in range(len(texts))
        ),
    ]


def written(messages: list[dict[str, Any]]) -> list[str]:
    """The texts of arguments in messages of OpenAI's form."""
    return [
        one["function"]["arguments"]
        for message in messages
        for one in message.get("tool_calls") or ()
    ]


def exported(client: Client, session_id: str, format: str, view: str) -> bytes:
    query = {"format": format, "view": view}
    answer = client.get(f"/api/sessions/{session_id}/export", query)
    assert answer.status_code == 200
    return b"".join(answer)  # type: ignore[arg-type]  # it streams


def imported(client: Client, content: bytes) -> str:
    file = io.BytesIO(content)
    file.name = "session.jsonl"
    answer = client.post("/api/sessions/import", {"file": file})
    assert answer.status_code == 201, answer.content
    session_id: str = answer.json()["sessions"][0]["id"]
    return session_id


def objects(value: Any) -> list[str]:
    """The members of every call in a file's JSON, in their order, as JSON."""
    if isinstance(value, list):
        return [found for one in value for found in objects(one)]
    if not isinstance(value, dict):
        return []
    named = [value[name] for name in ("input", "args", "arguments") if name in value]
    own = [json.dumps(one) for one in named if isinstance(one, dict)]
    return own + [found for one in value.values() for found in objects(one)]


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "mistral"])
def test_a_text_goes_out_byte_for_byte(agent: Client, provider: str) -> None:
    session = make_session(agent, conversation(*WRITTEN))
    shown = get(agent, f"/api/sessions/{session}/messages")["items"]
    assert written(shown) == WRITTEN
    for view in ("original", "effective", "annotated"):
        thread = get(agent, f"/api/sessions/{session}/thread", view=view)
        assert written(thread["nodes"]) == WRITTEN
    sent = context(agent, session, provider=provider)["request"]
    items = [one["arguments"] for one in sent.get("input", ()) if "arguments" in one]
    assert (items or written(sent["messages"])) == WRITTEN


@pytest.mark.parametrize("view", ["original", "effective"])
def test_exports_keep_the_text_or_else_the_order(agent: Client, view: str) -> None:
    session = make_session(agent, conversation(*WRITTEN))
    body = json.loads(exported(agent, session, "openai", view))
    assert written(body["messages"]) == WRITTEN
    tuned = json.loads(exported(agent, session, "finetuning", view))
    assert written(tuned["messages"]) == WRITTEN
    responses = json.loads(exported(agent, session, "openai_responses", view))
    found = [one["arguments"] for one in responses["input"] if "arguments" in one]
    assert found == WRITTEN
    rollout = map(json.loads, exported(agent, session, "codex", view).splitlines())
    payloads = [one["payload"] for one in rollout]
    assert [one["arguments"] for one in payloads if "arguments" in one] == WRITTEN
    ordered = [json.dumps(json.loads(text)) for text in WRITTEN]
    for format in ("anthropic", "gemini", "atif", "contextstudio"):
        file = json.loads(exported(agent, session, format, view))
        assert objects(file) == ordered, format
    records = exported(agent, session, "claude_code", view).splitlines()
    assert objects([json.loads(line) for line in records]) == ordered
    page = exported(agent, session, "markdown", view).decode()
    assert page.index("workdir") < page.index("ls -l")
    assert page.index("b.py") < page.index("20")


def test_a_lossless_export_brings_the_text_back(agent: Client) -> None:
    session = make_session(agent, conversation(*WRITTEN))
    file = exported(agent, session, "contextstudio", "original")
    again = imported(agent, file)
    shown = get(agent, f"/api/sessions/{again}/messages")["items"]
    assert written(shown) == WRITTEN
    # What the API shows is taken back as it is, too.
    third = make_session(agent, shown)
    assert written(get(agent, f"/api/sessions/{third}/messages")["items"]) == WRITTEN


def test_a_text_that_says_something_else_is_no_text_of_its_arguments(
    agent: Client,
) -> None:
    session = make_session(agent, conversation(WRITTEN[0]))
    (message,) = get(agent, f"/api/sessions/{session}/messages")["items"][1:2]
    message["parts"][0]["text"] = '{"cmd":"rm -r /"}'
    again = make_session(agent, [message])
    assert "rm -r" not in json.dumps(get(agent, f"/api/sessions/{again}/messages"))


def test_a_rollout_is_resumed_with_the_calls_that_codex_wrote(agent: Client) -> None:
    broken = {"type": "input_image", "image_url": "data:image/png;base64,%%%"}
    rollout = lines(
        meta(),
        said("user", "Go on."),
        *(
            one
            for place, text in enumerate(WRITTEN)
            for one in (call(f"c{place}", text), output(f"c{place}"))
        ),
        item("custom_tool_call", call_id="p", name="apply_patch", input=PATCH),
        item("custom_tool_call_output", call_id="p", output="ok"),
        call("i", "{}"),
        output("i", [{"type": "input_text", "text": "Look:"}, broken]),
        call("u", "{}"),
        output("u", [{"type": "strange", "said": "kept"}]),
    )
    session = imported(agent, rollout)
    again = exported(agent, session, "codex", "original")
    payloads = [json.loads(line)["payload"] for line in again.splitlines()]
    found = [one["arguments"] for one in payloads if "arguments" in one]
    assert found == [*WRITTEN, "{}", "{}"]
    assert [one["input"] for one in payloads if "input" in one] == [PATCH]
    outputs = {one["call_id"]: one["output"] for one in payloads if one.get("output")}
    assert broken in outputs["i"]
    assert "kept" in outputs["u"]
    chat = json.loads(exported(agent, session, "openai", "original"))
    texts = written(chat["messages"])
    assert json.loads(texts[3]) == {"input": PATCH}


def test_two_messages_that_differ_in_the_order_alone_both_keep_theirs(
    agent: Client,
) -> None:
    orders = [
        '{"b": 1, "a": 2}',
        '{"a": 2, "b": 1}',
        '{"b":1,"a":2}',
        '{"a": 2, "b": 1}',
    ]
    session = make_session(
        agent, [one for text in orders for one in conversation(text)]
    )
    shown = get(agent, f"/api/sessions/{session}/messages")["items"]
    assert written(shown) == orders
    bodies = Message.objects.filter(session=session, role="assistant").order_by("index")
    first, second, third, fourth = bodies.values_list("body", flat=True)
    assert (len({first, second, third}), second) == (3, fourth)


@pytest.mark.parametrize("text", WRITTEN)
def test_a_client_that_writes_arguments_its_own_way_is_known_again(
    agent: Client, text: str
) -> None:
    session = make_session(agent, conversation(text))
    mixed = json.dumps(json.loads(text), sort_keys=True)
    assert mixed != text
    body = {"messages": [*conversation(mixed), {"role": "user", "content": "And?"}]}
    answer = post(agent, f"/api/sessions/{session}/apply", body)
    # What nothing touches goes out as the client wrote it; what is recorded stays.
    assert written(answer["messages"]) == [mixed]
    assert Session.objects.get(pk=session).message_count == 4
    operate(agent, session, "snip", targets=["m0"])
    assert written(post(agent, f"/api/sessions/{session}/apply", body)["messages"]) == [
        mixed
    ]
    assert written(get(agent, f"/api/sessions/{session}/messages")["items"]) == [text]


def test_a_database_of_before_goes_on(
    agent: Client, owner: User, project: Project
) -> None:
    """Its bodies hold sorted members under the digest of these."""
    new = NewSession(title="t", messages=[])
    session = create_session(caller(owner), project, new)
    said: list[tuple[Role, tuple[Part, ...]]] = [
        (Role.USER, (Text("Go on."),)),
        (Role.ASSISTANT, (ToolCall("call_0", "run", json.loads(WRITTEN[0])),)),
        (Role.TOOL, (ToolResult("call_0", (Text("done"),)),)),
    ]
    for index, (role, parts) in enumerate(said):
        body = Body.objects.create(
            project=project,
            digest=digest(role, parts),
            content=canonical_parts(parts),
            token_counts={"o200k_base": [1]},
        )
        Message.objects.create(
            session=session,
            index=index,
            short_id=f"msg-{index:08}",
            role=role,
            body=body,
            tokens=1,
            group_id=1,
            parsing_strategy="openai",
        )
    Session.objects.filter(pk=session.pk).update(message_count=3)
    body = {"messages": [*conversation(WRITTEN[0]), {"role": "user", "content": "?"}]}
    post(agent, f"/api/sessions/{session.pk}/apply", body)
    assert Session.objects.get(pk=session.pk).message_count == 4
    # The same said anew is a body of its own, which keeps its order.
    again = make_session(agent, conversation(WRITTEN[0]))
    assert (
        written(get(agent, f"/api/sessions/{again}/messages")["items"]) == WRITTEN[:1]
    )


def test_what_is_counted_is_the_text_that_is_sent(agent: Client) -> None:
    spaced = json.dumps({"b": list(range(200)), "a": 1}, indent=8)
    compact = json.dumps(json.loads(spaced), separators=(",", ":"))
    found = [
        context(agent, make_session(agent, conversation(text)), provider="openai")
        for text in (spaced, compact)
    ]
    wide, narrow = (one["tokens"]["sent"] for one in found)
    assert wide > narrow
    towards = context(
        agent, make_session(agent, conversation(spaced)), provider="anthropic"
    )
    assert towards["tokens"]["sent"] < wide


def test_what_is_masked_is_in_no_text_and_the_rest_keeps_its_order(
    agent: Client,
) -> None:
    session = make_session(
        agent, conversation('{"token":"hunter2hunter2","at":["here"]}')
    )
    span = {"key": "m1", "start": 5, "end": 19}
    operate(agent, session, "redact", spans=[span])
    for path in ("messages", "thread", "thread?view=original", "context"):
        answer = agent.get(f"/api/sessions/{session}/{path}")
        assert answer.status_code == 200
        assert b"hunter2" not in answer.content, path
    for format in ("openai", "codex", "contextstudio", "markdown"):
        for view in ("original", "effective"):
            file = exported(agent, session, format, view)
            assert b"hunter2" not in file
            if format != "markdown":
                assert file.index(b"token") < file.index(b"here")


def test_every_call_of_a_real_rollout_keeps_its_bytes(
    agent: Client, owner: User, project: Project, samples: Path
) -> None:
    rollout = (samples / "codex" / "agentv-long-0.14x.jsonl").read_bytes()
    theirs = items_of(rollout)
    assert len(theirs) > 300
    (transcript,) = formats.read(io.BytesIO(rollout))
    messages = [one for one in transcript.items if isinstance(one, Given)]
    new = NewSession(title="t", messages=messages)
    session = str(create_session(caller(owner), project, new).pk)
    assert items_of(exported(agent, session, "codex", "original")) == theirs
    chat = json.loads(exported(agent, session, "openai", "original"))
    texts = [text for _, text in theirs]
    assert [one for one in written(chat["messages"]) if one in texts] == texts


def items_of(rollout: bytes) -> list[tuple[str, str]]:
    """The calls of functions in a rollout's conversation, with the bytes of their arguments."""
    records = map(json.loads, rollout.splitlines())
    payloads = [one["payload"] for one in records if one["type"] == "response_item"]
    return [
        (one["call_id"], one["arguments"])
        for one in payloads
        if one["type"] == "function_call"
    ]
