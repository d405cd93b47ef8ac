"""What a streamed reply comes to, event by event, and what it cost."""

import json
from typing import Any

import pytest

from tests.threads.support import streams
from tests.threads.support.streams import as_sse, chunk
from threads.domain.formats.io.streams import FORMS, assembled, form_of, stream
from threads.domain.formats.io.streams.stream import (
    MAX_EVENT_BYTES,
    Assembler,
    ReplyTokens,
    parse_sse,
)


def came(form: str, *events: Any) -> Assembler:
    """The reply of these events, as far as they go."""
    data = [
        json.dumps(one).encode() if isinstance(one, dict) else one for one in events
    ]
    found = assembled(form, data)
    found.whole()
    return found


def test_events_of_a_server_come_whole_however_their_bytes_are_cut() -> None:
    data = as_sse(*streams.chat()).replace(b"\n", b"\r\n")
    for size in (1, 7, len(data)):
        reader = parse_sse()
        next(reader)
        found = []
        for at in range(0, len(data), size):
            found += reader.send(data[at : at + size])
        assert len(found) == 6 and found[-1] == b"[DONE]"


@pytest.mark.parametrize("gap", [b"\n", b"\r", b"\r\n"])
def test_an_event_has_come_once_its_empty_line_has(gap: bytes) -> None:
    reader = parse_sse()
    next(reader)
    assert reader.send(b"\xef\xbb\xbfdata: 1" + gap) == []
    assert reader.send(b"") == []
    assert reader.send(gap) == [b"1"]
    assert reader.send(b"data: 2" + gap + gap) == [b"2"]


def test_an_event_without_end_is_too_long() -> None:
    reader = parse_sse()
    next(reader)
    with pytest.raises(ValueError, match="too long"):
        reader.send(b"x" * (MAX_EVENT_BYTES + 1))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_event_of_a_provider_s_is_passed_over(form: str) -> None:
    found = came(form, b"{", b"[]", b"3")
    assert not found.whole() or found.whole() == {"output": []}
    assert (found.model, found.tokens, found.is_ended) == ("", ReplyTokens(), False)
    assert form_of([]) == ""
    assert form_of({"choices": [{"delta": {}}]}) == "openai"


@pytest.mark.parametrize(
    ("form", "tokens"),
    [
        ("openai", ReplyTokens(input=9, output=4)),
        ("anthropic", ReplyTokens(input=7, cached=2, output=7)),
        ("openai-responses", ReplyTokens(input=6, output=3)),
        ("gemini", ReplyTokens(input=8, output=4)),
    ],
)
def test_a_reply_says_what_it_cost_and_what_is_sent_of_it(
    form: str, tokens: ReplyTokens
) -> None:
    events = getattr(
        streams, {"openai": "chat", "openai-responses": "responses"}.get(form, form)
    )()
    found = came(form, *(one for one in events if isinstance(one, dict)))
    assert (found.tokens, found.is_ended) == (tokens, True)
    assert found.said() and "At the old pier." in json.dumps(found.said())


# Chat Completions


def test_calls_functions_and_sound_of_chat_come_in_pieces() -> None:
    function = {"name": "look", "arguments": '{"at"'}
    calls = [{"index": 0, "id": "c", "type": "function", "function": function}]
    rest = [{"index": 0, "function": {"arguments": ": 1}"}}, "x"]
    custom = [
        {
            "index": 1,
            "id": "d",
            "type": "custom",
            "custom": {"name": "patch", "input": "*"},
        }
    ]
    sound = {"id": "a", "data": "AA", "transcript": "At the"}
    blocks = [{"type": "thinking", "thinking": "Hm."}]
    found = came(
        "openai",
        chunk({"tool_calls": calls, "audio": sound}),
        chunk({"tool_calls": rest, "audio": {"transcript": " pier."}}),
        chunk({"tool_calls": custom, "thinking_blocks": blocks}),
        chunk({"function_call": {"name": "find", "arguments": "{}"}}),
        {"choices": ["x", {"index": 1, "delta": {"content": "Another."}}]},
        {
            "choices": [{"index": 0, "delta": None}],
            "usage": {"prompt_cache_hit_tokens": 3},
        },
    )
    choice, _other = (found.whole() or {})["choices"]
    said = choice["message"]
    assert [call["id"] for call in said["tool_calls"]] == ["c", "d"]
    assert said["tool_calls"][0]["function"]["arguments"] == '{"at": 1}'
    assert said["audio"] == {"id": "a", "data": "AA", "transcript": "At the pier."}
    assert (said["function_call"]["name"], said["thinking_blocks"]) == ("find", blocks)
    assert said["content"] is None
    assert found.tokens == ReplyTokens(cached=3)


