"""Static files are kept by browsers for as long as they are what they were, and come whole."""

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import LazySettings
from django.contrib.staticfiles.finders import get_finder
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.templatetags.static import static

from contextstudio.web.static_files import version, with_static_files
from tests.servers import ROOT

PICTURE = "/static/pictures/sessions.png"
FOR_EVER = "max-age=315360000, public, immutable"
EACH_TIME = "max-age=0, public"


def client_of_files() -> httpx.AsyncClient:
    async def nothing_else(scope: object, receive: object, send: object) -> None:
        raise LookupError

    served = httpx.ASGITransport(with_static_files(nothing_else))
    return httpx.AsyncClient(transport=served, base_url="http://testserver")


@pytest.fixture
def client() -> httpx.AsyncClient:
    return client_of_files()


@pytest.fixture
def other_files(settings: LazySettings, tmp_path: Path) -> Iterator[Path]:
    """A folder of static files in the place of the product's own."""
    settings.STATICFILES_DIRS = [tmp_path]
    settings.STATICFILES_FINDERS = [
        "django.contrib.staticfiles.finders.FileSystemFinder"
    ]
    (tmp_path / "one.js").write_text('import "./two.js";')
    (tmp_path / "two.js").write_text("export {};")
    forget_files()
    yield tmp_path
    forget_files()


def forget_files() -> None:
    version.cache_clear()
    get_finder.cache_clear()


async def test_what_pages_name_is_kept_for_ever_with_all_that_it_imports(
    client: httpx.AsyncClient,
) -> None:
    address = static("js/page.js")
    assert address == f"/static/{version()}/js/page.js"
    page = await client.get(address)
    assert page.headers["cache-control"] == FOR_EVER
    assert 'import "./base/theme.js"' in page.text
    imported = httpx.URL(f"http://testserver{address}").join("./base/theme.js")
    assert (await client.get(imported)).headers["cache-control"] == FOR_EVER


async def test_a_file_without_its_version_or_with_another_is_asked_for_each_time(
    client: httpx.AsyncClient,
) -> None:
    for address in (PICTURE, "/static/0123456789ab/pictures/sessions.png"):
        answer = await client.get(address)
        assert answer.headers["cache-control"] == EACH_TIME
        assert answer.content == (ROOT / "docs/pictures/sessions.png").read_bytes()


async def test_files_that_are_worked_on_have_no_version(
    settings: LazySettings, other_files: Path
) -> None:
    settings.DEBUG = True
    client, address = client_of_files(), static("two.js")
    for words in ("export {};", "export { };"):
        (other_files / "two.js").write_text(words)
        answer = await client.get(address)
        assert (address, answer.text) == ("/static/two.js", words)
        assert answer.headers["cache-control"] == EACH_TIME


def test_a_change_of_any_file_is_another_version(other_files: Path) -> None:
    seen = {version()}
    for change in (
        lambda: (other_files / "two.js").write_text("export const two = 2;"),
        lambda: (other_files / "two.js").rename(other_files / "three.js"),
        lambda: (other_files / "three.js").unlink(),
    ):
        change()
        forget_files()
        seen.add(version())
    assert len(seen) == 4


async def test_in_production_they_are_those_that_were_gathered(
    settings: LazySettings,
    other_files: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (other_files / "long.css").write_text("p { color: inherit; }\n" * 100)
    before = version()
    settings.PRODUCTION = True
    settings.STATIC_ROOT = tmp_path_factory.mktemp("gathered")
    forget_files()
    with pytest.raises(ImproperlyConfigured, match="collectstatic"):
        client_of_files()
    call_command("collectstatic", interactive=False, verbosity=0)
    assert version() == before
    client = client_of_files()
    for name in ("one.js", "two.js", "long.css"):
        answer = await client.get(static(name), headers={"Accept-Encoding": "gzip"})
        assert answer.text == (other_files / name).read_text()
        assert answer.headers["cache-control"] == FOR_EVER
    assert answer.headers["content-encoding"] == "gzip"


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
