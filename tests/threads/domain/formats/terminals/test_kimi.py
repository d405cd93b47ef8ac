"""Kimi's sessions: the context of Kimi CLI, its journal, and that of Kimi Code."""

from typing import Any

from tests.threads.support.readings import (
    compactions,
    events,
    messages,
    parts,
    read,
    texts,
    told,
)
from tests.threads.support.transcripts import lines
from threads.domain.message import Role, Usage
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

META = {"type": "metadata", "protocol_version": "1.4", "created_at": 1784950509920}


def test_a_context_is_messages_with_the_programs_own_lines_between() -> None:
    call = {
        "type": "function",
        "id": "c1",
        "function": {"name": "look", "arguments": "{}"},
    }
    data = lines(
        {"role": "_system_prompt", "content": "You mend lamps."},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [
                {"type": "think", "think": "Hm.", "encrypted": "seal"},
                {"type": "think", "think": "", "encrypted": "all"},
                {"type": "text", "text": "So."},
            ],
            "tool_calls": [call],
        },
        {
            "role": "tool",
            "content": [{"type": "text", "text": "Dark."}],
            "tool_call_id": "c1",
        },
        {"role": "_usage", "token_count": 12},
        {"role": "_system_prompt", "content": ""},
    )

    [found] = read(data)

    assert found.format == "kimi"
    assert parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="all"),
            Text("So."),
            ToolCall("c1", "look", {}),
        ),
        (ToolResult("c1", (Text("Dark."),)),),
    ]
    assert events(found) == ["_checkpoint", "_usage", "_system_prompt"]


def wire(type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1784950509.5, "message": {"type": type_, "payload": payload}}


def test_the_pieces_of_kimi_clis_journal_are_joined() -> None:
    usage = {
        "input_other": 3,
        "output": 2,
        "input_cache_read": 4,
        "input_cache_creation": 1,
    }
    call = {
        "type": "function",
        "id": "c1",
        "function": {"name": "look", "arguments": '{"a"'},
    }
    returned = {"is_error": True, "output": "", "message": "No lamp."}
    data = lines(
        META,
        wire("TurnBegin", user_input=[{"type": "text", "text": "Look."}]),
        wire("StepBegin", n=1),
        wire("ContentPart", type="think", think="Hm."),
        wire("ContentPart", type="text", text="I lo"),
        wire("ContentPart", type="text", text="ok."),
        wire("ToolCall", **call),
        wire("ToolCallPart", arguments_part=": 1}"),
        wire("ToolCallPart", arguments_part=None),
        wire("StatusUpdate", token_usage=usage),
        wire("StatusUpdate", context_usage=0.1),
        wire("ToolResult", tool_call_id="c1", return_value=returned),
        wire("ContentPart", type="text", text="Done."),
        wire("TurnEnd"),
        wire("TurnBegin", user_input=""),
    )

    [found] = read(data)

    assert parts(found) == [
        (Text("Look."),),
        (Thinking("Hm."), Text("I look."), ToolCall("c1", "look", {"a": 1})),
        (ToolResult("c1", (Text("No lamp."),), None, True),),
        (Text("Done."),),
    ]
    assert messages(found)[1].usage == Usage(
        input_tokens=8, output_tokens=2, cached_tokens=4
    )
    assert len(messages(found)[1].records) == 5
    assert "ToolCallPart" in events(found) and "TurnEnd" in events(found)


def test_what_came_of_an_answer_that_failed_is_no_part_of_the_next() -> None:
    data = lines(
        META,
        wire("TurnBegin", user_input="Look."),
        wire("StepBegin", n=1),
        wire("ContentPart", type="text", text="I lo"),
        wire(
            "ToolCall",
            type="function",
            id="c0",
            function={"name": "a", "arguments": ""},
        ),
        wire("ToolCallPart", arguments_part="{"),
        wire("StepRetry", n=1, next_attempt=2, max_attempts=3, wait_s=1.0),
        wire("ContentPart", type="text", text="I look."),
        wire("TurnEnd"),
    )

    [found] = read(data)

    assert parts(found) == [(Text("Look."),), (Text("I look."),)]
    assert events(found).count("retried") == 3
    assert "StepRetry" in events(found)


def test_arguments_that_all_come_in_pieces_are_those_of_their_call() -> None:
    function = {"name": "look", "arguments": None}
    data = lines(
        META,
        wire("TurnBegin", user_input="Look."),
        wire("ToolCall", type="function", id="c1", function=function),
        wire("ToolCallPart", arguments_part='{"a"'),
        wire("ToolCallPart", arguments_part=": 1}"),
    )

    [found] = read(data)

    assert parts(found)[1] == (ToolCall("c1", "look", {"a": 1}),)


def appended(role: str, *content: Any, **members: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(content), "toolCalls": [], **members}
    return {"type": "context.append_message", "message": message, "time": 1784950509920}


