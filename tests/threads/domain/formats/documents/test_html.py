"""The page of an export, as plain as the domain writes it."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support.strategies import messages as any_messages
from threads.domain import formats
from threads.domain.formats.documents import html
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def page_of(*items: html.Item, **heading: str) -> str:
    return b"".join(html.write(items, Heading(**heading))).decode()  # type: ignore[arg-type]


ASKED = Message(
    role=Role.USER,
    parts=(Text("Look <here>."),),
    name="ann",
    created_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
)
ANSWERED = Message(
    role=Role.ASSISTANT,
    parts=(
        Thinking("Hm."),
        Thinking("", data="x"),
        ToolCall("1", "look", {"at": "<plug>"}),
        ToolCall("2", "patch", "*** Begin"),
        ToolResult("1", (Text("In."), Image("image/png")), is_error=True),
        ToolResult("2", ()),
        File("application/pdf"),
        Opaque("refusal", {"refusal": "No."}),
    ),
)


def test_a_page_says_who_spoke_and_when() -> None:
    page = page_of(ASKED, ANSWERED, title="A <lamp>", model="m-1")

    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>A &lt;lamp&gt;</title>" in page
    assert '<span class="number">0</span> user (ann)' in page
    assert '<time datetime="2026-03-01T10:00:00+00:00">2026-03-01 10:00</time>' in page
    assert "Look &lt;here&gt;." in page
    assert "<details><summary>thinking</summary>" in page
    assert "Only its provider can read this." in page
    assert "&lt;plug&gt;" in page
    assert "<h4>result (error)</h4>" in page
    assert "<p>image: image/png</p>" in page
    assert "<h4>refusal</h4>" in page
    assert page.endswith("</main>\n</body>\n</html>\n")


def test_a_fold_shows_what_stands_in_place_of_what_it_hides() -> None:
    opened = html.Opened("digest", "In short", "1 message", (ASKED,))
    inner = html.Opened("snip", "", "1 message")
    page = page_of(
        ASKED, opened, ANSWERED, inner, ANSWERED, html.CLOSED, html.CLOSED, ASKED
    )

    assert page.count('<details class="hidden-messages">') == 2
    assert '<h3 class="fold-title">digest: In short</h3>' in page
    assert [page.count(f'"number">{n}<') for n in range(4)] == [1, 1, 1, 0]


def test_a_fold_that_isn_t_closed_is_closed_with_the_page() -> None:
    page = page_of(html.Opened("snip", "", ""))

    assert page.count("<section") == page.count("</section>") == 1


@settings(deadline=None)
@given(st.lists(any_messages, max_size=4))
def test_nothing_in_a_message_becomes_an_element(found: list[Message]) -> None:
    page = b"".join(formats.write("html", found, formats.Heading(title="<b>"))).decode()

    assert "<b>" not in page
    assert "\0" not in page
    assert page.count("<article ") == page.count("</article>") == len(found)
