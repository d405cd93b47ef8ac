"""Names that may be needed after a run: what the line in the place of a text says of them."""

from collections.abc import Sequence

from archive.domain.pruning.needs import plan
from operations.domain.context.policy import Pruning
from tests.archive.domain.pruning.work import (
    LONG,
    call,
    classes,
    count,
    lines,
    planned,
    result,
    said,
    thread,
    user,
)
from threads.domain.part import Part
from threads.domain.text import whole_text


def of_lines(*results: str, likely_names: int = 40) -> list[str]:
    """The lines behind the first of what stands in the place of results."""
    work = [
        one
        for number, text in enumerate(results)
        for one in (call(str(number), "Agent"), result(str(number), LONG + text))
    ]
    found = planned(*work, likely_names=likely_names)
    return ["\n".join(line.split("\n")[1:]) for line in lines(found)]


def test_a_line_names_identifiers_but_no_numbers_or_paths_said_once() -> None:
    text = "retryBackoffLimit 48213 a1b2c3d4e src/net/client.py https://example.org/a"
    assert of_lines(text) == ["Names: retryBackoffLimit"]


def test_a_path_that_several_messages_name_is_named_where_it_stood_last() -> None:
    assert of_lines("src/net/client.py", "src/net/client.py") == [
        "",
        "Names: src/net/client.py",
    ]


def test_a_line_lists_no_more_than_it_may() -> None:
    text = "firstName secondName thirdName"
    assert of_lines(text, likely_names=2) == ["Names: firstName, secondName"]
    assert of_lines(text, likely_names=0) == [""]


def test_all_that_the_assistant_used_itself_is_named() -> None:
    words = said("word " * 501 + "port 48213 in src/net/client.py")
    assert lines(planned(words, user("Go on"), likely_names=1))[0] == (
        "Names: 48213, src/net/client.py"
    )


def test_what_stands_elsewhere_needs_no_name() -> None:
    work = (call("1", "Agent"), result("1", LONG + "retryBackoffLimit"))
    found = planned(user("Where is retryBackoffLimit?"), *work)
    assert "Names" not in lines(found)[0]


def test_what_is_used_later_is_named_once() -> None:
    text = LONG + "retryBackoffLimit maxTries otherName"
    found = planned(
        call("1", "Agent"), result("1", text), said("See retryBackoffLimit")
    )
    assert lines(found)[0].endswith(
        "\nUsed later: retryBackoffLimit\nNames: maxTries, otherName"
    )


def test_what_goes_whole_leaves_no_names() -> None:
    viewed = (call("1", "Read", file_path="a.py"), result("1", LONG + "retryLimit"))
    edited = (call("2", "Edit", file_path="a.py", old="x"), result("2", LONG))
    found = planned(user("Mend a.py"), *viewed, *edited)
    assert classes(found)[1:3] == ["remove", "remove"]


def test_no_line_is_counted_before_it_is_known_what_more_it_tells() -> None:
    counted = list[str]()

    def noting(parts: Sequence[Part]) -> int:
        counted.append(whole_text(tuple(parts)))
        return count(parts)

    text = f"{LONG * 4} retryBackoffLimit"
    work = [user("Go."), call("1", "Agent"), result("1", text)]
    plan(thread(*work), Pruning(keep_last_n=0), noting)
    (line,) = [text for text in counted if "recall:" in text]
    assert line.endswith("Names: retryBackoffLimit")
