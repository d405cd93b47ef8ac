"""ChatGPT's conversations: trees of messages, calls, every kind of content."""

from typing import Any

import pytest

from tests.threads.support.readings import events, messages
from threads.domain.formats.kit.graph import branches
from threads.domain.message import Role
from threads.domain.part import Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Parent, Relation

from .chatgpt_exports import GREEN, HI, conversation, line, only, read, say, tree


def test_the_way_to_the_current_node_is_the_conversation() -> None:
    mapping = tree(
        ("root", None, None), ("s", "root", say("system", "")), ("q", "s", HI)
    ) | tree(("a", "q", GREEN))
    [transcript] = read(conversation(mapping))
    question, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("chatgpt", "Tea")
    assert (transcript.external_id, transcript.model) == ("c1", "m-1")
    assert transcript.parent is None
    assert events(transcript) == ["node", "system/text"]
    assert (question.role, question.text) == (Role.USER, "Which tea?")
    assert (answer.role, answer.model, answer.source_id) == ("assistant", "m-1", "a")
    assert answer.created_at is not None and answer.created_at.microsecond == 500_000


def test_a_regenerated_answer_is_a_branch_with_a_stable_id() -> None:
    mapping = tree(
        *(("q", None, HI), ("a", "q", say("assistant", "Black."))),
        *(("b", "q", GREEN), ("c", "b", HI), ("d", "b", say("user", "Why?"))),
    )
    first, second, third = read(conversation(mapping, current_node="c"))

    assert [m.source_id for m in messages(first)] == ["q", "b", "c"]
    assert [m.source_id for m in messages(second)] == ["q", "a"]
    assert [m.source_id for m in messages(third)] == ["q", "b", "d"]
    assert (second.title, second.external_id) == ("Tea (branch 1)", "c1/a")
    assert second.parent == Parent(external_id="c1", relation=Relation.BRANCH, at=1)
    assert third.parent == Parent(external_id="c1", relation=Relation.BRANCH, at=2)


def test_a_branch_that_says_nothing_is_left_over_as_events() -> None:
    mapping = tree(("q", None, HI), ("a", "q", GREEN), ("x", "q", say("system", "")))
    [transcript] = read(conversation(mapping, current_node="a"))

    assert events(transcript) == ["branch/system/text"]


def test_the_report_says_how_many_branches_are_no_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(branches, "MAX_BRANCHES", 1)
    answers = [(id_, "q", say("assistant", id_)) for id_ in ("a", "b", "c", "d")]
    mapping = tree(("q", None, say("user", "Hi")), *answers, ("e", "q", None))

    thread, branch = read(conversation(mapping, current_node="a"))

    assert [messages(one)[-1].text for one in (thread, branch)] == ["a", "b"]
    (left,) = thread.warnings
    assert left.code == "branches_left" and "2 more" in left.message
    assert branch.warnings == []


def test_a_branch_of_what_is_left_over_hangs_on_the_one_before() -> None:
    mapping = tree(
        *(("x", None, say("system", "")), ("q", "x", HI), ("a", "x", GREEN)),
        ("e", None, say("system", "")),
    )
    first, second = read(conversation(mapping, current_node="e"))

    assert [messages(t)[0].source_id for t in (first, second)] == ["q", "a"]
    assert (first.parent, second.external_id) == (None, "c1/a")
    assert events(first)[-1] == "branch/system/text"


@pytest.mark.parametrize("leaf", [None, "gone"])
def test_without_a_current_node_the_latest_message_counts(leaf: str | None) -> None:
    late = say("assistant", "Late.", create_time=1_800_000_000)
    mapping = tree(("q", None, HI), ("a", "q", late), ("b", "q", GREEN))
    first, second = read(conversation(mapping, current_node=leaf))

    assert [messages(t)[-1].text for t in (first, second)] == ["Late.", "Green."]


def test_a_call_is_named_by_its_node_and_answered_by_its_tool() -> None:
    said = only(
        HI,
        say("assistant", kind="code", content={"text": "1 + 1"}, recipient="python"),
        say("assistant", '{"name": "x"}', recipient="canmore.create_textdoc"),
        say("tool", kind="execution_output", content={"text": "2"}, author="python"),
        say("tool", "made", author="canmore.create_textdoc"),
        say("tool", "again", author="canmore.create_textdoc"),
        say("tool", "more", author="bio"),
        GREEN,
    )

    assert said[1].parts == (ToolCall("n1", "python", "1 + 1"),)
    assert said[2].parts == (ToolCall("n2", "canmore.create_textdoc", {"name": "x"}),)
    assert said[3].parts == (ToolResult("n1", (Text("2"),), "python"),)
    assert said[4].parts == (
        ToolResult("n2", (Text("made"), Text("again")), "canmore.create_textdoc"),
    )
    assert (len(said[4].records), said[4].role, said[4].name) == (2, "tool", None)
    assert said[5].parts == (ToolResult("n6", (Text("more"),), "bio"),)


