"""What a session keeps beside its messages, and its forms: objective, STATE, scratchpad.

The contract stands in `templates/operations/notes/notes.html`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.safestring import SafeString

from operations.domain.thread.thread import Thread
from operations.form_fields import LongTextField
from operations.log.selectors import load_thread
from operations.messages.names import Named, name_of
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.rendering import render, render_difference

from . import scratchpads, states
from .scratchpads import Scratchpad

MOST_VERSIONS = 20
"""How many versions are listed, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """All of it."""

    goal: str
    """What STATE names as the goal, where the session has no objective."""
    state: dict[str, Any] | None
    """See `_shown`."""
    states: Sequence[dict[str, Any]]
    states_count: int
    scratchpad: Scratchpad
    page: dict[str, object]
    """A version of the scratchpad, and its difference to the one in force."""
    versions: Sequence[Scratchpad]


def notebook_of(session: Session, version: int | None = None) -> Notebook:
    thread = load_thread(session)
    known = states.list_states(session, thread)
    current = next((one for one in known if one.in_force), None)
    scratchpad = scratchpads.load_scratchpad(session)
    goal = current.state.goal if current and not session.objective else ""
    return Notebook(
        goal=" ".join(goal.split())[:500],
        state=_shown(thread, current) if current else None,
        states=[_shown(thread, one) for one in reversed(known[-MOST_VERSIONS:])],
        states_count=len(known),
        scratchpad=scratchpad,
        page=_page(session, scratchpad, version),
        versions=scratchpads.list_scratchpads(session, MOST_VERSIONS),
    )


def _shown(thread: Thread, one: states.Versioned) -> dict[str, Any]:
    return {
        "number": one.number,
        "text": one.state.text,
        # The response that it is from; none where somebody set it.
        "source": Named(one.key, name_of(thread, one.key)) if one.key else None,
        "author": one.actor_name,
        "time": one.created_at,
        "in_force": one.in_force,
    }


def _page(
    session: Session, current: Scratchpad, version: int | None
) -> dict[str, object]:
    asked = current
    if version is not None:
        asked = scratchpads.load_scratchpad(session, version)
    difference = SafeString()
    if asked.number != current.number:
        difference = render_difference(asked.content, current.content)
    html = render(Role.USER, (Text(asked.content),), counts=None)
    return {"number": asked.number, "html": html, "difference": difference}


class ObjectiveForm(forms.Form):
    """What the session is for."""

    objective = forms.CharField(
        required=False,
        max_length=500,
        label="Objective",
        help_text="One line. Operations can be limited to an objective. Leave empty for none.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class StateForm(forms.Form):
    """Other words for STATE."""

    content = LongTextField(
        rows=8,
        max_length=states.LONGEST,
        label="STATE",
        help_text="Active until a later response brings its own.",
    )


class ScratchpadForm(forms.Form):
    """Other words for the scratchpad; `version` is the one that they were written from."""

    content = LongTextField(
        rows=12, required=False, max_length=scratchpads.LONGEST, label="Markdown"
    )
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
