"""Codex's rollouts: what of them is the conversation."""

import base64
import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads import folders
from tests.threads.readings import events, messages
from tests.threads.rollouts import (
    SESSION,
    as_file,
    call,
    event,
    item,
    meta,
    output,
    record,
    rollout,
    said,
    thought,
    tokens,
    turn,
)
from threads.domain import formats
from threads.domain.formats import (
    codex,
    codex_folder,
    codex_index,
    codex_reading,
    codex_rollbacks,
    source,
)
from threads.domain.formats.folder import Folder
from threads.domain.message import Message, Usage
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
)

Items = list[Message | Event | Compaction]


def read(*found: Any, name: str = "") -> tuple[Transcript, Items]:
    raw = found[0] if found and isinstance(found[0], bytes) else as_file(*found)
    transcript, *_ = formats.read(io.BytesIO(raw), "codex", name=name)
    return transcript, list(transcript.items)


def spoken(items: Items) -> list[tuple[str, str]]:
    return [(str(message.role), message.text) for message in messages(items)]


# The conversation


def test_an_answer_is_its_items_up_to_the_outputs() -> None:
    transcript, items = read(*rollout())
    found = messages(items)

    assert [str(message.role) for message in found] == [
        "system",
        "developer",
        "user",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert found[0].text == "Be a lamp."
    assert found[4].parts == (
        Thinking("Perhaps the plug.", data="c2VhbA=="),
        Text("Looking."),
        ToolCall("c1", "shell", {"cmd": "ls"}),
        ToolCall("c2", "apply_patch", "*** Begin"),
    )
    assert found[5].parts == (ToolResult("c1", (Text("ok"),)),)
    assert found[6].parts == (ToolResult("c2", (Text("Done."),)),)
    assert [message.model for message in found][4:] == [
        "gpt-test",
        None,
        None,
        "gpt-test",
    ]
    assert (transcript.title, transcript.model) == ("Why is it dark?", "gpt-test")
    assert (transcript.external_id, transcript.strategy) == (SESSION, "openai")
    assert (transcript.parent, transcript.warnings) == (None, [])


def test_every_line_is_a_message_s_or_an_event() -> None:
    raw = as_file(*rollout())
    _, items = read(raw)
    places = [
        place
        for one in items
        for place in (one.records if isinstance(one, Message) else (one.record,))
    ]

    spans = [line.span.record for line in source.lines(io.BytesIO(raw))]
    assert sorted(places) == sorted(spans)
    assert messages(items)[4].records == (spans[7], spans[9], spans[10], spans[11])
    assert messages(items)[7].records == (spans[16], spans[18])


def test_tokens_are_told_once() -> None:
    found = [message.usage for message in messages(read(*rollout())[1])]

    assert found[4:] == [
        Usage(input_tokens=9, output_tokens=7, cached_tokens=4),
        None,
        None,
        Usage(input_tokens=9, output_tokens=3, cached_tokens=4),
    ]


def test_tokens_told_before_the_outputs_or_of_nothing_are_taken_too() -> None:
    _, items = read(
        said("user", "Hi"),
        event("token_count", info=None),
        tokens(1),
        call("c1"),
        tokens(2, output_tokens=5),
        output("c1"),
        event("token_count", info={"total_token_usage": {}, "last_token_usage": None}),
    )

    assert [m.usage and m.usage.output_tokens for m in messages(items)] == [
        None,
        5,
        None,
    ]


@pytest.mark.parametrize(
    "between",
    [
        turn(),
        event("task_started"),
        event("turn_aborted"),
        tokens(5),
        said("user", "x"),
    ],
)
def test_an_answer_ends_where_a_turn_or_its_tokens_do(between: Any) -> None:
    _, items = read(said("assistant", "One."), between, said("assistant", "Two."))

    found = [text for role, text in spoken(items) if role == "assistant"]
    assert found == ["One.", "Two."]


def test_answers_without_an_end_between_them_are_one() -> None:
    _, items = read(
        said("assistant", "One."), event("agent_message"), said("assistant", "Two.")
    )

    assert spoken(items) == [("assistant", "One.\n\nTwo.")]


def test_reasoning_that_says_nothing_is_an_event() -> None:
    _, items = read(said("user", "Hi"), thought(), thought(), event("turn_aborted"))

    assert events(items) == ["response_item/reasoning"] * 2 + ["event_msg/turn_aborted"]


def test_calls_of_all_kinds_are_linked_to_their_results() -> None:
    png = base64.b64encode(b"PNG").decode()
    tools = [{"name": "lamp"}]
    _, items = read(
        said("user", "Hi"),
        item("local_shell_call", call_id="a", action={"type": "exec"}, status="x"),
        item("tool_search_call", call_id="b", execution="client", arguments={"q": 1}),
        item(
            "function_call", call_id="c", namespace="mcp__x__", name="on", arguments=""
        ),
        item("shell_call", call_id="d", commands=["ls"]),
        output("a", {"content": "broken", "success": False}),
        item("tool_search_output", call_id="b", execution="client", tools=tools),
        output(
            "c",
            [
                {"type": "input_text", "text": "See."},
                {"type": "input_image", "image_url": f"data:image/png;base64,{png}"},
            ],
        ),
        item("shell_call_output", call_id="d", output=[{"stdout": "x"}]),
        item(
            "computer_call_output",
            call_id="e",
            output={
                "type": "computer_screenshot",
                "image_url": "https://example.org/x",
            },
        ),
    )
    _, asked, *answered = messages(items)

    assert asked.parts == (
        ToolCall("a", "local_shell", {"type": "exec"}),
        ToolCall("b", "tool_search", {"q": 1}),
        ToolCall("c", "mcp__x__on", ""),
        ToolCall("d", "shell", {"commands": ["ls"]}),
    )
    found = {"type": "tool_search_output", "execution": "client", "tools": tools}
    shell = {"type": "output", "stdout": "x"}
    assert [message.parts[0] for message in answered] == [
        ToolResult("a", (Text("broken"),), is_error=True),
        ToolResult("b", (Opaque("tool_search_output", found),)),
        ToolResult("c", (Text("See."), Image("image/png", data=b"PNG"))),
        ToolResult("d", (Opaque("output", shell),)),
        ToolResult("e", (Image("image/*", url="https://example.org/x"),)),
    ]


def test_what_the_provider_did_itself_is_kept_whole() -> None:
    jpeg = base64.b64encode(b"\xff\xd8\xff..").decode()
    search = {"type": "web_search_call", "action": {"query": "plugs"}}
    server = {"type": "tool_search_call", "execution": "server", "arguments": {}}
    found = {"type": "tool_search_output", "execution": "server", "tools": []}
    blank = {"type": "image_generation_call", "result": None}
    _, items = read(
        said("user", "Hi"),
        record("response_item", search),
        record("response_item", server),
        record("response_item", found),
        item("image_generation_call", status="completed", result=jpeg),
        record("response_item", blank),
        item("compaction", encrypted_content="x"),
        item("mcp_approval_response", approve=True),
    )
    _, answer, approval = messages(items)

    assert answer.parts == (
        Opaque("web_search_call", search),
        Opaque("tool_search_call", server),
        Opaque("tool_search_output", found),
        Image("image/jpeg", data=b"\xff\xd8\xff.."),
        Opaque("image_generation_call", blank),
        Opaque("compaction", {"type": "compaction", "encrypted_content": "x"}),
    )
    assert approval.role == "user"


def test_words_of_other_agents_are_a_user_s_by_name() -> None:
    sealed = {"author": "/root/a", "encrypted_content": "x"}
    words = [{"type": "input_text", "text": "Two."}]
    _, items = read(
        record("inter_agent_communication", {"author": "/root", "content": "One."}),
        item("agent_message", author="/root/b", recipient="/", content=words),
        record("inter_agent_communication", sealed),
    )

    assert [(m.name, m.text) for m in messages(items)] == [
        ("/root", "One."),
        ("/root/b", "Two."),
        ("/root/a", ""),
    ]
    assert messages(items)[2].parts == (Opaque("inter_agent_communication", sealed),)


def test_what_is_no_message_is_an_event() -> None:
    delivered = record("response_item", {"type": "message", "role": "assistant"})
    delivered["metadata"] = {"delivered_assistant_message": "x"}
    _, items = read(
        said("user", "Hi"),
        item("ghost_snapshot"),
        item("item_reference", id="x"),
        record("world_state", {"full": True}),
        delivered,
        {"timestamp": "t"},
        [1],
    )

    assert events(items) == [
        "response_item/ghost_snapshot",
        "response_item/item_reference",
        "world_state",
        "retained_context",
        "record",
        "record",
    ]


def test_a_broken_line_is_told_by_its_number_and_the_rest_is_read() -> None:
    lines = as_file(said("user", "Hi"), said("critic", "Bah"), said("assistant", "Ho"))
    transcript, items = read(lines.replace(b'"critic"', b'"crit') + b"{")
    bad = as_file(said("user", "Hi"), said("critic", "Bah"), said("assistant", "Ho"))
    other, others = read(bad)

    assert [warning.line for warning in transcript.warnings] == [2, 4]
    assert events(items) == ["unreadable", "unreadable"]
    assert spoken(items) == [("user", "Hi"), ("assistant", "Ho")]
    assert other.warnings[0].message.startswith("Line 2, role: A message's role is one")
    assert events(others) == ["unreadable/response_item/message"]
    for nameless in ("function_call", "custom_tool_call"):
        transcript, items = read(said("user", "Hi"), item(nameless, call_id="c"))
        assert transcript.warnings[0].message.startswith("Line 2, name: ")
        assert events(items) == [f"unreadable/response_item/{nameless}"]


def test_a_rollout_without_a_word_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read(meta(base="Be a lamp."), event("task_started"))
    with pytest.raises(Invalid, match="Line 1 can't be read"):
        read(b'{"type": "session_meta", "payload": {\n')


# Before envelopes


def test_bare_items_behind_a_header_are_read_alike() -> None:
    header = {"id": SESSION, "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    bare = [line["payload"] for line in (said("user", "Why?"), call("c"), output("c"))]
    transcript, items = read(header, {"record_type": "state"}, *bare, {"role": "user"})

    assert events(items) == ["session_meta", "state"]
    assert [str(message.role) for message in messages(items)] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert (transcript.title, transcript.external_id) == ("Why?", SESSION)


# What names it, and where it comes from


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("A lamp", [event("thread_name_updated", thread_name="A lamp"), *rollout()]),
        (
            "Mend it",
            [
                event(
                    "user_message", message="Open: a\n## My request for Codex:\nMend it"
                )
            ],
        ),
        ("Typed", [said("user", "<environment_context>"), said("user", "Typed")]),
        (
            "Typed",
            [said("developer", "x"), item("message", role="user", content="Typed")],
        ),
        ("<user_instructions>", [said("user", "<user_instructions>")]),
        ("Codex session 0199a000", [meta()]),
        ("Codex session", []),
    ],
)
def test_the_title_is_what_was_typed_first(title: str, found: list[Any]) -> None:
    assert read(*found, said("assistant", "Ho"))[0].title == title


