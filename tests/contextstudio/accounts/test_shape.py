"""What pydantic finds wrong with a request, told at the places of the request."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, ValidationError

from contextstudio.accounts import shape
from contextstudio.accounts.domain.errors import problem
from contextstudio.accounts.shape import RequestBody, wrong_shape
from contextstudio.api import api
from operations.tools import TOOLS


class Pattern(RequestBody):
    """A shape that is one of several."""

    start: str


class Body(RequestBody):
    """A body with members of several shapes."""

    targets: list[list[str] | Pattern] = []
    after: str | int | None = Field(None)
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


class Inner(RequestBody):
    """A body inside of another."""

    number: int = Field(0, ge=0)


class Counted(RequestBody):
    """Numbers wherever they may stand."""

    type: Literal["int"] = "int"
    count: int = 0
    at_most: int | None = Field(None, ge=1, le=9)
    share: float = 0.5
    listed: list[int | str] = []
    by_name: dict[str, int] = {}
    inner: Inner | None = None
    function: int = 0
    default: int = 0
    flag: bool = False
    either: bool | int = 3


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(
    ("body", "at", "what"),
    [
        ('{"count": $}', ["count"], "integer"),
        ('{"function": $}', ["function"], "integer"),
        ('{"default": $}', ["default"], "integer"),
        ('{"at_most": $}', ["at_most"], "integer"),
        ('{"share": $}', ["share"], "number"),
        ('{"by_name": {"a": $}}', ["by_name", "a"], "integer"),
        ('{"inner": {"number": $}}', ["inner", "number"], "integer"),
        ('{"listed": [$]}', ["listed", 0], "integer or a valid string"),
    ],
)
def test_truth_is_no_number(body: str, at: list[Any], what: str, value: bool) -> None:
    sent = json.loads(body.replace("$", json.dumps(value)))
    assert faults(Counted, sent) == [(at, f"Input should be a valid {what}.")]


def test_numbers_are_numbers_and_truths_truths_as_ever() -> None:
    sent = {"count": "7", "at_most": 7.0, "share": "1", "flag": 1, "either": True}
    read = Counted.model_validate(sent)
    assert (read.count, read.at_most, read.share) == (7, 7, 1.0)
    assert (read.flag, read.either) == (True, True)
    assert Counted.model_json_schema()["properties"]["count"]["type"] == "integer"


def bodies_of_routes() -> Iterator[type[BaseModel]]:
    for _, router in api._routers:
        for view in router.path_operations.values():
            for operation in view.operations:
                for found in operation.models:
                    if found.__ninja_param_source__ == "body":
                        for field in found.model_fields.values():
                            yield from shape._models(field.annotation)


def test_all_that_a_caller_sends_stands_on_the_base_that_has_the_rule() -> None:
    bodies = {*bodies_of_routes(), *TOOLS.values()}
    assert len(bodies) > 60
    assert [one for one in bodies if not issubclass(one, RequestBody)] == []
