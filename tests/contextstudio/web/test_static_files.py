"""Static files are sent whole, in parts or not at all, by threads that last."""

import threading

import httpx
import pytest

from contextstudio.web.static_files import with_static_files
from tests.servers import ROOT

PICTURE = "/static/pictures/sessions.png"


@pytest.fixture
def client() -> httpx.AsyncClient:
    async def nothing_else(scope: object, receive: object, send: object) -> None:
        raise LookupError

    served = httpx.ASGITransport(with_static_files(nothing_else))
    return httpx.AsyncClient(transport=served, base_url="http://testserver")


async def test_a_file_of_many_pieces_comes_whole(client: httpx.AsyncClient) -> None:
    answer = await client.get("/static/ninja/swagger-ui-bundle.js")
    assert len(answer.content) == int(answer.headers["content-length"]) > 1_000_000


async def test_a_part_of_a_file_can_be_asked_for(client: httpx.AsyncClient) -> None:
    written = (ROOT / "docs/pictures/sessions.png").read_bytes()
    part = await client.get(PICTURE, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, written[10:20])
    behind = await client.get(PICTURE, headers={"Range": f"bytes={len(written)}-"})
    assert (behind.status_code, behind.content) == (416, b"")


async def test_what_asks_for_no_content_gets_none(client: httpx.AsyncClient) -> None:
    head = await client.head(PICTURE)
    assert (head.status_code, head.content) == (200, b"")
    known = {"If-None-Match": head.headers["etag"]}
    assert (await client.get(PICTURE, headers=known)).status_code == 304
    assert (await client.post(PICTURE)).status_code == 405


async def test_what_is_no_file_is_passed_on(client: httpx.AsyncClient) -> None:
    with pytest.raises(LookupError):
        await client.get("/static/no/such/file")


async def test_no_file_has_a_thread_of_its_own(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    for _ in range(20):
        assert (await client.get("/static/icons.svg")).is_success
    assert len(started) <= 2
