"""Recordings in which models were called, as the conversations that these are of."""

import base64
import gzip
import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings, streams
from tests.threads.support.recordings import COOKIE, KEY, entry, har
from tests.threads.support.streams import as_sse
from threads.domain import formats
from threads.domain.formats.sample import HEAD
from threads.domain.formats.traffic import cleaning
from threads.domain.formats.traffic.cleaning import needs_cleaning
from threads.domain.leaves import count_leaves
from threads.domain.message import Message, Role, Usage
from threads.domain.part import ToolCall

CHAT = "https://api.openai.com/v1/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages?beta=true"
RESPONSES = "https://user:pass@api.openai.com:443/v1/responses"
GEMINI = (
    "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent?key="
    + KEY
)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def completion(text: str, tokens: int = 4) -> dict[str, Any]:
    usage = {"prompt_tokens": 9, "completion_tokens": tokens}
    return {"model": "m-1", "choices": [{"message": said(text)}], "usage": usage}


FERRY = user("Where does the ferry land?")
PIER = said("At the old pier.")
LATE = user("Is it late?")
SYSTEM = {"role": "system", "content": "Be brief."}
TITLE = [SYSTEM, user("A title for this, please.")]
ORDINARY = [
    entry(
        CHAT,
        {"model": "m-1", "messages": [SYSTEM, FERRY]},
        completion("At the old pier.", 5),
    ),
    entry(CHAT, {"model": "m-1", "messages": TITLE}, completion("Ferry"), 1),
    entry("https://example.org/login", f"password={KEY}", f'{{"token": "{KEY}"}}', 2),
    entry(
        CHAT,
        {
            "model": "m-1",
            "messages": [SYSTEM, FERRY, PIER, LATE],
            "tools": "None at all.",
        },
        as_sse(*streams.chat("It is late.")).decode(),
        3,
    ),
]


def test_requests_that_go_on_are_one_conversation_and_a_side_call_is_another() -> None:
    main, aside = readings.read(har(*ORDINARY))
    assert (main.format, main.strategy, main.model) == ("har", "openai", "m-1")
    assert main.title == "Where does the ferry land?"
    assert readings.told(main) == [
        "request/other",
        "system: Be brief.",
        "user: Where does the ferry land?",
        "request",
        "assistant: At the old pier.",
        "user: Is it late?",
        "request",
        "assistant: It is late.",
    ]
    assert readings.texts(aside) == ["Be brief.", "A title for this, please.", "Ferry"]


def test_each_answer_has_the_tokens_time_and_place_of_its_own_request() -> None:
    data = har(*ORDINARY)
    main, _ = readings.read(data)
    first, last = (m for m in readings.messages(main) if m.role is Role.ASSISTANT)
    assert first.usage == Usage(input_tokens=9, output_tokens=5)
    assert first.created_at is not None and first.created_at.second == 0
    assert (len(first.records), len(last.records)) == (2, 1)
    assert last.usage == Usage(input_tokens=9, output_tokens=4)
    start, end = map(int, last.records[0].removeprefix("bytes:").split("-"))
    assert json.loads(data[start:end]) == ORDINARY[3]


def test_the_report_says_what_of_a_recording_is_not_kept() -> None:
    [warning] = readings.read(har(*ORDINARY))[0].warnings
    assert warning.code == "recording_cleaned"
    assert "that call no known model: 1 of 4" in warning.message
    [warning] = readings.read(har(ORDINARY[0]))[0].warnings
    assert "that call" not in warning.message


def call_of_responses() -> list[dict[str, Any]]:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    result = {"type": "function_call_output", "call_id": "c", "output": "A pier."}
    reply = {"object": "response", "model": "m-3", "output": [thought, call]}
    asked = {"model": "m-3", "instructions": "Be brief."}
    return [
        entry(RESPONSES, {**asked, "input": "Where does the ferry land?"}, reply),
        entry(
            RESPONSES,
            {**asked, "input": [FERRY, thought, call, result]},
            as_sse(*streams.responses()).decode(),
        ),
    ]


def calls_of_anthropic() -> list[dict[str, Any]]:
    asked = {"model": "m-2", "system": "Be brief.", "max_tokens": 9}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}}
    text = {"type": "text", "text": "At the old pier."}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "A pier."}
    messages = [FERRY, {"role": "assistant", "content": [text, use]}]
    messages.append({"role": "user", "content": [result]})
    stream = as_sse(*streams.anthropic()).decode()
    packed = base64.b64encode(stream.encode()).decode()
    reply = {"type": "message", **said("It is late.")}
    return [
        entry(MESSAGES, {**asked, "messages": [FERRY]}, packed, encoding="base64"),
        entry(MESSAGES, {**asked, "messages": messages}, reply),
    ]


