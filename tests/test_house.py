"""The house stays one in which things are found by the names of folders."""

import re
from collections import Counter

from .servers import ROOT

PRODUCT = ("archive", "contextstudio", "contextstudio_client", "operations", "threads")
SHOWN = ("static", "templates")
MAX_FILES = 14
SERVER = ("archive", "contextstudio", "operations", "threads")
"""The client's package names what it gets as the server does."""
IN_TWO_FORMS = {"Event", "Message"}
"""One thing as a plain value and as a row."""
QUOTE_OTHERS = {
    "archive/domain/summaries/checks.py",  # how models write
    "threads/rendering/hidden.py",  # in a token nothing may stand that HTML reads
}
OF_DJANGO = {"Command", "Migration"}


def test_no_folder_holds_more_than_fourteen_files() -> None:
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for name in (*PRODUCT, *SHOWN)
        for path in (ROOT / name).rglob("*")
        if path.suffix in {".py", ".js", ".html", ".css", ".svg"}
        and not {"migrations", "build"} & set(path.parts)
    )
    assert {name: count for name, count in counts.items() if count > MAX_FILES} == {}


def test_quotation_marks_and_apostrophes_are_straight() -> None:
    """In what people read as in code: of two kinds, both would stand on one page."""
    curly = re.compile("[\u2018\u2019\u201c\u201d]")
    found = {
        path.relative_to(ROOT).as_posix()
        for name in (*PRODUCT, *SHOWN)
        for path in (ROOT / name).rglob("*")
        if path.suffix in {".py", ".js", ".html", ".css"}
        and "build" not in path.parts
        and curly.search(path.read_text("utf-8"))
    }
    assert found == QUOTE_OTHERS


def test_no_name_of_a_class_stands_for_two_things() -> None:
    counts = Counter(
        name
        for folder in SERVER
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w+)", path.read_text(), re.MULTILINE)
    )
    twice = {name for name, count in counts.items() if count > 1}
    assert twice - OF_DJANGO == IN_TWO_FORMS
