"""Transcripts that come again: longer, rewritten or branched; parents and children."""

from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from tests.threads.support import rollouts
from tests.threads.support.importing import Take, child, outcomes, shown, texts
from tests.threads.support.stub_format import says, stub
from threads.imports.running import appending
from threads.models import Event, Message, Session

# Families


def test_a_sub_agent_is_linked_to_its_parent_and_the_call_that_began_it(
    take: Take,
) -> None:
    take(
        {
            "1.stub": stub(
                *says("go"), id="kid", **child("subagent", call_id="call-1")
            ),
            "2.stub": stub(*says("one"), id="a"),
        }
    )
    kid = Session.objects.get(external_id="kid")
    assert kid.parent == Session.objects.get(external_id="a")
    assert (kid.relation, kid.parent_call_id) == ("subagent", "call-1")


def test_a_parent_that_comes_later_finds_its_children(take: Take) -> None:
    (kid,) = take(stub(*says("go"), id="kid", **child("continuation"))).sessions
    assert kid.parent is None
    (parent,) = take(stub(*says("one"), id="a")).sessions
    kid.refresh_from_db()
    assert kid.parent == parent


def test_a_parent_that_comes_after_its_branches_is_none_of_them(take: Take) -> None:
    whole = stub(*says("one", "two"), id="kid", **child("branch"))
    rest = stub(*says("three"), id="rest", **child("branch"))
    kids = [take(one).sessions[0] for one in (whole, rest)]
    (parent,) = take(stub(*says("one", "two", "more"), id="a")).sessions

    assert (parent.external_id, parent.relation) == ("a", "")
    for kid in kids:
        kid.refresh_from_db()
        assert kid.parent == parent


@pytest.mark.parametrize("order", ["at once", "first", "last"])
def test_a_rollout_is_linked_to_the_one_that_it_goes_on_from(
    take: Take, order: str
) -> None:
    base = [rollouts.meta(id="base"), rollouts.said("user", "Why is it dark?")]
    cut = {"thread_id": "base", "end_ordinal_exclusive": 2}
    resumed = [rollouts.meta(id="on", history_base=cut), rollouts.said("user", "Lit?")]
    files = {"1.jsonl": rollouts.as_file(*resumed), "2.jsonl": rollouts.as_file(*base)}
    if order == "at once":
        take(files)
    else:
        for name in sorted(files, reverse=order == "last"):
            take({name: files[name]})

    session = Session.objects.get(external_id="on")
    assert session.parent == Session.objects.get(external_id="base")
    assert (session.relation, texts(session)) == ("branch", ["Lit?"])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_rollouts_of_a_reverted_thread_are_linked_in_any_order(
    take: Take, order: tuple[int, ...]
) -> None:
    ids = [rollouts.SESSION, *(rollouts.SESSION[:-1] + end for end in "de")]
    names = [f"rollout-2026-03-01T10-00-00-{id_}.jsonl" for id_ in ids]
    cuts = [{"thread_id": id_, "end_ordinal_exclusive": 2} for id_ in ids]
    tops = [rollouts.meta(), *(rollouts.meta(history_base=cut) for cut in cuts[:2])]
    for at in order:
        words = rollouts.said("user", f"Question {at}")
        take({names[at]: rollouts.as_file(tops[at], words)})

    first, second, third = (Session.objects.get(external_id=id_) for id_ in ids)
    assert (first.parent, second.parent, third.parent) == (None, first, second)
    assert texts(first) == ["Question 0"]
    assert Session.objects.count() == 3


# Longer, rewritten and branched versions


def test_a_longer_version_adds_messages_and_events_once(take: Take) -> None:
    short = stub(*says("one", "two"), {"event": "x"}, id="a")
    longer = short + stub(*says("three"), {"event": "x"})[len(stub()) :]
    (session,) = take(short).sessions
    for _again in range(2):
        imported = take(longer)
        assert imported.sessions == [session]
    assert texts(session) == ["one", "two", "three"]
    events = Event.objects.filter(session=session).order_by("pk")
    assert list(events.values_list("type", "before_index")) == [("x", 2), ("x", 3)]


def test_a_rewritten_version_adds_only_what_is_new(take: Take) -> None:
    (session,) = take(
        stub(*says("one"), {"event": "x"}, {"event": "y"}, id="a")
    ).sessions
    take(
        stub(
            *says("one"),
            {"event": "y"},
            {"event": "x"},
            {"event": "x"},
            id="a",
            title="Rewritten",
        )
    )
    events = Event.objects.filter(session=session)
    assert sorted(events.values_list("type", flat=True)) == ["x", "x", "y"]


