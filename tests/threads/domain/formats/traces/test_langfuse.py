"""Langfuse's traces: which observations are the conversation, and what the others tell."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import messages, read
from threads.domain import formats
from threads.domain.formats.traces import langfuse
from threads.domain.message import Message, Usage
from threads.domain.part import Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript

SYSTEM = {"role": "system", "content": "Be brief."}
HI = {"role": "user", "content": "Make tea."}
CALL = {"id": "k1", "function": {"name": "boil", "arguments": '{"c": 90}'}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
HOT = {"role": "tool", "content": "Hot.", "tool_call_id": "k1"}
YES = {"role": "assistant", "content": "Ready."}


def observation(
    second: int,
    type_: str = "GENERATION",
    given: Any = None,
    gave: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """An observation at a second, named by it; its input and output twice in JSON."""
    return {
        "id": f"o{second}",
        "type": type_,
        "name": f"n{second}",
        "parentObservationId": "o0",
        "startTime": f"2026-02-03T04:05:{second:02}.000Z",
        "endTime": f"2026-02-03T04:05:{second + 1:02}.000Z",
        "input": None if given is None else json.dumps(given),
        "output": None if gave is None else json.dumps(gave),
        **more,
    }


def trace(*observations: dict[str, Any], **members: Any) -> dict[str, Any]:
    whole = {"id": "t1", "projectId": "p", "name": "brew", "sessionId": None}
    return {"trace": whole | members, "observations": list(observations)}


def story(transcript: Transcript) -> list[str]:
    return [
        item.role if isinstance(item, Message) else item.type
        for item in transcript.items
        if isinstance(item, Message | Event)
    ]


USED = {
    "input": 12,
    "input_cache_read": 8,
    "output": 5,
    "output_reasoning": 1,
    "total": 26,
}
FIRST = observation(1, given=[SYSTEM, HI], gave=CALLS, model="m-1", usageDetails=USED)
TOOL = observation(3, "TOOL", given={"c": 90}, gave="Hot.", name="boil")
LAST = observation(
    4, given=[SYSTEM, HI, CALLS, HOT], gave=YES, model="m-2", usageDetails={"input": 3}
)


def test_the_request_that_repeats_the_others_is_the_conversation() -> None:
    [transcript] = read(trace(LAST, TOOL, FIRST))
    system, human, call, result, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("langfuse", "Make tea.")
    assert (transcript.external_id, transcript.model) == ("t1", "m-2")
    assert (system.text, human.text, answer.text) == (
        "Be brief.",
        "Make tea.",
        "Ready.",
    )
    assert call.parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert result.parts == (ToolResult("k1", (Text("Hot."),)),)
    assert story(transcript) == [
        *("system", "user", "assistant", "tool", "tool/boil", "assistant"),
    ]


def test_an_answer_has_the_usage_model_and_time_of_its_own_request() -> None:
    [transcript] = read(trace(FIRST, LAST))
    _, human, call, _, answer = messages(transcript)

    assert call.usage == Usage(input_tokens=20, output_tokens=6, cached_tokens=8)
    assert answer.usage == Usage(input_tokens=3)
    assert (call.model, answer.model, human.usage) == ("m-1", "m-2", None)
    assert call.created_at is not None and call.created_at.second == 2
    assert len(call.records) == 2


def test_requests_without_a_history_are_one_conversation_with_their_tools() -> None:
    root = {"prompt": "Make tea.", "system": "Be brief."}
    found = read(
        trace(
            observation(0, "SPAN", root, YES, parentObservationId=None),
            observation(1, given=HI, gave=CALLS),
            TOOL,
            observation(4, given={"content": "role"}, gave=YES),
        )
    )
    [transcript] = found

    assert story(transcript) == ["system", "user", "assistant", "tool", "assistant"]
    assert messages(transcript)[3].parts == (ToolResult("k1", (Text("Hot."),), "boil"),)


def test_calls_that_no_further_request_repeats_are_answered_by_their_tools() -> None:
    [transcript] = read(trace(FIRST, TOOL))

    assert story(transcript) == ["system", "user", "assistant", "tool"]


def test_a_program_that_shows_more_of_the_conversation_is_it() -> None:
    around = observation(0, "AGENT", [SYSTEM, HI], [CALLS, HOT, YES])
    [transcript] = read(
        trace(
            around,
            observation(1, given=[HI], gave=CALLS),
            observation(4, given=[HOT], gave=YES, model="m-2"),
            observation(5, "SPAN", [HI], "continue"),
        )
    )

    assert story(transcript) == [
        *("system", "user", "assistant", "tool", "assistant", "other/n5"),
    ]
    assert transcript.model == "m-2"


def test_conversations_of_their_own_stay_apart() -> None:
    other = [{"role": "system", "content": "Judge."}, HI]
    first, second = read(trace(FIRST, observation(5, given=other, gave="Good.")))

    assert (first.external_id, second.external_id) == ("t1", "t1/o5")
    assert [message.text for message in messages(second)] == [
        "Judge.",
        "Make tea.",
        "Good.",
    ]
    assert [item for item in second.items if isinstance(item, Event)] == []


def test_the_parts_of_a_stream_are_no_conversation() -> None:
    pieces = [observation(n, gave=word) for n, word in ((1, "Re"), (2, "ady."))]
    [transcript] = read(trace(*pieces, observation(3, given=[HI], gave="Ready.")))
    assert [message.text for message in messages(transcript)] == ["Make tea.", "Ready."]

    [alone] = read(trace(*pieces))
    assert [message.text for message in messages(alone)] == ["Re", "ady."]
    assert alone.title == "brew"


def test_an_output_that_repeats_the_input_counts_once() -> None:
    whole = observation(1, given=[HI], gave=[HI, YES])
    again = observation(2, given=[HI, YES], gave=YES)

    for one in (whole, again):
        [transcript] = read(trace(one))
        assert story(transcript) == ["user", "assistant"]


def test_programs_alone_are_the_conversation_where_no_request_is_logged() -> None:
    [transcript] = read(trace(observation(1, "SPAN", [HI], [YES])))

    assert story(transcript) == ["user", "assistant"]


def test_a_trace_whose_observations_say_nothing_speaks_for_itself() -> None:
    [transcript] = read(
        trace(observation(1, "EVENT"), input=json.dumps([HI]), output=json.dumps(YES))
    )

    assert story(transcript) == ["user", "assistant", "other/n1"]


def test_traces_come_alone_in_lists_and_in_pages() -> None:
    one = {"id": "t1", "projectId": "p", "observations": [FIRST]}
    two = {**one, "id": "t2"}

    assert [t.external_id for t in read(one)] == ["t1"]
    assert [t.external_id for t in read([one, two])] == ["t1", "t2"]
    assert [t.external_id for t in read({"data": [one, two]})] == ["t1", "t2"]


def test_traces_of_one_session_are_one_conversation() -> None:
    def turn(one: dict[str, Any], **members: Any) -> dict[str, Any]:
        return {"observations": [one], "sessionId": "s1", "projectId": "p", **members}

    [transcript] = read([turn(FIRST, id="t1"), turn(LAST, id="t2")])

    assert (transcript.external_id, len(messages(transcript))) == ("s1", 5)


def test_what_was_logged_without_an_id_has_none() -> None:
    [transcript] = read(
        {"trace": {}, "observations": [observation(1, given=[HI], gave="")]}
    )

    assert transcript.external_id is None


def test_the_output_may_say_the_usage() -> None:
    gave = {
        "choices": [{"message": YES}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    [transcript] = read(trace(observation(1, given=[HI], gave=gave)))

    assert messages(transcript)[-1].usage == Usage(input_tokens=3, output_tokens=1)


def test_a_trace_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(trace(observation(1, "SPAN")))


def test_detection_knows_a_trace_longer_than_the_sample() -> None:
    head = json.dumps(trace(FIRST, input="x" * 99_000)).encode()[: 64 << 10]

    assert formats.detect(head)[0].format == "langfuse"
    assert langfuse._score(formats.Sample(b'{"trace": {}}')) == 0


def test_a_tool_s_blocks_are_its_answer() -> None:
    gave = {"content": [{"type": "text", "text": "Hot."}]}
    said = langfuse.read_step_messages(observation(1, "TOOL", gave=gave), {})

    assert said.outputs[0].parts == (ToolResult("", (Text("Hot."),), "n1"),)


def test_reasoning_tells_no_message_from_another_but_pictures_do() -> None:
    def asked(*content: Any) -> dict[str, Any]:
        return {
            "role": "user",
            "content": [{"type": "text", "text": "Make tea."}, *content],
        }

    cup, pot = (
        {"type": "image_url", "image_url": {"url": f"https://a.example/{name}.png"}}
        for name in ("cup", "pot")
    )
    thought = {**CALLS, "reasoning_content": "Hm."}
    later = observation(4, given=[asked(cup), CALLS, HOT], gave=YES)

    assert (
        len(read(trace(observation(1, given=[asked(cup)], gave=thought), later))) == 1
    )
    assert (
        len(read(trace(observation(1, given=[asked(pot)], gave=thought), later))) == 2
    )


PROMPT = "developer: Be brief.\nuser: Make tea."
REPLY = {"model": "m-2", "choices": [{"message": {**CALLS, "content": None}}]}


@pytest.mark.parametrize("place", [0, 1])
def test_an_answer_that_a_client_printed_as_none_is_the_calls_around_it(
    place: int,
) -> None:
    outer = observation(1, given={"messages": ["role='user' content='…'"]}, gave=REPLY)
    inner = observation(2, parentObservationId="o1", model="m")
    logged = [outer, {**inner, "input": PROMPT, "output": "None"}]
    [found] = read(trace(*(logged if place else reversed(logged))), "langfuse")

    asked, answered = messages(found)
    assert asked.text == PROMPT
    assert answered.parts == (ToolCall("k1", "boil", {"c": 90}),)


def test_an_answer_that_a_client_logged_in_words_is_what_was_said() -> None:
    inner = observation(2, parentObservationId="o1", given=[HI], gave="I boil.")
    logged = trace(observation(1, gave=REPLY), inner)
    told = [m.text for found in read(logged, "langfuse") for m in messages(found)]
    assert told == ["Make tea.", "I boil."]


@pytest.mark.parametrize(
    ("gave", "parent"),
    [
        ({"choices": [{"message": YES}]}, "o1"),
        ({"choices": [{"message": {**CALLS, "content": "I boil."}}]}, "o1"),
        (REPLY, "o7"),
    ],
)
def test_one_that_nothing_shows_to_be_calls_is_what_was_said(
    gave: Any, parent: str
) -> None:
    outer = observation(1, gave=gave)
    inner = observation(2, parentObservationId=parent)
    logged = trace(outer, {**inner, "input": PROMPT, "output": "None"})
    told = [m.text for found in read(logged, "langfuse") for m in messages(found)]
    assert told == [PROMPT, "None"]
