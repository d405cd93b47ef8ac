"""Writing originals: the same rows on every database, whole batches, refusals as ever."""

import os
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from threads import tokens
from threads.domain import batch
from threads.domain.message import Message as Given
from threads.domain.message import Role, Usage
from threads.domain.part import Image, Text, ToolResult
from threads.domain.tokens import Words
from threads.models import Blob, Body, Message, Session
from threads.sessions.services import NewSession, append_messages, create_session
from threads.store import recording, rows
from threads.store.originals import load_messages
from threads.store.recording import record_messages

AT = datetime(2026, 3, 1, 9, 30, 5, 120_000, tzinfo=UTC)


def said(*texts: str, role: Role = Role.USER) -> list[Given]:
    return [Given(role=role, parts=(Text(text),)) for text in texts]


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    new = NewSession(title="Recorded")
    return create_session(caller_of_user(owner), project, new)


def test_every_column_is_as_the_models_write_and_read_it(session: Session) -> None:
    usage = Usage(input_tokens=7, output_tokens=3, cached_tokens=5)
    given = Given(
        role=Role.ASSISTANT,
        parts=(Text("Hé\0llo \ud800"),),
        name="n\0am\ud800e" + "x" * 200,
        model="m" * 200,
        source_id="msg_1",
        created_at=AT.astimezone(timezone(timedelta(hours=5))),
        usage=usage,
        partial=True,
        records=("bytes:1-20", 'a "name"#bytes:3-4'),
    )
    record_messages(session, [given, *said("plain")])
    first, second = Message.objects.filter(session=session).order_by("index")

    assert isinstance(first.uuid, uuid.UUID)
    assert first.uuid.version == 4
    assert first.uuid.variant == uuid.RFC_4122
    assert first.short_id.startswith("msg-")
    assert len(first.short_id) == 12
    assert first.name == ("nam?e" + "x" * 200)[:128]
    assert first.model == "m" * 128
    assert first.external_id == "msg_1"
    assert first.created_at == AT
    assert first.usage == {"input_tokens": 7, "output_tokens": 3, "cached_tokens": 5}
    assert (first.weight, first.status) == (10, "partial")
    assert first.records == ["bytes:1-20", 'a "name"#bytes:3-4']
    assert (second.name, second.model, second.external_id) == ("", "", "")
    assert (second.usage, second.weight, second.created_at) == (None, None, None)
    assert (second.records, second.status) == ([], "complete")
    assert [first.group_id, second.group_id] == [0, 1]
    assert second.tokens == sum(tokens.count_parts([Text("plain")]))
    first.save()  # what was written is what the models would write
    assert Message.objects.get(session=session, index=0).created_at == AT


def test_times_are_ordered_and_found_as_the_models_find_them(session: Session) -> None:
    moments = [AT, AT.replace(microsecond=0), datetime(1, 1, 1, tzinfo=timezone.max)]
    record_messages(
        session,
        [Given(role=Role.USER, parts=(), created_at=moment) for moment in moments],
    )
    kept = Message.objects.filter(session=session).order_by("index")
    assert list(kept.values_list("created_at", flat=True)) == [*moments[:2], None]
    assert Message.objects.filter(created_at=AT).count() == 1
    assert Message.objects.filter(created_at__lt=AT).count() == 1


def test_batches_count_on_and_groups_go_on(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 3)
    reports: list[int] = []
    given = said(*"abcabcde")
    assert record_messages(session, given, progress=reports.append) == 8
    session.refresh_from_db()
    assert reports == [3, 6, 8]
    assert session.message_count == 8
    kept = Message.objects.filter(session=session).order_by("index")
    assert list(kept.values_list("index", "group_id")) == [
        (index, index + 1) for index in range(8)
    ]
    assert session.original_tokens == sum(kept.values_list("tokens", flat=True))
    assert Body.objects.count() == 5
    record_messages(session, said("f"))
    assert Message.objects.get(session=session, index=8).group_id == 9


