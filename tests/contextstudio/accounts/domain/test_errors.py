"""What a refusal says about a name that is not there."""

import pytest

from contextstudio.accounts.domain.errors import MAX_LISTED, unknown_name

MANY = [f"read_{number:02}" for number in range(MAX_LISTED)] + ["digest"]


@pytest.mark.parametrize(
    ("name", "known", "sentence"),
    [
        ("x", ["a", "b"], "There is no field x; the fields are a, b."),
        ("x", ["a"], "There is no field x; the only field is a."),
        ("x", [], "There is no field x."),
        ("diggest", MANY, "There is no field diggest. Did you mean digest?"),
        ("x", MANY, "There is no field x."),
        ("x" * 200, [], f"There is no field {'x' * 64}."),
    ],
)
def test_a_name_that_is_not_there_is_told_those_that_are(
    name: str, known: list[str], sentence: str
) -> None:
    assert unknown_name("field", name, known) == sentence
