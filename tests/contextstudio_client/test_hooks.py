"""What the hooks for other libraries share."""

from contextstudio_client.hooks import external_id


def test_names_of_different_words_differ() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("a%3Ab", "c"), ("a:" * 200, "b"), ("a", "")]
    assert len({external_id(*pair) for pair in pairs}) == len(pairs)


def test_a_name_reads_as_its_words_do() -> None:
    assert external_id(None, "run:17") == "run:17"
    assert external_id("team", "run:17") == "team:run:17"
    assert external_id("team:1", 7) == "team%3A1:7"
    assert external_id() == ""
