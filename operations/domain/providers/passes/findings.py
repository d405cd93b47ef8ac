"""What compilers find: each with the rule it is of, how grave it is, and what is done.

`docs/providers.md` lists the rules. A finding is reported once for a request, with the keys of
all messages in which it was found, so that a long thread gives a short list.
"""

from collections.abc import Collection
from dataclasses import dataclass

from operations.domain.providers.request import Issue, Severity
from operations.domain.tree.key import Key


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of issue. `detail` is one sentence in which `{count}` is how many messages."""

    rule: str
    severity: Severity
    detail: str
    repair: str = ""


def _repaired(rule: str, detail: str, repair: str) -> Finding:
    return Finding(rule, Severity.REPAIRED, detail, repair)


def _note(rule: str, detail: str, repair: str = "") -> Finding:
    return Finding(rule, Severity.NOTE, detail, repair)


LONE_RESULT = _repaired(
    "R1",
    "Results whose call is not in the context stand in {count} messages.",
    "They are not sent.",
)
UNANSWERED = _repaired(
    "R1",
    "Calls whose result is not in the context stand in {count} messages.",
    "A short result in its place says that, and how to recall it.",
)
APART = _repaired(
    "R1",
    "Results that don't stand directly behind their calls are in {count} messages.",
    "They are sent directly behind the calls.",
)
ID = _repaired(
    "R2",
    "Calls with an id that this provider doesn't take, or that is taken, are in"
    " {count} messages.",
    "The call and its result are given the same new id.",
)
NAME = _repaired(
    "R2",
    "Tools with a name that this provider doesn't take are called in {count} messages.",
    "What may not stand in a name is replaced by an underscore.",
)
IN_A_ROW = _repaired(
    "R3",
    "Messages of one speaker follow one another: {count}.",
    "They are sent as one message.",
)
MERGED = _note(
    "R3",
    "Messages of one speaker follow one another: {count}.",
    "They are sent as one message, as which the provider reads them anyway.",
)
BRIDGE = _repaired(
    "R3",
    "A user's message stands directly behind results: {count}.",
    "A short answer of the assistant stands between them.",
)
LAST = _repaired(
    "R3",
    "The last message is the assistant's.",
    "A user's message behind it says that the conversation stands there.",
)
FIRST = _repaired(
    "R4",
    "The first message is not a user's.",
    "A user's message before it says that the conversation follows.",
)
NOTHING = _repaired(
    "R4",
    "There is no message to send.",
    "A user's message says that the conversation follows.",
)
EMPTY = _repaired(
    "R4", "Messages in which nothing stands: {count}.", "They are not sent."
)
SYSTEM_INSIDE = _repaired(
    "R5",
    "Messages of the system stand among the others: {count}.",
    "They are sent as a user's, in a frame that says what they are.",
)
FOREIGN_REASONING = _note(
    "R6",
    "Reasoning that this provider can't read, or whose seal is missing, is in {count}"
    " messages.",
    "It is not sent.",
)
LAST_REASONING = _repaired(
    "R6",
    "Reasoning after which nothing is said stands in {count} messages.",
    "It is not sent, for the provider refuses it.",
)
ACTIVE_REASONING = _note(
    "R6",
    "The answer in progress goes on without its reasoning.",
    "The request doesn't switch reasoning on; one that does is refused for this answer.",
)
BROKEN_SEAL = _repaired(
    "R7",
    "Sealed reasoning behind the first change, where its seal no longer holds, is in"
    " {count} messages.",
    "From the first change on, no sealed reasoning is sent.",
)
MADE_REASONING = _repaired(
    "R9",
    "Raw reasoning stands in messages that aren't a model's own answers: {count}.",
    "The reasoning is not sent.",
)
LONE_REASONING = _repaired(
    "R10",
    "Reasoning that its item doesn't follow stands in {count} messages.",
    "It is not sent, and neither are the ids of items.",
)
COMPACTION = _note(
    "R11",
    "A compaction that only the provider can read stands in {count} messages.",
    "It is sent whole: operations on what stands before it don't change what it holds.",
)
UNSIGNED_CALL = _repaired(
    "R12",
    "Calls of the turn in progress have no seal of this provider: {count} messages.",
    "They are sent with the value by which the provider leaves its check out.",
)
NO_REASONING = _repaired(
    "R13",
    "Answers without the reasoning that thinking mode asks for: {count}.",
    "A placeholder stands in its place.",
)
NO_TOOLS = _repaired(
    "R14",
    "Tools are called of which no definition is known, in {count} messages.",
    "A definition with the name alone is sent.",
)
CALL_FIRST = _repaired(
    "R14",
    "Text behind a call stands in {count} messages.",
    "The text is sent before the calls.",
)
DESCRIBED = _repaired(
    "R15",
    "Images, files or blocks that this provider doesn't take there are in {count}"
    " messages.",
    "A line of text says what stood there.",
)
SPLIT_BLOCK = _repaired(
    "R15",
    "Of a tool that the provider ran itself only one half is there: {count} messages.",
    "A line of text says what stood there.",
)
MOVED_MEDIA = _repaired(
    "R15",
    "Images or files in results, where only text may stand, are in {count} messages.",
    "They are sent in a user's message behind the results.",
)
ARGUMENTS = _repaired(
    "R16",
    "Calls whose arguments are no JSON object are in {count} messages.",
    "The arguments are sent as one member of an object.",
)
SPEAKER = _note(
    "R16",
    "Names of speakers that this provider doesn't take are in {count} messages.",
    "The names are not sent.",
)
SURROGATE = _repaired(
    "R16",
    "Characters that no JSON in UTF-8 can hold are in {count} messages.",
    "Each is replaced by U+FFFD.",
)
SUMMARY = _note(
    "R19",
    "Summaries of earlier messages: {count}.",
    "They are framed as a record, so that nothing in them reads as a request.",
)


class Findings:
    """What was found in one draft, and in which of its messages."""

    def __init__(self) -> None:
        self._found: dict[Finding, dict[int, Key]] = {}

    def add(self, finding: Finding, place: int = -1, key: Key | None = None) -> None:
        """One more place, in the order of the draft's messages; a repeat counts once."""
        keys = self._found.setdefault(finding, {})
        if key is not None:
            keys[place] = key

    def places(self, finding: Finding) -> Collection[int]:
        """The places of the messages in which something was found."""
        return self._found.get(finding, {}).keys()

    def issues(self) -> tuple[Issue, ...]:
        """All findings, by the first message in which each was found."""
        first = {
            finding: min(keys, default=-1) for finding, keys in self._found.items()
        }
        return tuple(
            _issue(finding, self._found[finding])
            for finding in sorted(first, key=lambda finding: first[finding])
        )


def _issue(finding: Finding, keys: dict[int, Key]) -> Issue:
    named = tuple(dict.fromkeys(keys[place] for place in sorted(keys)))
    detail = finding.detail.format(count=f"{len(named):,}")
    if len(named) == 1:
        detail = detail.replace("1 messages", "1 message")
    return Issue(finding.rule, finding.severity, named, detail, finding.repair)
