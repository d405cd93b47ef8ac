"""The process of `bench.context.hook`: read requests and `apply`, over its own data folder."""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from itertools import count

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

import orjson  # noqa: E402  # only after Django is set up
from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

import contextstudio.asgi  # noqa: E402, F401  # sets the garbage collector as a server does
from bench.pages.pages_data import prepare  # noqa: E402
from bench.transcript import messages  # noqa: E402
from contextstudio.accounts.domain.rights import Right  # noqa: E402
from contextstudio.accounts.keys.services import create_key  # noqa: E402
from contextstudio.accounts.models import Project, User  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from operations.domain.log.operation import Condense, Edit, Replace  # noqa: E402
from operations.domain.tree.leaf import MadeMessage  # noqa: E402
from operations.edits import services  # noqa: E402
from operations.log.cache import forget_everything  # noqa: E402
from threads.domain.formats.openai.messages import read_messages  # noqa: E402
from threads.domain.message import Message  # noqa: E402
from threads.models import Session  # noqa: E402
from threads.sessions.services import NewSession, create_session  # noqa: E402

from .replay import operations  # noqa: E402

COUNT, OPERATIONS, ROUNDS = 10_000, 1_000, 3
READ = ("context", "ledger", "suggestions")
_AT_ONCE = 500


def measure() -> dict[str, float]:
    """CPU seconds of each request, and of orjson."""
    owner, project = prepare()
    given = list(messages(COUNT + 2 * (ROUNDS + 1)))
    session = edited_session(owner, project, given[:COUNT])
    path, client = f"/api/sessions/{session.pk}", _client(owner, project)
    ends = count(COUNT + 2, 2)

    def body(end: int) -> bytes:
        return orjson.dumps({"messages": given[:end]})

    def read(place: str) -> None:
        _succeed(client.get(f"{path}/{place}"))

    def apply(sent: bytes) -> None:
        _succeed(client.post(f"{path}/apply", sent, "application/json"))

    def change() -> None:
        edit = {"type": "snip", "range": [next(places)] * 2}
        _succeed(client.post(f"{path}/operations", edit, "application/json"))

    places, whole = iter(range(COUNT)), body(COUNT)
    states = {
        "first": forget_everything,
        "after a change": change,
        "unchanged": lambda: None,
    }
    return {
        "orjson": _least(lambda _: orjson.dumps(orjson.loads(whole))),
        **{
            f"{place}, {when}": _least(lambda _, place=place: read(place), before)
            for place in READ
            for when, before in states.items()
        },
        "apply, first": _least(lambda _: apply(whole), forget_everything),
        "apply, after a change": _least(lambda _: apply(whole), change),
        "apply, the same again": _least(lambda _: apply(whole)),
        "apply, goes on": _least(apply, lambda: body(next(ends))),
    }


def edited_session(
    owner: User, project: Project, given: list[dict[str, object]]
) -> Session:
    found = read_messages(given)
    new = NewSession(title="Long", messages=found, model="gpt-4o")
    session = create_session(caller_of_user(owner), project, new)
    edits = list(edits_of(found, OPERATIONS))
    for start in range(0, len(edits), _AT_ONCE):
        at_once = edits[start : start + _AT_ONCE]
        services.record_bundle(
            caller_of_user(owner), session.pk, at_once, title="", expected_head=None
        )
    return session


def edits_of(found: list[Message], count: int) -> Iterator[Edit]:
    """The edits of `bench.context.replay` that are allowed: a condensed message keeps its role."""
    for entry in operations(count, messages=len(found)).entries:
        edit = entry.operation
        if isinstance(edit, Condense):
            role = found[int(edit.targets[0][1:])].role
            made = [
                MadeMessage(str(role), new.parts, new.tokens) for new in edit.messages
            ]
            yield replace(edit, messages=tuple(made))
        elif isinstance(edit, Edit) and not isinstance(edit, Replace):
            yield edit


def _client(owner: User, project: Project) -> Client:
    key = create_key(owner, project, name="bench", scopes=frozenset(Right))
    headers = {"Authorization": f"Bearer {key.text}"}
    return Client(SERVER_NAME=settings.HOST, headers=headers)


def _succeed(response: object) -> None:
    if getattr(response, "status_code", 0) not in (HTTPStatus.OK, HTTPStatus.CREATED):
        raise RuntimeError(str(getattr(response, "content", response)))


def _least(
    work: Callable[[object], object], before: Callable[[], object] = lambda: None
) -> float:
    """The least CPU seconds of `work`, which is given the result of the untimed `before`."""
    taken = []
    for _ in range(ROUNDS + 1):
        made = before()
        begun = time.process_time()
        work(made)
        taken.append(time.process_time() - begun)
    return min(taken[1:])


if __name__ == "__main__":
    print(json.dumps(measure()))