def calls_of_gemini() -> list[dict[str, Any]]:
    contents = [{"role": "user", "parts": [{"text": "Where does the ferry land?"}]}]
    system = {"systemInstruction": {"parts": [{"text": "Be brief."}]}}
    reply = streams.gemini()
    model = {"role": "model", "parts": [{"text": "At the old pier."}]}
    more = [*contents, model, {"role": "user", "parts": [{"text": "Is it late?"}]}]
    renamed = {"system_instruction": system["systemInstruction"]}
    wrapped = {"project": "p", "request": {**renamed, "contents": more}}
    inner = {"candidates": [{"content": {"parts": [{"text": "It is late."}]}}]}
    stream = GEMINI.replace("generateContent", "streamGenerateContent")
    return [
        entry(stream, {**system, "contents": contents}, reply),
        entry(GEMINI, wrapped, {"response": inner}),
    ]


@pytest.mark.parametrize(
    ("entries", "strategy", "roles"),
    [
        (call_of_responses(), "openai", "suata"),
        (calls_of_anthropic(), "anthropic", "suaua"),
        (calls_of_gemini(), "gemini", "suaua"),
    ],
)
def test_calls_of_every_provider_are_read(
    entries: list[dict[str, Any]], strategy: str, roles: str
) -> None:
    [found] = readings.read(har(*entries))
    assert found.strategy == strategy
    assert "".join(m.role[0] for m in readings.messages(found)) == roles
    assert readings.events(found) == ["request", "request"]
    assert [one.code for one in found.warnings] == ["recording_cleaned"]


def test_a_body_may_be_packed_or_in_pieces_of_base64() -> None:
    body = {"messages": [FERRY]}
    data = gzip.compress(json.dumps(completion("At the old pier.")).encode())
    pieces = [base64.b64encode(one).decode() for one in (data[:30], data[30:])]
    for text in (json.dumps([base64.b64encode(data).decode()]), pieces[0] + "="):
        made = entry(CHAT, body, text, encoding="base64")
        [found] = readings.read(har(made))
        is_whole = text.startswith("[")
        assert len(readings.messages(found)) == 1 + is_whole
        assert len(found.warnings) == 2 - is_whole
    sent = entry(CHAT, body, completion("Yes."))
    sent["request"]["postData"] |= {
        "text": base64.b64encode(json.dumps(body).encode()).decode(),
        "encoding": "base64",
    }
    assert len(readings.messages(readings.read(har(sent))[0])) == 2


@pytest.mark.parametrize(
    "text", ["[1", "AP8=", base64.b64encode(b"\x1f\x8b broken").decode(), "[1]"]
)
def test_a_reply_that_can_t_be_read_is_named(text: str) -> None:
    [found] = readings.read(
        har(entry(CHAT, {"messages": [FERRY]}, text, encoding="base64"))
    )
    assert readings.told(found)[-1] == "request"
    assert [one.code for one in found.warnings] == ["recording_cleaned", "no_reply"]


@pytest.mark.parametrize("reply", ["It failed.", "{", '{"error": "x"}', "[]"])
def test_so_is_one_that_is_none(reply: str) -> None:
    [found] = readings.read(har(entry(CHAT, {"messages": [FERRY]}, reply)))
    assert len(readings.messages(found)) == 1
    assert [one.code for one in found.warnings] == ["recording_cleaned", "no_reply"]


def test_what_is_malformed_in_a_call_is_named() -> None:
    bad = completion("x")
    bad["choices"][0]["message"] = {"role": "assistant", "content": 3}
    odd = {"messages": [FERRY, {"role": "robot", "content": "x"}]}
    [found] = readings.read(
        har(entry(CHAT, odd), entry(CHAT, {"messages": [FERRY]}, bad))
    )
    assert readings.told(found) == [
        "request/other",
        "user: Where does the ferry land?",
        "request",
    ]
    assert [one.code for one in found.warnings] == [
        "invalid",
        "invalid",
        "recording_cleaned",
        "invalid",
    ]