def test_thoughts_and_words_that_come_as_blocks_are_joined_by_their_kind() -> None:
    def thought(words: str) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": words}]}

    words = {"type": "text", "text": "At the"}
    mention = {"type": "reference", "reference_ids": [1]}
    found = came(
        "openai",
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": [thought("The pier "), thought("or the")]}),
        chunk({"content": [thought(" harbour?"), words]}),
        chunk({"content": " old "}),
        chunk({"content": [{"type": "text", "text": "pier."}, mention]}),
        chunk({"content": [{"type": "text", "text": 3}, {"type": "text"}, "x"]}),
        chunk({"content": ""}),
    )
    [choice] = (found.whole() or {})["choices"]
    thoughts, said, *rest = choice["message"]["content"]
    assert "".join(one["text"] for one in thoughts["thinking"]) == (
        "The pier or the harbour?"
    )
    assert said == {"type": "text", "text": "At the old pier."}
    assert rest == [mention, {"type": "text", "text": 3}, {"type": "text"}, "x"]


def test_words_before_blocks_are_the_first_of_these() -> None:
    block = {"type": "image_url", "image_url": "a.png"}
    found = came("openai", chunk({"content": "Look: "}), chunk({"content": [block]}))
    [choice] = (found.whole() or {})["choices"]
    assert choice["message"]["content"] == [{"type": "text", "text": "Look: "}, block]


def test_what_chat_counts_as_cached_is_what_its_own_name_says() -> None:
    usage = {
        "prompt_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 4},
        "prompt_cache_hit_tokens": 3,
    }
    found = came("openai", chunk({"content": "Hm."}), {"choices": [], "usage": usage})
    assert found.tokens == ReplyTokens(input=9, cached=4)


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_that_came_at_once_is_taken_as_it_is(form: str) -> None:
    found = FORMS[form]()
    found.take_list('[{"n": 1}]')
    found.take_whole({"model": "m", "modelVersion": "m", "id": "r"})
    assert (found.model, found.id, found.fault) == ("m", "r", "")
    if form != "gemini":
        found.take_whole([])
        assert found.is_ended


@pytest.mark.parametrize(
    ("status", "is_whole", "is_ended"),
    [
        ("queued", False, True),
        ("in_progress", False, True),
        ("completed", True, True),
        ("incomplete", True, True),
        ("failed", True, False),
        ("cancelled", True, False),
    ],
)
def test_a_reply_in_the_background_says_how_far_it_came(
    status: str, is_whole: bool, is_ended: bool
) -> None:
    found = FORMS["openai-responses"]()
    found.take_whole({"status": status, "output": []})
    assert (found.is_whole, found.is_ended) == (is_whole, is_ended)
    assert ("cancelled" in found.fault) == (status == "cancelled")


# Anthropic


@pytest.mark.parametrize(
    ("events", "has_stopped"),
    [
        ([{"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}], True),
        ([{"delta": {"stop_reason": None}, "usage": {"output_tokens": 3}}], False),
        ([{"delta": {"stop_reason": "end_turn"}}], False),
        (
            [{"delta": {"stop_reason": "end_turn"}}, {"usage": {"output_tokens": 3}}],
            True,
        ),
    ],
)
def test_a_reply_has_stopped_once_its_reason_and_usage_are_known(
    events: list[dict[str, Any]], has_stopped: bool
) -> None:
    found = FORMS["anthropic"]()
    for event in events:
        found.take(json.dumps({"type": "message_delta", **event}).encode())
    assert (found.has_stopped, found.is_whole) == (has_stopped, False)


def test_of_a_call_that_broke_off_what_came_is_kept() -> None:
    events = streams.anthropic()
    cut = [
        one
        for one in events
        if "delta" not in one or "partial_json" not in one["delta"]
    ]
    half = {"type": "input_json_delta", "partial_json": '{"at"'}
    stop = cut.index({"type": "content_block_stop", "index": 2})
    cut.insert(stop, {"type": "content_block_delta", "index": 2, "delta": half})
    content = (came("anthropic", *cut).whole() or {})["content"]
    assert content[2]["input"] == {"partial": '{"at"'}
    assert content[1]["citations"] == [{"n": 1}]
    lone = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}
    assert (came("anthropic", lone).whole() or {})["role"] == "assistant"


def test_the_summary_of_a_context_that_the_provider_compacted_is_in_its_block() -> None:
    block = {"type": "compaction", "content": None}
    pieces = [{"type": "compaction_delta", "content": one} for one in ("They ", "ask.")]
    pieces[1]["encrypted_content"] = "x"
    found = came(
        "anthropic",
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": one} for one in pieces),
    )
    whole = {"type": "compaction", "content": "They ask.", "encrypted_content": "x"}
    assert (found.whole() or {})["content"] == [whole]
    assert found.said() == [{"role": "assistant", "content": [whole]}]


# Responses


def test_items_are_put_together_until_the_response_is_there() -> None:
    def delta(kind: str, text: str, **more: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}.delta", "delta": text, **more}

    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": ""}
    patch = {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": ""}
    found = came(
        "openai-responses",
        {"type": "response.created", "response": {"id": "r", "store": False}},
        delta("reasoning_summary_text", "Hm.", output_index=0),
        delta("output_text", "At the ", output_index=1),
        delta("output_text", "pier.", output_index=1),
        delta("refusal", "No.", output_index=1, content_index=1),
        {"type": "response.output_item.added", "output_index": 2, "item": call},
        delta("function_call_arguments", "{}", output_index=2),
        {"type": "response.output_item.added", "output_index": 3, "item": patch},
        delta("custom_tool_call_input", "*", output_index=3),
        {"type": "response.output_item.added", "item": None},
    )
    output = (found.whole() or {})["output"]
    assert output[0]["summary"] == [{"type": "output_text", "text": "Hm."}]
    assert output[1]["content"] == [
        {"type": "output_text", "text": "At the pier."},
        {"type": "refusal", "refusal": "No."},
    ]
    assert (output[2]["arguments"], output[3]["input"]) == ("{}", "*")
    assert [one["type"] for one in found.said()] == [
        "message",
        "function_call",
        "custom_tool_call",
    ]


# Gemini


def test_pieces_of_a_text_are_joined_up_to_what_signs_it() -> None:
    def piece(*parts: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [*parts]}}]}

    signed = {"text": "pier.", "thoughtSignature": "s"}
    thought = {"text": "Hm.", "thought": True}
    found = FORMS["gemini"]()
    found.take_whole([piece(thought), piece({"text": "At the "}), piece(signed)])
    found.take_list(json.dumps([piece({"text": " It is late."})])[:-1] + ", {")
    [candidate] = (found.whole() or {})["candidates"]
    assert candidate["content"]["parts"] == [
        thought,
        {"text": "At the pier.", "thoughtSignature": "s"},
        {"text": " It is late."},
    ]
    assert found.said()[0]["role"] == "model"


