"""Both kinds of client against a real server."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import Server

from .support import opened


@pytest.fixture(params=["blocking", "awaiting"])
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def studio(kind: str, server: Server) -> Iterator[Any]:
    with opened(kind, server.url, server.key()) as client:
        yield client