def test_a_batch_is_bounded_by_its_bytes(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_BYTES", 100)
    reports: list[int] = []
    record_messages(session, said("x" * 90, "y" * 90, "z"), progress=reports.append)
    assert reports == [1, 2, 3]


def test_messages_are_read_while_they_are_recorded(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
    seen: list[int] = []

    def stream() -> Iterator[Given]:
        for given in said(*"abcdef"):
            seen.append(Message.objects.filter(session=session).count())
            yield given

    record_messages(session, stream())
    assert seen == [0, 0, 2, 2, 4, 4]


@pytest.mark.django_db(transaction=True)
def test_what_stops_the_stream_leaves_whole_batches(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)

    def stream() -> Iterator[Given]:
        yield from said(*"abc")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        record_messages(session, stream())
    assert Session.objects.get(pk=session.pk).message_count == 2
    assert Message.objects.filter(session=session).count() == 2


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_it_is_all_or_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_ITEMS", 2)
    with pytest.raises(RuntimeError), transaction.atomic():
        record_messages(session, said(*"abc"))
        raise RuntimeError
    assert not Message.objects.exists()
    assert not Body.objects.exists()


def test_an_index_that_is_taken_is_refused_as_ever(session: Session) -> None:
    record_messages(session, said("a", "b"))
    session.message_count = 1
    with pytest.raises(IntegrityError), transaction.atomic():
        record_messages(session, said("c"))
    assert Message.objects.filter(session=session).count() == 2


def test_a_source_that_is_none_is_refused_as_ever(session: Session) -> None:
    record_messages(session, said("a"))
    body = Body.objects.get()
    row = (1, uuid.uuid4().hex, body.pk, 1, 1, "user", "complete", None, None)
    row += ("", "", "", None, "[]", "msg-00000000")
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.insert_messages(session, 987_654, [[value] for value in row])
        connection.check_constraints()


def test_a_short_id_that_is_taken_is_drawn_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = [b"\1" * 4, b"\1" * 4, b"\1" * 4, b"\2" * 4]
    monkeypatch.setattr(
        recording,
        "_draw_short_ids",
        lambda count: [f"msg-{drawn.pop(0).hex()}" for _ in range(count)],
    )
    record_messages(session, said("a"))
    record_messages(session, said("b"))
    kept = Message.objects.filter(session=session).order_by("index")
    assert list(kept.values_list("short_id", flat=True)) == [
        "msg-01010101",
        "msg-02020202",
    ]


def test_of_many_messages_those_with_a_short_id_that_is_taken_get_another(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = [7, 350, 1, *range(2, 701), *range(6_000, 7_000)]
    monkeypatch.setattr(
        recording,
        "_draw_short_ids",
        lambda count: [f"msg-{drawn.pop(0):08x}" for _ in range(count)],
    )
    record_messages(session, said("a", "b"))
    texts = [str(number) for number in range(700)]
    record_messages(session, said(*texts))
    kept = Message.objects.filter(session=session).order_by("index")
    assert [one.index for one in kept] == list(range(702))
    assert len({one.short_id for one in kept}) == 702
    assert len({one.uuid for one in kept}) == 702
    recorded = load_messages(session)
    assert [one.parts for one in recorded[2:]] == [(Text(one),) for one in texts]


def test_an_index_and_a_short_id_that_are_taken_are_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_ids = ["msg-00000000", "msg-00000001", "msg-00000001", "msg-00000002"]
    monkeypatch.setattr(
        recording, "_draw_short_ids", lambda count: [short_ids.pop(0)] * count
    )
    record_messages(session, said("a"))
    record_messages(session, said("b"))
    session.message_count = 1
    with pytest.raises(IntegrityError), transaction.atomic():
        record_messages(session, said("c"))
    kept = Message.objects.filter(session=session).order_by("index")
    assert [one.index for one in kept] == [0, 1]


def test_where_no_short_id_is_free_it_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_draw_short_ids", lambda count: ["msg-00000000"])
    record_messages(session, said("a"))
    with pytest.raises(IntegrityError), transaction.atomic():
        record_messages(session, said("b"))


@pytest.mark.sqlite  # on PostgreSQL COPY is one statement for any number of rows
def test_batches_of_many_sizes_are_written_by_few_statements(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: set[str] = set()
    execute = rows._execute

    def noted(statement: str, values: Sequence[object]) -> object:
        if statement.startswith("INSERT"):
            written.add(statement)
        return execute(statement, values)

    monkeypatch.setattr(rows, "_execute", noted)
    sizes = range(100, 150)
    for size in sizes:
        record_messages(session, said(*(f"{size}: {n}" for n in range(size))))
    assert session.message_count == sum(sizes)
    assert len(written) < len(sizes)


def test_short_ids_of_a_batch_are_unlike_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [b"\0" * 12, b"\0" * 4 + b"\1" * 4, b"\2" * 4]
    monkeypatch.setattr(os, "urandom", lambda size: answers.pop(0)[:size])
    assert sorted(recording._draw_short_ids(3)) == [
        "msg-00000000",
        "msg-01010101",
        "msg-02020202",
    ]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 130])
def test_bodies_are_found_by_any_number_of_digests(
    project: Project, count: int
) -> None:
    digests = [number.to_bytes(32) for number in range(131)]
    columns = [digests, [None] * 131, [b"[]"] * 131, ['{"o200k_base": [1]}'] * 131]
    ids = rows.insert_bodies(project.pk, columns)
    wanted = digests[:count]
    found = rows.find_bodies(project.pk, wanted)
    assert {digest: one.id for digest, one in found.items()} == {
        digest: ids[digest] for digest in wanted
    }
    assert not rows.find_bodies(project.pk, [b"\xff" + one[1:] for one in wanted])


def test_what_is_recorded_in_a_session_that_is_gone_is_refused(
    session: Session,
) -> None:
    Session.objects.filter(pk=session.pk).delete()
    with pytest.raises(DatabaseError), transaction.atomic():
        record_messages(session, said("a"))
    with pytest.raises(DatabaseError), transaction.atomic():
        record_messages(session, [])
    assert not Message.objects.exists()


def test_a_body_that_another_stored_a_moment_ago_is_taken(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking bodies up and storing them another import may have stored one."""
    record_messages(session, said("a", "b"))
    found, asked = rows.find_bodies, []

    def too_early(project_id: int, digests: set[bytes]) -> dict[bytes, rows.StoredBody]:
        asked.append(digests)
        return {} if len(asked) == 1 else found(project_id, digests)

    monkeypatch.setattr(rows, "find_bodies", too_early)
    record_messages(session, said("b", "c", "a"))
    kept = Message.objects.filter(session=session).order_by("index")
    first, second, third, fourth, fifth = kept.values_list("body_id", "tokens")
    assert (third, fifth) == (second, first)
    assert (
        bytes(Body.objects.get(pk=fourth[0]).content) == b'[{"text":"c","type":"text"}]'
    )
    assert Body.objects.count() == 3


def test_bodies_are_counted_once_an_encoding(
    owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = caller_of_user(owner)
    counted: list[int] = []
    count = tokens.count_words

    def counting(messages: list[Words], encoding: str) -> list[list[int]]:
        counted.append(len(messages))
        return count(messages, encoding)

    monkeypatch.setattr(tokens, "count_words", counting)
    for model in ("gpt-4o", "gpt-4o", "gpt-4"):
        new = NewSession(title="t", model=model, messages=said("one", "two", "one"))
        create_session(caller, project, new)
    assert sum(counted) == 4
    assert Body.objects.count() == 2
    assert all(len(body.token_counts) == 2 for body in Body.objects.all())


def test_images_are_kept_once_and_named_by_their_hash(session: Session) -> None:
    image = Image("image/png", data=b"bytes of a picture")
    result = ToolResult("call", (Text("see"), image))
    record_messages(
        session,
        [
            Given(role=Role.USER, parts=(image,)),
            Given(role=Role.TOOL, parts=(result,)),
        ],
    )
    blob = Blob.objects.get()
    first, second = (original.parts for original in load_messages(session))
    assert first == (Image("image/png", sha256=blob.sha256),)
    assert blob.size == 18
    (kept,) = second
    assert isinstance(kept, ToolResult)
    assert kept.content[1] == first[0]


def test_nothing_to_record_is_no_batch(session: Session) -> None:
    before = session.updated_at
    assert record_messages(session, []) == 0
    assert session.updated_at > before


def test_what_takes_long_of_many_messages_is_done_before_the_transaction(
    owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody else waits for that."""
    monkeypatch.setattr(batch, "MAX_BYTES", 10)
    within: list[int] = []
    count = tokens.count_words

    def noted(messages: list[Words], encoding: str) -> list[list[int]]:
        within.append(len(connection.savepoint_ids))
        return count(messages, encoding)

    monkeypatch.setattr(tokens, "count_words", noted)
    caller = caller_of_user(owner)
    much = said("The first of them.", "Then the second.", "The first of them.")
    session = create_session(caller, project, NewSession(system="Go.", messages=much))
    session = append_messages(caller, session.pk, [*much, *said("And a last one.")])
    assert within and not any(within)
    assert session.message_count == 8
    texts = [original.parts[0] for original in load_messages(session)]
    assert texts[-4:] == [one.parts[0] for one in [*much, *said("And a last one.")]]
