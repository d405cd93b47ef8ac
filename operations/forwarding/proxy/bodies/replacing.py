"""Replaces members of a body after `apply` has processed its messages."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from contextstudio.accounts.responses import dump
from operations.domain.forwarding.splice import GivenRun
from operations.forwarding.services import AppliedRequest
from threads.domain.formats.requests import Form

from .body import PREVIOUS_RESPONSE, ForwardedBody
from .thinking import thinking_off

_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Rewritten(NamedTuple):
    """The changes to a body."""

    changes: dict[str, bytes | None]
    applied: int
    acts: bool | None = None
    """Whether its messages are changed; None if it isn't known what they are."""


def rewritten(body: ForwardedBody, applied: AppliedRequest) -> Rewritten:
    """The changes that `apply` makes to a body; empty if it stays the same."""
    changes: dict[str, bytes | None] = {}
    sent = _messages(body, applied)
    acts = sent is not None
    if sent is None and body.is_spelled_out:
        sent = body.listed(body.messages)
    if sent is not None:
        changes[body.names.messages] = sent
        changes |= thinking_off(body, sent)
        if body.is_continuation:
            changes[PREVIOUS_RESPONSE] = None
    system, given = applied.system, body.value.get(body.names.system)
    if body.names.system and system != given:
        changes[body.names.system] = None if system is None else dump(system)
    return Rewritten(changes, applied.count, acts)


def _messages(body: ForwardedBody, applied: AppliedRequest) -> bytes | None:
    """The list of messages that goes out; None if it equals the one that came in."""
    count, splice = len(body.messages), applied.made.splice
    if splice.pieces == ((GivenRun(0, count),) if count else ()):
        return None
    sent = splice.of(applied.run, before=b"[", after=b"]")
    if count and sent == b"".join((b"[", applied.run(0, count), b"]")):
        return None
    if body.form == "openai-responses":
        listed = [bytes(memoryview(one)) for one in _list(sent)]
        return body.listed(_without_lost_ids(body, listed))
    return sent


def _without_lost_ids(body: ForwardedBody, sent: Sequence[bytes]) -> list[bytes]:
    """The items to send; items whose reasoning was removed lose their id.

    By the id the provider would look the item up, and require the reasoning that belongs to it.
    """
    left, nameless = set(sent), dict[bytes, Form]()
    is_lost = False
    for raw, item in zip(body.messages, body.value[body.names.messages], strict=True):
        kind, one = item.get("type"), raw
        if kind == "reasoning":
            is_lost = one not in left
        elif item.get("role", "assistant") != "assistant" or str(kind).endswith(
            "_output"
        ):
            is_lost = False
        elif is_lost:
            nameless[one] = item
    return [_without_id(nameless[one]) if one in nameless else one for one in sent]


def _without_id(item: Form) -> bytes:
    return dump({name: value for name, value in item.items() if name != "id"})
