"""What pydantic finds wrong with a request, told at the places of the request."""

from datetime import date
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, ValidationError

from contextstudio.accounts.domain.errors import problem
from contextstudio.accounts.shape import Number, RequestBody, wrong_shape


class Pattern(RequestBody):
    """A shape that is one of several."""

    start: str


class Body(RequestBody):
    """A body with members of several shapes."""

    targets: list[list[str] | Pattern] = []
    after: str | Number | None = Field(None)
    anchor: Pattern | None = None
    id: UUID | None = None
    day: date | None = None


def faults(model: type[BaseModel], body: Any) -> list[tuple[list[str | int], str]]:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(body)
    found: Any = problem(wrong_shape(raised.value.errors(), model=model))
    return [(list(one["at"]), one["detail"]) for one in found["errors"]]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            {"after": []},
            (["after"], "Input should be a valid string or a valid integer."),
        ),
        (
            {"targets": [5]},
            (["targets", 0], "Input should be a valid list or an object."),
        ),
        (
            {"targets": [{"start": 1}]},
            (["targets", 0, "start"], "Input should be a valid string."),
        ),
        (
            {"targets": [{"start": "a", "Foo": 1}]},
            (["targets", 0, "Foo"], "There is no field Foo; the only field is start."),
        ),
        (
            {"targets": [["a"], [1]]},
            (["targets", 1, 0], "Input should be a valid string."),
        ),
        ({"id": 5}, (["id"], "Input should be a UUID.")),
        ({"day": []}, (["day"], "Input should be a valid date.")),
        ({"anchor": []}, (["anchor"], "Input should be an object.")),
        (
            {"Foo[0]": 1},
            (
                ["Foo[0]"],
                "There is no field Foo[0]; the fields are targets, after, anchor, id, day.",
            ),
        ),
    ],
)
def test_what_may_have_several_shapes_is_refused_at_its_own_place(
    body: Any, told: tuple[list[str | int], str]
) -> None:
    assert faults(Body, body) == [told]


@pytest.mark.parametrize("value", [True, False])
def test_truth_is_no_number(value: bool) -> None:
    class Counted(RequestBody):
        count: Number

    assert faults(Counted, {"count": value}) == [
        (["count"], "Input should be a valid integer.")
    ]
    assert Counted(count="7").count == Counted(count=7.0).count == 7  # type: ignore[arg-type]
