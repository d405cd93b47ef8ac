"""The matches of a dry run as the dialog lists them: see `operations/dialogs/texts.html`."""

from dataclasses import dataclass

from contextstudio.templatetags.look import messages
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key
from operations.find_replace.services import DryRun, SpanMatch
from operations.messages.names import name_of
from threads.rendering.hidden import visible

MOST_LISTED = 200
"""Matches that one dialog lists; what is recorded makes room for the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One match in its text. `value` names it as a span; empty: it can't be changed, see `why`."""

    name: str
    before: str
    text: str
    behind: str
    value: str
    saves: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """All matches: the first of them, and a sentence on how many there are."""

    listed: list[Match]
    sentence: str
    more: int
    free: int


def matches_of(thread: Thread, looked: DryRun, floor: int) -> Matches:
    """What a dry run found, to be chosen from."""
    found = [_match(thread, one, floor) for one in looked.matches]
    listed = found[:MOST_LISTED]
    return Matches(
        listed=listed,
        sentence=_sentence(looked),
        more=len(found) - len(listed),
        free=sum(bool(one.value) for one in listed),
    )


def _match(thread: Thread, found: SpanMatch, floor: int) -> Match:
    match, span = found.match, found.span
    before, text, behind = map(visible, match.excerpt)
    why = ""
    if match.holders:
        names = (name_of(thread, entry_key(number)) for number in match.holders)
        why = f"already changed by {', '.join(names)}"
    elif match.length < floor:
        why = f"too short: {match.length} characters, at least {floor} needed"
    value = ""
    if span and not why:
        place = (span.key, span.part, span.start, span.end, span.sha256)
        value = " ".join(map(str, place))
    return Match(
        name=name_of(thread, match.key),
        before=before,
        text=text,
        behind=behind,
        value=value,
        saves=span.saved if span else 0,
        why=why,
    )


def _sentence(looked: DryRun) -> str:
    """`3 matches in 2 messages, saving 120 tokens`."""
    count = len(looked.matches)
    holders = len({one.match.key for one in looked.matches})
    matches = f"{count:,} match{'es' if count > 1 else ''}"
    return f"{matches} in {messages(holders)}, saving {looked.saved:,} tokens"
