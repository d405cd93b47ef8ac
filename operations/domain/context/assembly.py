"""From a thread to what is sent, step by step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, takewhile
from types import MappingProxyType
from typing import NamedTuple, Protocol

from operations.domain.log.entry import CLIENT
from operations.domain.providers.passes.signatures import count_intact
from operations.domain.providers.request import Layer, Outgoing
from operations.domain.thread.node import EffectiveMessage
from operations.domain.thread.replay import sent_keys
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, parse_made_key
from threads.domain.message import Role
from threads.domain.part import Part

from .layers import SYSTEM, in_order, system_layer
from .markers import Place, PlacedNode, mark
from .places import NodePlaces, joined_groups
from .policy import REPLAY, Policy
from .references import without_references
from .selection import Preference, isolate, select
from .step import Count, Omission, Step, weigh
from .truncation import Cut, truncate
from .window import OmittedStart, keep_window

REPLAYED, LAYERS = "replay", "layers"
_ROLES = {role.value: role for role in Role}
_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


class ReadMessage(Protocol):
    """What a message says in the thread, and how it was recorded."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, as they read in the thread."""

    @property
    def strategy(self) -> str:
        """The parsing strategy that the message was recorded with."""

    @property
    def name(self) -> str | None:
        """The speaker's name, if one was given."""


class LastSteps(NamedTuple):
    """Results of the steps for a thread's last request, so that only what changed is redone."""

    top: OmittedStart | None = None
    cuts: Mapping[Key, Cut] = MappingProxyType({})


NO_STEPS = LastSteps()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a thread is assembled. `layers` excludes the `system` layer."""

    count: Count
    strategy: str
    """The parsing strategy of the provider that the request is for."""
    policy: Policy = REPLAY
    preference: Preference | None = None
    layers: Sequence[Layer] = ()
    can_recall: bool = True
    """Whether the model can recall. If so, truncated text says how to get the whole."""
    last: LastSteps = NO_STEPS
    """From an earlier request whose tokens were counted in the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A context before it is compiled. All figures are in tokens.

    `total` counts the originals, `shown` the thread, and `sent` the layers and messages. The
    first step leads from `total` to `shown`; the last one ends with `sent`.
    """

    layers: Sequence[Layer]
    messages: Sequence[Outgoing]
    steps: Sequence[Step]
    total: int
    shown: int
    sent: int
    intact: int
    """How many of `messages`, from the first, stand exactly as they were recorded; 0 if anything
    but the prompt as it was recorded stands before them."""
    is_plain: bool
    """Whether layers and messages are exactly what the client sends."""
    last: LastSteps
    """For the next request's `Plan.last`."""


def outgoing_messages(
    thread: Thread,
    said: Mapping[Key, ReadMessage],
    count: Count,
    *,
    start: int = 0,
    known: Mapping[Key, Outgoing] = MappingProxyType({}),
    shown: Mapping[Key, Sequence[EffectiveMessage]] = MappingProxyType({}),
    again: Mapping[Key, Outgoing] = MappingProxyType({}),
    can_recall: bool = True,
) -> list[Outgoing]:
    """Return the messages of a thread as they go out. `said` maps keys to what messages read there.

    A message whose text is changed is counted again, because the tokens of changes don't simply
    add up. For a model that can't recall, references are removed from messages that operations
    made.

    The other arguments save work. `start` skips the nodes before that position; only originals
    may follow it. `known` holds originals to be used as they are (see
    `unchanged_originals` and `untouched_originals`). `shown` maps nodes to what the model sees of
    them. `again` holds messages made by operations that go out as they did before (see
    `unchanged_made_messages`). `said` needs no entry for a key in `known` or `again`.
    """
    found: list[Outgoing] = []
    places = NodePlaces(thread)
    for position, node in enumerate(islice(thread.keys, start, None), start):
        if node in known:
            found.append(known[node])
            places.last = known[node]
        else:
            place = places.next(node, position)
            for one in shown[node] if node in shown else thread.shown_at(position):
                if (same := again.get(one.key)) is not None:
                    found.append(_placed(same, place))
                    continue
                made = _outgoing(thread, place, one, said[one.key], count)
                may_name = not can_recall and made.kind is not None
                found.append(_without_references(made, count) if may_name else made)
    return found


