"""What the hooks for other libraries share."""

from contextstudio_client.hooks import external_id, with_user_first


def test_names_of_different_words_differ() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("a%3Ab", "c"), ("a:" * 200, "b"), ("a", "")]
    assert len({external_id(*pair) for pair in pairs}) == len(pairs)


def test_a_name_reads_as_its_words_do() -> None:
    assert external_id(None, "run:17") == "run:17"
    assert external_id("team", "run:17") == "team:run:17"
    assert external_id("team:1", 7) == "team%3A1:7"
    assert external_id() == ""


def test_a_conversation_that_its_user_began_still_begins_with_a_user() -> None:
    def said(*roles: str) -> list[dict[str, str]]:
        return [{"role": role, "content": role} for role in roles]

    def roles(sent: list[dict[str, str]], given: list[dict[str, str]]) -> list[str]:
        return [one["role"] for one in with_user_first(sent, given)]

    given = said("system", "user", "assistant")
    assert roles(given, given) == ["system", "user", "assistant"]
    assert roles(said("system", "assistant"), given) == ["system", "user", "assistant"]
    assert roles(said("system"), given) == ["system", "user"]
    assert roles([], given) == ["user"]
    assert roles(said("assistant"), said("developer", "assistant")) == ["assistant"]
    assert roles([], []) == []
