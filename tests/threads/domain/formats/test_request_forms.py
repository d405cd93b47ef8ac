"""Requests of Responses and Gemini as lists of messages, read and written again."""

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.formats.gemini import request as gemini
from threads.domain.formats.openai import request as responses
from threads.domain.formats.requests import (
    RequestForm,
    RequestReader,
    fingerprint_of,
    plain_prompt,
)
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Text, Thinking, ToolCall, ToolResult

CALL = {"functionCall": {"name": "look", "args": {"at": 1}}}
ANSWERS = [
    {"functionResponse": {"name": "look", "response": {"output": f"seen {n}"}}}
    for n in range(2)
]
CONTENTS = [
    {"role": "user", "parts": [{"text": "Look."}]},
    {"role": "model", "parts": [CALL, CALL]},
    {"role": "user", "parts": ANSWERS},
    {"role": "model", "parts": [{"text": "Seen."}]},
]
ITEMS = [
    {"role": "user", "content": "Look."},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "seen"},
]


def written(form: RequestForm, messages: list[Message]) -> list[dict]:
    pieces = (piece for one in messages for piece in form.write(one, Heading()))
    return list(form.join(pieces))


def test_gemini_contents_are_messages_and_come_back() -> None:
    found = gemini.read_messages(CONTENTS)
    assert [one.role for one in found] == ["user", "assistant", "tool", "assistant"]
    back = written(gemini.REQUEST, found)
    assert [one["role"] for one in back] == ["user", "model", "user", "model"]
    assert [*back[2]["parts"][0]] == ["functionResponse"]
    again = gemini.REQUEST.read(back[3])
    assert again.text == "Seen."


def test_results_of_one_turn_stand_in_one_content() -> None:
    found = gemini.read_messages(CONTENTS)
    results = [part for part in found[2].parts if isinstance(part, ToolResult)]
    apart = [Message(role=Role.TOOL, parts=(one,)) for one in results]
    empty = Message(role=Role.USER, parts=())
    back = written(gemini.REQUEST, [*found[:2], *apart, empty])
    assert [len(one["parts"]) for one in back] == [1, 2, 2]
    assert written(gemini.REQUEST, []) == []


@pytest.mark.parametrize("system", [{"parts": [{"text": "Be brief."}]}, "Be brief."])
def test_a_system_instruction_is_one_message(system: object) -> None:
    (found,) = gemini.read_system(system)
    assert (found.role, found.text) == (Role.SYSTEM, "Be brief.")
    assert [*gemini.read_system(None)] == []


def test_items_are_messages_each_by_itself_and_come_back() -> None:
    found = responses.read_messages(ITEMS)
    assert len(found) == len(ITEMS)
    back = written(responses.REQUEST, found)
    assert [one.get("type", "message") for one in back] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
    ]


def test_an_item_that_says_nothing_to_us_is_kept_whole() -> None:
    item = {"type": "item_reference", "id": "x"}
    (part,) = responses.read_message(item).parts
    assert part == Opaque("item_reference", item)


def test_a_reply_of_several_items_is_one_message() -> None:
    said = {"type": "output_text", "text": "Seen.", "annotations": []}
    output = [
        ITEMS[2],
        {"type": "noted_by_the_provider", "id": "n_1"},  # no part of what was said
        {"type": "message", "role": "assistant", "content": [said]},
    ]
    usage = {"input_tokens": 7, "output_tokens": 2}
    [reply] = responses.read_reply(
        {"id": "resp_1", "model": "heron-2", "output": output, "usage": usage}
    )
    assert [type(part) for part in reply.parts] == [ToolCall, Text]
    assert (reply.model, reply.source_id) == ("heron-2", "resp_1")
    assert responses.read_reply({"output": []}) == []


def test_what_is_no_list_is_refused_with_its_place() -> None:
    for read, at in (
        (gemini.read_messages, "contents"),
        (responses.read_messages, "input"),
    ):
        with pytest.raises(Invalid) as refused:
            read("nothing")
        assert list(refused.value.at) == [at]


