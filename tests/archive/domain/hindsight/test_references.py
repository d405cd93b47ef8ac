"""What is taken for a reference, and where one stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.hindsight.references import Reference, References, ReferenceType
from archive.domain.hindsight.sightings import Sightings

UUID = "9B6be9e3-102d-4a21-af7f-4426b8914807"


def named(text: str) -> dict[str, str]:
    return {words: str(one.kind) for one, words in References().of([text]).items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/app.py.", {"src/app.py": "path"}),
        ("in /etc/nginx/ too", {"/etc/nginx": "path"}),
        ("./a/b and ../c/d", {"./a/b": "path", "../c/d": "path"}),
        ("~/a or ../b", {"~/a": "path", "../b": "path"}),
        ("+src/new.rs", {"src/new.rs": "path"}),
        ("C:\\Users\\me\\a.txt", {"C/Users/me/a.txt": "path"}),
        ("one\\ntwo/three\\n", {"two/three": "path"}),
        ("/usr and src/ and src/... alone", {}),
        ("1/2 of 10/20", {}),
        ("(`views.py`), a.tar.gz:12", {"views.py": "file", "a.tar.gz": "file"}),
        ("self.id, e.g. 3.14, .py", {}),
        (
            "at https://a.example/x?q=1&r=2#top.",
            {"https://a.example/x?q=1&r=2#top": "url"},
        ),
        ("<ws://host:80/>", {"ws://host:80/": "url"}),
        ("1234 or 12,345 or 1,23 or 99", {"1234": "number", "12,345": "number"}),
        ("300,470p", {}),
        ("at a1b2c3d, 0xDEADBEEF", {"a1b2c3d": "hash", "0xDEADBEEF": "hash"}),
        (UUID, {UUID: "hash"}),
        ("abc123 deadbee1x", {"deadbee1x": "identifier"}),
        ("maxRetries, max_tries, value9999", dict.fromkeys(
            ("maxRetries", "max_tries", "value9999"), "identifier"
        )),
        ("HTTPServer", {"HTTPServer": "identifier"}),
        ("Important IMPORTANT importantly aB_1", {}),
        ("obj.getUserName(", {"getUserName": "identifier"}),
        ("maxTries\\ 1234.\\ \\nmaxRetries", {
            "maxTries": "identifier", "1234": "number", "maxRetries": "identifier"
        }),
        ("naïve café", {}),
        ("x/" * 300, {}),
        ("", {}),
    ],
)  # fmt: skip
def test_what_a_text_names(text: str, found: dict[str, str]) -> None:
    assert named(text) == found


@pytest.mark.parametrize(
    ("used", "text", "stands"),
    [
        ("views.py", "edit src/app/views.py:12", True),
        ("views.py", "src/app/reviews.py", False),
        ("src/app.py", "/home/me/src/app.py", True),
        ("src/app", "src/app/views.py", True),
        ("src/app", "src/apps/views.py", False),
        ("/src/app.py", "./src/app.py", True),
        ("/home/me/src/app.py", "src/app.py", False),
        ("https://a.example/x", "https://a.example/x/y?z", True),
        ("https://a.example/x?y=1", "https://a.example/x", False),
        ("a1b2c3d", "commit a1b2c3d4e5f60718", True),
        ("a1b2c3d4e5f60718", "commit a1b2c3d", False),
        ("12345", "it took 12,345 ms", True),
        ("12,345", "count=12345;", True),
        ("4821", "48213", False),
        (UUID, UUID.lower(), True),
        ("getUserName", '{"call": "user.getUserName()"}', True),
        ("my_module", "src/my_module/a.py", True),
        ("C:\\a\\b.txt", "C:\\\\a\\\\b.txt", True),
        ("maxRetries", "x" * 300 + ".maxRetries", True),
    ],
)
def test_where_a_reference_stands(used: str, text: str, *, stands: bool) -> None:
    (wanted,) = References().of([used])
    sightings = Sightings([wanted])
    assert (wanted in sightings.in_texts([text])) is stands
    assert (wanted in sightings.in_texts([text])) is stands  # known by now


def test_a_hash_and_its_beginning_are_both_found() -> None:
    wanted = References().of(["a1b2c3d and a1b2c3d4e5 and a1b2c3dff"])
    found = Sightings(wanted).in_texts(["a1b2c3d4e5"])
    assert found == {
        Reference(ReferenceType.HASH, "a1b2c3d"),
        Reference(ReferenceType.HASH, "a1b2c3d4e5"),
    }


@pytest.mark.parametrize(
    "name",
    ["src/-odd.py", "a/+c", "x/~foo", "a/b.c", "src/@b", "src/файл", "src/é.py"],
)
def test_a_path_stands_where_it_is_named_whatever_its_file_begins_with(
    name: str,
) -> None:
    said = [f"See {name} there."]
    named = References().of(said)
    assert [one.name for one in named] == [name]
    assert Sightings(named).in_texts(said) == {*named}


WRITTEN = (
    "src/app.py", "views.py", "maxRetries", "12,345", "1234", UUID, "a1b2c3d", "a1b2c3d4e5",
    "https://a.example/x?q=1&r=2#top", "https://a.example/x", "дом/файл", "./a//b/c", "return",
    "../a", "~/b", "a.c", "C:\\a\\b.txt", "\\n", "x/" * 260 + "views.py", "a1b2c3d" * 80,
)  # fmt: skip
MARKS = (" ", " ", ":", "/", ",", ".", "-", "@", "=", "é", "_")
texts = st.lists(st.tuples(st.sampled_from(WRITTEN), st.sampled_from(MARKS))).map(
    lambda words: "".join(map("".join, words))
)


@given(st.lists(texts), texts)
def test_what_is_looked_at_closely_only_at_a_hint_is_found_all_the_same(
    named: list[str], text: str
) -> None:
    sightings = Sightings(References().of(named))
    closely = text.replace(" ", "\\ ") + "\\"  # what holds a backslash needs no hint
    assert sightings.in_texts([text]) == sightings.in_texts([closely])


@given(st.lists(texts), texts)
def test_in_texts_that_are_read_once_the_same_is_named_and_found(
    named: list[str], text: str
) -> None:
    references = References()
    wanted = references.of(named)
    sightings, read = Sightings(wanted), references.read([text])
    assert References().of(read) == References().of([text])
    found = Sightings(wanted).in_texts([text])
    assert sightings.in_texts(read) == found
    assert Sightings(wanted, references.named).in_texts(read) == found


def test_what_is_named_beside_a_uuid_within_a_path_stands_nowhere() -> None:
    references = References()
    read = references.read([f"C:\\Temp\\preview-{UUID}.app.json"])
    wanted = references.of(read)
    assert Reference(ReferenceType.FILE, ".app.json") in wanted
    found = Sightings(wanted, references.named).in_texts(read)
    assert Reference(ReferenceType.FILE, ".app.json") not in found
    assert found == Sightings(wanted).in_texts(read)


@given(st.text("aeZ_09.,/:-+é@~ ", max_size=16))
def test_a_run_that_is_passed_over_names_nothing_when_it_is_looked_at_closely(
    text: str,
) -> None:
    closely = "\\n" + text.replace(" ", " \\n")  # no run with an escape is passed over
    assert {*References().of([text])} == {*References().of([closely])}
