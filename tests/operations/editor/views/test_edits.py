"""Recording, switching and taking back from the page."""

import json
from collections.abc import Callable

import pytest

from contextstudio.accounts.models import User
from operations.log.compactions import record
from operations.log.selectors import load_thread
from operations.models import LogEntry
from tests.operations.conftest import Page, read
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.imports.hooks import CompactedMessages


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
    assert page.keys[:4] == ["m0", "m1", "o1", "m5"]


@pytest.mark.parametrize(
    "said", [{"view": "no"}, {"loaded": "all"}, {"head": "x"}, {"messages": "-1"}]
)
def test_what_a_page_says_of_itself_is_refused_before_anything_is_recorded(
    page: Page, said: dict[str, str]
) -> None:
    asked: list[tuple[str, dict[str, str]]] = [
        ("operations", {"type": "snip", "targets": "m2 m3"}),
        ("tags", {"tags": "late"}),
        ("texts", {"type": "redact", "start": "Question 5"}),
    ]
    for path, fields in asked:
        refused = page.post(path, **fields, **said)
        assert (path, refused.status_code) == (path, 422)
    page.session.refresh_from_db()
    assert page.session.head == 0


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
    assert page.keys[2] == "o1"


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
    made = load_thread(page.session).made_message("o1.0")
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
    made = load_thread(page.session).made_message("o1.0")
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
    assert page.keys[:6] == ["o2.0", "m0", "m1", "m2", "m3", "o1.0"]


def test_tags_are_printed_on_the_row(page: Page) -> None:
    content = page.edit("tag", targets="m0", tags="goal, keep").content.decode()
    for tag in ("goal", "keep"):
        assert f'<span class="tag" title="{tag}">{tag}</span>' in content


def test_of_many_tags_a_row_shows_three_and_names_the_others(page: Page) -> None:
    tags = "a, b, c, d, e<f, " + "g" * 30
    content = page.edit("tag", targets="m0", tags=tags).content.decode()
    row = content[content.index('<span class="tags">') :]
    assert row.count('<span class="tag" title=') == 3
    assert f'role="img" title="3 more: d, e&lt;f, {"g" * 30}">+3</span>' in row


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


def test_a_proposal_waits_in_the_drawer_and_is_accepted(
    page: Page, open_page: Callable[..., Page], reviewer: User
) -> None:
    proposing = open_page(reviewer)
    answer = proposing.edit("snip", targets="m2 m3")
    assert "flat--proposed" in answer.content.decode()
    assert LogEntry.objects.get(session=page.session, number=1).proposed
    assert "1 waiting" in page.get().content.decode()
    assert read(page.post("operations/o1/accept")).articles == ["n-o1"]


def test_an_empty_drawer_tells_only_those_how_to_edit_who_may(
    page: Page, open_page: Callable[..., Page], viewer: User
) -> None:
    shown = [
        one.client.get(one.url).content.decode() for one in (page, open_page(viewer))
    ]
    assert ["Tick messages or press" in one for one in shown] == [True, False]
    assert "No operation changes these messages." in shown[1]


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
    assert "o1" not in page.keys
    page.post("tags", tags="short")
    assert "o1" in page.keys


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


def test_who_may_only_read_sees_the_active_tags_and_chooses_what_is_listed(
    page: Page, open_page: Callable[..., Page], viewer: User
) -> None:
    page.edit("snip", targets="m1", tags="handover")
    page.post("tags", tags="night")
    panel = open_page(viewer).get("panel").content.decode()
    assert '<span class="tag">night</span>' in panel
    assert 'name="show" value="off"' in panel
    assert 'data-action="undo"' not in panel


def test_undo_and_redo_are_offered_to_who_may_do_them(
    page: Page, open_page: Callable[..., Page], reviewer: User
) -> None:
    theirs = open_page(reviewer)
    theirs.edit("snip", targets="m2")
    assert 'title="Undo snip #2"' in theirs.get("panel").content.decode()
    page.post("operations/o1/accept")
    panel = theirs.get("panel").content.decode()
    assert 'aria-label="Nothing to undo" disabled' in panel
    assert theirs.post("undo").status_code == 403
    page.post("undo")
    assert 'title="Undo snip #2"' in theirs.get("panel").content.decode()
    theirs.post("undo")
    assert 'title="Redo snip #2"' in theirs.get("panel").content.decode()


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
    given = CompactedMessages(indexes=tuple(range(1, 9)), messages=(summary, summary))
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
    monkeypatch.setattr("operations.editor.panels.outline.MAX_OPERATIONS", 2)
    said = "Older operations are not listed."
    for key in ("m2", "m4"):
        assert (
            said not in page.edit("digest", targets=key, summary="Sum").content.decode()
        )
    assert said in page.edit("snip", targets="m6").content.decode()
    assert said in page.get("").content.decode()
    page.post("operations/o3/revert")
    assert said not in page.get("").content.decode()


def test_a_lens_is_saved_with_the_active_tags_set_again_and_deleted(page: Page) -> None:
    page.edit("snip", targets="m1", tags="handover")
    saved = page.post("tags", tags="handover night", lens="<Night> shift")
    assert "Saved lens &quot;&lt;Night&gt; shift&quot;." in saved.content.decode()
    page.post("tags", tags="")
    offered = page.get("dialogs/activate").content.decode()
    assert 'data-name="&lt;Night&gt; shift">' in offered  # not current
    used = page.post("lenses/use", name="<Night> shift")
    assert 'id="n-o1"' in used.content.decode()
    offered = page.get("dialogs/activate").content.decode()
    assert 'data-name="&lt;Night&gt; shift" aria-current="true"' in offered
    gone = page.post("lenses/delete", name="<Night> shift")
    assert "Deleted lens" in gone.content.decode()
    assert "use-lens" not in page.get("dialogs/activate").content.decode()
    assert "handover night" in page.get("dialogs/activate").content.decode()
    assert page.post("lenses/use", name="<Night> shift").status_code == 404


def test_a_lens_that_can_not_be_named_so_changes_nothing(page: Page) -> None:
    refused = page.post("tags", tags="night", lens="one\x07two")
    assert refused.status_code == 422
    assert "printable characters" in refused.content.decode()
    assert 'value="night"' not in page.get("dialogs/activate").content.decode()
