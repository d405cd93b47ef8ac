"""What `codex exec --json` prints: items joined to answers, calls with their results."""

import base64
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Role, Usage
from threads.domain.part import (
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Transcript

THREAD = "67e55044-10b1-426f-9247-bb680e5fe0c8"
BEGIN = {"type": "thread.started", "thread_id": THREAD}
TURN = {"type": "turn.started"}


def item(stage: str, id_: str, type_: str, **members: Any) -> dict[str, Any]:
    return {"type": f"item.{stage}", "item": {"id": id_, "type": type_, **members}}


def done(id_: str, type_: str, **members: Any) -> dict[str, Any]:
    return item("completed", id_, type_, **members)


def said(id_: str, words: str) -> dict[str, Any]:
    return done(id_, "agent_message", text=words)


def command(stage: str, id_: str, output: str = "", **members: Any) -> dict[str, Any]:
    return item(
        stage,
        id_,
        "command_execution",
        command=f"do {id_}",
        aggregated_output=output,
        **members,
    )


def ended(input_: int, output: int) -> dict[str, Any]:
    usage = {"input_tokens": input_, "cached_input_tokens": 1, "output_tokens": output}
    return {"type": "turn.completed", "usage": usage}


def of(*records: Any) -> Transcript:
    [found] = read(lines(BEGIN, *records))
    return found


def call(id_: str) -> ToolCall:
    return ToolCall(id_, "command_execution", {"command": f"do {id_}"})


def result(id_: str, output: str, is_error: bool = False) -> ToolResult:
    return ToolResult(id_, (Text(output),), "command_execution", is_error)


def test_a_run_is_answers_and_results_and_all_else_are_events() -> None:
    found = of(
        TURN,
        done("i0", "reasoning", text="Hm."),
        said("i1", "I look."),
        command("started", "i2", status="in_progress"),
        item("started", "i3", "todo_list", items=[]),
        command("completed", "i2", "a", exit_code=0, status="completed"),
        done("i4", "error", message="Careful."),
        said("i5", "Done."),
        done("i3", "todo_list", items=[]),
        ended(10, 3),
    )

    assert parts(found) == [
        (Thinking("Hm."), Text("I look."), call("i2")),
        (result("i2", "a"),),
        (Text("Done."),),
    ]
    assert [one.role for one in messages(found)] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert events(found) == [
        "thread.started",
        "turn.started",
        "item.started/command_execution",
        "item.started/todo_list",
        "item.completed/error",
        "item.completed/todo_list",
        "turn.completed",
    ]
    assert (found.format, found.external_id) == ("codex_exec", THREAD)
    assert found.title == "Codex run 67e55044"


def test_a_message_names_every_line_that_it_was_told_by() -> None:
    data = lines(BEGIN, said("i0", "One."), TURN, said("i1", "Two."), said("i2", "3."))
    [found] = read(data)
    places = [one.records for one in messages(found)]
    spans = [one.removeprefix("bytes:").split("-") for row in places for one in row]

    assert [len(row) for row in places] == [1, 2]
    assert [data[int(start) : int(end)].count(b"\n") for start, end in spans] == [1] * 3


def test_calls_that_were_under_way_together_are_of_one_answer() -> None:
    found = of(
        command("started", "a"),
        command("started", "b"),
        command("completed", "b", "B"),
        command("completed", "a", "A"),
        command("started", "c"),
        command("completed", "c", "C"),
    )

    assert parts(found) == [
        (call("a"), call("b")),
        (result("b", "B"),),
        (result("a", "A"),),
        (call("c"),),
        (result("c", "C"),),
    ]


def test_a_call_that_ends_later_is_of_an_answer_of_its_own() -> None:
    found = of(
        command("started", "slow"),
        command("started", "a"),
        command("completed", "a", "A"),
        done("r", "reasoning", text="Go on."),
        command("completed", "slow", "S"),
    )

    assert parts(found)[2:] == [
        (Thinking("Go on."),),
        (call("slow"),),
        (result("slow", "S"),),
    ]


def test_a_call_that_never_ends_is_part_of_a_partial_message() -> None:
    update = command("updated", "i1", "half")
    found = of(said("i0", "I look."), command("started", "i1"), update)
    [answer] = messages(found)

    assert answer.parts == (Text("I look."), call("i1"))
    assert answer.partial
    assert events(found) == ["thread.started", "item.started/command_execution"]


def test_a_run_that_is_still_going_reads_as_the_beginning_of_the_whole() -> None:
    records = [
        done("r", "reasoning", text="Hm."),
        command("started", "a"),
        command("started", "b"),
        command("completed", "b", "B"),
        command("completed", "a", "A"),
        said("i1", "Done."),
    ]
    whole = messages(of(*records))
    going = messages(of(*records[:4]))

    assert [one.parts for one in going] == [one.parts for one in whole[:2]]
    assert [one.source_id for one in whole] == ["r", None, None, "i1"]
    assert [one.partial for one in going] == [True, False]


@pytest.mark.parametrize("status", ["failed", "declined"])
def test_a_command_that_failed_brings_an_error(status: str) -> None:
    found = of(command("completed", "i1", "no", exit_code=1, status=status))

    assert parts(found)[1] == (result("i1", "no", is_error=True),)


PNG = base64.b64encode(b"PNG").decode()
BLOCKS = [
    {"type": "text", "text": "a"},
    {"type": "image", "data": PNG, "mimeType": "image/png"},
    {"type": "resource_link", "uri": "x"},
]


@pytest.mark.parametrize(
    ("type_", "members", "name", "arguments", "content", "is_error"),
    [
        (
            "mcp_tool_call",
            {"server": "s", "tool": "t", "arguments": [1], "result": {"content": []}},
            "mcp__s__t",
            [1],
            (),
            False,
        ),
        (
            "mcp_tool_call",
            {"server": "s", "tool": "t", "result": {"content": BLOCKS}},
            "mcp__s__t",
            {},
            (
                Text("a"),
                Image("image/png", data=b"PNG"),
                Opaque("resource_link", BLOCKS[2]),
            ),
            False,
        ),
        (
            "mcp_tool_call",
            {"tool": "t", "result": {"content": [], "structured_content": {"a": 1}}},
            "t",
            {},
            (Text('{"a": 1}'),),
            False,
        ),
        (
            "mcp_tool_call",
            {"tool": "t", "error": {"message": "gone"}, "status": "failed"},
            "t",
            {},
            (Text("gone"),),
            True,
        ),
        (
            "file_change",
            {"changes": [{"path": "a", "kind": "add"}], "status": "completed"},
            "file_change",
            {"changes": [{"path": "a", "kind": "add"}]},
            (),
            False,
        ),
        (
            "collab_tool_call",
            {
                "tool": "spawn_agent",
                "prompt": "Look.",
                "sender_thread_id": THREAD,
                "receiver_thread_ids": ["2"],
                "agents_states": {"2": {"status": "running", "message": None}},
            },
            "spawn_agent",
            {"prompt": "Look.", "receiver_thread_ids": ["2"]},
            (Text('{"2": {"status": "running", "message": null}}'),),
            False,
        ),
    ],
)
def test_every_tool_has_its_call_and_its_result(
    type_: str,
    members: dict[str, Any],
    name: str,
    arguments: Any,
    content: tuple[Part, ...],
    is_error: bool,
) -> None:
    found = of(done("i1", type_, **members))

    assert parts(found) == [
        (ToolCall("i1", name, arguments),),
        (ToolResult("i1", content, name, is_error),),  # type: ignore[arg-type]
    ]


def test_a_search_is_kept_whole_among_the_words_of_its_answer() -> None:
    search = done("i1", "web_search", query="lamps", action={"type": "search"})
    found = of(search, said("i2", "Found."))

    assert parts(found) == [(Opaque("web_search", search["item"]), Text("Found."))]


def test_tokens_are_told_once_and_count_what_came_since_the_turn_before() -> None:
    found = of(
        said("item_0", "One."),
        ended(10, 3),
        BEGIN,
        said("item_0", "Two."),
        ended(25, 7),
    )

    assert [one.usage for one in messages(found)] == [
        Usage(input_tokens=10, output_tokens=3, cached_tokens=1),
        Usage(input_tokens=15, output_tokens=4),
    ]


def test_a_turn_that_ends_on_a_result_has_its_tokens_too() -> None:
    found = of(command("completed", "i1", "a"), ended(10, 3))

    assert [bool(one.usage) for one in messages(found)] == [True, False]


def test_tokens_of_a_turn_without_an_answer_are_nobodys() -> None:
    found = of(ended(10, 3), said("i0", "Late."))

    assert [one.usage for one in messages(found)] == [None]


def test_each_run_of_a_thread_has_calls_of_its_own() -> None:
    found = of(
        command("completed", "item_0", "a"), BEGIN, command("completed", "item_0", "b")
    )

    assert [one.parts[0] for one in messages(found) if one.role is Role.TOOL] == [
        result("item_0", "a"),
        result("item_0/2", "b"),
    ]


def test_a_run_of_another_thread_is_another_session() -> None:
    other = {"type": "thread.started", "thread_id": "other"}
    silent = {"type": "thread.started", "thread_id": "silent"}
    first, second = read(
        lines(BEGIN, said("i0", "One."), other)
        + b"{broken\n"
        + lines(said("i0", "Two."), silent)
    )

    assert told(first) == ["thread.started", "assistant: One."]
    assert told(second) == [
        "thread.started",
        "unreadable",
        "assistant: Two.",
        "thread.started",
    ]
    assert [first.external_id, second.external_id] == [THREAD, "other"]
    assert [one.line for one in second.warnings] == [4]


def test_the_first_versions_are_read_too() -> None:
    record = {
        "type": "item.completed",
        "item": {"id": "1", "item_type": "assistant_message", "text": "Hi."},
    }
    [found] = read(lines({"type": "session.created", "session_id": "s-1"}, record))

    assert told(found) == ["session.created", "assistant: Hi."]
    assert found.external_id == "s-1"


def test_what_can_not_be_read_is_an_event_and_the_rest_is_read() -> None:
    [found] = read(
        lines(BEGIN, said("i0", "One."), done("i1", "agent_message", text=7))
        + b"{broken\n[1]\n"
        + lines(done("i2", "new_kind"), {"type": 7}, said("i3", "Two."))
    )

    assert events(found)[1:] == [
        "unreadable",
        "unreadable",
        "unreadable",
        "item.completed/new_kind",
        "event",
    ]
    assert parts(found) == [(Text("One."), Text("Two."))]
    assert [one.line for one in found.warnings] == [3, 4, 5]
    assert "item.text" in found.warnings[0].message


def test_a_run_without_an_item_is_refused() -> None:
    with pytest.raises(Invalid, match="JSON output of codex exec, but it holds no"):
        read(lines(BEGIN, TURN, {"type": "turn.failed", "error": {"message": "x"}}))


def test_items_alone_are_known() -> None:
    [likeliest, *_] = formats.detect(lines(said("i0", "One."), said("i1", "Two.")))

    assert likeliest.format == "codex_exec"
