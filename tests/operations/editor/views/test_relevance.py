"""Rows say how near each message is to the objective, where somebody wants to see it."""

import re

import pytest
from django.conf import LazySettings

from tests.operations.conftest import Page

pytestmark = pytest.mark.meaning


@pytest.fixture
def relevant(page: Page, settings: LazySettings) -> Page:
    """The page where rows can say how near they are to the session's objective."""
    settings.MEANING_SEARCH = True
    type(page.session).objects.update(objective="A question")
    return page


def said_near(page: Page, path: str = "", **fields: str) -> dict[str, str]:
    """By key what each row says of its relevance."""
    content = page.get(path, **fields).content.decode()
    rows = content.split("<article ")[1:]
    figure = re.compile(r'class="relevance"[^>]* title="[^"]*">([^<]*)<')
    key_of = (re.search(r'data-key="([^"]*)"', row) for row in rows)
    said = ((key, figure.search(row)) for key, row in zip(key_of, rows, strict=True))
    return {key[1]: one[1] for key, one in said if key and one}


def test_rows_say_how_near_they_are_to_the_objective_where_that_is_switched_on(
    relevant: Page,
) -> None:
    assert said_near(relevant) == {}
    relevant.client.cookies["relevance"] = "shown"
    told = relevant.client.get(f"/api/sessions/{relevant.session.pk}/relevance").json()
    near = {one["key"]: f"{one['relevance']:.2f}" for one in told["items"]}
    assert float(near["m0"]) > 0.3
    assert said_near(relevant) == near
    assert said_near(relevant, "chunk", start="5", count="2") == {
        key: near[key] for key in ("m5", "m6")
    }
    del relevant.client.cookies["relevance"]
    assert said_near(relevant) == {}


def test_the_rows_of_a_patch_and_of_an_open_fold_say_how_near_they_are(
    relevant: Page,
) -> None:
    relevant.client.cookies["relevance"] = "shown"
    tagged = relevant.edit("tag", targets="m5", tags="seen").content.decode()
    assert tagged.count('class="relevance"') == 1
    relevant.edit("digest", targets="m0 m1", summary="A question")
    assert set(said_near(relevant)).isdisjoint({"m0", "m1"})
    opened = relevant.post("folds/o2", open="1").content.decode()
    assert opened.count('class="relevance"') == 2


def test_relevance_is_offered_where_it_can_be_told(
    relevant: Page, settings: LazySettings
) -> None:
    offered = 'data-action="relevance"'
    relevant.client.cookies["relevance"] = "shown"
    assert offered in relevant.get().content.decode()
    type(relevant.session).objects.update(objective="")
    assert offered not in relevant.get().content.decode()
    assert said_near(relevant) == {}
    type(relevant.session).objects.update(objective="A question")
    settings.MEANING_SEARCH = False
    assert offered not in relevant.get().content.decode()
    assert said_near(relevant) == {}
