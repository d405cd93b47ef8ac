"""The kinds of issues that compilers find, with their rule, severity and repair.

`docs/providers.md` lists the rules.
"""

from dataclasses import dataclass

from operations.domain.providers.request import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of issue. `detail` is one sentence, in which `{count}` is the number of messages."""

    rule: str
    severity: Severity
    detail: str
    repair: str = ""
    is_own: bool = False
    """See `Issue.is_own`."""


def _repaired(rule: str, detail: str, repair: str, *, is_own: bool = False) -> Finding:
    return Finding(rule, Severity.REPAIRED, detail, repair, is_own)


def _note(rule: str, detail: str, repair: str = "", *, is_own: bool = False) -> Finding:
    return Finding(rule, Severity.NOTE, detail, repair, is_own)


LONE_RESULT = _repaired(
    "R1",
    "Tool results without a call in the context, in {count} messages.",
    "They are not sent.",
)
UNANSWERED = _repaired(
    "R1",
    "Tool calls without a result in the context, in {count} messages.",
    "A short stand-in says so, and what left out the result.",
)
APART = _repaired(
    "R1",
    "Tool results not directly after their calls, in {count} messages.",
    "They are sent directly after the calls.",
)
ID = _repaired(
    "R2",
    "Call ids that repeat or that this provider rejects, in {count} messages.",
    "Each call and its result get the same new id.",
)
NAME = _repaired(
    "R2",
    "Tool names that this provider rejects, in {count} messages.",
    "Invalid characters are replaced by underscores.",
    is_own=True,
)
IN_A_ROW = _repaired(
    "R3",
    "{count} pairs of messages of the same role, sent as one.",
    "The provider expects the roles to take turns.",
)
MERGED = _note(
    "R3",
    "{count} pairs of messages of the same role, sent as one.",
    "The provider reads them as one anyway.",
)
BRIDGE = _repaired(
    "R3",
    "User messages directly after tool results: {count}.",
    "A short assistant message is added between them.",
)
LAST = _repaired(
    "R3",
    "The last message is from the assistant.",
    "A user message is added, saying that the conversation stands there.",
)
FIRST = _repaired(
    "R4",
    "The first message is not from the user.",
    "A user message is added, saying that the conversation follows.",
)
NOTHING = _repaired(
    "R4",
    "There are no messages to send.",
    "A user message is added, saying that the conversation follows.",
)
EMPTY = _repaired("R4", "Empty messages: {count}.", "They are not sent.")
SYSTEM_INSIDE = _repaired(
    "R5",
    "System messages among the others: {count}.",
    "They are sent as user messages, framed to say what they are.",
    is_own=True,
)
FOREIGN_REASONING = _note(
    "R6",
    "Thinking that is unsigned or that this provider can't read, in {count} messages.",
    "The thinking is not sent.",
    is_own=True,
)
LAST_REASONING = _repaired(
    "R6",
    "Thinking with nothing after it, in {count} messages.",
    "The thinking is not sent, because the provider rejects it.",
)
ACTIVE_REASONING = _note(
    "R6",
    "The last step of the answer in progress lost its thinking.",
    "If the answer no longer begins with thinking, the request leaves it off: the provider would "
    "reject it.",
)
BROKEN_SIGNATURE = _repaired(
    "R7",
    "Signed thinking in {count} messages that would now follow other text than it did.",
    "It is not sent: the provider would reject it.",
)
MADE_REASONING = _repaired(
    "R9",
    "Raw thinking in messages that are not a model's own answers: {count}.",
    "The thinking is not sent.",
)
LONE_REASONING = _repaired(
    "R10",
    "Reasoning without the item that follows it, in {count} messages.",
    "It is not sent, and neither are item ids.",
)
COMPACTION = _note(
    "R11",
    "Compactions that only the provider can read, in {count} messages.",
    "They are sent whole; operations on earlier messages don't change what they hold.",
)
UNSIGNED_CALL = _repaired(
    "R12",
    "Calls in the current turn without this provider's signature, in {count} messages.",
    "They are sent with the value that makes the provider skip its check.",
)
NO_REASONING = _repaired(
    "R13",
    "Answers without the thinking that thinking mode requires: {count}.",
    "A placeholder is sent instead.",
)
NO_TOOLS = _repaired(
    "R14",
    "Calls to tools without a known definition, in {count} messages.",
    "A definition with only the name is sent.",
)
CALL_FIRST = _repaired(
    "R14",
    "Text after a tool call, in {count} messages.",
    "The text is sent before the calls.",
)
DESCRIBED = _repaired(
    "R15",
    "Images, files or blocks that this provider doesn't accept there, in {count}"
    " messages.",
    "A line of text describes each.",
    is_own=True,
)
SPLIT_BLOCK = _repaired(
    "R15",
    "Only half of a tool run by the provider itself, in {count} messages.",
    "A line of text describes it.",
)
MOVED_MEDIA = _repaired(
    "R15",
    "Images or files in results that may hold only text, in {count} messages.",
    "They are sent in a user message after the results.",
    is_own=True,
)
ARGUMENTS = _repaired(
    "R16",
    "Calls whose arguments are not a JSON object, in {count} messages.",
    "The arguments are wrapped in an object.",
    is_own=True,
)
SPEAKER = _note(
    "R16",
    "Speaker names that this provider rejects, in {count} messages.",
    "The names are not sent.",
    is_own=True,
)
SURROGATE = _repaired(
    "R16",
    "Characters that JSON in UTF-8 can't hold, in {count} messages.",
    "Each is replaced by U+FFFD.",
    is_own=True,
)
SUMMARY = _note(
    "R19",
    "Summaries of earlier messages: {count}.",
    "They are framed as a record, so that nothing in them reads as a request.",
)