def unchanged_originals(
    thread: Thread, messages: Iterable[Outgoing]
) -> dict[Key, Outgoing]:
    """The given messages that are originals and go out unchanged in this thread.

    The messages went out under another log. Both logs must have purged the same originals.
    """
    rewritten, joined = thread.rewritten_keys, joined_groups(thread)
    leaves = thread.leaves
    return {
        one.key: one
        for one in messages
        if one.index is not None
        and not one.changed
        and one.key not in rewritten
        and one.group not in joined
        and one.index < len(leaves)
        and leaves[one.index].group == one.group
    }


def unchanged_made_messages(
    thread: Thread, shown: Iterable[EffectiveMessage], messages: Iterable[Outgoing]
) -> dict[Key, Outgoing]:
    """The given messages that operations made and that this thread shows in the same words.

    The messages went out under another log; `shown` is what this thread shows. Both logs must
    have purged the same originals.
    """
    rewritten = thread.rewritten_keys
    before = {one.key: one for one in messages if one.index is None and not one.changed}
    found: dict[Key, Outgoing] = {}
    for one in shown if before else ():
        same = before.get(one.key)
        if same is None or one.key in rewritten:
            continue
        made = thread.made_message(one.key)
        is_same = made is not None and made.parts is same.parts
        if is_same and (one.role, one.tokens) == (same.role, same.tokens):
            found[one.key] = same
    return found


def untouched_originals(
    thread: Thread, plain: Sequence[Outgoing | None], keys: Iterable[Key]
) -> dict[Key, Outgoing]:
    """The originals among `keys` that nothing in the thread changes, taken from `plain`.

    `plain` holds, by index, each original as it goes out when nothing changes it; None if that is
    not known.
    """
    rewritten = thread.rewritten_keys | thread.log.purged
    joined = joined_groups(thread) if plain else {}
    found: dict[Key, Outgoing] = {}
    for key in keys if plain else ():
        index = original_index(key)
        if index is not None and index < len(plain) and key not in rewritten:
            one = plain[index]
            if one is not None and one.group not in joined:
                found[key] = one
    return found


def assemble(
    thread: Thread,
    messages: Sequence[Outgoing],
    plan: Plan,
    *,
    total: int | None = None,
    shown: int | None = None,
) -> Assembly:
    """Assemble the context of a thread's messages, step by step.

    Pass `total` if the messages were counted with another tokenizer than the session's, and
    `shown` if their sum is already known.
    """
    total = thread.tokens.original if total is None else total
    shown = weigh(messages) if shown is None else shown
    rules = _prompt_length(thread)
    prompt = system_layer(messages[:rules])
    history = list(messages[rules:])
    active = history[-1].group if history else None
    replayed = _replayed(thread, total, shown)
    history, steps, last = _run_steps(thread, history, plan, active)
    own = prompt.tokens if prompt else 0
    sent_by_client = _sent_by_client(thread)
    sent_layers = in_order([*([prompt] if prompt else ()), *plan.layers])
    added = sum(layer.tokens for layer in sent_layers if layer.name != SYSTEM)
    left = weigh(history) if steps else shown - weigh(messages[:rules])
    sent = own + left + added
    steps = [replayed] + [
        replace(step, before=step.before + own, after=step.after + own)
        for step in steps
    ]
    steps.append(Step(name=LAYERS, before=sent - added, after=sent, added=added))
    given = thread.message_count if sent_by_client is None else len(sent_by_client)
    is_prompt_intact = count_intact(messages[:rules], sent=sent_by_client) == rules
    intact = (
        count_intact(history, rules, sent=sent_by_client)
        if is_prompt_intact and not added
        else 0
    )
    return Assembly(
        layers=sent_layers,
        messages=history,
        steps=steps,
        total=total,
        shown=shown,
        sent=sent,
        intact=intact,
        is_plain=intact == len(history) == given - rules,
        last=last,
    )


def _sent_by_client(thread: Thread) -> Sequence[Key] | None:
    """The keys that the client sends; None if these are simply all originals."""
    if not thread.log.client_edits:
        return None
    return sent_keys(thread.message_count, thread.log)


