"""Moving messages from the page."""

from tests.operations.conftest import Page


def test_messages_move_behind_another_and_leave_a_stub(page: Page) -> None:
    answer = page.edit("resequence", moved="m10 m11", behind="m2")
    assert page.keys[:6] == ["m0", "m1", "m2", "m10", "m11", "m3"]
    content = answer.content.decode()
    assert "moved-tab" in content
    assert 'aria-label="More for move o1"' in content
    assert "#10–#11 moved to" in content


def test_a_move_without_a_place_is_refused_at_its_field(page: Page) -> None:
    for given in ({"number": " "}, {"place": "after", "number": ""}):
        answer = page.edit("resequence", moved="m10", dialog="1", **given)
        assert answer.status_code == 422
        asked = "Enter a message number, or choose the top or end."
        assert f'id="id_number_error">{asked}' in answer.content.decode()
    assert page.keys[10] == "m10"


def test_messages_move_to_the_top_or_the_end_where_that_is_chosen(page: Page) -> None:
    for place, there in (("top", 0), ("end", -1)):
        chosen = {"dialog": "1", "place": place, "number": ""}
        page.edit("resequence", moved="m10", **chosen)
        assert page.keys[there] == "m10"
        again = page.edit("resequence", moved="m10", **chosen)
        assert again.status_code == 422
        said = 'id="id_place_error">These messages are already there.'
        assert said in again.content.decode()


def test_a_dragged_message_takes_its_inserts_along(page: Page) -> None:
    page.edit("insert", after="m10", role="user", text="Hangs on ten")
    page.edit("resequence", moved="m10", behind="")
    assert page.keys[:3] == ["m10", "o1.0", "m0"]


def test_a_digest_moves_whole(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    page.edit("resequence", moved="o1", behind="m7")
    assert page.keys[:7] == ["m0", "m1", "m5", "m6", "m7", "o1", "m8"]
    page.post("operations/o1/off")
    assert page.keys[5:9] == ["m2", "m3", "m4", "m8"]


def test_moving_to_where_it_stands_is_refused_with_a_sentence(page: Page) -> None:
    answer = page.edit("resequence", moved="m3", behind="m2")
    assert answer.status_code == 422
    assert "are already there" in answer.content.decode()


def test_a_notice_names_what_was_moved_and_where_to(page: Page) -> None:
    answer = page.edit("resequence", moved="m3", behind="m4").content.decode()
    assert "Move #3 after #4." in answer
    page.edit("resequence", moved="m9", behind="")
    assert "Undid move #9" in page.post("undo").content.decode()
    assert "Move #10 to the top." in (
        page.edit("resequence", moved="m10", behind="").content.decode()
    )