def test_a_form_may_want_its_list_from_the_first_on() -> None:
    reader = RequestReader(gemini.read_messages, gemini.read_system, False)
    assert reader.read(CONTENTS, slice(3, 4))[0].text == "Seen."
    anywhere = RequestReader(responses.read_messages)
    assert anywhere.read(ITEMS, slice(0, 1))[0].text == "Look."
    assert next(anywhere.read_system("Be brief.")).text == "Be brief."


def test_what_a_client_notes_for_its_provider_is_no_part_of_the_prompt() -> None:
    note = "x-anthropic-billing-header: cc_version=2.1\n"
    assert plain_prompt(f"{note}You are brief.") == "You are brief."


def test_reasoning_ids_and_space_do_not_count_in_what_is_said() -> None:
    def said(call: str, *more: object) -> Message:
        parts = (Text(" Look. "), ToolCall(call, "look", {}), *more)
        return Message(role=Role.ASSISTANT, parts=parts)

    some = fingerprint_of(said("a", Thinking("Hm.")), responses.REQUEST, Heading())
    other = fingerprint_of(said("b"), responses.REQUEST, Heading())
    assert some.atoms == other.atoms
    assert (some.ids, other.ids) == (("a",), ("b",))
    blank = Message(role=Role.USER, parts=(Text("  "),))
    assert not fingerprint_of(blank, responses.REQUEST, Heading()).atoms
    result = Message(role=Role.TOOL, parts=(ToolResult("a", (Text("seen"),)),))
    assert fingerprint_of(result, responses.REQUEST, Heading()).ids == ("a",)


@pytest.mark.parametrize("form", ["anthropic", "gemini"])
def test_signatures_are_named_in_one_alphabet(form: str) -> None:
    """google-genai sends the bytes of a signature in base64 for addresses."""
    heading = Heading(strategy=form)

    def signatures(signature: str) -> tuple[str, ...]:
        parts = (Thinking("Hm.", signature), ToolCall("a", "look", {}))
        message = Message(role=Role.ASSISTANT, parts=parts)
        return fingerprint_of(message, REQUESTS[form], heading).signatures

    assert signatures("ab+/cw==") == signatures("ab-_cw") == ("ab+/cw",)


def test_reasoning_that_only_its_provider_reads_is_named_too() -> None:
    parts = (Thinking("", data="gAAA"), Text("Look."))
    message = Message(role=Role.ASSISTANT, parts=parts)
    heading = Heading(strategy="anthropic")
    found = fingerprint_of(message, REQUESTS["anthropic"], heading)
    assert found.signatures == ("gAAA",)


def test_space_and_reasoning_say_nothing() -> None:
    blank = Message(
        role=Role.ASSISTANT, parts=(Thinking("Hm."), Text(" \n"), Text("Look."))
    )
    plain = Message(role=Role.ASSISTANT, parts=(Text("Look. "),))
    for form in REQUESTS.values():
        assert fingerprint_of(blank, form, Heading()) == fingerprint_of(
            plain, form, Heading()
        )


def test_members_of_a_block_that_are_null_say_nothing() -> None:
    page = {"type": "web_search_result", "url": "https://example.org"}
    result = {"type": "web_search_tool_result", "tool_use_id": "s"}

    def said(**more: None) -> Message:
        block = result | {"content": [page | more, "a"]}
        return Message(role=Role.ASSISTANT, parts=(Opaque(result["type"], block),))

    heading, form = Heading(strategy="anthropic"), REQUESTS["anthropic"]
    whole, bare = (
        fingerprint_of(one, form, heading) for one in (said(page_age=None), said())
    )
    assert whole == bare
    assert whole.atoms


@pytest.mark.parametrize("kind", ["web_search_call", "compaction"])
def test_what_a_provider_did_says_the_same_without_its_id(kind: str) -> None:
    item = {"type": kind, "encrypted_content": "x", "action": {"query": "boats"}}
    named, plain = (
        fingerprint_of(responses.read_message(one), responses.REQUEST, Heading())
        for one in ({**item, "id": "it_1", "status": "completed"}, item)
    )
    assert named == plain
    assert named.atoms
