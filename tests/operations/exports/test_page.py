"""The page that is exported: it stands alone, runs nothing, and folds what is hidden."""

from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import make_session, operate, said
from threads.domain.formats.documents import html
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role
from threads.domain.part import Image, Text, ToolResult
from threads.rendering import standalone

PIXEL = "data:image/png;base64,iVBORw0KGgo="
WITH_IMAGE = {
    "role": "user",
    "content": [{"type": "image_url", "image_url": {"url": PIXEL}}],
}
VOID = {"meta", "img", "br", "hr"}


class Outline(HTMLParser):
    """What a page is made of; fails where an element isn't closed in its order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.lines: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            depth = self._open.count("details")
            self.lines.append(f"{'> ' * depth}{' '.join(data.split())}")


def export(agent: Client, session_id: str, view: str) -> str:
    query = {"format": "html", "view": view}
    answer = agent.get(f"/api/sessions/{session_id}/export", query)
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    return b"".join(answer).decode()


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, [*said(6), WITH_IMAGE], system="Be brief.")


def test_the_originals_are_articles_with_headings(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[2, 3])
    page = Outline(export(agent, session_id, "original"))

    assert (page.tags["article"], page.tags["h1"], page.tags["main"]) == (8, 1, 1)
    assert page.tags["script"] == 0
    assert ("lang", "en") in page.attributes
    assert ("src", PIXEL) in page.attributes
    assert any(line == "message 2" for line in page.lines)


def test_what_the_model_sees_has_its_folds_with_what_they_hide(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "digest", range=[3, 4], summary="In short.")
    operate(agent, session_id, "snip", range=[2, 5])
    lines = Outline(export(agent, session_id, "effective")).lines

    assert "> message 1" in lines
    assert "> In short." in lines
    assert "> > message 2" in lines
    assert "message 5" in lines
    assert any(line.startswith("> 4 messages") for line in lines)


def test_an_operation_s_title_and_all_words_are_escaped(agent: Client) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    session_id = make_session(agent, [{"role": "user", "content": hostile}, *said(2)])
    operate(agent, session_id, "digest", range=[1, 1], summary=hostile)
    page = export(agent, session_id, "effective")

    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page


def test_a_message_too_long_to_draw_is_there_whole() -> None:
    text = "a" * 300_000 + "\0\ud800"
    html_ = standalone.render_alone(
        Message(role=Role.TOOL, parts=(Text(text),)), Heading()
    )

    assert "All of it follows." in html_
    assert "a" * 300_000 in html_


def test_pictures_in_results_are_inline_and_one_that_is_gone_is_empty() -> None:
    picture = Image("image/png", data=b"\x89PNG\r\n\x1a\n")
    elsewhere = Image("image/png", url="https://example.org/a.png")
    parts: tuple[Any, ...] = (ToolResult("1", (picture,)), elsewhere)
    shown = standalone.render_alone(Message(role=Role.TOOL, parts=parts), Heading())
    gone = standalone.render_alone(
        Message(role=Role.USER, parts=(Image("image/png", sha256="0" * 64),)), Heading()
    )

    assert f'src="{PIXEL}"' in shown
    assert "https://example.org" in shown
    assert 'src="data:,"' in gone


def test_a_page_has_the_style_of_the_product() -> None:
    assert "prefers-color-scheme" in standalone.styles()
    assert "url(" not in standalone.styles()
    page = b"".join(html.write([], Heading(styles=standalone.styles()))).decode()
    assert Outline(page).tags["style"] == 1