def test_a_request_that_was_sent_again_is_an_event_of_the_same_conversation() -> None:
    again = [entry(CHAT, {"messages": [FERRY]}, "", n) for n in range(2)]
    done = entry(CHAT, {"messages": [FERRY]}, completion("At the old pier."), 2)
    [found] = readings.read(har(*again, done))
    assert readings.events(found) == ["request"] * 3
    assert readings.texts(found) == ["Where does the ferry land?", "At the old pier."]


def test_other_ways_to_call_a_model_are_known_by_their_bodies() -> None:
    local = entry("http://127.0.0.1:9/api/chat", {"messages": [FERRY, PIER, LATE]})
    vertex = entry(
        "https://example.org/models/x:rawPredict",
        {"anthropic_version": "v", "messages": [FERRY]},
        {"type": "message", **PIER},
    )
    both = readings.read(har(local, vertex))
    assert [one.strategy for one in both] == ["openai", "anthropic"]


NOTHING = [
    har(),
    har(entry("https://[broken", {"messages": [FERRY, PIER]}, "")),
    har(entry("https://example.org/messages", {"messages": "none"})),
    har(entry("https://example.org/tables", {"messages": [{"role": "user"}]})),
    har({**ORDINARY[0], "request": {**ORDINARY[0]["request"], "method": "GET"}}),
    har(3),
    b'{"log": {"version": "1.2", "creator": {}, "entries": ',
]


@pytest.mark.parametrize("data", NOTHING)
def test_a_recording_without_a_call_is_refused_by_its_name(data: bytes) -> None:
    with pytest.raises(
        Invalid, match=r"recording of requests.*no model is called"
    ) as refused:
        readings.read(data)
    assert refused.value.code == "no_messages"


def test_only_a_file_that_was_cleaned_is_read_as_a_recording() -> None:
    behind = json.dumps({"x": "y" * HEAD}).encode()[:-1] + b", " + har(*ORDINARY)[1:]
    for name in ("auto", "har"):
        with pytest.raises(Invalid) as refused:
            readings.read(behind, name)
        assert refused.value.code == "format_unknown"


# What is kept


def clean(data: bytes) -> bytes:
    assert needs_cleaning(data[:HEAD])
    return b"".join(cleaning.clean(io.BytesIO(data)))


@pytest.mark.parametrize(
    "data",
    [
        har(*ORDINARY),
        har(*call_of_responses(), *calls_of_gemini(), *calls_of_anthropic()),
        *NOTHING,
    ],
)
def test_no_key_and_no_cookie_is_kept_in_any_place(data: bytes) -> None:
    kept = clean(data)
    for secret in (KEY, COOKIE, "user:pass", "password", "Set-Cookie", "token="):
        assert secret.encode() not in kept
    assert clean(kept) == kept
    json.loads(kept)


def test_what_is_kept_reads_as_the_recording_did() -> None:
    data = har(*ORDINARY, *calls_of_anthropic())
    kept = clean(data)
    before, after = readings.read(data), readings.read(kept)
    assert list(map(readings.told, before)) == list(map(readings.told, after))
    assert b"Agent/1" in kept and b"https://example.org/" in kept
    counted = count_leaves(after, io.BytesIO(kept))
    assert counted.nowhere == 0 and counted.events >= len("None at all.")


@pytest.mark.parametrize(
    "data", [b"{}", b'{"log": []}', b'{"log": {"level": "x"}}', b"x"]
)
def test_another_file_is_kept_as_it_is(data: bytes) -> None:
    assert not needs_cleaning(data)


def test_a_call_without_an_id_has_one_that_no_other_of_the_conversation_has() -> None:
    [entry_, _] = calls_of_gemini()
    [found] = readings.read(har(entry_))
    *_, last = (one for one in found.items if isinstance(one, Message))
    assert [p.id for p in last.parts if isinstance(p, ToolCall)] == ["call_2_1"]


def test_requests_with_pictures_go_on_as_others_do() -> None:
    url = {"url": "https://example.org/pier.png"}
    shown = {"role": "user", "content": [{"type": "image_url", "image_url": url}]}
    [found] = readings.read(
        har(
            entry(CHAT, {"messages": [shown]}, completion("A pier.")),
            entry(
                CHAT, {"messages": [shown, said("A pier."), LATE]}, completion("Yes.")
            ),
        )
    )
    assert readings.events(found) == ["request", "request"]


def test_of_a_file_that_is_gone_nothing_more_is_read() -> None:
    file = io.BytesIO(har(*ORDINARY))
    [found, _] = formats.read(file)
    file.truncate(0)
    assert list(found.items) == []
