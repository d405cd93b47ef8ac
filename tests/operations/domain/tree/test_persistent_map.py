"""What two versions of a draft have otherwise."""

from operations.domain.tree.persistent_map import changed_names, persistent_map


def test_the_names_of_what_is_another_value_are_told() -> None:
    one = persistent_map([("a", "x")])
    other = one.mutate()
    other["b"] = "y"
    assert changed_names(one, one) == set()
    assert changed_names(one, other.finish()) == {"b"}
