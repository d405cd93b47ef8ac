"""Results of a client that gives calls ids of its own name the calls as they are held."""

from collections.abc import Sequence

from operations.domain.forwarding.alignment import GivenMessages
from operations.domain.forwarding.call_ids import with_held_ids, with_renamed_results
from operations.domain.forwarding.finding import find_units
from operations.domain.forwarding.plan import extension
from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolCall, ToolResult

from .sending import Conversation, digest_of

ASKED = Message(role=Role.USER, parts=(Text("Which files?"),))


def calls(*ids: str) -> Message:
    parts = tuple(ToolCall(id_, "look", {}) for id_ in ids)
    return Message(role=Role.ASSISTANT, parts=parts)


def results(*ids: str) -> Message:
    parts = tuple(ToolResult(id_, (Text(id_),), "look") for id_ in ids)
    return Message(role=Role.TOOL, parts=parts)


def answered(held: Sequence[Message], sent: Sequence[Message]) -> list[str]:
    """The ids that the results of the last message name, Gemini's client having sent it."""
    session = Conversation(held)
    given = GivenMessages(sent, lambda place: digest_of(sent[place]))
    units = find_units(given, session, formats.REQUESTS["gemini"], session.heading)
    found = with_held_ids(given, session, units)
    assert found.messages[: len(held)] == list(sent[: len(held)])
    parts = found.messages[-1].parts
    return [part.call_id for part in parts if isinstance(part, ToolResult)]


def test_a_result_names_the_call_as_it_is_held() -> None:
    held = [ASKED, calls("h1", "h2")]
    assert answered(held, [ASKED, calls("c1", "c2"), results("c2", "c1")]) == [
        *("h2", "h1"),
    ]


def test_only_results_are_renamed() -> None:
    said = Message(role=Role.USER, parts=(Text("c1"), *results("c1", "c9").parts))
    assert answered([ASKED, calls("h1")], [ASKED, calls("c1"), said]) == ["h1", "c9"]


def test_ids_that_are_the_same_stay() -> None:
    held = [ASKED, calls("h1")]
    assert answered(held, [ASKED, calls("h1"), results("h1")]) == ["h1"]


def test_a_result_of_an_earlier_call_names_that() -> None:
    held = [ASKED, calls("h1"), ASKED, calls("h2"), ASKED]
    sent = [ASKED, calls("c1"), ASKED, calls("c2"), ASKED, results("c1")]
    assert answered(held, sent) == ["h1"]


def test_a_result_of_no_call_stays_as_it_is() -> None:
    assert answered([ASKED], [ASKED, results("c1")]) == ["c1"]


def test_only_what_was_renamed_goes_out_under_the_names_that_are_held() -> None:
    held = [ASKED, calls("h1")]
    sent = [ASKED, calls("c1"), results("c1"), ASKED, results("c9")]
    session = Conversation(held)
    given = GivenMessages(sent, lambda place: digest_of(sent[place]))
    units = find_units(given, session, formats.REQUESTS["gemini"], session.heading)
    named = with_held_ids(given, session, units)
    plan = with_renamed_results(
        extension(units, held=2, known=2, count=5), given, named
    )
    assert [unit.start for unit in plan.units if not unit.as_given] == [1, 2]


def test_behind_what_was_skipped_the_same_goes_out_so() -> None:
    own = GivenMessages([results("c1"), ASKED], lambda place: b"")
    named = own._replace(messages=[results("h1"), ASKED])
    plan = extension([], held=6, known=6, count=8)
    assert [
        one.as_given for one in with_renamed_results(plan, own, named, 6).units
    ] == [False, True]
    assert with_renamed_results(plan, own, own, 6) is plan
