"""Expands a request that refers to what its provider keeps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from contextstudio.accounts.responses import dump
from operations.forwarding.proxy.bodies import (
    CONVERSATION,
    PREVIOUS_RESPONSE,
    ForwardedBody,
    is_reference,
)
from operations.forwarding.proxy.incoming import ProxiedRequest
from operations.forwarding.proxy.sessions import named_session
from operations.log.selectors import load_history
from threads.domain.formats.requests import Form
from threads.models import Session

from . import kept
from .history import history_of


class ExpandedBody(NamedTuple):
    """A body with everything that it refers to."""

    body: ForwardedBody
    sessions: Sequence[Session]
    """The sessions that hold what was filled in; the request continues in the first."""

    def may_show(self, session: Session | None) -> bool:
        """Whether a request in this session would reveal what a redaction hides in another one."""
        return any(
            one.head and load_history(one).log.masks
            for one in self.sessions
            if one != session
        )


def expand_references(
    proxied: ProxiedRequest, body: ForwardedBody
) -> ExpandedBody | None:
    """The body with everything that it refers to; None if some of that isn't known.

    Earlier messages are included in full. Items that it refers to remain references in the bytes
    that go out, as long as nothing changes them. A `conversation` is never known: it also gets
    items from elsewhere, and would continue without what a rewritten request says.
    """
    if body.value.get(CONVERSATION):
        return None
    before: Sequence[Form] = ()
    held, is_spelled_out = list[Session](), False
    caller, project, own = proxied.caller, proxied.project, None
    if proxied.names_session:
        own = named_session(caller, project, proxied.name)
    if reply := body.value.get(PREVIOUS_RESPONSE):
        row = kept.request_of_reply(caller, project, reply, own)
        history = history_of(row) if row is not None else None
        if row is None or history is None:
            return None
        before, is_spelled_out = history, bool(row.is_rewritten)
        held.append(row.session)
    given: Sequence[Form] = body.value[body.names.messages]
    ids = [str(one.get("id")) for one in given if is_reference(one)]
    named = kept.items_named(caller, project, ids, own)
    if not named.keys() >= set(ids):
        return None
    held += (named[one][1] for one in reversed(ids))
    items = [
        named[str(one.get("id"))][0] if is_reference(one) else one for one in given
    ]
    raws = [*map(dump, before), *body.messages]
    return ExpandedBody(
        replace(
            body,
            value={**body.value, body.names.messages: [*before, *items]},
            request=replace(body.request, messages=raws, known_beginning=None),
            is_expanded=True,
            before=len(before),
            is_spelled_out=is_spelled_out,
        ),
        [*dict.fromkeys(held)],
    )