def test_a_file_that_lost_its_top_is_known_by_its_name() -> None:
    name = f"rollout-2026-03-01T10-00-00-{SESSION}.jsonl"

    assert read(said("user", "Hi"), name=name)[0].external_id == SESSION


@pytest.mark.parametrize(
    ("members", "relation"),
    [
        ({"forked_from_id": "p"}, Relation.BRANCH),
        (
            {"parent_thread_id": "p", "source": {"subagent": "review"}},
            Relation.SUBAGENT,
        ),
        (
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
            Relation.SUBAGENT,
        ),
    ],
)
def test_a_fork_and_a_sub_agent_name_their_parent(
    members: dict[str, Any], relation: Relation
) -> None:
    again = meta(id="other", forked_from_id="x", base="Again.")
    transcript, items = read(meta(**members), said("user", "Hi"), again)

    assert transcript.parent == Parent(external_id="p", relation=relation)
    assert transcript.external_id == SESSION
    assert events(items) == ["session_meta", "session_meta"]


def test_the_model_of_the_whole_is_found_over_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [said("user", "Hi"), turn("gpt-1"), said("user", "x" * 200), turn("gpt-2")]
    for size in (1, 7, 100, 1000):
        monkeypatch.setattr(source, "CHUNK", size)
        known = list(codex_index.lines_with(io.BytesIO(as_file(*lines)), [b'"gpt-2"']))
        assert len(known) == (size > 60), size


