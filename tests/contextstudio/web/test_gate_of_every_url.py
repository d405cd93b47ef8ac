"""Who is let in where: every URL of the product, for everyone who may knock.

A route that has no row here fails the test, and so does a row that has no route.
"""

import io
import re
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from contextstudio.accounts.jobs import enqueue
from contextstudio.accounts.keys.services import revoke_key
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.accounts.selectors import caller_of_user
from contextstudio.api import api
from operations.edits import services
from operations.edits.arguments import DigestArguments, EditArguments, SnipArguments
from operations.edits.lenses import save_lens
from operations.forwarding.requests.records import RequestFacts, record_request
from operations.forwarding.upstreams.services import WireProvider, set_upstream
from operations.snapshots.services import take_snapshot
from tests.contextstudio.web.gated_routes import (
    CALLERS,
    REQUEST,
    SAID,
    TABLE,
    GatedRoute,
)
from tests.people import cast, key_of
from tests.threads.imports.uploads import with_image
from threads.domain.formats.openai.messages import read_messages
from threads.models import Blob, Event, Import, Source
from threads.sessions.services import NewSession, create_session, delete_session


def places_of(owner: User, project: Project) -> dict[str, str]:
    """One of everything that a route can name."""
    caller = caller_of_user(owner)
    messages = read_messages([*SAID * 5, with_image()])
    session = create_session(caller, project, NewSession(messages=messages))

    def record(arguments: EditArguments, *, propose: bool = False) -> str:
        recorded = services.record_edit(caller, session.pk, arguments, propose=propose)
        return str(recorded.history.rows[recorded.numbers[0]].id)

    operation = record(DigestArguments(range=(0, 1), summary="Sum"))
    proposal = record(SnipArguments(range=(2, 2)), propose=True)
    snip = SnipArguments(range=(3, 3))
    bundle = services.record_bundle(caller, session.pk, [snip], propose=True)
    save_lens(caller, session.pk, "known", ["a"])
    take_snapshot(caller, session.pk, "known")
    record_request(session, caller, RequestFacts(**REQUEST))
    key_of(owner, project, name="named")
    base_url = "https://93.184.216.34"
    set_upstream(caller, "demo", WireProvider.GEMINI, base_url=base_url)
    brought = Import.objects.create(project=project, name="known")
    source = Source.objects.create(project=project, sha256="0" * 64, size=1, name="x")
    event = Event.objects.create(
        session=session, before_index=0, type="x", source=source, record="bytes:0-1"
    )
    deleted = create_session(caller, project, NewSession(messages=messages))
    delete_session(caller, deleted.pk)
    return {
        "actor": caller.actor,
        "deleted": str(deleted.pk),
        "import": str(brought.pk),
        "event": str(event.pk),
        "session": str(session.pk),
        "operation": operation,
        "proposal": proposal,
        "bundle": str(bundle.history.rows[bundle.numbers[0]].bundle),
        "blob": Blob.objects.get().sha256,
        "job": str(enqueue(project, "import", {}, caller).pk),
        "key": str(ApiKey.objects.get(name="named").pk),
        "token": "spent",
    }


@pytest.fixture
def places(owner: User, project: Project, stranger: User) -> dict[str, str]:
    """The same in the database of one test."""
    return places_of(owner, project)


def clients_of(people: dict[str, User], project: Project) -> dict[str, Client]:
    """A client of each of `CALLERS`."""
    found = {"anonymous": Client()}
    for name in CALLERS[1:-1]:
        found[name] = Client()
        found[name].force_login(people[name])
    owner = people["owner"]
    text = key_of(owner, project, name="revoked")
    revoke_key(caller_of_user(owner), ApiKey.objects.get(name="revoked").pk)
    found["revoked"] = Client(headers={"Authorization": f"Bearer {text}"})
    return found


class Gate(NamedTuple):
    """Everything that a route can name, and everyone who may knock."""

    places: dict[str, str]
    clients: dict[str, Client]
    blobs: Path


@pytest.fixture(scope="module")
def gate(standing_folder: Path) -> Gate:
    """Made once for all rows: what a request changed is taken back behind each."""
    people = cast()
    owner, project = people["owner"], Project.objects.get(slug="demo")
    places, clients = places_of(owner, project), clients_of(people, project)
    return Gate(places, clients, standing_folder / "blobs")


@pytest.mark.django_db
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.method} {row.path}")
def test_everyone_is_let_in_where_they_may(
    row: GatedRoute, gate: Gate, settings: LazySettings
) -> None:
    settings.BLOB_DIR = gate.blobs
    found = {
        name: knock(client, row, gate.places) for name, client in gate.clients.items()
    }
    assert found == dict(zip(CALLERS, row.statuses, strict=True))


def knock(client: Client, row: GatedRoute, places: dict[str, str]) -> int:
    """The status of one answer; what the request changed is taken back."""
    path = "/" + row.path.format(**places)
    cookies = copy(client.cookies)
    with transaction.atomic():
        answer = _send(client, row, path, places)
        if answer.streaming:
            b"".join(answer)
        transaction.set_rollback(True)
    client.cookies = cookies
    if answer.status_code == 401:
        assert answer["WWW-Authenticate"] == "Bearer"
    status: int = answer.status_code
    return status


def _send(client: Client, row: GatedRoute, path: str, places: dict[str, str]) -> Any:
    if row.method == "FORM":
        return client.post(path, _form(row.body))
    if row.method == "GET":
        return client.get(path)
    body = row.body
    if "session_id" in body:
        body = body | {"session_id": places["session"]}
    return client.generic(
        row.method,
        path,
        api.renderer.render(None, body, response_status=200),
        content_type="application/json",
    )


def _form(body: Any) -> dict[str, Any]:
    chat = '[{"role": "user", "content": "Hello"}]'
    if body == "file":
        return {"file": io.BytesIO(chat.encode()), "project": "demo"}
    if body == "text":
        return {"text": chat, "project": "demo"}
    found: dict[str, Any] = body
    return found


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    routes = set(_routes(get_resolver().url_patterns))
    unknown = [
        row.path for row in TABLE if not any(_is_at(row, route) for route in routes)
    ]
    assert not unknown
    missing = [
        route for route in routes if not any(_is_at(row, route) for row in TABLE)
    ]
    assert not missing


def test_every_method_of_the_api_has_a_row() -> None:
    sent = {("POST" if row.method == "FORM" else row.method, row.path) for row in TABLE}
    missing = [
        f"{method.upper()} {path}"
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
        if not any(
            known == method.upper() and _pattern(path[1:]).fullmatch(_bare(row))
            for known, row in sent
        )
    ]
    assert not missing


def _routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def _is_at(row: GatedRoute, route: str) -> bool:
    return bool(_pattern(route).fullmatch(_bare(row.path)))


def _bare(path: str) -> str:
    return re.split("[?#]", path)[0]


def _pattern(route: str) -> re.Pattern[str]:
    """A route as an expression that its rows match."""
    pieces = re.split(r"<[^>]+>|\{[^}]+\}", route)
    return re.compile("[^/]+".join(map(re.escape, pieces)))
