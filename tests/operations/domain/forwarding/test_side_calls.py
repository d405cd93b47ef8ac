"""Which requests are not of the conversation that they were sent with."""

import pytest

from operations.domain.forwarding.plan import plan
from operations.domain.forwarding.side_calls import (
    holds_reply,
    is_side_call,
    quotes_reply,
)
from threads.domain.message import Message, Role
from threads.domain.part import Text

from .test_plan import Talk, says

PROMPT = "You keep the timetable of a ferry line, and you answer in one sentence."
SUMMARY = "\n".join(
    f"The sailing of day {day} left the harbour at its time." for day in range(8)
)


def said(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text),))


def asked(talk: Talk, messages: list[Message]):
    """A request, and what it would be as the session's own."""
    sent, units = talk.align(messages)
    roles = [one.role for one in talk.originals]
    return sent, plan(sent, roles, talk.log, units, quotes=False), roles


def talk_of(*messages: Message) -> Talk:
    return Talk(originals=[*messages])


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (SUMMARY, True),
        (f"Go on from this summary:\n{SUMMARY}\nThat was all.", True),
        (SUMMARY.splitlines()[0], False),
        ("Something else altogether, and at some length too.", False),
    ],
)
def test_a_request_quotes_a_reply_that_it_tells_at_length(
    text: str, quoted: bool
) -> None:
    reply = SUMMARY
    assert quotes_reply([said(Role.USER, text)], ["", reply]) is quoted


def test_what_the_assistant_says_of_a_reply_is_no_quotation() -> None:
    assert not quotes_reply([said(Role.ASSISTANT, SUMMARY)], [SUMMARY])


def test_nothing_is_a_side_call_before_anything_was_said() -> None:
    talk = talk_of(said(Role.SYSTEM, PROMPT))
    sent, made, roles = asked(talk, [says("u1")])
    assert not is_side_call(sent, made, roles, [talk.originals])


def test_a_request_that_shares_no_message_is_a_side_call() -> None:
    talk = talk_of(said(Role.SYSTEM, PROMPT), says("u1"), says("a1"))
    messages = [said(Role.SYSTEM, PROMPT), says("u7")]
    sent, made, roles = asked(talk, messages)
    assert is_side_call(sent, made, roles, [talk.originals[:1]])
    assert not holds_reply(sent, made, len(roles))


def test_a_request_that_holds_a_reply_is_of_the_conversation() -> None:
    talk = talk_of(said(Role.SYSTEM, PROMPT), says("u1"), says("a1"))
    sent, made, roles = asked(talk, [says("u1"), says("a1"), says("u2")])
    assert not is_side_call(sent, made, roles, [talk.originals[:1]])
    assert holds_reply(sent, made, len(roles))


@pytest.mark.parametrize(
    ("prompt", "side"),
    [
        ("Write a title of at most five words for what the user asks.", True),
        (f"{PROMPT}\nToday is Monday, and the sea is calm between the isles.", False),
        ("Short.", False),
    ],
)
def test_the_same_question_under_another_prompt_is_a_side_call(
    prompt: str, side: bool
) -> None:
    talk = talk_of(said(Role.SYSTEM, PROMPT), says("u1"), says("a1"))
    sent, made, roles = asked(talk, [said(Role.SYSTEM, prompt), says("u1")])
    assert is_side_call(sent, made, roles, [talk.originals[:1]]) is side


NOTE = said(Role.USER, "<environment_context>\n<cwd>/x</cwd>\n</environment_context>")
REMARK = said(Role.ASSISTANT, "Got it. Thanks for the context!")


@pytest.mark.parametrize(
    ("opening", "is_told"),
    [
        ([NOTE], True),
        ([NOTE, REMARK], True),
        ([NOTE, REMARK, says("u1"), says("a1")], False),
        ([NOTE, says("u1")], False),
        ([says("u1"), says("a1")], False),
    ],
)
def test_a_clients_notes_and_its_remark_on_them_are_of_no_conversation(
    opening: list[Message], is_told: bool
) -> None:
    prompt = said(Role.SYSTEM, PROMPT)
    talk = talk_of(prompt, NOTE, REMARK, says("u1"), says("a1"))
    sent, made, roles = asked(talk, [prompt, *opening, says("u7")])
    assert is_side_call(sent, made, roles, [talk.originals[:1]]) is is_told
    assert holds_reply(sent, made, len(roles)) is (says("a1") in opening)


def test_a_request_of_notes_alone_is_told_by_them() -> None:
    prompt = said(Role.SYSTEM, PROMPT)
    talk = talk_of(prompt, NOTE, REMARK)
    sent, made, roles = asked(talk, [prompt, NOTE])
    assert not is_side_call(sent, made, roles, [talk.originals[:1]])
