"""What a session keeps beside its messages: see `templates/operations/notes/notes.html`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from operations.context.rebuild_state import Rebuilt
from operations.domain.thread.thread import Thread
from operations.log.selectors import load_thread
from operations.messages.names import Named, name_of
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.rendering import render, render_difference

from .scratchpads import Scratchpad, list_scratchpads, load_scratchpad
from .states import Versioned, list_states

MOST_VERSIONS = 20
"""How many versions are listed, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateShown:
    """A version of STATE."""

    number: int
    text: str
    source: Named | None
    """The response that it is from; None: somebody set it."""
    author: str
    time: datetime | None
    in_force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesPage:
    """A version of the scratchpad, drawn."""

    number: int
    html: SafeString
    difference: SafeString
    """From this version to the one in force; empty for that one itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """All of it."""

    goal: str
    """What STATE names as the goal, where the session has no objective."""
    state: StateShown | None
    states: Sequence[StateShown]
    states_count: int
    scratchpad: Scratchpad
    page: NotesPage
    versions: Sequence[Scratchpad]


def notebook_of(session: Session, version: int | None = None) -> Notebook:
    """What a session keeps, with a version of its scratchpad. Raises NotFound."""
    thread = load_thread(session)
    states = list_states(session, thread)
    current = next((one for one in states if one.in_force), None)
    scratchpad = load_scratchpad(session)
    goal = current.state.goal if current and not session.objective else ""
    return Notebook(
        goal=" ".join(goal.split())[:500],
        state=_shown(thread, current) if current else None,
        states=[_shown(thread, one) for one in reversed(states[-MOST_VERSIONS:])],
        states_count=len(states),
        scratchpad=scratchpad,
        page=_page(session, scratchpad, version),
        versions=list_scratchpads(session, MOST_VERSIONS),
    )


def rebuilt_difference(rebuilt: Rebuilt) -> SafeString:
    """From STATE in force to what it would be."""
    return render_difference(rebuilt.in_force, rebuilt.text)


def _shown(thread: Thread, one: Versioned) -> StateShown:
    return StateShown(
        number=one.number,
        text=one.state.text,
        source=Named(one.key, name_of(thread, one.key)) if one.key else None,
        author=one.actor_name,
        time=one.created_at,
        in_force=one.in_force,
    )


def _page(session: Session, current: Scratchpad, version: int | None) -> NotesPage:
    asked = current if version is None else load_scratchpad(session, version)
    html = render(Role.USER, (Text(asked.content),), counts=None)
    is_old = asked.number != current.number
    return NotesPage(
        number=asked.number,
        html=html,
        difference=render_difference(asked.content, current.content)
        if is_old
        else SafeString(),
    )