# Rollbacks


def test_what_was_rolled_back_is_a_branch_beside_the_thread() -> None:
    _, items = read(
        said("user", "One"),
        said("assistant", "First."),
        said("developer", "<permissions instructions>"),
        said("user", "Two"),
        said("assistant", "Second."),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("assistant", "Third."),
    )

    assert [text for _, text in spoken(items)] == ["One", "First.", "Three", "Third."]
    assert events(items) == [
        "branch/response_item/message",
        "branch/response_item/message",
        "branch/response_item/message",
        "event_msg/thread_rolled_back",
    ]


def test_rollbacks_reach_back_over_earlier_ones_but_not_before_the_first_turn() -> None:
    _, items = read(
        event("thread_rolled_back", num_turns=1),
        said("user", "<environment_context>"),
        said("user", "One"),
        record("inter_agent_communication", {"author": "/a", "content": "Two"}),
        b_broken := event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("assistant", "Third."),
        event("thread_rolled_back", num_turns=9),
        said("user", "Four"),
    )

    assert b_broken["payload"]["num_turns"] == 1
    assert [text for _, text in spoken(items)] == ["<environment_context>", "Four"]
    assert events(items).count("event_msg/thread_rolled_back") == 2


def test_two_rollbacks_of_two_turns_are_two_branches() -> None:
    _, items = read(
        said("user", "One"),
        said("user", "Two"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        said("user", "Four"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Five"),
    )

    assert [text for _, text in spoken(items)] == ["One", "Three", "Five"]


def branches(*found: Any) -> list[tuple[Transcript, list[str]]]:
    _, *rest = formats.read(io.BytesIO(as_file(*found)), "codex")
    return [(one, [text for _, text in spoken(list(one.items))]) for one in rest]


def test_a_branch_is_a_conversation_that_says_what_it_shares() -> None:
    [(branch, texts)] = branches(
        meta(base="Be a lamp."),
        said("user", "One"),
        event("agent_message"),
        said("assistant", "First."),
        said("user", "<environment_context>"),
        said("user", "Two"),
        event("agent_message"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
    )

    assert texts == ["Be a lamp.", "One", "First.", "<environment_context>", "Two"]
    assert events(list(branch.items)) == ["event_msg/agent_message"]
    assert (branch.title, branch.external_id) == ("Two", f"{SESSION}/branch-8")
    assert branch.parent == Parent(external_id=SESSION, relation=Relation.BRANCH, at=3)


def test_a_branch_within_a_branch_is_one_of_that() -> None:
    first, second = branches(
        meta(),
        said("user", "One"),
        said("user", "Two"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three"),
        event("thread_rolled_back", num_turns=2),
        said("user", "Four"),
    )

    assert (first[1], second[1]) == (["One", "Two"], ["One", "Three"])
    assert first[0].parent and second[0].parent
    assert first[0].parent.external_id == second[0].external_id
    assert (first[0].parent.at, second[0].parent.at) == (1, 0)
    assert second[0].parent.external_id == SESSION


def test_what_can_t_be_read_of_a_branch_is_told_once() -> None:
    thread, branch = formats.read(
        io.BytesIO(
            as_file(
                meta(),
                said("user", "One"),
                said("user", "Two"),
                said("critic", "Bah"),
                event("thread_rolled_back", num_turns=1),
            )
        ),
        "codex",
    )
    list(thread.items), list(branch.items)

    assert [warning.line for warning in thread.warnings] == [4]
    assert branch.warnings == []


def test_very_many_rollbacks_are_not_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codex_rollbacks, "MOST", 2)
    turns = [said("user", "Two"), event("thread_rolled_back", num_turns=1)] * 4

    assert len(branches(meta(), said("user", "One"), *turns)) == 2


# Sub-agents

CHILD = "0199a000-0000-7000-8000-00000000000c"


def folder(rollouts: dict[str, bytes]) -> Folder:
    """Rollouts by their sessions' ids, named as Codex does, beside a file of notes."""
    named = {
        f"2026/03/01/rollout-2026-03-01T10-00-00-{id_}.jsonl": raw
        for id_, raw in rollouts.items()
    }
    return folders.folder({**named, "notes.jsonl": b""})


@pytest.mark.parametrize(
    ("found", "call_id"),
    [
        (output("c7", json.dumps({"agent_id": CHILD, "nickname": "Ann"})), "c7"),
        (event("sub_agent_activity", agent_thread_id=CHILD, event_id="c8"), "c8"),
    ],
)
def test_a_sub_agent_is_linked_to_the_call_that_began_it(
    found: Any, call_id: str
) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    told = said("user", f"Begin {CHILD}")
    parent = as_file(meta(), told, output("c6", f"No {CHILD}"), found)
    child = as_file(meta(id=CHILD, source=spawn), said("user", "Look."))
    [gathered] = codex_folder.gather(folder({SESSION: parent, CHILD: child}))

    [transcript] = gathered.transcripts
    assert transcript.parent == Parent(
        external_id=SESSION, relation=Relation.SUBAGENT, call_id=call_id
    )
    assert gathered.members == {transcript.member}
    assert CHILD in transcript.member
    assert spoken(list(transcript.items)) == [("user", "Look.")]


def test_rollouts_without_a_call_in_the_folder_are_left_alone() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    called = event("sub_agent_activity", agent_thread_id=CHILD, event_id="c8")
    silent = as_file(meta(id=CHILD, source=spawn))
    child = silent + as_file(said("user", "Hi"))
    broken = b"{\n" * 6

    for files in (
        {CHILD: child},
        {SESSION: as_file(meta(), said("user", "Hi")), CHILD: child},
        {SESSION: as_file(meta(), called), CHILD: silent},
        {SESSION: broken, CHILD: as_file(meta(id=CHILD, forked_from_id=SESSION))},
    ):
        assert codex_folder.gather(folder(files)) == []


# Compactions


def test_a_compaction_replaces_all_but_the_instructions() -> None:
    png = {"type": "input_image", "image_url": "data:image/png;base64,UE5H"}
    history = [
        {"type": "message", "role": "user", "content": [png], "id": "m1"},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "message", "role": "critic", "content": []},
        {"type": "ghost_snapshot"},
        {"type": "message", "role": "assistant", "content": "Summary."},
    ]
    compacted = record("compacted", {"message": "", "replacement_history": history})
    transcript, items = read(*rollout(), compacted, said("user", "On."))
    [found] = [one for one in items if isinstance(one, Compaction)]

    assert found.replaces == tuple(range(1, 8))
    assert [(str(m.role), m.parts) for m in found.messages] == [
        ("user", (Image("image/png", data=b"PNG"),)),
        ("assistant", (Opaque("compaction", history[1]),)),
        ("assistant", (Text("Summary."),)),
    ]
    assert found.messages[0].source_id == "m1"
    assert all(message.records == (found.record,) for message in found.messages)
    assert [warning.line for warning in transcript.warnings] == [22]
    assert spoken(items)[-1] == ("user", "On.")


def test_an_older_compaction_keeps_what_users_said() -> None:
    compacted = record("compacted", {"message": "They mended it."})
    _, items = read(*rollout(), compacted)
    [found] = [one for one in items if isinstance(one, Compaction)]

    assert [(str(m.role), m.text) for m in found.messages] == [
        ("user", "Why is it dark?"),
        ("user", "They mended it."),
    ]


def test_a_compaction_that_hides_nothing_is_given_as_messages() -> None:
    history = [{"role": "user", "content": "Before."}]
    compacted = record("compacted", {"message": "", "replacement_history": history})
    empty = record("compacted", {"message": "", "replacement_history": []})
    _, items = read(meta(base="Be."), compacted, empty, said("assistant", "Now."))

    assert [text for _, text in spoken(items)] == ["Be.", "Before.", "Now."]
    assert events(items) == ["compacted"]


# Size


def test_an_answer_without_an_end_is_given_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codex_reading, "MAX_HELD", 3)
    _, items = read(*[said("assistant", str(n)) for n in range(10)])
    _, others = read(said("user", "Hi"), *[event("agent_message")] * 10)

    assert [text for _, text in spoken(items)] == [
        "0\n\n1\n\n2\n\n3",
        "4\n\n5\n\n6\n\n7",
        "8\n\n9",
    ]
    assert len(events(others)) == 10


def test_a_rollout_is_known_by_its_records() -> None:
    raw = json.dumps(rollout()[0]).encode()
    odd = json.dumps({"type": ["session_meta"], "payload": {}}).encode()

    assert "codex" not in [candidate.format for candidate in formats.detect(odd)]
    assert formats.detect(raw)[0].format == "codex"
    assert codex.FORMAT.label == "a Codex rollout (JSONL)"


def test_numbers_stay_what_they_are_however_long_and_depth_is_bounded() -> None:
    long = 123456789012345678901234567890
    deep = json.loads("[" * 250 + "]" * 250)
    _, items = read(
        meta(),
        said("user", "Go."),
        item("function_call", name="sum", call_id="c1", arguments={"of": long}),
        item("function_call", name="dig", call_id="c2", arguments=deep),
    )

    assert messages(items)[-1].parts == (ToolCall("c1", "sum", {"of": long}),)
    assert [i.type for i in items if isinstance(i, Event)].count("unreadable") == 1
