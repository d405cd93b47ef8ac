"""Search: the same answers as a plain look through what messages read, on either database."""

import threading
import uuid
from collections.abc import Sequence

import psycopg
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.models import Project, User
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_edit
from tests.people import caller
from tests.servers import url_of_test_database
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Body, SearchMark, Session
from threads.search import word_index
from threads.search.bodies import BODIES
from threads.search.services import find_in_session, search
from threads.search.word_index import postgresql, reading, sqlite
from threads.search.word_index.postgresql import letters
from threads.search.word_index.reading import Piece
from threads.sessions import erasing
from threads.store.recording import record_messages

pytestmark = pytest.mark.django_db

SECONDS_FOR_OTHERS = 60
ODD = st.text(alphabet="aAbß%_\\\"' \n\0😀\ud800İé\u0301", max_size=6)
ALIKE = st.text(alphabet="ab-", max_size=24)
WORDS = ODD | ALIKE


@pytest.fixture(autouse=True)
def every_writer_has_ended(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The test's own transaction, and those of other tests on the same PostgreSQL, are no writers.

    Else the mark stood still for as long as any of them is open.
    """
    if "transactional_db" not in request.fixturenames:
        database = BODIES.database
        monkeypatch.setattr(database, "all_ended_before", lambda _: True)


def make_session(project: Project, texts: Sequence[str], title: str = "") -> Session:
    session = Session.objects.create(project=project, title=title, created_by="user:1")
    add(session, texts)
    return session


def add(session: Session, texts: Sequence[str]) -> None:
    record_messages(
        session, [Message(role=Role.USER, parts=(Text(text),)) for text in texts]
    )


def catch_up() -> int:
    return sum(BODIES.catch_up())


def indexes(session: Session, query: str) -> list[int]:
    return [index for index, _ in find_in_session(session, query)]


def everywhere(user: User, query: str, **more: object) -> list[tuple[uuid.UUID, int]]:
    found, cursor = [], None
    while True:
        page = search(caller(user), query, cursor=cursor, **more)
        found += [(one.session.pk, one.original.row.index) for one in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            return found


def read_at_once(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """So many texts in everything that the index does by portions."""
    monkeypatch.setattr(word_index, "AT_ONCE", count)
    for database in (reading, postgresql):
        monkeypatch.setattr(database, "AT_ONCE", count)
    for database in (postgresql, sqlite):
        monkeypatch.setattr(database, "NEWEST", count)
    monkeypatch.setattr(sqlite, "FEW", count)
    monkeypatch.setattr(sqlite, "MANY", count)


@pytest.mark.parametrize("at_once", [1, 3, 500])
@given(st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=4), WORDS.filter(bool))
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_search_answers_as_looking_through_all_texts_does(
    project: Project,
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
    before: list[str],
    later: list[str],
    query: str,
):
    read_at_once(monkeypatch, at_once)
    session = make_session(project, before)
    catch_up()
    add(session, later)
    expected = [
        index
        for index, text in enumerate(before + later)
        if query.casefold() in text.casefold()
    ]
    assert indexes(session, query) == expected
    found = everywhere(owner, query, session_id=session.pk, limit=2)
    assert sorted(index for _, index in found) == expected
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "query", ["x", "q", "xq", "qxq", "100%", "a_b", "\\", "q\0", "😀q"]
)
def test_what_stands_at_the_end_of_a_text_is_found(
    project: Project, owner: User, query: str
):
    session = make_session(project, ["nothing", f"some {query}", query.upper()])
    catch_up()
    assert indexes(session, query) == [1, 2]
    assert {index for _, index in everywhere(owner, query)} == {1, 2}


@pytest.mark.parametrize("query", ["q", "xq", "x-", "--", "nothing at all", "needle"])
@pytest.mark.parametrize("at_once", [2, 50])
def test_what_old_texts_alone_say_is_found(
    project: Project, monkeypatch: pytest.MonkeyPatch, query: str, at_once: int
):
    read_at_once(monkeypatch, at_once)
    old = ["xq", "one", "needle", "a needle x-", "q", "two", "needle nothing at all --"]
    session = make_session(project, [*old, *(f"other {n}" for n in range(60))])
    catch_up()
    found = set(BODIES.candidates(query))
    expected = [index for index, text in enumerate(old) if query in text]
    assert indexes(session, query) == expected
    bodies = session.messages.filter(index__in=expected)
    assert found >= set(bodies.values_list("body", flat=True))
    assert len(found) < session.message_count


@pytest.mark.parametrize("bound", ["MAX_TERMS", "MAX_TEXTS"])
@pytest.mark.sqlite
def test_what_is_short_and_common_is_found_by_reading(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch, bound: str
):
    read_at_once(monkeypatch, 2)
    monkeypatch.setattr(sqlite, bound, 1)
    session = make_session(project, ["qa", "qb", *(f"other {n}" for n in range(9))])
    catch_up()
    assert indexes(session, "q") == [0, 1]
    assert {index for _, index in everywhere(owner, "q")} == {0, 1}


def put_in(texts: Sequence[tuple[int, str]]) -> None:
    for pieces in BODIES.postgresql.cut(texts):
        BODIES.postgresql.add(pieces)


@pytest.mark.postgresql
def test_texts_that_were_put_in_late_are_found_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
):
    read_at_once(monkeypatch, 1)
    put_in([(1, "xq"), (3, "no"), (9, "xq")])
    put_in([(20, "xq"), (21, "no")])
    put_in([(4, "xq"), (6, "no"), (8, "xq")])
    put_in([(30, "no"), (31, "no")])
    assert list(BODIES.postgresql.newest("xq", 1 << 62)) == [20, 9, 8, 4, 1]
    assert list(BODIES.postgresql.newest("xq", 9)) == [8, 4, 1]


@pytest.mark.postgresql
def test_postgresql_is_asked_for_a_text_once(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
):
    put_in([(1, "xqy"), (2, "no"), (3, "xqy")])
    with django_assert_num_queries(1):
        assert list(BODIES.candidates("xqy")) == [3, 1]
    with django_assert_num_queries(1):
        assert list(BODIES.candidates("xqy", before=3)) == [1]
    read_at_once(monkeypatch, 1)
    assert list(BODIES.candidates("xqy")) == [3, 1]


@pytest.mark.postgresql
@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_what_is_in_the_index_already_but_still_in_the_tail_is_named_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, at_once: int
):
    make_session(project, ["xqy one", "two", "xqy three"])
    first, second, third = Body.objects.order_by("pk").values_list("pk", flat=True)
    put_in([(first, "xqy one"), (second, "two"), (third, "xqy three")])
    read_at_once(monkeypatch, at_once)
    assert list(BODIES.candidates("xqy")) == [third, second, first]


@given(st.text(), st.text())
def test_letters_stand_for_all_characters_one_for_one(one: str, other: str):
    assert len(letters(one)) == len(one)
    assert letters(one + other) == letters(one) + letters(other)
    assert all(letter.isalnum() for letter in letters(one))


def test_the_session_with_the_newest_text_comes_first(project: Project, owner: User):
    old = make_session(project, ["one needle", "two"], "Old")
    new = make_session(project, ["three", "Needle four"], "New")
    catch_up()
    add(old, ["and a NEEDLE in the tail"])
    found = search(caller(owner), "needle")
    assert [(one.session.title, one.original.key) for one in found.matches] == [
        ("Old", "m0"),
        ("Old", "m2"),
        ("New", "m1"),
    ]
    place = found.matches[2].excerpt
    assert place.text[place.start : place.end] == "Needle"
    assert everywhere(owner, "needle", session_id=new.pk) == [(new.pk, 1)]


def test_titles_are_found_in_either_case(project: Project, owner: User):
    make_session(project, [], "Die Straße")
    found = search(caller(owner), "STRASSE")
    assert [session.title for session in found.titles] == ["Die Straße"]
    assert not search(caller(owner), "straße", cursor=None, project="none").titles


def test_a_stranger_finds_nothing(project: Project, owner: User):
    session = make_session(project, ["needle"], "needle")
    stranger = User.objects.create_user(username="stranger")
    catch_up()
    found = search(caller(stranger), "needle")
    assert not found.matches
    assert not found.titles
    with pytest.raises(NotFound):
        search(caller(stranger), "needle", session_id=session.pk)


def test_a_deleted_session_is_not_found(project: Project, owner: User):
    session = make_session(project, ["needle"])
    catch_up()
    session.deleted_at = session.created_at
    session.save()
    assert everywhere(owner, "needle") == []


def test_a_text_that_several_sessions_have_is_found_in_each(
    project: Project, owner: User
):
    sessions = [make_session(project, ["needle", "other"]) for _ in range(5)]
    sessions[0].refresh_from_db()
    catch_up()
    found = everywhere(owner, "needle", limit=2)
    assert found == sorted([(one.pk, 0) for one in sessions], key=lambda it: it[0].hex)


@pytest.mark.parametrize("caught_up", [True, False])
def test_what_is_masked_is_found_nowhere(
    project: Project, owner: User, caught_up: bool
):
    session = make_session(project, ["hello", "the word is hunter2, keep it"])
    other = make_session(project, ["the word is hunter2, keep it"])
    if caught_up:
        catch_up()
    span = Span(key="m1", part=0, start=12, end=19, sha256=fingerprint("hunter2"))
    record_edit(caller(owner), session.pk, Redact(spans=(span,)))
    session.refresh_from_db()
    assert indexes(session, "hunter2") == []
    assert everywhere(owner, "hunter2") == [(other.pk, 0)]
    assert everywhere(owner, "is [redacted], KEEP") == [(session.pk, 1)]
    assert indexes(session, "[redacted]") == [1]


def test_what_is_erased_leaves_the_index(
    project: Project, django_capture_on_commit_callbacks
):
    kept = make_session(project, ["needle one"])
    gone = make_session(project, ["needle two"])
    catch_up()
    with django_capture_on_commit_callbacks(execute=True):
        erasing.erase(gone)
    assert list(BODIES.candidates("needle")) == list(
        Body.objects.filter(pk__in=kept.messages.values("body")).values_list(
            "pk", flat=True
        )
    )
    assert SearchMark.objects.get().forgotten == 1
    catch_up()
    assert SearchMark.objects.get().forgotten == 0
    assert indexes(kept, "needle") == [0]


@pytest.mark.sqlite
def test_sqlite_rewrites_its_index_without_what_was_erased(
    project: Project, django_capture_on_commit_callbacks
):
    session = make_session(project, ["xyzzyq"])
    catch_up()
    with django_capture_on_commit_callbacks(execute=True):
        erasing.erase(session)
    catch_up()
    with connection.cursor() as cursor:
        cursor.execute("SELECT term FROM threads_bodytext_terms WHERE term = 'xyz'")
        assert cursor.fetchall() == []


@pytest.mark.sqlite
def test_sqlite_keeps_what_is_put_in_time_and_again_in_few_segments(project: Project):
    rounds = 15
    for number in range(rounds):
        make_session(project, [f"{number} about the needle"])
        catch_up()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT segid) FROM threads_bodytext_idx")
        ((segments,),) = cursor.fetchall()
    assert segments <= rounds.bit_length()


@pytest.mark.postgresql
def test_postgresql_forgets_the_pairs_of_what_was_erased(
    project: Project, django_capture_on_commit_callbacks
):
    kept = make_session(project, ["xyz"])
    gone = make_session(project, ["needle"])
    catch_up()
    alone = make_session(project, ["another"])
    catch_up()
    with django_capture_on_commit_callbacks(execute=True):
        erasing.erase(gone)
        erasing.erase(alone)
    catch_up()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pairs, is_stale FROM threads_bodyrun")
        ((pairs, is_stale),) = cursor.fetchall()
    assert pairs.split()[:2] == ["xy", "yz"]
    assert len(pairs.split()) == 4
    assert not is_stale
    assert indexes(kept, "y") == [0]


def test_catching_up_goes_on_where_it_was_broken_off(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(word_index, "AT_ONCE", 2)
    session = make_session(project, [f"needle {n}" for n in range(7)])
    first = BODIES.catch_up()
    assert next(first) == 2
    first.close()
    assert BODIES.is_behind()
    assert catch_up() == 5
    assert not BODIES.is_behind()
    assert indexes(session, "needle") == list(range(7))
    assert catch_up() == 0


@pytest.mark.postgresql
def test_the_mark_waits_for_a_writer_that_has_not_ended(
    transactional_db: None, project: Project
):
    session = make_session(project, ["needle"])
    with psycopg.connect(url_of_test_database()) as other:
        other.execute("SELECT pg_current_xact_id()")
        catch_up()
        assert BODIES.is_behind()
    for _ in range(SECONDS_FOR_OTHERS * 10):
        if not BODIES.is_behind():
            break
        threading.Event().wait(0.1)  # tests of another worker may write just now
        catch_up()
    assert not BODIES.is_behind()
    assert indexes(session, "needle") == [0]


@pytest.mark.parametrize("at_once", [1, 2, 50])
def test_nothing_is_missed_that_is_put_in_meanwhile(
    project: Project, monkeypatch: pytest.MonkeyPatch, at_once: int
):
    session = make_session(project, [f"needle {n}" for n in range(4)])
    catch_up()
    add(session, [f"needle {n}" for n in range(4, 9)])
    read_at_once(monkeypatch, at_once)
    found = BODIES.candidates("needle")
    first = next(found)
    catch_up()
    assert len({first, *found}) == session.message_count == 9


@pytest.mark.sqlite
def test_a_long_text_is_put_in_in_pieces_and_found_across_their_borders(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite, "PIECE", 100)
    monkeypatch.setattr(sqlite, "STEP", 100)
    written: list[int] = []
    real = BODIES.sqlite.add

    def noted(pieces: Sequence[Piece]) -> None:
        written.append(sum(len(one.text) for one in pieces))
        real(pieces)

    monkeypatch.setattr(BODIES.sqlite, "add", noted)
    words = "".join(f"{number:04}" for number in range(500))
    session = make_session(project, ["before", words, "behind"])
    assert catch_up() == 3
    assert max(written) <= 2 * (100 + reading.MAX_LENGTH)
    for start in range(0, len(words) - 80, 7):
        assert indexes(session, words[start : start + 80]) == [1]
    for query in ("04", "9", words[-2:], words[-1]):
        assert 1 in indexes(session, query)
    assert indexes(session, "04980497") == []
    assert list(BODIES.candidates("0042")) == [session.messages.get(index=1).body_id]


@pytest.mark.sqlite
def test_a_text_that_was_put_in_by_half_is_put_in_anew_and_goes_whole(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks,
):
    monkeypatch.setattr(sqlite, "PIECE", 10)
    monkeypatch.setattr(sqlite, "STEP", 1)
    monkeypatch.setattr("contextstudio.database.steps.SECONDS", -1)
    session = make_session(project, ["first " * 20 + "needle"])
    half = BODIES.catch_up()
    assert [next(half), next(half)] == [0, 0]
    half.close()
    assert indexes(session, "needle") == [0]
    assert catch_up() == 1
    assert not BODIES.is_behind()
    assert indexes(session, "needle") == indexes(session, "first") == [0]
    with django_capture_on_commit_callbacks(execute=True):
        erasing.erase(session)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM threads_bodytext")
        assert cursor.fetchone() == (0,)


def test_an_index_without_a_mark_is_made_anew(project: Project):
    session = make_session(project, ["needle", "other"])
    catch_up()
    SearchMark.objects.all().delete()
    assert catch_up() == 2
    assert indexes(session, "needle") == [0]


def test_nothing_is_behind_where_nothing_is(project: Project):
    assert not BODIES.is_behind()


def test_without_an_index_every_text_is_read(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(BODIES.database, "has_tables", lambda: False)
    session = make_session(project, ["a needle", "none"])
    assert catch_up() == 0
    assert indexes(session, "needle") == [0]
    assert everywhere(owner, "needle", limit=1) == [(session.pk, 0)]
    assert not BODIES.is_behind()


def test_a_page_ends_after_many_texts_and_the_next_goes_on(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("threads.search.services.MAX_EXAMINED", 20)
    texts = ["needle first", *(f"text {n}" for n in range(60))]
    session = make_session(project, texts)
    first = search(caller(owner), "needle", limit=1)
    assert not first.matches
    assert first.next_cursor
    assert everywhere(owner, "needle", limit=1) == [(session.pk, 0)]


@pytest.mark.parametrize("query", ["", "x" * 1001])
def test_a_query_has_1_to_1000_characters(owner: User, query: str):
    with pytest.raises(Invalid):
        search(caller(owner), query)


@pytest.mark.parametrize("cursor", ["x", "WzEsMl0", "WzEsMiwzXQ", "WzAsInh4IiwzXQ"])
def test_a_cursor_of_something_else_is_refused(owner: User, cursor: str):
    with pytest.raises(Invalid):
        search(caller(owner), "needle", cursor=cursor)
