"""Giving an operation other words or another condition from the page, and wider targets."""

import re
from html import unescape

from contextstudio.accounts.models import User
from operations.domain.log.operation import (
    Condition,
    Insert,
    Redact,
    Snip,
    messages_of,
)
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.log.selectors import load_thread
from operations.models import LogEntry
from tests.operations.conftest import Page
from tests.people import caller
from threads.domain.message import Role
from threads.domain.part import Text


def test_amending_gives_a_new_version_and_its_difference(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    answer = page.post(
        "operations/o1/amend", operation="o1", text="Other words", type="amend"
    )
    assert ">v2</button>" in answer.content.decode()
    versions = page.get("dialogs/versions", operation="o1").content.decode()
    assert "<ins>Other</ins>" in versions


def test_words_that_somebody_else_gave_meanwhile_are_not_replaced_unasked(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    opened = page.get("dialogs/amend", operation="o1").text
    fields = {"operation": "o1", "type": "amend", "dialog": "1", "tags": ""}
    fields["version"] = re.findall(r'name="version" value="(\d+)"', opened)[0]
    page.post("operations/o1/amend", **fields, text="Words of another window")
    refused = page.post("operations/o1/amend", **fields, text="First words")
    assert refused.status_code == 409
    assert "It was amended after you opened this." in refused.text
    assert "First words</textarea>" in refused.text
    fields["version"] = re.findall(r'name="version" value="(\d+)"', refused.text)[0]
    answer = page.post("operations/o1/amend", **fields, text="First words")
    assert answer.status_code == 200
    assert ">v3</button>" in answer.text


def test_what_is_reverted_is_named_once_where_it_is_not_amended(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="First words")
    page.post("operations/o1/revert")
    fields = {"operation": "o1", "type": "amend", "dialog": "1", "tags": ""}
    refused = page.post("operations/o1/amend", **fields, text="Other words")
    assert refused.status_code == 409
    assert "o1 is reverted: restore it first." in refused.text
    assert "In the way" not in refused.text
    assert "What the model sees</label>" in refused.text  # not "optional"


def test_of_several_messages_the_dialog_says_how_their_text_is_changed(
    page: Page, editor: User
) -> None:
    said = tuple(MadeMessage(Role.USER, (Text(word),)) for word in ("Here.", "There."))
    services.record_edit(
        caller(editor), page.session.pk, Insert(after="m2", messages=said)
    )
    dialog = page.get("dialogs/amend", operation="o1").text
    assert 'name="text"' not in dialog
    assert "The text of its 2 messages can be changed with the" in dialog


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
    assert "o6" in page.keys


def test_one_undo_takes_back_all_of_a_widening(page: Page, editor: User) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.post("operations/o1/off")
    page.edit("snip", targets="m4 m5")
    page.post("operations/o1/on")
    page.post("operations/o3/widen")
    assert "Undid snip #2–#5" in page.post("undo").content.decode()
    page.session.refresh_from_db()
    log = load_thread(page.session).log
    states = {key: log.edits[int(key[1:])].state for key in ("o1", "o3", "o6")}
    assert states == {"o1": "on", "o3": "on", "o6": "reverted"}
    page.post("redo")
    assert "o6" in page.keys
    bundle = LogEntry.objects.get(session=page.session, number=6).bundle
    page.post(f"bundles/{bundle}/revert")
    assert "o1" in page.keys


def test_what_is_widened_keeps_what_it_is_for(page: Page, editor: User) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.post("operations/o1/off")
    snip = Snip(targets=("m4", "m5"))
    services.record_edit(caller(editor), page.session.pk, snip, title="Dead end")
    page.post("operations/o1/on")
    page.post("operations/o3/widen")
    assert LogEntry.objects.get(session=page.session, number=6).title == "Dead end"
