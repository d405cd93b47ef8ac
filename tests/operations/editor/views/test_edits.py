"""Recording, switching and taking back from the page."""

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.http import HttpResponse

from contextstudio.accounts.models import User
from operations.domain.log.operation import Condition, Redact, Snip, messages_of
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.log.compactions import record
from operations.log.selectors import load_thread
from operations.models import LogEntry
from tests.operations.conftest import Page, read
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.imports.hooks import Compacted


def keys(page: Page) -> list[str]:
    page.session.refresh_from_db()
    return load_thread(page.session).keys


def test_a_digest_answers_with_its_marker_and_takes_its_rows_out(page: Page) -> None:
    answer = read(page.edit("digest", targets="m2 m3 m4", summary="Three in one"))
    assert answer.articles == ["n-o1"]
    assert [swap for swap in answer.swaps if swap.startswith("delete")] == [
        "delete n-m2",
        "delete n-m3",
        "delete n-m4",
    ]
    assert answer.facts["data-head"] == "1"
    assert json.loads(answer.facts["data-splices"]) == [[2, 3, 1]]
    assert answer.facts["data-focus"] == "o1"
    assert keys(page)[:4] == ["m0", "m1", "o1", "m5"]


def test_every_answer_brings_meter_minimap_outline_and_drawer_along(page: Page) -> None:
    swaps = read(page.edit("snip", targets="m2 m3")).swaps
    for part in (
        "meter",
        "minimap",
        "g-m0",
        "operations-count",
        "panel-operations",
    ):
        assert any(swap.endswith(part) for swap in swaps), part


