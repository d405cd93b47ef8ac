"""Around compiling for a provider: which results are missing, and what it does to tokens.

A provider wants a result for each call, so that a short one says what left out the true one.

The last step is counted on the request's own texts. A request frames summaries, bridges gaps
and leaves out what its provider refuses, so that it holds other texts than the messages it is
made of. What stays as it is keeps its count.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from operations.domain.providers import PROVIDERS
from operations.domain.providers.passes.reading import bare
from operations.domain.providers.request import (
    Compiled,
    Issue,
    Layer,
    LeftOutResult,
    Outgoing,
)
from operations.domain.providers.turns import GAP, MADE
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.tokens import words

from .assembly import Assembly
from .step import Count, Omission, Step

NAME = "compile"
NEAR = 16
"""How many originals behind that of a call may hold its result."""


def unanswered(messages: Iterable[Outgoing]) -> dict[str, int]:
    """The ids of calls whose results are not among the messages, with the calls' originals."""
    calls: dict[str, int] = {}
    answered: set[str] = set()
    for message in messages:
        if message.index is not None:
            calls.update(dict.fromkeys(message.call_ids, message.index))
        answered.update(message.result_ids)
    return {id_: index for id_, index in calls.items() if id_ not in answered}


def keys_near(thread: Thread, calls: Mapping[str, int]) -> list[Key]:
    """The originals in which the results of calls may be, in the thread's order of indexes."""
    end = len(thread.leaves)
    near = {
        place
        for index in calls.values()
        for place in range(index + 1, min(index + 1 + NEAR, end))
    }
    return [original_key(place) for place in sorted(near)]


def left_out_results(
    thread: Thread,
    steps: Sequence[Step],
    calls: Mapping[str, int],
    answers: Mapping[Key, Iterable[str]],
) -> dict[str, LeftOutResult]:
    """By call, the message that holds its result and what left it out (`Draft.left_out`).

    `answers` are the calls that the messages of `keys_near` answer; one that none of them does is
    not named.
    """
    found: dict[str, LeftOutResult] = {}
    for key, ids in answers.items():
        for id_ in ids:
            if id_ in calls and (by := _left_out_by(thread, steps, key)) is not None:
                tokens = thread.leaves[original_index(key) or 0].tokens
                found.setdefault(id_, LeftOutResult(key, by, tokens))
    return found


def _left_out_by(thread: Thread, steps: Sequence[Step], key: Key) -> str | None:
    """The outermost fold that holds an original, else the step that left it out."""
    if around := thread.path(key):
        return around[0]
    for step in steps:
        if any(omission.key == key for omission in step.left_out):
            return step.name
    return None


class Compiling(NamedTuple):
    """What came of compiling."""

    step: Step
    messages: list[Outgoing]
    """The messages with the tokens that the request has of each; 0 where it has none."""


def compiling(assembly: Assembly, compiled: Compiled, count: Count) -> Compiling:
    """The step from an assembly to its request: what was left out of which message, and added.

    Reasoning that isn't sent counts as left out even where a message is framed and grows, for it
    is what most often goes unseen. Else a message counts by the difference.
    """
    compared = compare(assembly.messages, compiled, count)
    added = compared.added + framing(assembly.layers, compiled.prompt, count)
    left_out = omissions(compared.lost, compiled.issues)
    after = assembly.sent + added - sum(omission.tokens for omission in left_out)
    step = Step(
        name=NAME,
        before=assembly.sent,
        after=after,
        added=added,
        left_out=tuple(left_out),
    )
    return Compiling(step, compared.messages)


class Compared(NamedTuple):
    """What compiling did to the tokens of messages."""

    added: int
    lost: list[tuple[Key, int]]
    """What has less now, and how much."""
    messages: list[Outgoing]
    """As `Compiling.messages`."""


def framing(layers: Sequence[Layer], prompt: str, count: Count) -> int:
    """What the prompt as it is written has more than the layers it is made of."""
    if not layers and not prompt:
        return 0
    return count((Text(prompt),)) - sum(layer.tokens for layer in layers)


def omissions(
    lost: Iterable[tuple[Key, int]], issues: Sequence[Issue]
) -> list[Omission]:
    """What messages lost, with the rule that a message doesn't keep and what was done, in words."""
    rules = {
        key: f"{issue.rule}: {issue.repair or issue.detail}"
        for issue in reversed(issues)
        for key in issue.keys
    }
    return [
        Omission(key, less, rules.get(key, "It is not sent.")) for key, less in lost
    ]


def compare(messages: Sequence[Outgoing], compiled: Compiled, count: Count) -> Compared:
    """What compiling did to the tokens of messages, one by one."""
    written, made = _written(compiled)
    lost_of: list[tuple[Key, int]] = []
    now_of: list[Outgoing] = []
    added = _joins(compiled, count) + (count(made) if made else 0)
    for place, message in enumerate(messages):
        parts = written.get(place, ())
        if _says_the_same(message.parts, parts):
            now_of.append(message)
            continue
        thoughts = [part for part in message.parts if isinstance(part, Thinking)]
        lost = [part for part in thoughts if part not in parts]
        reasoning = count(lost) if lost and parts else 0
        now = _counted(message, parts, count) if parts else 0
        change = now - (message.tokens - reasoning)
        if lost or change < 0 or not parts:
            lost_of.append((message.key, reasoning + max(0, -change)))
        added += max(0, change)
        now_of.append(message._replace(tokens=now))
    return Compared(added, lost_of, now_of)


def as_given(message: Outgoing, provider: str, count: Count) -> int:
    """The tokens of a message in a provider's form, with nothing repaired in it.

    Its own count is of the texts in which it came, and some forms hold arguments as an object.
    """
    if PROVIDERS[provider].rules.written_arguments:
        return message.tokens
    calls = [one for one in message.parts if isinstance(one, ToolCall) and one.text]
    return message.tokens - count(calls) + count(list(map(bare, calls)))


def _written(compiled: Compiled) -> tuple[Mapping[int, Sequence[Part]], list[Part]]:
    """What is written of each message, by its place; and what the compiler put in."""
    written: dict[int, list[Part]] = defaultdict(list)
    made: list[Part] = []
    for turn in compiled.turns:
        for piece in turn.pieces:
            (made if piece.place == MADE else written[piece.place]).append(piece.part)
    return written, made


def _joins(compiled: Compiled, count: Count) -> int:
    """What texts have more as one than each by itself: the blank lines between them."""
    more = 0
    for turn in compiled.turns:
        for kind in turn.joined:
            texts = turn.texts(kind)
            if len(texts) > 1:
                more += count((Text(GAP.join(texts)),)) - count(list(map(Text, texts)))
    return more


def _says_the_same(recorded: Sequence[Part], written: Sequence[Part]) -> bool:
    """Whether the same is counted of both: other ids and roles make no difference."""
    if len(recorded) != len(written):
        return False
    for one, other in zip(recorded, written, strict=True):
        if one is other:
            continue
        # A result that gets its tool's name is the commonest case by far.
        if type(one) is ToolResult is type(other) and one.content is other.content:
            continue
        if words((one,)) != words((other,)):
            return False
    return True


def _counted(message: Outgoing, written: Sequence[Part], count: Count) -> int:
    """The tokens of what is written of a message: of what is beside all of its parts, counted."""
    own = set(map(id, message.parts))
    beside = [part for part in written if id(part) not in own]
    if len(written) - len(beside) == len(message.parts):
        return message.tokens + count(beside)
    return count(written)