def _prompt_length(thread: Thread) -> int:
    """How many messages at the top of the thread form the system prompt.

    A digest is never part of it, although its role is system: it summarises messages that were no
    rules. If it were, a conversation with only an answer left after it would begin with that
    answer.
    """

    def is_rule(shown: EffectiveMessage) -> bool:
        number, _ = parse_made_key(shown.key) or (0, None)
        is_digest = number and thread.log.edits[number].edit.kind == "digest"
        return shown.role in _SYSTEM and not is_digest

    shown = chain.from_iterable(map(thread.shown, thread.keys))
    return sum(1 for _ in takewhile(is_rule, shown))


def _run_steps(
    thread: Thread, history: list[Outgoing], plan: Plan, active: int | None
) -> tuple[list[Outgoing], list[Step], LastSteps]:
    """Run the steps that the plan asks for, each on the result of the previous one."""
    steps: list[Step] = []
    last = NO_STEPS
    policy, all_of_it = plan.policy, history
    if plan.preference is not None:
        holds = cache(thread.indexes)  # each fold is walked once
        history, step = select(history, plan.preference, holds)
        steps.append(step)
    if policy.window:
        # Messages named by a slice are sent even if they are outside the window: that is its
        # purpose.
        named = plan.preference is not None and plan.preference.names_messages
        size = 0 if named else policy.window
        history, step, top = keep_window(history, size, plan.last.top)
        last = last._replace(top=top)
        steps.append(step)
    if policy.isolation:
        history, step = isolate(history, plan.strategy, plan.count)
        steps.append(step)
    if policy.truncation is not None:
        history, step, cuts = truncate(
            history,
            policy.truncation,
            active,
            plan.count,
            plan.last.cuts,
            can_recall=plan.can_recall,
        )
        last = last._replace(cuts=cuts)
        steps.append(step)
    if policy.markers:
        history, step = mark(history, _nodes(thread, all_of_it), plan.count)
        steps.append(step)
    return history, steps, last


def _replayed(thread: Thread, total: int, shown: int) -> Step:
    """The step from the originals to the thread: what folds leave out, and what is added.

    `added` is what operations made, minus what changes to the text of messages removed.
    """
    left_out = tuple(
        Omission(fold.key, fold.tokens, f"Folded by a {fold.kind}.")
        for fold in thread.tokens_held
    )
    added = shown - total + sum(omission.tokens for omission in left_out)
    return Step(
        name=REPLAYED, before=total, after=shown, added=added, left_out=left_out
    )


def _nodes(thread: Thread, history: Sequence[Outgoing]) -> Iterator[PlacedNode]:
    """The nodes at the top of the thread, in the form that `mark` needs."""
    folds = {fold.key: fold for fold in thread.folds_at_top}
    shown = {message.node for message in history}
    places = NodePlaces(thread)
    for position, node in enumerate(thread.keys):
        place = places.next(node, position)
        yield PlacedNode(place, folds.get(node), node in shown)


def _outgoing(
    thread: Thread,
    place: Place,
    shown: EffectiveMessage,
    said: ReadMessage,
    count: Count,
) -> Outgoing:
    changed = bool(thread.spans(shown.key))
    kind = None
    if shown.index is None and (made := parse_made_key(shown.key)):
        recorded = thread.log.edits[made[0]]
        # To the client, what it sends in place of messages is as if it had always been there.
        kind = None if recorded.entry.actor == CLIENT else recorded.edit.kind
    return Outgoing(
        key=shown.key,
        node=place.node,
        role=_ROLES[shown.role],
        parts=said.parts,
        tokens=count(said.parts) if changed else shown.tokens,
        group=place.group,
        groups=place.groups,
        strategy=said.strategy,
        index=shown.index,
        kind=kind,
        changed=changed,
        name=said.name,
    )


def _placed(message: Outgoing, place: Place) -> Outgoing:
    """A message that an operation made, moved to the groups of its current place."""
    if message.group == place.group and message.groups == place.groups:
        return message
    return message._replace(group=place.group, groups=place.groups)


def _without_references(message: Outgoing, count: Count) -> Outgoing:
    """A message that an operation made, without references."""
    parts = without_references(message.parts)
    if parts is message.parts:
        return message
    return message._replace(parts=parts, tokens=count(parts), changed=True)
