"""References in shown text become links of our own, behind the allow-list."""

import pytest

from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolResult
from threads.rendering import render
from threads.rendering.recalls import with_recalls, without_recalls

LINK = '<a class="recall" href="recall?ref=msg-1a2b3c4d">[recall:msg-1a2b3c4d]</a>'


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("msg-1a2b3c4d", "msg-1a2b3c4d"),
        ("msg-1a2b3c4d:L10-50", "msg-1a2b3c4d%3AL10-50"),
        ("m12:match-3", "m12%3Amatch-3"),
        ("o7.0:tool-2", "o7.0%3Atool-2"),
        ("nexora://demo/abc12345/m1", "nexora%3A%2F%2Fdemo%2Fabc12345%2Fm1"),
    ],
)
def test_every_form_is_a_link(reference: str, address: str) -> None:
    html = with_recalls(f"<p>see [recall:{reference}]</p>")
    link = f'<a class="recall" href="recall?ref={address}">[recall:{reference}]</a>'
    assert html == f"<p>see {link}</p>"
    assert without_recalls(html) == f"<p>see [recall:{reference}]</p>"


@pytest.mark.parametrize(
    "html",
    [
        "<p>[recall:]</p>",
        "<p>[recall:javascript:x]</p>",
        '<p>[recall:msg-1a2b3c4d"x]</p>',
        '<a href="https://x.org">[recall:msg-1a2b3c4d]</a>',
        '<a href="https://x.org" title="a > [recall:msg-1a2b3c4d]">b</a>',
        '<span title="> [recall:msg-1a2b3c4d]">b</span>',
    ],
)
def test_nothing_else_and_nothing_in_links_and_attributes(html: str) -> None:
    assert with_recalls(html) == html


def test_words_and_results_of_messages_have_them() -> None:
    text = "Read [recall:msg-1a2b3c4d]"
    assert LINK in render(Role.ASSISTANT, (Text(text),), counts=None)
    result = ToolResult("1", (Text(text),))
    assert LINK in render(Role.TOOL, (result,), counts=None)
    hostile = '[x](https://x.org "q > [recall:msg-1a2b3c4d]")'
    assert 'class="recall"' not in render(Role.USER, (Text(hostile),), counts=None)


def test_a_page_that_stands_alone_has_none() -> None:
    from threads.domain.formats.format import Heading
    from threads.rendering.standalone import render_alone

    message = Message(role=Role.USER, parts=(Text("[recall:msg-1a2b3c4d]"),))
    heading = Heading(title="", model="", strategy="openai", blob=lambda _: b"")
    assert "recall?ref" not in render_alone(message, heading)
