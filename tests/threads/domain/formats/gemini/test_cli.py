"""Gemini CLI: records that grow, are taken back, or are written as a whole context anew."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import told
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.gemini import cli as gemini_cli
from threads.domain.message import Message, Usage
from threads.domain.part import Image, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Parent, Relation, Transcript

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00Z"}


def record(type_: str, id_: str, content: Any = "", **members: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "type": type_,
        "content": content,
        "timestamp": "2026-03-01T10:00:00.000Z",
        **members,
    }


def call(id_: str, result: Any = None, **members: Any) -> dict[str, Any]:
    return {"id": id_, "name": "look", "args": {"at": id_}, "result": result, **members}


def answered(id_: str, words: str) -> dict[str, Any]:
    return {
        "functionResponse": {"id": id_, "name": "look", "response": {"output": words}}
    }


def read(*records: Any, name: str = "", **members: Any) -> tuple[Transcript, list[Any]]:
    """A session as JSON Lines."""
    [found] = formats.read(io.BytesIO(lines({**HEAD, **members}, *records)), name=name)
    assert found.format == "gemini_cli"
    return found, list(found.items)


def read_document(*messages: Any, **members: Any) -> tuple[Transcript, list[Any]]:
    raw = json.dumps({**HEAD, **members, "messages": messages}, indent=1).encode()
    [found] = formats.read(io.BytesIO(raw))
    assert found.format == "gemini_cli"
    return found, list(found.items)


LOOKED = record(
    "gemini",
    "g1",
    "Looking.",
    model="m",
    thoughts=[
        {"subject": "Where", "description": "There."},
        {"subject": "", "description": "Hm."},
        {"subject": "", "description": ""},
    ],
    tokens={
        "input": 9,
        "output": 2,
        "cached": 4,
        "thoughts": 3,
        "tool": 1,
        "total": 15,
    },
    toolCalls=[
        call("1", [answered("1", "One.")], status="success"),
        call("2", "Two.", status="error"),
        call("3"),
    ],
)


def test_a_record_of_the_model_s_is_its_message_and_the_tool_s_behind_it() -> None:
    found, [asked, looked, tools] = read_document(record("user", "u1", "Hi"), LOOKED)

    assert (found.title, found.external_id, found.strategy) == ("Hi", "s", "gemini")
    assert found.model == "m"
    assert asked.source_id == "u1"
    assert looked.parts == (
        Thinking("**Where**\n\nThere."),
        Thinking("Hm."),
        Text("Looking."),
        ToolCall("1", "look", {"at": "1"}),
        ToolCall("2", "look", {"at": "2"}),
        ToolCall("3", "look", {"at": "3"}),
    )
    assert looked.usage == Usage(input_tokens=10, output_tokens=5, cached_tokens=4)
    assert tools.parts == (
        ToolResult("1", (Text("One."),), "look"),
        ToolResult("2", (Text("Two."),), "look", True),
    )
    assert (tools.role, tools.source_id, tools.usage) == ("tool", "g1_response", None)
    assert tools.records == looked.records


def test_notices_are_events_and_injected_context_stays_a_message() -> None:
    injected = record("user", "u1", [{"text": "<session_context>\nToday."}])
    _, items = read_document(
        record("info", "i1", "Update!"),
        injected,
        record("user", "u2", "Hello"),
        record("error", "e1", "Oh."),
        record("gemini", "g1", "", tokens={"input": 0}),
        record("", "x1"),
    )
    found, _ = read_document(injected, record("user", "u2", "Hello"))
    commanded, _ = read_document(record("user", "u1", "/help"))

    assert sorted(told(items)) == [
        "error",
        "gemini/empty",
        "info",
        "record",
        "user: <session_context>\nToday.",
        "user: Hello",
    ]
    assert (found.title, commanded.title) == ("Hello", "/help")
    assert read_document(injected, summary="A lamp")[0].title == "A lamp"


def test_a_record_that_grows_is_one_message_of_its_last_state() -> None:
    grown = record("gemini", "g1", "Looking.", toolCalls=[call("1", "One.")])
    _, items = read(
        record("user", "u1", "Hi"),
        record("gemini", "g1", "Look"),
        {"$set": {"lastUpdated": "2026-03-01T10:00:01Z"}},
        grown,
        record("gemini", "g2", "Done."),
        {"what": "else"},
    )

    assert told(items) == [
        "session",
        "user: Hi",
        "assistant: Looking.",
        "tool: ",
        "$set",
        "assistant: Done.",
        "record",
    ]
    assert len(items[2].records) == 2


def test_records_of_one_id_in_a_document_are_messages_of_their_own() -> None:
    _, items = read_document(
        record("user", "1", "One"), record("gemini", "1", "Two"), record("user", "1")
    )

    assert told_of(items) == [("user", "One"), ("assistant", "Two"), ("user", "")]
    assert len({message.source_id for message in items}) == 3


def test_a_record_of_another_speaker_is_no_version_of_one_with_its_id() -> None:
    _, items = read(
        record("user", "1", "One"),
        record("gemini", "1", "Tw"),
        record("gemini", "1", "Two"),
    )

    assert told_of(items) == [("user", "One"), ("assistant", "Two")]


def told_of(items: list[Any]) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in items if isinstance(one, Message)]


def test_content_of_the_api_s_parts_is_the_truth() -> None:
    content: list[Any] = [
        {"text": "Hm.", "thought": True, "thoughtSignature": "s"},
        {
            "functionCall": {"id": "1", "name": "look", "args": {}},
            "thoughtSignature": "z",
        },
    ]
    picture = {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}
    both = [answered("1", "One."), answered("2", "Two."), picture]
    _, [_, _, model, tools] = read(
        record("user", "u1", "Hi"),
        record(
            "gemini",
            "g1",
            content,
            thoughts=[{"subject": "Not twice"}],
            toolCalls=[call("1", both), call("2", [answered("2", "Two.")])],
        ),
    )

    assert model.parts == (
        Thinking("Hm.", "s"),
        Thinking("", data="z"),
        ToolCall("1", "look", {}),
        ToolCall("2", "look", {"at": "2"}),
    )
    assert tools.parts == (
        ToolResult("1", (Text("One."), Image("image/png", data=b"PNG")), "look"),
        ToolResult("2", (Text("Two."),), "look"),
    )


def test_a_signature_on_words_does_not_hide_the_thoughts_beside_them() -> None:
    sealed = [{"text": "Hi.", "thoughtSignature": "z"}]
    thoughts = [{"description": "Hm."}]
    _, [model] = read_document(record("gemini", "g1", sealed, thoughts=thoughts))

    assert model.parts == (Thinking("Hm."), Thinking("", data="z"), Text("Hi."))


def test_results_with_a_record_of_their_own_are_given_once() -> None:
    own = record("user", "u2", [answered("1", "One.")])
    calls = [call("1", [answered("1", "One.")]), call("2", [answered("2", "Two.")])]
    model = record("gemini", "g1", "Looking.", toolCalls=calls)
    _, items = read(record("user", "u1", "Hi"), model, own)
    results: list[Part] = [
        part
        for item in items
        if isinstance(item, Message)
        for part in item.parts
        if isinstance(part, ToolResult)
    ]

    assert [(p.call_id, p.content) for p in results if isinstance(p, ToolResult)] == [
        ("2", (Text("Two."),)),
        ("1", (Text("One."),)),
    ]
    assert (items[-1].role, items[-1].source_id) == ("tool", "u2")


def test_what_a_rewind_took_back_is_events() -> None:
    _, items = read(
        record("user", "u1", "One"),
        record("gemini", "g1", "Two"),
        record("gemini", "g1", "Two."),
        {"$rewindTo": "g1"},
        record("gemini", "g2", "Other."),
        {"$rewindTo": "nobody"},
        record("user", "u2", "Anew"),
    )

    assert told(items) == [
        "session",
        "rewound/user",
        "rewound/gemini",
        "rewound/gemini",
        "$rewindTo",
        "rewound/gemini",
        "$rewindTo",
        "user: Anew",
    ]


def test_a_context_written_anew_is_a_compaction_of_what_it_hides() -> None:
    said = [
        record("user", "u1", "One"),
        record("gemini", "g1", "Two", toolCalls=[call("1", "x")]),
    ]
    kept = record("user", "u2", "Three")
    summary = [record("user", "s1", "So far."), record("gemini", "s2", "Got it.")]
    added = record("gemini", "g3", "Five")
    anew = [*summary, kept, added, {"no": "id"}, record("info", "i1", "Compressed")]
    _, items = read(
        *said,
        kept,
        {"$set": {"messages": anew}},
        record("user", "u4", "Six"),
        {
            "$set": {
                "messages": [
                    record("user", "s3", "Shorter."),
                    record("user", "u4", "Six"),
                ]
            }
        },
    )

    assert told(items) == [
        "session",
        "user: One",
        "assistant: Two",
        "tool: ",
        "user: Three",
        "unreadable",
        "checkpoint",
        "(0, 1, 2) is So far., Got it.",
        "assistant: Five",
        "info",
        "user: Six",
        "checkpoint",
        "(0, 1, 2, 3, 4) is Shorter.",
    ]


def test_a_record_that_was_masked_is_a_compaction_of_its_own() -> None:
    long = record("gemini", "g1", "", toolCalls=[call("1", "long")])
    short = record("gemini", "g1", "", toolCalls=[call("1", "short")])
    rest = [record("user", "u1", "Hi"), record("user", "u2", "Go on")]
    _, items = read(
        rest[0], long, rest[1], {"$set": {"messages": [rest[0], short, rest[1]]}}
    )
    [compaction] = [item for item in items if isinstance(item, Compaction)]

    assert compaction.replaces == (1, 2)
    assert compaction.messages[1].parts == (ToolResult("1", (Text("short"),), "look"),)


def test_a_checkpoint_that_changes_nothing_is_an_event() -> None:
    said = record("user", "u1", "One")
    _, items = read(said, record("info", "i1", "x"), {"$set": {"messages": [said]}})

    assert told(items) == ["session", "user: One", "info", "checkpoint"]


def test_a_sub_agent_s_session_names_its_parent_by_its_folder() -> None:
    said = record("user", "u1", "Dig.")
    found, _ = read(said, name="chats/parent/one.jsonl", kind="subagent")
    alone, _ = read(said, name="chats/one.jsonl", kind="subagent")

    assert found.parent == Parent(external_id="parent", relation=Relation.SUBAGENT)
    assert alone.parent is None


def test_a_folder_s_sub_agents_know_the_calls_that_began_them() -> None:
    def session(id_: str, *records: Any, **members: Any) -> bytes:
        return lines({**HEAD, "sessionId": id_, **members}, *records)

    dug = record("gemini", "g2", toolCalls=[call("2", "x", agentId="deep")])
    began = record("gemini", "g1", toolCalls=[call("1", "x", agentId="sub"), call("9")])
    files = {
        "chats/session-1.jsonl": session("main", record("user", "u1", "Hi"), began),
        "chats/main/sub.jsonl": session(
            "sub", record("user", "u2", "Dig."), dug, kind="subagent"
        ),
        "chats/sub/deep.jsonl": session(
            "deep", record("user", "u3", "Deeper."), kind="subagent"
        ),
        "chats/main/silent.jsonl": session("silent", kind="subagent"),
        "chats/session-2.jsonl": session("alone", record("user", "u4", "Hm")),
        "chats/gone/lost.jsonl": session(
            "lost", record("user", "u5", "Lost"), kind="subagent"
        ),
        "logs.json": b"[]",
    }
    assert gemini_cli.FORMAT.gather is not None
    [gathered] = gemini_cli.FORMAT.gather(folder(files))

    assert [(one.external_id, one.member) for one in gathered.transcripts] == [
        ("main", "chats/session-1.jsonl"),
        ("sub", "chats/main/sub.jsonl"),
        ("deep", "chats/sub/deep.jsonl"),
    ]
    assert [
        one.parent and (one.parent.external_id, one.parent.call_id)
        for one in gathered.transcripts
    ] == [
        None,
        ("main", "1"),
        ("sub", "2"),
    ]
    assert told(list(gathered.transcripts[2].items)) == ["session", "user: Deeper."]


def test_results_that_a_checkpoint_brings_are_given_once() -> None:
    model = record(
        "gemini", "g1", "Looking.", toolCalls=[call("1", [answered("1", "One.")])]
    )
    _, items = read_document(model, record("user", "u2", [answered("1", "One.")]))

    assert told(items) == ["assistant: Looking.", "tool: "]


ONE, TWO = (answered(id_, words) for id_, words in (("1", "One."), ("2", "Two.")))
CALLED = record("gemini", "g1", toolCalls=[call("1", [ONE]), call("2", [TWO])])
CALLS = [
    record("user", "u1", [{"text": "Look"}]),
    CALLED,
    record("user", "r1", [ONE]),
    record("user", "r2", [TWO]),
    record("gemini", "g2", "Looked."),
]


@pytest.mark.parametrize(
    "again",
    [
        [record("user", "g1_response", [ONE, TWO])],
        [
            {
                "$set": {
                    "messages": [*CALLS[:4], record("user", "x", [ONE, TWO]), CALLS[4]]
                }
            }
        ],
        [
            {
                "$set": {
                    "messages": [
                        *CALLS[:2],
                        record("user", "x", [ONE, ONE, TWO]),
                        CALLS[4],
                    ]
                }
            }
        ],
    ],
)
def test_results_that_a_resumed_session_records_again_are_events(again: Any) -> None:
    _, items = read(*CALLS, *again, record("user", "u2", "And now?"))
    said = ["user: Look", "assistant: ", "tool: ", "tool: ", "assistant: Looked."]

    found = [one for one in told(items) if one not in ("session", "checkpoint")]
    assert found == [*said, "repeated/user", "user: And now?"]


def test_a_result_that_stands_twice_in_a_record_is_one() -> None:
    _, items = read(*CALLS[:2], record("user", "r1", [ONE, ONE, TWO]))
    assert [part.call_id for part in items[-1].parts] == ["1", "2"]


@pytest.mark.parametrize("id_", [None, "other"])
def test_the_only_answer_of_a_call_is_its_own_whatever_its_id(id_: str | None) -> None:
    asked = call("1", [answered("1", "One.")]) | {"id": id_}
    _, items = read(record("gemini", "g1", "Looking.", toolCalls=[asked]))

    [*_, result] = items
    assert result.parts[0].content == (Text("One."),)


def test_an_id_that_is_used_again_is_answered_again() -> None:
    turns = [CALLED, record("user", "r1", [ONE, TWO])]
    later = [{**one, "id": f"{one['id']}b"} for one in turns]
    _, items = read(*turns, *later)
    assert told(items)[1:] == ["assistant: ", "tool: "] * 2


def test_records_without_ids_and_by_the_api_s_names_are_messages() -> None:
    _, items = read_document(
        {"type": "user", "content": "Hi"},
        {"type": "model", "parts": [{"text": "Hello."}]},
        {"content": "nobody's"},
    )

    assert told(items) == ["unreadable", "user: Hi", "assistant: Hello."]


def test_a_record_that_can_t_be_read_is_an_event_with_a_warning() -> None:
    raw = lines(HEAD, record("user", "u1", "Hi"), record("user", "u2", 3)) + b"{oops\n"
    [found] = formats.read(io.BytesIO(raw))

    assert told(list(found.items)) == [
        "session",
        "user: Hi",
        "unreadable",
        "unreadable",
    ]
    assert sorted(warning.message.split()[0] for warning in found.warnings) == [
        "At",
        "Line",
    ]


@pytest.mark.parametrize("data", [lines(HEAD, HEAD), json.dumps(HEAD).encode()])
def test_a_session_without_messages_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid) as refusal:
        formats.read(io.BytesIO(data))

    assert refusal.value.code == "no_messages"


def test_a_session_behind_another_is_not_taken_for_more_of_it() -> None:
    sessions = [
        {**HEAD, "sessionId": id_, "messages": [record("user", "u1", f"From {id_}.")]}
        for id_ in ("s", "t", "s")
    ]
    [found] = formats.read(io.BytesIO(lines(*sessions)))

    assert told(found) == ["user: From s.", "session"]
    [warning] = found.warnings
    assert warning.code == "another_session"
    assert f"At byte {len(lines(sessions[0])):,}" in warning.message