def test_switching_off_brings_the_rows_back_and_leaves_a_crease(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    answer = page.post("operations/o1/off")
    assert read(answer).articles == ["n-m2", "n-m3", "n-m4"]
    assert "flat--off" in answer.content.decode()
    assert page.post("operations/o1/on").status_code == 200
    assert keys(page)[2] == "o1"


def test_undo_and_redo_go_back_and_forth(page: Page) -> None:
    page.edit("snip", targets="m2 m3")
    assert read(page.post("undo")).articles == ["n-m2", "n-m3"]
    assert read(page.post("redo")).articles == ["n-o1"]
    page.post("undo")
    refused = page.post("undo")
    assert refused.status_code == 409
    assert "You have nothing to undo" in refused.content.decode()


def test_a_revise_of_one_message_keeps_its_calls(page: Page) -> None:
    page.edit("revise", targets="m1", text="Other words", role="")
    page.session.refresh_from_db()
    made = load_thread(page.session).made("o1.0")
    assert made is not None
    assert made.role == "assistant"
    assert [part.kind for part in made.parts] == ["text", "tool_call"]


def test_a_revise_of_a_result_leaves_it_a_result(page: Page) -> None:
    assert (
        'name="role"' not in page.get("dialogs/revise", targets="m2").content.decode()
    )
    assert 'name="role"' in page.get("dialogs/revise", targets="m3 m4").content.decode()
    page.edit("revise", targets="m2", text="Shorter")
    page.session.refresh_from_db()
    made = load_thread(page.session).made("o1.0")
    assert made is not None
    assert made.role == "tool"
    assert [part.kind for part in made.parts] == ["tool_result"]


def test_a_revise_shows_the_difference_of_words(page: Page) -> None:
    content = page.edit(
        "revise", targets="m4", text="Answer five", role=""
    ).content.decode()
    assert "<del>4</del>" in content
    assert "<ins>five</ins>" in content


def test_an_insert_stands_behind_its_anchor_or_at_the_top(page: Page) -> None:
    page.edit("insert", after="m3", role="user", text="Between")
    answer = read(page.edit("insert", after="", role="user", text="First"))
    assert answer.facts["data-focus"] == "o2.0"
    assert keys(page)[:6] == ["o2.0", "m0", "m1", "m2", "m3", "o1.0"]


def test_tags_are_printed_on_the_row(page: Page) -> None:
    content = page.edit("tag", targets="m0", tags="goal, keep").content.decode()
    assert '<span class="tag">goal</span><span class="tag">keep</span>' in content


def test_what_acts_on_inserted_messages_is_named_by_them(page: Page) -> None:
    page.edit("insert", after="m3", role="user", text="Between")
    answer = page.edit("tag", targets="o1.0", tags="goal")
    assert "Tag insert o1." in answer.content.decode()
    assert read(answer).facts["data-focus"] == "o1.0"
    page.edit("insert", after="o1.0", role="user", text="Behind it")
    moved = page.edit("resequence", moved="o3.0", behind="m3")
    assert "Move insert o3" in moved.content.decode()
    digest = page.edit("digest", targets="o3.0 o1.0", summary="Two in one")
    assert "Digest insert o3, insert o1" in digest.content.decode()


def test_messages_move_behind_another_and_leave_a_stub(page: Page) -> None:
    answer = page.edit("resequence", moved="m10 m11", behind="m2")
    assert keys(page)[:6] == ["m0", "m1", "m2", "m10", "m11", "m3"]
    content = answer.content.decode()
    assert "moved-tab" in content
    assert "#10–#11 moved to" in content


def test_a_move_without_a_place_is_refused_at_its_field(page: Page) -> None:
    for given in ({"number": " "}, {"place": "after", "number": ""}):
        answer = page.edit("resequence", moved="m10", dialog="1", **given)
        assert answer.status_code == 422
        asked = "Enter a message number, or choose the top or end."
        assert f'id="id_number_error">{asked}' in answer.content.decode()
    assert keys(page)[10] == "m10"


def test_messages_move_to_the_top_or_the_end_where_that_is_chosen(page: Page) -> None:
    for place, there in (("top", 0), ("end", -1)):
        chosen = {"dialog": "1", "place": place, "number": ""}
        page.edit("resequence", moved="m10", **chosen)
        assert keys(page)[there] == "m10"
        again = page.edit("resequence", moved="m10", **chosen)
        assert again.status_code == 422
        said = 'id="id_place_error">These messages are already there.'
        assert said in again.content.decode()


def test_a_dragged_message_takes_its_inserts_along(page: Page) -> None:
    page.edit("insert", after="m10", role="user", text="Hangs on ten")
    page.edit("resequence", moved="m10", behind="")
    assert keys(page)[:3] == ["m10", "o1.0", "m0"]


def test_a_digest_moves_whole(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.edit("resequence", moved="o1", behind="m7")
    assert keys(page)[:7] == ["m0", "m1", "m5", "m6", "m7", "o1", "m8"]
    page.post("operations/o1/off")
    assert keys(page)[5:9] == ["m2", "m3", "m4", "m8"]


def test_moving_to_where_it_stands_is_refused_with_a_sentence(page: Page) -> None:
    answer = page.edit("resequence", moved="m3", behind="m2")
    assert answer.status_code == 422
    assert "are already there" in answer.content.decode()


def test_what_would_cut_through_a_fold_is_refused_and_offers_the_wider_range(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    answer = page.edit("snip", targets="m4 m5")
    content = answer.content.decode()
    assert answer.status_code == 409
    assert "digest o1" in content
    assert "Widen to #2–#5" in content
    assert 'data-targets="m2 m3 m4 m5"' in content


def test_a_refused_dialog_comes_back_with_its_words_and_widens(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    form = {"targets": "m4 m5", "summary": "More", "dialog": "1"}
    refused = page.edit("digest", **form)
    content = refused.content.decode()
    assert refused.status_code == 409
    assert "Widen to #2–#5" in content
    assert "More</textarea>" in content
    widened = page.edit("digest", **form, needs="m2 m3 m4 m5", widen="1")
    assert read(widened).articles == ["n-o2"]


def test_a_dialog_without_words_is_refused_in_place(page: Page) -> None:
    answer = page.edit("digest", targets="m2", summary="", dialog="1")
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()


def test_what_the_arguments_refuse_is_said_at_the_field_it_was_typed_in(
    page: Page,
) -> None:
    digest = {"targets": "m2", "dialog": "1"}
    blank = page.edit("digest", **digest, summary=" ").content.decode()
    assert 'id="id_summary_error">It must not be empty.' in blank
    long = page.edit("digest", **digest, summary="Sum", tags="x" * 101).content.decode()
    assert 'id="id_tags_error">A tag has at most 100 characters.' in long
    moved = {"moved": "m3", "dialog": "1", "number": "three"}
    lost = page.edit("resequence", **moved).content.decode()
    assert 'id="id_number_error">Enter a message number.' in lost
    gone = page.edit("resequence", **moved | {"number": "999"}).text
    assert 'id="id_number_error">#999 is not in the thread.' in gone
    none = page.edit("tag", targets="m3", dialog="1", tags="# ,").text
    assert 'id="id_tags_error">This field is required.' in none


def test_amending_gives_a_new_version_and_its_difference(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    answer = page.post(
        "operations/o1/amend", operation="o1", text="Other words", type="amend"
    )
    assert ">v2</button>" in answer.content.decode()
    versions = page.get("dialogs/versions", operation="o1").content.decode()
    assert "<ins>Other</ins>" in versions


def test_a_tag_of_two_words_stays_one_where_something_else_is_amended(
    page: Page, editor: User
) -> None:
    condition = Condition(tags=("to do", "brief"))
    snip = Snip(targets=("m2",), condition=condition)
    services.record_edit(caller(editor), page.session.pk, snip)
    dialog = page.get("dialogs/amend", operation="o1").content.decode()
    (tags,) = re.findall(r'name="tags" value="([^"]+)"', dialog)
    page.post("operations/o1/amend", type="amend", operation="o1", tags=unescape(tags))
    page.session.refresh_from_db()
    assert load_thread(page.session).log.edits[1].edit == snip


def test_words_that_were_deleted_are_refused_and_not_passed_over(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    opened = page.get("dialogs/amend", operation="o1").text
    assert "What the model sees</label>" in opened  # not "optional"
    fields = {"operation": "o1", "type": "amend", "dialog": "1", "tags": ""}
    for text in ("", " \n"):
        refused = page.post("operations/o1/amend", **fields, text=text)
        assert refused.status_code == 422
        assert 'id="id_text_error">It must not be empty.' in refused.text
    assert LogEntry.objects.filter(session=page.session).count() == 1
    page.edit("snip", targets="m5")
    fields["operation"] = "o2"
    long = page.post("operations/o2/amend", **{**fields, "tags": "x" * 101})
    assert 'name="text"' not in long.content.decode()
    assert page.post("operations/o2/amend", **fields).status_code == 200


def test_a_condition_is_amended_without_the_words_that_a_redaction_masks(
    page: Page, editor: User
) -> None:
    page.edit("digest", targets="m2 m3", summary="The key is hunter2.")
    secret = {"start": 11, "end": 18, "sha256": fingerprint("hunter2")}
    redact = Redact(spans=(Span(key="o1.0", part=0, **secret),))
    services.record_edit(caller(editor), page.session.pk, redact)
    dialog = page.get("dialogs/amend", operation="o1").content.decode()
    assert "The key is [redacted].</textarea>" in dialog
    fields = {"operation": "o1", "type": "amend", "dialog": "1", "tags": "brief"}
    page.post("operations/o1/amend", **fields, text="The key is [redacted].")
    page.session.refresh_from_db()
    recorded = load_thread(page.session).log.edits[1].edit
    assert recorded.condition.tags == ("brief",)
    assert messages_of(recorded)[0].parts == (Text("The key is hunter2."),)


def test_what_was_set_aside_is_widened_by_one_press(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.post("operations/o1/off")
    page.edit("snip", targets="m4 m5")
    page.post("operations/o1/on")
    assert "set aside" in page.get("panel").content.decode()
    page.post("operations/o3/widen")
    assert "o6" in keys(page)


def test_what_is_widened_keeps_what_it_is_for(page: Page, editor: User) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.post("operations/o1/off")
    snip = Snip(targets=("m4", "m5"))
    services.record_edit(caller(editor), page.session.pk, snip, title="Dead end")
    page.post("operations/o1/on")
    page.post("operations/o3/widen")
    assert LogEntry.objects.get(session=page.session, number=6).title == "Dead end"


def test_a_proposal_waits_in_the_drawer_and_is_accepted(
    page: Page, open_page: Callable[..., Page], reviewer: User
) -> None:
    proposing = open_page(reviewer)
    answer = proposing.edit("snip", targets="m2 m3")
    assert "flat--proposed" in answer.content.decode()
    assert LogEntry.objects.get(session=page.session, number=1).proposed
    assert "1 waiting" in page.get().content.decode()
    assert read(page.post("operations/o1/accept")).articles == ["n-o1"]


def test_a_viewer_is_refused_and_sees_no_verbs(
    open_page: Callable[..., Page], viewer: User
) -> None:
    page = open_page(viewer)
    assert page.edit("snip", targets="m2").status_code == 403
    content = page.get().content.decode()
    assert "is-read-only" in content
    assert 'data-action="digest"' not in content


def test_active_tags_let_a_condition_hold(page: Page) -> None:
    page.edit("snip", targets="m2 m3", tags="short")
    assert "o1" not in keys(page)
    page.post("tags", tags="short")
    assert "o1" in keys(page)


def test_an_answer_starts_at_the_head_of_the_page_not_of_the_server(
    page: Page, open_page: Callable[..., Page], owner: User
) -> None:
    other = open_page(owner)
    other.edit("snip", targets="m10 m11")
    answer = read(page.edit("snip", targets="m2 m3"))
    assert set(answer.articles) == {"n-o1", "n-o2"}
    assert json.loads(answer.facts["data-splices"]) == [[2, 2, 1], [10, 2, 1]]


def test_an_unknown_kind_and_a_malformed_key_are_refused(page: Page) -> None:
    assert page.edit("explode", targets="m2").status_code == 422
    assert page.edit("snip", targets="m2 ; drop").status_code == 422
    assert page.post("operations/o9/off").status_code == 404


def test_minimap_and_outline_are_left_out_where_they_are_what_they_were(
    page: Page,
) -> None:
    swaps = read(page.edit("tag", targets="m2", tags="goal")).swaps
    parts = ("minimap", "outline-list", "g-m0")
    assert not any(swap.endswith(parts) for swap in swaps)
    assert any(swap.endswith("meter") for swap in swaps)


def test_of_the_outline_comes_only_the_group_that_reads_otherwise(page: Page) -> None:
    patch = page.edit("digest", targets="m2 m3 m4", summary="Three in one")
    groups = [swap for swap in read(patch).swaps if swap.split()[-1].startswith("g-")]
    assert groups == ["true g-m0"]
    assert 'id="outline-list"' not in patch.content.decode()


def test_active_tags_are_set_in_a_dialog_and_let_conditions_hold(page: Page) -> None:
    page.edit("snip", targets="m1", tags="handover")
    assert "Active tags" in page.get("dialogs/activate").content.decode()
    patch = page.post("tags", tags="#handover, night")
    assert patch.status_code == 200
    assert 'id="n-o1"' in patch.content.decode()
    assert "handover night" in page.get("dialogs/activate").content.decode()
    refused = page.post("tags", tags="x" * 101)
    assert refused.status_code == 422
    assert "at most 100 characters" in refused.content.decode()


def figures(page: Page, key: str) -> tuple[str, str]:
    """What the drawer says that an operation adds to the thread, and the ledger's line."""
    panel = page.get("panel").content.decode()
    row = panel.split(f'id="p-{key}"')[1].split("</li>")[0]
    ledger = page.get("ledger").content.decode()
    line = ledger.split(f'data-late="{key}">')[1].split("</p>")[0]
    return row.split('<span class="op-delta"')[1].split(">")[1].split("<")[0], line


def test_toast_marker_drawer_and_ledger_say_one_figure_of_a_snip_over_a_fold(
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
    assert f"aves {saved} per turn" in line


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


def test_a_notice_names_what_was_moved_and_where_to(page: Page) -> None:
    answer = page.edit("resequence", moved="m3", behind="m4").content.decode()
    assert "Move #3 after #4." in answer
    page.edit("resequence", moved="m9", behind="")
    assert "Undid move #9" in page.post("undo").content.decode()
    assert "Move #10 to the top." in (
        page.edit("resequence", moved="m10", behind="").content.decode()
    )


def test_what_sets_others_aside_says_its_figure_alone_and_together(page: Page) -> None:
    page.edit("snip", targets="m4 m5 m6")
    page.post("operations/o1/off")
    page.edit("snip", targets="m6 m7")
    answer = page.post("operations/o1/on").content.decode()
    assert "Set aside by it: snip o3." in answer
    assert "tokens alone, " in answer
    assert " together with what changes with it." in answer


def test_a_proposal_says_what_it_would_come_to(page: Page) -> None:
    answer = page.edit("snip", targets="m2 m3", propose="1").content.decode()
    assert "Snip #2–#3 proposed, −" in answer
    assert " tokens if applied." in answer


def test_what_waits_inside_an_opened_fold_is_drawn_inside_it(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4 m5", summary="Sum")
    closed = page.edit("snip", targets="m3 m4", propose="1").content.decode()
    note = 'data-operation="o2"'
    assert note in closed.split('id="n-o1"')[1].split('<header class="marker-head"')[0]
    opened = page.post("folds/o1", open="1").content.decode()
    head, inner = opened.split('<div class="inner"')
    assert note not in head
    assert note in inner.split('id="n-m3"')[1].split("<header")[0]
    staged = page.edit("snip", targets="m5", stage="1").content.decode()
    assert "flat--staged" in staged.split('<div class="inner"')[1]
    assert "Unstage" in staged.split('id="n-m5"')[1].split("<header")[0]


def test_what_a_tool_compacted_itself_is_a_compaction_and_capped(page: Page) -> None:
    summary = Message(role=Role.ASSISTANT, parts=(Text("Line\n" * 40),))
    given = Compacted(indexes=tuple(range(1, 9)), messages=(summary, summary))
    record(page.session, [given])
    content = page.get("").content.decode()
    assert "Compaction o1</h3>" in content
    assert "Show all 80 lines" in content
    assert "Compaction" in page.get("outline").content.decode()
    assert "<b>Compaction</b>" in page.get("log").content.decode()
    assert "Compaction #1–#8 off" in page.post("operations/o1/off").content.decode()


def test_a_marker_of_few_lines_is_shown_whole(page: Page) -> None:
    answer = page.edit("digest", targets="m2 m3", summary="Line\n" * 8).content.decode()
    assert "marker-rest" not in answer
    longer = page.edit(
        "digest", targets="m5 m6", summary="Line\n" * 30
    ).content.decode()
    assert "Show all 30 lines" in longer


def test_the_outline_says_that_it_lists_only_the_newest_operations(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.editor.panels.outline.MOST_OPERATIONS", 2)
    said = "Older operations are not listed."
    for key in ("m2", "m4"):
        assert (
            said not in page.edit("digest", targets=key, summary="Sum").content.decode()
        )
    assert said in page.edit("snip", targets="m6").content.decode()
    assert said in page.get("").content.decode()
    page.post("operations/o3/revert")
    assert said not in page.get("").content.decode()
