"""The server of `bench.pages.browser`: sessions of several lengths, and a browser's sign-in."""

import json
import os
import sys

import django
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402  # only after Django is set up
from django.test import Client  # noqa: E402

from contextstudio.asgi import application  # noqa: E402

from .pages_data import make_session, prepare  # noqa: E402


class _FactsPrinter(uvicorn.Server):
    """Prints its address once it listens."""

    def __init__(self, config: uvicorn.Config, facts: dict[str, object]) -> None:
        super().__init__(config)
        self.facts = facts

    async def startup(self, sockets: list | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        base = f"http://{settings.HOST}:{port}"
        print(json.dumps({"base": base, **self.facts}), flush=True)


def main() -> None:
    """Create a session of each requested length, and serve."""
    owner, project = prepare()
    sizes = [int(size) for size in sys.argv[1:]]
    sessions = {size: str(make_session(owner, project, size).pk) for size in sizes}
    client = Client(SERVER_NAME=settings.HOST)
    client.force_login(owner)
    name = settings.SESSION_COOKIE_NAME
    facts = {"sessions": sessions, "cookie": [name, client.cookies[name].value]}
    config = uvicorn.Config(
        application, host=settings.HOST, port=0, log_level="warning"
    )
    _FactsPrinter(config, facts).run()


if __name__ == "__main__":
    main()