def typed(words: str) -> dict[str, Any]:
    return appended("user", {"type": "text", "text": words}, origin={"kind": "user"})


def injected(words: str) -> dict[str, Any]:
    return appended(
        "user", {"type": "text", "text": words}, origin={"kind": "injection"}
    )


def step(type_: str, **members: Any) -> dict[str, Any]:
    event = {"type": type_, "stepUuid": "s", **members}
    return {"type": "context.append_loop_event", "event": event, "time": 1784950509921}


def replied(words: str) -> tuple[dict[str, Any], ...]:
    return (
        step("step.begin"),
        step("content.part", part={"type": "text", "text": words}),
        step("step.end", usage={"inputOther": 1, "output": 1}),
    )


def test_the_steps_of_kimi_codes_journal_are_answers() -> None:
    prompt = {"type": "config.update", "systemPrompt": "You mend lamps."}
    picture = {"type": "image_url", "image_url": {"url": "https://lamps.test/1.png"}}
    data = lines(
        META,
        prompt,
        {**prompt, "type": "profile.bind"},
        {"type": "llm.request", "model": "k-1"},
        typed("Look."),
        step("step.begin"),
        step("content.part", part={"type": "text", "text": "A."}),
        step("content.part", part={"type": "text", "text": "B."}),
        step("tool.call", toolCallId="c1", name="look", args={"a": 1}),
        step("step.end", usage={"inputOther": 5, "output": 2}),
        step(
            "tool.result",
            toolCallId="c1",
            result={"output": {"lamps": 1}, "note": "Odd."},
        ),
        appended("tool", {"type": "text", "text": "Off."}, toolCallId="c2"),
        appended(
            "assistant",
            picture,
            toolCalls=[{"id": "c3", "name": "see", "arguments": None}],
        ),
        appended("user"),
        {"type": "turn.ended"},
    )

    [found] = read(data)

    assert found.model == "k-1"
    assert parts(found) == [
        (Text("You mend lamps."),),
        (Text("Look."),),
        (Text("A."), Text("B."), ToolCall("c1", "look", {"a": 1})),
        (ToolResult("c1", (Text('{"lamps": 1}'), Text("Odd."))),),
        (ToolResult("c2", (Text("Off."),)),),
        (Image("image/*", url="https://lamps.test/1.png"), ToolCall("c3", "see", {})),
    ]
    assert messages(found)[2].usage == Usage(input_tokens=5, output_tokens=2)


def test_an_older_compaction_hides_as_many_as_it_says() -> None:
    compaction = {"type": "context.apply_compaction", "count": 2}
    summary = {"role": "user", "content": [{"type": "text", "text": "In short."}]}
    data = lines(
        META,
        typed("One."),
        *replied("Two."),
        typed("Three."),
        {**compaction, "summary": summary},
        {"type": "context.apply_compaction", "summary": "", "compactedCount": 1},
    )

    [found] = read(data)

    assert told(compactions(found)) == ["(0, 1) is In short."]
    assert compactions(found)[0].messages[0].role is Role.USER


def test_a_newer_compaction_keeps_what_people_said_before_the_summary() -> None:
    compaction = {"type": "context.apply_compaction", "contextSummary": "In short."}
    said = [one for n in range(3) for one in (typed(f"Q{n}"), *replied(f"A{n}"))]
    whole = {**compaction, "compactedCount": 7, "keptUserMessageCount": 3}
    some = {**whole, "keptUserMessageCount": 2, "keptHeadUserMessageCount": 1}

    [found] = read(lines(META, injected("Be brief."), *said, whole))
    [elided] = read(lines(META, *said, some))

    [one] = compactions(found)
    assert one.replaces == tuple(range(7))
    assert [message.text for message in one.messages] == ["Q0", "Q1", "Q2", "In short."]
    [other] = compactions(elided)
    assert [message.text for message in other.messages] == ["Q0", "Q2", "In short."]


def test_what_is_taken_back_or_cleared_is_hidden_with_nothing_in_its_place() -> None:
    said = [one for n in range(3) for one in (typed(f"Q{n}"), *replied(f"A{n}"))]
    undo = {"type": "context.undo", "count": 1}
    data = lines(META, *said, undo, {"type": "context.clear"}, undo, typed("Anew."))

    [found] = read(data)

    assert [(one.replaces, one.messages) for one in compactions(found)] == [
        ((4, 5), ()),
        ((0, 1, 2, 3), ()),
    ]
    assert texts(found)[-1] == "Anew."
    assert events(found)[-1] == "context.undo"


def test_an_answer_that_breaks_off_is_given_at_the_end() -> None:
    broken = step("tool.call", toolCallId="c9")
    [found] = read(lines(META, typed("Q"), *replied("A")[:2], broken, {"message": {}}))

    assert told(found)[-1] == "assistant: A"
    assert [warning.line for warning in found.warnings] == [5]
