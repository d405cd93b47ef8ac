"""OpenHands' SDK: events as the model was given them, in a file and in folders."""

from tests.threads.support.readings import compactions, events, messages, parts
from tests.threads.support.transcripts import lines
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

from .events import LS, PROMPT, acted, answered, calls, event, read, said, text


def test_the_sdk_s_events_are_what_the_model_was_given() -> None:
    picture = {"type": "image", "image_urls": ["data:image/png;base64,UE5H"]}
    [found] = read(
        lines(
            PROMPT,
            {
                **said("user", text("Mend."), picture),
                "extended_content": [text("Mind.")],
            },
            acted("c1", "r-1", "I look.", reasoning_content="Hm."),
            event("ConversationStateUpdateEvent"),
            acted("c2", "r-1"),
            answered("c1", "lamp.py"),
            answered("c2", "no", is_error=True),
            event("AgentErrorEvent", tool_call_id="c3", error="Broken."),
            event("UserRejectObservation", tool_call_id="c4", rejection_reason="No."),
            event("PauseEvent"),
            event("CondensationSummaryEvent", summary="So far."),
            event("CondensationSummaryEvent", summary=""),
            said("assistant", text("Done."), tool_calls=calls("c5")),
        )
    )

    assert parts(found) == [
        (Text("Be brief."), Text("Here.")),
        (Text("Mend."), Image("image/png", data=b"PNG"), Text("Mind.")),
        (
            Thinking("Hm."),
            Text("I look."),
            ToolCall("c1", "terminal", LS),
            ToolCall("c2", "terminal", LS),
        ),
        (ToolResult("c1", (Text("lamp.py"),), "terminal"),),
        (ToolResult("c2", (Text("no"),), "terminal", True),),
        (ToolResult("c3", (Text("Broken."),), None, True),),
        (ToolResult("c4", (Text("Action rejected: No."),), None, True),),
        (Text("So far."),),
        (Text("Done."), ToolCall("c5", "bash", {})),
    ]
    assert [len(message.records) for message in messages(found)][2] == 2
    assert events(found) == [
        "ConversationStateUpdateEvent",
        "PauseEvent",
        "CondensationSummaryEvent",
    ]


def test_reasoning_is_kept_in_every_form() -> None:
    sealed = {"id": "r", "summary": ["One.", "Two."], "encrypted_content": "e"}
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    [found] = read(
        [
            acted("c1", "r-1", responses_reasoning_item=sealed),
            acted("c2", "r-2", thinking_blocks=[signed], reasoning_content="Hm."),
            {
                **acted("c3", "r-3"),
                "tool_call": None,
                "action": {"kind": "T", "command": "ls"},
            },
        ]
    )

    assert parts(found) == [
        (
            Thinking("One.\n\nTwo."),
            Thinking("", data="e"),
            ToolCall("c1", "terminal", LS),
        ),
        (Thinking("Hm.", "s"), ToolCall("c2", "terminal", LS)),
        (ToolCall("c3", "terminal", LS),),
    ]


def test_what_the_sdk_s_condenser_forgot_is_a_compaction() -> None:
    forgotten = ["said-user", "c1", "c2", "gone"]
    [found] = read(
        lines(
            said("user", text("Mend.")),
            acted("c1", "r-1"),
            acted("c2", "r-1"),
            event("Condensation", forgotten_event_ids=forgotten, summary="So far."),
            event("Condensation", forgotten_event_ids=["gone"], summary="Nothing."),
        )
    )
    [compaction] = compactions(found)

    assert (compaction.replaces, compaction.messages[0].text) == ((0, 1), "So far.")
    assert events(found) == ["Condensation"]


def test_an_event_that_cannot_be_read_is_a_warning() -> None:
    broken = event("MessageEvent", llm_message=7)
    [found] = read(lines(PROMPT, broken))

    assert events(found) == ["unreadable"]
    list(found.items)
    assert [warning.line for warning in found.warnings] == [2]
