"""What two versions of a draft have otherwise."""

from operations.domain.tree.kept import kept, other_names


def test_the_names_of_what_is_another_value_are_told() -> None:
    one = kept([("a", "x")])
    other = one.mutate()
    other["b"] = "y"
    assert other_names(one, one) == set()
    assert other_names(one, other.finish()) == {"b"}
