"""What a notice says of an operation, and what drawer and ledger say of the same."""

import re

from django.http import HttpResponse

from operations.log.selectors import load_thread
from tests.operations.conftest import Page


def figures(page: Page, key: str) -> tuple[str, str]:
    """What the drawer says that an operation adds to the thread, and the ledger's line."""
    panel = page.get("panel").content.decode()
    row = panel.split(f'id="p-{key}"')[1].split("</li>")[0]
    ledger = page.get("ledger").content.decode()
    line = ledger.split(f'data-late="{key}">')[1].split("</p>")[0]
    return row.split('<span class="op-delta"')[1].split(">")[1].split("<")[0], line


def test_toast_marker_and_drawer_say_one_figure_of_a_snip_over_a_fold_and_the_ledger_its_frame(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.session.refresh_from_db()
    before = load_thread(page.session).tokens.effective
    toast = page.edit("snip", targets="m2 m3 m4 m5").content.decode()
    page.session.refresh_from_db()
    saved = before - load_thread(page.session).tokens.effective
    assert f"Snip #2–#5, −{saved} tokens." in toast
    marker = toast.split('id="n-o2"')[1]
    assert f'<span class="before">{saved}</span>' in marker
    assert '<b class="after">0</b>' in marker
    figure, line = figures(page, "o2")
    assert figure == f"−{saved}"
    told = re.search(r"aves (\d+) per turn \((\d+) more than in the thread\)", line)
    assert told
    per_turn, frame = map(int, told.groups())
    assert per_turn == saved + frame


def test_what_waits_for_a_tag_says_so_in_notice_and_thread(page: Page) -> None:
    words = "only while brief and short are active"
    toast = page.edit("snip", targets="m2", tags="brief short").content.decode()
    assert f"Snip #2, applies {words}." in toast
    shown = page.get("").content.decode()
    assert f"Applies {words}" in shown
    assert "1 message" in shown
    assert "1 message hidden" not in shown
    assert "−100%" not in shown
    assert "Snip #2 off." in page.post("operations/o1/off").content.decode()
    assert f"Applies {words}" not in page.get("").content.decode()
    on = page.post("operations/o1/on").content.decode()
    assert f"Snip #2 on, applies {words}." in on


def test_what_has_nothing_to_act_on_has_no_figure(page: Page) -> None:
    page.edit("insert", after="m2", role="user", text="A note on the side.")
    page.edit("insert", after="o1", role="user", text="A note on that note.")
    page.post("operations/o1/off")
    row = page.get("panel").content.decode().split('id="p-o2"')[1].split("</li>")[0]
    assert "void (the message" in row
    assert '<span class="op-delta"></span>' in row


def test_where_a_request_saves_less_than_the_thread_the_ledger_says_so(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3 m4 m5 m6 m7 m8", summary="Sum")
    figure, line = figures(page, "o1")
    less = int(line.split(" (")[-1].split(" less than in the thread)")[0])
    assert int(line.split("aves ")[1].split(" per turn")[0]) == -int(
        figure.replace("−", "-")
    ) - abs(less)


def test_undo_and_redo_name_what_they_do(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    assert 'title="Undo snip #2–#3"' in page.get("panel").content.decode()
    page.post("operations/o1/off")
    assert 'aria-label="Undo turning off snip #2–#3"' in (
        page.get("panel").content.decode()
    )
    assert "Undid turning off snip #2–#3, −" in page.post("undo").content.decode()
    answer = page.post("undo").content.decode()
    assert "Undid snip #2–#3, +" in answer
    assert 'title="Redo snip #2–#3"' in answer
    assert "Redid snip #2–#3, −" in page.post("redo").content.decode()
    page.edit("digest", targets="m4", summary="Four")
    page.post("operations/o6/amend", type="amend", operation="o6", text="4", tags="")
    assert "Undid the edit of digest #4" in page.post("undo").content.decode()
    page.post("tags", tags="lean")
    assert "Undid the change of active tags" in page.post("undo").content.decode()
    page.post("operations/o6/revert")
    assert "Undid reverting digest #4" in page.post("undo").content.decode()


def test_a_notice_offers_the_way_back_from_what_it_tells_of(page: Page) -> None:
    def offered(answer: HttpResponse) -> list[str]:
        toast = answer.content.decode().split('<div class="toast')[1]
        return re.findall(r'data-action="(undo|redo)"', toast)

    assert offered(page.edit("snip", targets="m2")) == ["undo"]
    assert offered(page.post("undo")) == ["redo"]
    assert offered(page.post("redo")) == ["undo"]


def test_what_sets_others_aside_says_its_own_share_of_the_figure(page: Page) -> None:
    page.edit("snip", targets="m4 m5 m6")
    page.post("operations/o1/off")
    page.edit("snip", targets="m6 m7")
    answer = page.post("operations/o1/on").content.decode()
    assert "Set aside by it: snip o3." in answer
    assert_shares_add_up(answer)
    assert_shares_add_up(page.post("operations/o1/off").content.decode())


def test_an_amended_text_says_what_the_amendment_alone_came_to(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    amended = page.post(
        "operations/o1/amend", type="amend", operation="o1", text="Sum of it", tags=""
    )
    assert "Digest #2–#4 amended, +2 tokens." in amended.content.decode()
    undone = page.post("undo").content.decode()
    assert "Undid the edit of digest #2–#4, −2 tokens." in undone
    assert "Redid the edit of digest #2–#4, +2 tokens." in (
        page.post("redo").content.decode()
    )


def assert_shares_add_up(answer: str) -> None:
    """The figure of a notice is the sum of its own share and that of others."""
    told = re.search(
        r", ([−+][\d,]+) tokens?: ([−+][\d,]+) by itself, ([−+][\d,]+) through others\.",
        answer,
    )
    assert told is not None, answer[:2000]
    figures = [int(one.replace("−", "-").replace(",", "")) for one in told.groups()]
    whole, own, others = figures
    assert whole == own + others
    assert own * others < 0


def test_a_proposal_says_what_it_would_come_to(page: Page) -> None:
    answer = page.edit("snip", targets="m2 m3", propose="1").content.decode()
    assert "Snip #2–#3 proposed, −" in answer
    assert " tokens if applied." in answer


def test_what_lies_inside_a_fold_says_so_instead_of_a_figure(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4 m5", summary="Sum")
    made = page.edit("digest", targets="m3 m4", summary="Less").content.decode()
    assert "Digest #3–#4, inside digest o1." in made
    off = page.post("operations/o2/off").content.decode()
    assert "Digest #3–#4 off, inside digest o1." in off
    assert "on, inside digest o1." in page.post("operations/o2/on").content.decode()


def test_a_proposal_inside_a_fold_promises_no_tokens(page: Page) -> None:
    page.edit("snip", targets="m3", propose="1")
    assert "In the thread: <b>−" in page.get("panel").content.decode()
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    shown = page.get("panel").content.decode()
    assert "<b>No tokens</b> in the thread: it is inside digest o2." in shown
    assert "In the thread: <b>−" not in shown
    accepted = page.post("operations/o1/accept").content.decode()
    assert "Snip #3 accepted, inside digest o2." in accepted