def test_a_message_that_grew_twice_while_it_was_written_stays_one_course(
    take: Take,
) -> None:
    def version(*pieces: str, tail: tuple[dict[str, Any], ...] = ()) -> bytes:
        answer = {"say": list(pieces), "role": "assistant", "id": "s1"}
        usage = {"input_tokens": 5, "output_tokens": 7}
        return stub(*says("go"), {**answer, "usage": usage}, *tail, id="a")

    (session,) = take(version("Let")).sessions
    take(version("Let", "me"))
    take(version("Let", "me", "see."))
    last = {"say": "Thanks", "role": "user", "id": "s2"}
    compact = {"compact": [0, 1], "into": ["Greetings"]}
    take(version("Let", "me", "see.", tail=(last, compact)))
    assert Session.objects.count() == 1
    assert texts(session) == ["go", "Let", "me", "see.", "Thanks"]
    weights = Message.objects.order_by("index").values_list("weight", flat=True)
    assert list(weights) == [None, 12, None, None, None]
    assert shown(session) == ["Greetings", "Thanks"]


def test_another_course_becomes_a_branch_and_its_longer_version_goes_on_there(
    take: Take,
) -> None:
    (session,) = take(stub(*says("one", "two"), id="a")).sessions
    (branch,) = take(stub(*says("one", "other"), id="a")).sessions
    assert (branch.parent, branch.relation) == (session, "branch")
    assert take(stub(*says("one", "other", "on"), id="a")).sessions == [branch]
    assert texts(branch) == ["one", "other", "on"]
    assert take(stub(*says("one", "two", "too"), id="a")).sessions == [session]
    assert texts(session) == ["one", "two", "too"]
    assert Session.objects.count() == 2


def test_what_was_the_one_course_is_not_made_again_as_a_branch(take: Take) -> None:
    (session,) = take(stub(*says("one", "two"), id="a")).sessions
    rewound = {
        "main.stub": stub(*says("one", "other"), id="a"),
        "old.stub": stub(*says("one", "two"), id="a/1", **child("branch", at=1)),
    }
    imported = take(rewound)
    assert Session.objects.count() == 2
    assert outcomes(imported.row) == {"main.stub": "branched", "old.stub": "known"}
    assert session in imported.sessions


def test_a_session_that_is_named_and_has_another_course_gets_a_branch(
    take: Take,
) -> None:
    (session,) = take(stub(*says("one"), id="a")).sessions
    imported = take(stub(*says("other")), session_id=session.pk)
    (branch,) = imported.sessions
    assert (branch.parent, branch.relation) == (session, "branch")


def test_an_untitled_session_takes_the_title_that_comes_later(take: Take) -> None:
    (session,) = take(
        stub(*says("one")[:0], {"say": "x", "role": "assistant"}, id="a")
    ).sessions
    assert session.title == "Untitled session"
    take(stub({"say": "x", "role": "assistant"}, {"say": "y"}, id="a", title="Tides"))
    session.refresh_from_db()
    assert session.title == "Tides"


def test_a_twin_on_another_course_is_no_twin(take: Take) -> None:
    take(stub(*says("one", "two"), id="a"))
    imported = take(stub(*says("one", "third"), id="a/1", **child("branch", at=1)))
    assert imported.created
    longer = stub(*says("one", "two", "more"), id="a/2", **child("branch", at=2))
    assert take(longer).created
    assert Session.objects.count() == 3


def test_an_append_begins_again_where_the_session_has_grown_meanwhile(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = stub(*says("one"), id="a")
    take(short)
    longer = short + stub(*says("two"))[len(stub()) :]
    real, others = appending.get_session, iter([1])

    def late(*args: Any, **options: Any) -> Session:
        if next(others, None):
            take(longer)
        return real(*args, **options)

    monkeypatch.setattr(appending, "get_session", late)
    take(longer)
    assert Message.objects.count() == 2


def test_a_session_that_others_write_to_all_the_time_is_a_conflict(
    take: Take, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = stub(*says("one"), id="a")
    (session,) = take(short).sessions
    real = appending.get_session

    def busy(*args: Any, **options: Any) -> Session:
        found = real(*args, **options)
        found.message_count += 1
        return found

    monkeypatch.setattr(appending, "get_session", busy)
    with pytest.raises(Conflict):
        take(short + stub(*says("two"))[len(stub()) :])
    assert texts(session) == ["one"]