@pytest.mark.parametrize("usage", ["9", [9], 9, None])
def test_what_is_no_usage_breaks_no_reply_off(usage: Any) -> None:
    start = {"type": "message_start", "message": {"usage": usage}}
    block = {
        "type": "content_block_start",
        "content_block": {"type": "text", "text": "Hm."},
    }
    end = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": usage,
    }
    found = came("anthropic", start, block, end)
    assert found.is_ended
    assert found.tokens == ReplyTokens()
    assert (found.whole() or {})["stop_reason"] == "end_turn"


@pytest.mark.parametrize("index", [10**12, 10, -1, "0", None])
def test_a_block_at_no_place_takes_no_memory(index: Any) -> None:
    text = {"type": "response.output_text.delta", "delta": "Hm."}
    found = came("openai-responses", text, text | {"content_index": index})
    [item] = (found.whole() or {})["output"]
    assert item["content"] == [{"type": "output_text", "text": "Hm."}]


@pytest.mark.parametrize(
    ("form", "event"),
    [
        ("openai", {"choices": [{"index": 0, "delta": {"content": "a "}}]}),
        (
            "anthropic",
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "a "},
            },
        ),
        (
            "openai-responses",
            {"type": "response.output_text.delta", "output_index": 0, "delta": "a "},
        ),
        ("gemini", {"candidates": [{"content": {"parts": [{"text": "a "}]}}]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_text_that_comes_in_many_pieces_is_joined_once(
    form: str, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[str] = []

    class Counted(stream.Pieces):
        def __str__(self) -> str:
            joined.append(super().__str__())
            return joined[-1]

    monkeypatch.setattr(stream, "Pieces", Counted)
    whole = came(form, *[event] * 500).whole()
    assert joined == ["a " * 500]
    assert json.dumps(whole).count("a " * 500) == 1


# Several replies at once


def test_choices_beside_the_first_are_replies_by_themselves() -> None:
    events = [
        {"choices": [{"index": at, "delta": {"content": words}}]}
        for words in ("One", " of them.")
        for at in (0, 1)
    ]
    found = came("openai", *events)
    (other,) = found.others()
    (choice,) = other["choices"]
    assert choice["message"]["content"] == "One of them."
    assert came("anthropic", *streams.anthropic()).others() == []


def test_candidates_beside_the_first_are_replies_by_themselves() -> None:
    def candidate(words: str, **more: Any) -> dict[str, Any]:
        return {"content": {"parts": [{"text": words}]}, **more}

    found = came(
        "gemini",
        {"candidates": [candidate("Fir"), "x"]},
        {"candidates": [candidate("Sec", index=1)]},
        {"candidates": [candidate("ond.", index=1), candidate("st.", index=0)]},
    )
    first, second = (
        one["candidates"][0]["content"]["parts"][0]["text"]
        for one in (found.whole() or {}, *found.others())
    )
    assert (first, second) == ("First.", "Second.")
