"""Selections and places, in the order of the thread."""

from typing import Any

from contextstudio.accounts.models import User
from tests.operations.conftest import Page, message
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolResult
from threads.sessions.services import append_messages


def ask(page: Page, path: str, **fields: Any) -> dict[str, Any]:
    answer = page.client.get(page.url + path, fields)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_keys_come_back_in_the_order_of_the_thread(page: Page) -> None:
    page.edit("resequence", moved="m10", behind="m0")
    assert ask(page, "selection", keys="m3 m10 m1")["keys"] == ["m10", "m1", "m3"]


def test_a_range_reaches_from_one_row_to_another_whichever_comes_first(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    there = ask(page, "selection", **{"from": "m1", "to": "m6"})
    assert there["keys"] == ["m1", "o1", "m5", "m6"]
    assert there["count"] == 6
    assert there["label"] == "#1–#6"
    assert ask(page, "selection", **{"from": "m6", "to": "m1"}) == there


def test_a_run_of_rows_is_told_from_rows_with_others_between_them(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    assert ask(page, "selection", keys="m1 o1 m5")["is_run"]
    assert ask(page, "selection", keys="m3")["is_run"]
    assert not ask(page, "selection", keys="m1 m5")["is_run"]
    assert not ask(page, "selection", keys="m1 m3")["is_run"]
    assert not ask(page, "selection", keys="m99")["is_run"]


def test_tokens_are_those_of_the_messages_selected(page: Page) -> None:
    both = ask(page, "selection", keys="m0 m1")["tokens"]
    assert (
        both
        == ask(page, "selection", keys="m0")["tokens"]
        + (ask(page, "selection", keys="m1")["tokens"])
    )


def test_a_long_selection_may_be_posted(page: Page) -> None:
    keys = " ".join(f"m{index}" for index in range(20))
    assert (
        page.client.post(page.url + "selection", {"keys": keys}).json()["count"] == 20
    )


def test_what_is_gone_is_not_selected_any_more(page: Page) -> None:
    assert ask(page, "selection", keys="m1 o7 nonsense")["keys"] == ["m1"]


def test_an_operation_is_selected_by_its_targets(page: Page) -> None:
    page.edit("tag", targets="m1 m2", tags="goal")
    assert ask(page, "selection", operation="o1")["keys"] == ["m1", "m2"]


def test_a_message_in_a_fold_is_found_where_the_fold_stands(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    assert ask(page, "locate", key="m4") == {
        "position": 2,
        "key": "m4",
        "folds": ["o1"],
        "within": [2],
    }
    assert ask(page, "locate", number=6)["position"] == 4
    assert ask(page, "locate", key="m4", view="original")["position"] == 4


def test_the_next_user_message_and_marker_are_found_beyond_what_is_loaded(
    page: Page,
) -> None:
    page.edit("digest", targets="m12 m13", summary="Sum")
    assert ask(page, "locate", key="m1", next="user")["key"] == "m5"
    assert ask(page, "locate", key="m7", previous="user")["key"] == "m5"
    assert ask(page, "locate", key="m1", next="marker")["key"] == "o1"
    assert page.get("locate", key="m19", next="user").status_code == 204


def test_the_next_failed_result_is_found_inside_folds_that_can_be_opened(
    page: Page, editor: User
) -> None:
    for index in (4, 5, 6):
        failing = ToolResult(f"call-{index}", (Text("No rule"),), is_error=True)
        result = Message(role=Role.TOOL, parts=(failing,))
        more = [message(1), result, message(3)]
        append_messages(caller(editor), page.session.pk, more)
    page.session.refresh_from_db()
    assert ask(page, "locate", key="m1", next="failure")["key"] == "m21"
    assert ask(page, "locate", key="m28", previous="failure")["key"] == "m27"
    page.edit("revise", targets="m21", text="It failed", role="")
    page.edit("digest", targets="m20 m21 m22", summary="Sum")
    inside = {"position": 20, "key": "m21", "folds": ["o2", "o1"], "within": [1, 0]}
    assert ask(page, "locate", key="m1", next="failure") == inside
    assert ask(page, "locate", key="o2", next="failure") == inside
    assert ask(page, "locate", key="m20", next="failure") == inside
    assert ask(page, "locate", key="o1", next="failure") == inside
    assert ask(page, "locate", key="m22", previous="failure") == inside
    assert ask(page, "locate", key="m24", previous="failure") == inside
    assert ask(page, "locate", key="m21", next="failure")["key"] == "m24"
    assert page.get("locate", key="o2", previous="failure").status_code == 204
    effective = ask(page, "locate", key="m1", next="failure", view="effective")
    assert effective == {
        "position": 22,
        "key": "m24",
        "folds": [],
        "within": [],
    }
    original = ask(page, "locate", key="m1", next="failure", view="original")
    assert original["key"] == "m21"
    assert page.get("locate", key="m27", next="failure").status_code == 204


def test_in_the_effective_view_every_row_has_a_place_of_its_own(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.edit("insert", after="m5", role="user", text="Between")
    assert ask(page, "locate", key="m6", view="effective")["position"] == 5


def test_a_message_that_is_not_there_is_not_located(page: Page) -> None:
    assert page.get("locate", number=99).status_code == 204
    assert page.get("locate", number="many").status_code == 422


def test_an_operation_is_located_where_it_hangs_or_acts(page: Page) -> None:
    page.edit("snip", targets="m8 m9")
    page.post("operations/o1/off")
    page.edit("tag", targets="m5 m6", tags="goal")
    page.edit("insert", after="m5", role="user", text="Between")
    page.edit("resequence", moved="m10", behind="m0")
    found = [ask(page, "locate", key=key)["key"] for key in ("o1", "o3", "o4", "o5")]
    assert found == ["m8", "m5", "o4.0", "m10"]


def test_what_hangs_on_a_closed_fold_is_located_in_it(page: Page) -> None:
    page.edit("snip", targets="m3")
    page.post("operations/o1/off")
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    assert ask(page, "locate", key="o1") == {
        "position": 2,
        "key": "m3",
        "folds": ["o3"],
        "within": [1],
    }
