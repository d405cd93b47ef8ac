"""Search by meaning, with the model itself: what is near is found, and nobody finds more by it."""

import socket

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Job, Project, User
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_edit
from tests.people import caller, key_of
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.imports import jobs
from threads.models import BodyVectors, MeaningMark, Session
from threads.search import by_meaning, meaning, word_index
from threads.search.bodies import BODIES
from threads.search.by_meaning import relevance, search_by_meaning
from threads.search.meaning import index, model, question
from threads.sessions import erasing
from threads.store.recording import record_messages

pytestmark = [pytest.mark.django_db, pytest.mark.meaning]

LOCKED = "SQLite raises OperationalError: another process holds the write lock"
COLOURS = "Changed the background in tokens.css so that dark mode has contrast"
SIGN_IN = "Login fails: the hash of the password is compared wrongly"
QUESTION = "the database is locked when two workers write"


@pytest.fixture(autouse=True)
def switched_on(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is on, and the transactions of other tests are no writers."""
    settings.MEANING_SEARCH = True
    monkeypatch.setattr(BODIES.database, "all_ended_before", lambda _: True)


def make_session(project: Project, *texts: str) -> Session:
    session = Session.objects.create(project=project, title="It", created_by="user:1")
    said = [Message(role=Role.USER, parts=(Text(text),)) for text in texts]
    record_messages(session, said)
    return session


def catch_up() -> int:
    return sum(meaning.catch_up())


def found(user: User, words: str, **more: object) -> list[str]:
    texts, cursor = [], None
    while True:
        page = search_by_meaning(caller(user), words, cursor=cursor, **more)
        texts += [one.original.parts[0].text for one in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            return texts


@pytest.mark.parametrize("is_made", [True, False])
def test_a_message_is_found_without_a_word_of_it(
    project: Project, owner: User, is_made: bool
):
    make_session(project, COLOURS, LOCKED, SIGN_IN, "yes", " ")
    if is_made:
        assert catch_up() == 4
        assert BodyVectors.objects.count() == 4
    assert found(owner, QUESTION) == [LOCKED]
    [hit] = search_by_meaning(
        caller(owner), "a user cannot sign in with a password"
    ).matches
    assert hit.original.key == "m2"
    assert hit.similarity is not None
    assert 0.2 < hit.similarity < 1


def test_what_is_shown_is_the_nearest_place_of_a_long_message(
    project: Project, owner: User
):
    told = f"{LOCKED}.\n" * 6
    others = "We had soup for lunch, and then bread.\n" * 40
    make_session(project, f"{others}{told}{others}")
    catch_up()
    [hit] = search_by_meaning(caller(owner), QUESTION).matches
    place = hit.excerpt
    assert "OperationalError" in place.text[place.start : place.end]
    assert place.cut_before
    assert place.cut_after


def test_pages_hold_each_message_once_the_nearest_first(project: Project, owner: User):
    texts = [f"{LOCKED} {'soup ' * number}" for number in range(7)]
    make_session(project, *texts, LOCKED)
    make_session(project, LOCKED)
    catch_up()
    one_by_one = found(owner, LOCKED, limit=1)
    assert sorted(one_by_one) == sorted([*texts, LOCKED, LOCKED])
    assert one_by_one[:2] == [LOCKED, LOCKED]
    whole = search_by_meaning(caller(owner), LOCKED)
    assert len(whole.matches) == 9
    groups = [hit.session.pk for hit in whole.matches]
    assert groups == sorted(groups, key=groups.index)


def test_only_what_one_may_see_is_found(project: Project, owner: User):
    session = make_session(project, LOCKED)
    other = make_session(project, SIGN_IN)
    catch_up()
    stranger = User.objects.create_user(username="stranger")
    assert found(stranger, QUESTION) == []
    with pytest.raises(NotFound):
        found(stranger, QUESTION, session_id=session.pk)
    assert found(owner, QUESTION, session_id=session.pk) == [LOCKED]
    assert found(owner, QUESTION, session_id=other.pk) == []
    assert found(owner, QUESTION, project="none") == []
    session.deleted_at = session.created_at
    session.save()
    assert found(owner, QUESTION) == []


@pytest.mark.parametrize("is_made", [True, False])
def test_what_is_deleted_takes_no_place_among_the_nearest(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch, is_made: bool
):
    monkeypatch.setattr(by_meaning, "MAX_NEAR", 2)
    monkeypatch.setattr(question, "LIVE", 2)
    make_session(project, f"{LOCKED} {'soup ' * 3}", QUESTION)
    deleted = make_session(project, *(f"{LOCKED} {n}" for n in range(3)), QUESTION)
    if is_made:
        catch_up()
    Session.objects.filter(pk=deleted.pk).update(deleted_at=deleted.created_at)
    assert len(found(owner, QUESTION)) == 2


def redact(owner: User, session: Session, index: int, text: str) -> None:
    words = {"start": 0, "end": len(text), "sha256": fingerprint(text)}
    span = Span(key=f"m{index}", part=0, **words)
    record_edit(caller(owner), session.pk, Redact(spans=(span,)))


@pytest.mark.parametrize("is_made", [True, False])
def test_masked_text_is_not_found_by_what_it_meant(
    project: Project, owner: User, is_made: bool
):
    session = make_session(project, LOCKED, COLOURS)
    open_one = make_session(project, LOCKED)
    if is_made:
        catch_up()
    redact(owner, session, 0, LOCKED)
    hits = search_by_meaning(caller(owner), QUESTION).matches
    assert [hit.session.pk for hit in hits] == [open_one.pk]
    session.refresh_from_db()
    assert relevance(session, QUESTION)[0] < 2000


def test_a_message_that_is_masked_in_part_is_found_by_the_rest(
    project: Project, owner: User
):
    session = make_session(project, f"{SIGN_IN}. {LOCKED}")
    catch_up()
    redact(owner, session, 0, f"{SIGN_IN}. ")
    [hit] = search_by_meaning(caller(owner), QUESTION).matches
    assert "hash" not in hit.excerpt.text
    assert "OperationalError" in hit.excerpt.text


def test_vectors_go_with_what_is_erased(project: Project, owner: User):
    session = make_session(project, LOCKED)
    catch_up()
    erasing.delete_contents(Session.objects.filter(pk=session.pk))
    erasing.erase(session)
    erasing._sweep(project.pk, set(), set())
    assert not BodyVectors.objects.exists()


def test_vectors_are_made_once_per_text(project: Project):
    make_session(project, LOCKED)
    assert catch_up() == 1
    make_session(project, LOCKED)
    assert catch_up() == 0
    assert BodyVectors.objects.count() == 1
    assert not meaning.is_behind()


def test_another_model_makes_all_vectors_anew(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    make_session(project, LOCKED, COLOURS)
    catch_up()
    BodyVectors.objects.update(kept=b"\0" * 256)
    assert found(owner, QUESTION) == []
    monkeypatch.setattr(model, "NAME", "another")
    # What the first one made counts no more.
    assert found(owner, QUESTION) == [LOCKED]
    assert catch_up() == 2
    assert MeaningMark.objects.get().model == "another"
    assert found(owner, QUESTION) == [LOCKED]


def test_what_another_process_makes_with_another_model_is_left_to_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    make_session(project, LOCKED)
    steps = index._make(BODIES.database.last())
    MeaningMark.objects.create(pk=1, model="another")
    assert list(steps) == [0]
    assert not BodyVectors.objects.exists()


def test_a_search_says_how_many_texts_it_could_not_look_at(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(question, "LIVE", 2)
    make_session(project, LOCKED, COLOURS, SIGN_IN)
    page = search_by_meaning(caller(owner), QUESTION)
    assert page.pending == 1
    catch_up()
    page = search_by_meaning(caller(owner), QUESTION)
    assert (page.pending, len(page.matches)) == (0, 1)


def test_a_job_makes_them_behind_the_index_of_words(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    make_session(project, LOCKED, COLOURS)
    for one in word_index.registered():
        # PostgreSQL counts on from other tests, and would have much to do.
        list(one.catch_up())
    jobs.enqueue_index_if_due()
    assert not Job.objects.filter(kind=jobs.INDEX).exists()
    monkeypatch.setattr(index, "WORTH_A_JOB", 2)
    jobs.enqueue_index_if_due()
    jobs.enqueue_index_if_due()
    assert Job.objects.filter(kind=jobs.INDEX).count() == 1
    Job.objects.all().delete()
    jobs.enqueue_index_if_behind()
    assert Job.objects.filter(kind=jobs.INDEX).count() == 1


def test_lone_halves_of_characters_are_taken(project: Project, owner: User):
    make_session(project, f"{LOCKED} \ud800", "\0")
    catch_up()
    assert found(owner, f"{QUESTION} \udfff") == [f"{LOCKED} \ud800"]


@pytest.mark.parametrize("cursor", ["WzEsMl0", "WzEsMiwzLCJ4Il0"])
def test_a_cursor_of_another_list_is_refused(
    project: Project, owner: User, cursor: str
):
    with pytest.raises(Invalid):
        search_by_meaning(caller(owner), QUESTION, cursor=cursor)
    with pytest.raises(Invalid):
        search_by_meaning(caller(owner), "")


def test_how_near_each_message_is_to_a_question(project: Project):
    session = make_session(project, LOCKED, COLOURS)
    live = relevance(session, QUESTION)
    catch_up()
    made = relevance(session, QUESTION)
    assert live == made
    assert made[0] > 2000 > made[1]


def test_vectors_that_are_made_meanwhile_leave_no_message_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    session = make_session(project, COLOURS, LOCKED)
    before = relevance(session, QUESTION)
    missing = index.bodies_without_vectors

    def overtaken() -> object:
        monkeypatch.setattr(index, "bodies_without_vectors", missing)
        catch_up()
        return missing()

    monkeypatch.setattr(index, "bodies_without_vectors", overtaken)
    assert relevance(session, QUESTION) == before


def test_what_is_deleted_meanwhile_is_left_out(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    session = make_session(project, LOCKED)
    make_session(project, QUESTION)
    nearest = by_meaning.nearest_messages

    def overtaken(*arguments: object, **options: bool) -> object:
        near, pending = nearest(*arguments, **options)
        near = iter(list(near))
        Session.objects.filter(pk=session.pk).update(deleted_at=session.created_at)
        return near, pending

    monkeypatch.setattr(by_meaning, "nearest_messages", overtaken)
    (match,) = search_by_meaning(caller(owner), QUESTION).matches
    assert match.original.parts[0].text == QUESTION


def test_nothing_is_asked_of_a_network(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise AssertionError("a network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    model._model.cache_clear()
    assert model.packed_vectors_of(["some words"])[0]


def get(client: Client, key: str, **given: object):
    headers = {"Authorization": f"Bearer {key}"}
    return client.get("/api/search", given, headers=headers)


def test_over_rest_matches_say_how_near_they_are(
    project: Project, owner: User, client: Client
):
    make_session(project, LOCKED, COLOURS)
    key = key_of(owner, project, Right.READ)
    body = get(client, key, q=QUESTION, meaning="true").json()
    [item] = body["items"]
    assert item["key"] == "m0"
    assert 0.2 < item["similarity"] < 1
    assert (body["pending"], body["titles"]) == (0, [])
    words = get(client, key, q="OperationalError").json()
    assert [one["similarity"] for one in words["items"]] == [None]


def test_where_it_is_off_it_says_which_setting_it_is(
    project: Project, owner: User, client: Client, settings: LazySettings
):
    settings.MEANING_SEARCH = False
    make_session(project, LOCKED)
    assert (catch_up(), meaning.is_behind(), meaning.is_worth_a_job()) == (
        0,
        False,
        False,
    )
    key = key_of(owner, project, Right.READ)
    answer = get(client, key, q=QUESTION, meaning="true")
    assert answer.status_code == 409
    body = answer.json()
    assert body["code"] == "meaning_search_off"
    assert body["setting"] == "CONTEXTSTUDIO_MEANING_SEARCH"
    assert "CONTEXTSTUDIO_MEANING_SEARCH=1" in body["detail"]


def test_where_it_is_not_installed_it_says_how_to(
    project: Project, owner: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(meaning, "_is_installed", lambda: False)
    with pytest.raises(Conflict) as refused:
        search_by_meaning(caller(owner), QUESTION)
    assert refused.value.code == "meaning_search_not_installed"
    assert "requirements-meaning.lock" in refused.value.message
    assert not meaning.is_on()
