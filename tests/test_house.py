"""The house stays one in which things are found by the names of folders."""

from collections import Counter

from .servers import ROOT

PRODUCT = ("archive", "contextstudio", "contextstudio_client", "operations", "threads")
SHOWN = ("static", "templates")
MOST_FILES = 14


def test_no_folder_holds_more_than_fourteen_files() -> None:
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for name in (*PRODUCT, *SHOWN)
        for path in (ROOT / name).rglob("*")
        if path.suffix in {".py", ".js", ".html", ".css", ".svg"}
        and not {"migrations", "build"} & set(path.parts)
    )
    assert {name: count for name, count in counts.items() if count > MOST_FILES} == {}
