"""The documents of the repository are pages of the product, which lead to each other."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

from contextstudio.accounts.models import User
from contextstudio.web.help import PAGES, load
from contextstudio.web.static_files import version
from tests.servers import ROOT

ADDRESSES = {name: "/help/" if name == "guide" else f"/help/{name}" for name in PAGES}
LINK = re.compile(r'<a [^>]*href="([^"]*)"')


@pytest.fixture
def reader(client: Client, viewer: User) -> Client:
    client.force_login(viewer)
    return client


def test_help_begins_with_what_it_is_and_the_first_steps(reader: Client) -> None:
    shown = reader.get("/help/").content.decode()
    assert "<h1" in shown
    assert shown.index("lets you decide") < shown.index('id="first-steps"')
    assert shown.index('id="first-steps"') < shown.index('id="signing-in"')


@pytest.mark.parametrize("name", PAGES)
def test_every_document_is_shown_and_its_links_lead_somewhere(
    reader: Client, name: str
) -> None:
    assert reader.get(ADDRESSES[name]).status_code == 200
    anchors = {
        address: set(re.findall(r'<h\d id="([^"]+)"', load(other).body))
        for other, address in ADDRESSES.items()
    }
    for link in LINK.findall(load(name).body):
        address, _, anchor = link.partition("#")
        if link.startswith(("http://", "https://")):
            continue
        address = address or ADDRESSES[name]
        assert address in anchors, link
        assert not anchor or anchor in anchors[address], link


@pytest.mark.parametrize("name", PAGES)
def test_no_document_leads_to_what_only_the_repository_has(name: str) -> None:
    assert "decisions/" not in load(name).body
    assert not re.search(r">\w+\.md</a>", load(name).body)
    assert not re.search(r"\((decision \d+|0\d{3})\)", load(name).body)


def test_its_pictures_are_among_the_static_files() -> None:
    pictures = re.findall(
        rf'<img src="/static/{version()}/([^"]+)" alt="([^"]+)"', load("guide").body
    )
    assert len(pictures) >= 10
    assert all(finders.find(path) for path, _ in pictures)


def test_there_is_no_page_of_another_file(reader: Client) -> None:
    for name in ("architecture", "pages", "..", "make_pictures"):
        answer = reader.get(f"/help/{name}")
        assert answer.status_code == 404
        assert "may have been deleted" not in answer.content.decode()


def test_every_page_of_the_product_leads_to_help(reader: Client) -> None:
    for path in ("operations:sessions", "threads:imports", "accounts:projects"):
        assert 'href="/help/"' in reader.get(reverse(path)).content.decode()


def test_a_container_is_built_with_the_documents() -> None:
    assert "COPY docs docs" in (ROOT / "compose.yaml").read_text()
