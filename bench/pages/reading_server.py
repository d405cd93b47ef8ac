"""The server of `bench.pages.reading`: the product, with an extra view that reads rows raw."""

import os
import uuid

import django
import orjson
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402

from bench.address_server import AddressPrinter  # noqa: E402
from contextstudio import urls  # noqa: E402
from contextstudio.accounts.authentication import caller_of  # noqa: E402
from contextstudio.accounts.domain.rights import Right  # noqa: E402
from contextstudio.accounts.keys.services import create_key  # noqa: E402
from contextstudio.accounts.models import Project  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from contextstudio.accounts.services import prepare_first_use  # noqa: E402
from threads.domain.formats.openai.messages import read_messages  # noqa: E402
from threads.sessions import services  # noqa: E402
from threads.store.selectors import get_session  # noqa: E402

from .reading import seed  # noqa: E402

COLUMNS = (
    "index",
    "uuid",
    "short_id",
    "role",
    "tokens",
    "group_id",
    "parsing_strategy",
    "status",
    "weight",
    "created_at",
)
QUERY = (
    f'SELECT {", ".join(f"m.{column}" for column in COLUMNS[1:])}, m."index", b.content '
    "FROM threads_message m JOIN threads_body b ON b.id = m.body_id "
    'WHERE m.session_id = %s AND m."index" >= %s AND m."index" < %s ORDER BY m."index"'
)


def raw_messages(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The rows as the database returns them, with their content re-encoded by orjson."""
    session = get_session(caller_of(request), session_id)
    first, last = int(request.GET["start"]), int(request.GET["end"])
    key = session.pk.hex if connection.vendor == "sqlite" else session.pk
    with connection.cursor() as cursor:
        cursor.execute(QUERY, [key, first, last])
        found = cursor.fetchall()
    items = [
        {
            **dict(zip((*COLUMNS[1:], "index"), row, strict=False)),
            "parts": orjson.loads(bytes(row[-1])),
        }
        for row in found
    ]
    return HttpResponse(orjson.dumps({"items": items}), content_type="application/json")


def main() -> None:
    """Create the session, print its address and key, and serve."""
    urls.urlpatterns.append(path("bench/<uuid:session_id>/messages", raw_messages))
    call_command("migrate", verbosity=0)
    owner, _ = prepare_first_use()
    project = Project.objects.get(slug="demo")
    key = create_key(owner, project, name="bench", scopes=frozenset(Right))
    new = services.NewSession(title="Read", messages=read_messages(seed()))
    session = services.create_session(caller_of_user(owner), project, new)
    from contextstudio.asgi import application  # noqa: PLC0415

    config = uvicorn.Config(
        application, host=settings.HOST, port=0, log_level="warning", lifespan="off"
    )
    server = AddressPrinter(config, f"{session.pk} {key.text}")
    server.run()


if __name__ == "__main__":
    main()