def test_a_result_of_another_name_answers_the_open_call() -> None:
    said = only(
        *(HI, say("assistant", "x", recipient="web")),
        *(say("tool", "page", author="web.run"), HI),
        say("tool", "stray", author="web"),
    )

    assert said[2].parts == (ToolResult("n1", (Text("page"),), "web.run"),)
    assert said[4].parts == (ToolResult("n4", (Text("stray"),), "web"),)


def test_a_call_that_a_user_spoke_over_is_not_answered_later() -> None:
    said = only(
        HI, say("assistant", "x", recipient="web"), HI, say("tool", "y", author="web")
    )

    assert said[-1].parts == (ToolResult("n3", (Text("y"),), "web"),)


def test_an_error_of_a_tool_is_one() -> None:
    run = {"aggregate_result": {"status": "failed_with_in_kernel_exception"}}
    error = {"name": "tool_error", "text": "No such page."}
    said = only(
        say("tool", kind="execution_output", content={"text": "Oops"}, metadata=run),
        say("tool", kind="system_error", content=error, author="browser"),
    )

    assert said[0].parts == (ToolResult("n0", (Text("Oops"),), None, True),)
    assert said[1].parts == (
        ToolResult("n1", (Text("tool_error: No such page."),), "browser", True),
    )


THOUGHTS = [
    {"summary": "Weigh", "content": "Green or black."},
    {},
    {"content": "Green."},
]
CONTENTS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    (
        {"content_type": "thoughts", "thoughts": THOUGHTS},
        (Thinking("Weigh\n\nGreen or black."), Thinking("Green.")),
    ),
    ({"content_type": "code", "text": "x = 1"}, (Text("x = 1"),)),
    (
        {
            "content_type": "tether_quote",
            "title": "T",
            "url": "https://a.example",
            "text": "w",
        },
        (Text("T\nhttps://a.example\nw"),),
    ),
    (
        {"content_type": "tether_browsing_display", "result": "r", "summary": None},
        (Text("r"),),
    ),
    (
        {
            "content_type": "user_editable_context",
            "user_profile": "P",
            "user_instructions": "I",
        },
        (Text("P"), Text("I")),
    ),
    (
        {"content_type": "model_editable_context", "model_set_context": "M"},
        (Text("M"),),
    ),
    (
        {
            "content_type": "computer_output",
            "screenshot": {"asset_pointer": "sediment://file_1"},
        },
        (Opaque("image_asset_pointer", {"asset_pointer": "sediment://file_1"}),),
    ),
    (
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "audio_transcription", "text": "Said."},
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "file-service://file-1",
                },
                {"text": "Plain."},
                3,
                "Written.",
            ],
        },
        (
            Text("Said."),
            Opaque(
                "image_asset_pointer",
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "file-service://file-1",
                },
            ),
            Text("Plain."),
            Opaque("part", 3),
            Text("Written."),
        ),
    ),
    ({"content_type": "app_pairing_content", "workspaces": [1]}, ()),
]


@pytest.mark.parametrize(("content", "parts"), CONTENTS)
def test_every_kind_of_content_is_read(
    content: dict[str, Any], parts: tuple[Any, ...]
) -> None:
    [message] = only(say("assistant", content=content))

    assert message.parts == (parts or (Opaque("app_pairing_content", content),))


def test_what_no_model_reads_is_an_event() -> None:
    recap = {"content_type": "reasoning_recap", "content": "Thought for 3s"}
    [transcript] = read(conversation(line(HI, say("assistant", content=recap))))

    assert events(transcript) == ["assistant/reasoning_recap"]


def test_settings_of_the_user_are_words_of_their_message() -> None:
    said = {"about_user_message": "I brew.", "about_model_message": "Be short."}
    [message] = only(say("user", "", metadata={"user_context_message_data": said}))

    assert message.parts == (Text("I brew."), Text("Be short."))


def test_citations_read_as_the_page_shows_them() -> None:
    mark, other = (
        "\ue200cite\ue202turn0search1\ue201",
        "\ue200cite\ue202turn0search2\ue201",
    )
    references = [
        {"matched_text": mark, "alt": "([Tea](https://tea.example))"},
        {"alt": 3},
    ]
    [message] = only(
        say(
            "assistant",
            f"Green{mark}.{other}",
            metadata={"content_references": references},
        )
    )

    assert message.text == f"Green([Tea](https://tea.example)).{other}"


def test_a_message_that_breaks_off_is_partial() -> None:
    [message] = only(say("assistant", "Gr", status="in_progress", author="helper"))

    assert (message.partial, message.name) == (True, "helper")
