"""What surrounds compiling: finding missing results, and measuring the effect on tokens.

A provider requires a result for each call, so a missing result gets a short stub that says what
left it out. The tokens of the last step are counted on the request's own texts: a request frames
summaries, bridges gaps and leaves out what its provider refuses, so its texts differ from those
of its messages. Messages that stay as they are keep their count.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from operations.domain.providers import PROVIDERS
from operations.domain.providers.passes.reading import without_argument_text
from operations.domain.providers.request import (
    Compiled,
    Issue,
    Layer,
    LeftOutResult,
    Outgoing,
)
from operations.domain.providers.turns import GAP, MADE, Turn
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.tokens import words

from .assembly import Assembly
from .step import Count, Omission, Step

NAME = "compile"
NEAR = 16
"""How many originals after that of a call are searched for its result."""


def unanswered(messages: Iterable[Outgoing]) -> dict[str, int]:
    """Map the id of each call without a result among the messages to the index of its original."""
    calls: dict[str, int] = {}
    answered: set[str] = set()
    for message in messages:
        if message.index is not None:
            calls.update(dict.fromkeys(message.call_ids, message.index))
        answered.update(message.result_ids)
    return {id_: index for id_, index in calls.items() if id_ not in answered}


def keys_near(thread: Thread, calls: Mapping[str, int]) -> list[Key]:
    """The originals that may hold the results of these calls, in order of index."""
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
    """Map each call to the message that holds its result and what left it out (`Draft.left_out`).

    `answers` gives the calls that the messages of `keys_near` answer. Calls that none of them
    answers are omitted.
    """
    found: dict[str, LeftOutResult] = {}
    for key, ids in answers.items():
        for id_ in ids:
            if id_ in calls and (by := _left_out_by(thread, steps, key)) is not None:
                tokens = thread.leaves[original_index(key) or 0].tokens
                found.setdefault(id_, LeftOutResult(key, by, tokens))
    return found


def _left_out_by(thread: Thread, steps: Sequence[Step], key: Key) -> str | None:
    """The outermost fold that holds an original, or else the step that left it out."""
    if around := thread.path(key):
        return around[0]
    for step in steps:
        if any(omission.key == key for omission in step.left_out):
            return step.name
    return None


class CompilationResult(NamedTuple):
    """The result of compiling."""

    step: Step
    messages: list[Outgoing]
    """The messages, each with its token count in the request; 0 if it is not sent."""


def compilation_result(
    assembly: Assembly, compiled: Compiled, count: Count
) -> CompilationResult:
    """The step from an assembly to its request: what each message lost, and what was added.

    Reasoning that isn't sent counts as left out even if its message is framed and grows, because
    this loss is the one most often overlooked. Apart from that, a message counts by the
    difference.
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
    return CompilationResult(step, compared.messages)


class TokenComparison(NamedTuple):
    """How compiling changed the tokens of messages."""

    added: int
    lost: list[tuple[Key, int]]
    """Messages that lost tokens, and how many."""
    messages: list[Outgoing]
    """See `CompilationResult.messages`."""


def framing(layers: Sequence[Layer], prompt: str, count: Count) -> int:
    """How many more tokens the prompt has as it is written than the layers it is made of."""
    if not layers and not prompt:
        return 0
    return count((Text(prompt),)) - sum(layer.tokens for layer in layers)


def omissions(
    lost: Iterable[tuple[Key, int]], issues: Sequence[Issue]
) -> list[Omission]:
    """Describe what messages lost, giving for each the rule it broke and the repair."""
    rules = {
        key: f"{issue.rule}: {issue.repair or issue.detail}"
        for issue in reversed(issues)
        for key in issue.keys
    }
    return [
        Omission(key, less, rules.get(key, "It is not sent.")) for key, less in lost
    ]


def compare(
    messages: Sequence[Outgoing], compiled: Compiled, count: Count
) -> TokenComparison:
    """Compare messages with their compiled form, one by one, and count the difference."""
    written, made = _written(compiled)
    lost_of: list[tuple[Key, int]] = []
    now_of: list[Outgoing] = []
    added = sum(joining_tokens(turn, count) for turn in compiled.turns)
    added += count(made) if made else 0
    for place, message in enumerate(messages):
        parts = written.get(place, ())
        if _counts_the_same(message.parts, parts):
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
    return TokenComparison(added, lost_of, now_of)


def tokens_unrepaired(message: Outgoing, provider: str, count: Count) -> int:
    """The tokens of a message in a provider's form, with no repairs.

    The message's own count is of its texts as received, but some forms hold arguments as an
    object.
    """
    if PROVIDERS[provider].rules.written_arguments:
        return message.tokens
    calls = [one for one in message.parts if isinstance(one, ToolCall) and one.text]
    return (
        message.tokens - count(calls) + count(list(map(without_argument_text, calls)))
    )


def _written(compiled: Compiled) -> tuple[Mapping[int, Sequence[Part]], list[Part]]:
    """The parts written for each message, by its place, and the parts that the compiler added."""
    written: dict[int, list[Part]] = defaultdict(list)
    made: list[Part] = []
    for turn in compiled.turns:
        for piece in turn.pieces:
            (made if piece.place == MADE else written[piece.place]).append(piece.part)
    return written, made


def joining_tokens(turn: Turn, count: Count) -> int:
    """The extra tokens of texts written as one: the blank lines between them."""
    more = 0
    for kind in turn.joined:
        texts = turn.texts(kind)
        if len(texts) > 1:
            more += count((Text(GAP.join(texts)),)) - count(list(map(Text, texts)))
    return more


def _counts_the_same(recorded: Sequence[Part], written: Sequence[Part]) -> bool:
    """Whether both count the same; differing ids and roles don't matter."""
    if len(recorded) != len(written):
        return False
    for one, other in zip(recorded, written, strict=True):
        if one is other:
            continue
        # By far the most common case: a result that was given its tool's name.
        if type(one) is ToolResult is type(other) and one.content is other.content:
            continue
        if words((one,)) != words((other,)):
            return False
    return True


def _counted(message: Outgoing, written: Sequence[Part], count: Count) -> int:
    """The tokens of the parts written for a message.

    If all of the message's own parts are among them, only the additional parts are counted.
    """
    own = set(map(id, message.parts))
    beside = [part for part in written if id(part) not in own]
    if len(written) - len(beside) == len(message.parts):
        return message.tokens + count(beside)
    return count(written)
