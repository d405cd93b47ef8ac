"""Files that come again after their tool went back in the conversation."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.jobs.runner import Interrupted
from contextstudio.accounts.models import Project
from operations.domain.log.operation import Digest, Operation, Revert
from operations.domain.tree.leaf import MadeMessage
from operations.log.selectors import load_history, load_thread
from operations.log.transaction import write_apart
from tests.threads.support import rollouts
from tests.threads.support.agent_specimens import lines
from tests.threads.support.importing import Take, outcomes, shown, texts
from tests.threads.support.transcripts import SESSION, answer, record, text, user
from threads import imports
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.imports.reports import shown_files
from threads.imports.running import file_groups
from threads.imports.running.outcome import Imported
from threads.models import Event, Session
from threads.store.originals import load_messages
from threads.store.origins import load_origin
from threads.store.recording import record_messages

Line = dict[str, Any]
Record = Callable[..., None]

START = [user("u1", None, "Start."), answer("a1", "u1", text("Started."))]
FIRST = [user("u2", "a1", "Go on."), answer("a2", "u2", text("Went on."))]
OTHER = [user("u3", "a1", "Or so."), answer("a3", "u3", text("As well."))]
BEGUN, WENT, DIFFERED = (
    ["Start.", "Started."],
    ["Go on.", "Went on."],
    ["Or so.", "As well."],
)
V1 = [*START, *FIRST]
BY_HAND = Message(role=Role.USER, parts=(Text("By hand."),))


def back(leaf: str) -> Line:
    """The line of a rewind."""
    note = {"type": "last-prompt", "leafUuid": leaf, "explicit": True}
    return {**note, "sessionId": SESSION}


def compaction(id_: str, before: str, words: str) -> list[Line]:
    boundary = record("system", f"b{id_}", before, subtype="compact_boundary")
    return [boundary, user(f"s{id_}", f"b{id_}", words, isCompactSummary=True)]


@pytest.fixture
def bring(take: Take) -> Callable[..., Imported]:
    """Imports versions of one file, one after another."""

    def bring(*versions: list[Line], **options: Any) -> Imported:
        for version in versions:
            imported = take({"s.jsonl": lines(version)}, **options)
        return imported

    return bring


@pytest.fixture
def by_hand(caller: Caller) -> Record:
    """Records what a person does in the only session."""

    def by_hand(*operations: Operation) -> None:
        write_apart(main(), caller, lambda log: log.add(*operations))

    return by_hand


def main() -> Session:
    return Session.objects.get(external_id=SESSION)


def said(imported: Imported) -> list[str]:
    return [one.message for one in imported.warnings]


V2 = [*V1, back("a1"), *OTHER]


def test_the_thread_shows_the_course_that_its_conversation_is_on(
    bring: Callable[..., Imported],
) -> None:
    imported = bring(V1, V2)

    assert Session.objects.get() == main()
    assert texts(main()) == [*BEGUN, *WENT, *DIFFERED]
    assert shown(main()) == [*BEGUN, *DIFFERED]
    assert imported.row.report["outcomes"] == {"rewound": 1, "known": 1}
    assert said(imported) == [
        'In "Start." the conversation went back to #1; what it left, #2–#3, is folded.'
    ]
    assert not imported.created
    assert [one.actor for one in load_history(main()).log.entries] == ["client"]


def test_the_same_file_changes_nothing_and_a_longer_one_goes_on(
    bring: Callable[..., Imported],
) -> None:
    longer = [*V2, user("u4", "a3", "More.")]
    bring(V1, V2, V2)
    imported = bring(longer)

    assert (imported.warnings, imported.recorded) == ([], 1)
    assert shown(main()) == [*BEGUN, *DIFFERED, "More."]
    assert load_history(main()).log.head == 1


def test_a_rewind_that_nothing_follows_shortens_the_thread(
    bring: Callable[..., Imported],
) -> None:
    imported = bring(V1, [*V1, back("a1")])

    assert imported.recorded == 0
    assert outcomes(imported.row) == {
        "s.jsonl": "known"
    }  # the branch, the later of two
    assert imported.row.report["outcomes"] == {"rewound": 1, "known": 1}
    assert shown(main()) == BEGUN
    bring(V2)
    assert shown(main()) == [*BEGUN, *DIFFERED]


def test_a_question_that_was_taken_back_is_folded(
    bring: Callable[..., Imported],
) -> None:
    asked = [*START, user("u2", "a1", "Go on.")]
    bring(asked, [*asked, *OTHER])

    assert Session.objects.count() == 1
    assert shown(main()) == [*BEGUN, *DIFFERED]


def test_a_conversation_that_comes_back_is_unfolded(
    bring: Callable[..., Imported],
) -> None:
    imported = bring(V1, V2, [*V2, back("a2"), user("u5", "a2", "Again.")])

    assert shown(main()) == [*BEGUN, *WENT, "Again."]
    assert texts(main()) == [*BEGUN, *WENT, *DIFFERED, "Again."]
    assert said(imported) == [
        'In "Start." the conversation went back to #3; '
        "what it left, #4–#5, is folded; "
        "what it came back to, #2–#3, is unfolded."
    ]


def test_a_conversation_that_comes_back_before_it_went_on_is_unfolded(
    bring: Callable[..., Imported],
) -> None:
    bring(V1, [*V1, back("a1")], [*V1, back("a1"), user("u5", "a2", "Again.")])

    assert shown(main()) == [*BEGUN, *WENT, "Again."]


def test_a_conversation_may_go_back_to_its_beginning(
    bring: Callable[..., Imported],
) -> None:
    anew = [user("u9", None, "Anew."), answer("a9", "u9", text("Begun."))]
    imported = bring(V1, [*V1, {**back(""), "leafUuid": None}, *anew])

    assert shown(main()) == ["Anew.", "Begun."]
    assert "went back to its beginning; what it left, #0–#3" in (said(imported)[0])


def test_an_answer_without_an_id_that_went_on_is_held_in_pieces(take: Take) -> None:
    asked = [rollouts.meta(), rollouts.said("user", "Why?")]
    begun = [*asked, rollouts.said("assistant", "Wait.")]
    for version in (begun, [*begun, rollouts.call("c1"), rollouts.output("c1")]):
        take({"rollout.jsonl": rollouts.as_file(*version)})

    session = Session.objects.get()
    originals = load_messages(session)
    said = [[part.kind for part in one.parts] for one in originals]
    assert said == [["text"], ["text"], ["tool_call"], ["tool_result"]]


# Compactions


def test_a_compaction_after_a_rewind_hides_what_is_on_the_course(
    bring: Callable[..., Imported],
) -> None:
    compacted = [*compaction("1", "a3", "Counted."), user("u6", "s1", "Then.")]
    bring(V1, V2, [*V2, *compacted])

    assert shown(main()) == ["Counted.", "Then."]


def test_a_rewind_and_a_compaction_at_once_are_both_followed(
    bring: Callable[..., Imported],
) -> None:
    compacted = [*compaction("1", "a3", "Counted."), user("u6", "s1", "Then.")]
    bring(V1, [*V2, *compacted])

    assert shown(main()) == ["Counted.", "Then."]
    digest = load_history(main()).log.edits[2].edit
    assert isinstance(digest, Digest)
    assert digest.targets == ("m0", "m1", "m4", "m5")


def test_a_rewind_beyond_a_compaction_takes_it_back_until_it_comes_back(
    bring: Callable[..., Imported],
) -> None:
    compacted = [*V1, *compaction("1", "a2", "Counted."), user("u6", "s1", "Then.")]
    bring(compacted)
    assert shown(main()) == ["Counted.", "Then."]

    beyond = [*compacted, back("a1"), *OTHER]
    bring(beyond)
    assert shown(main()) == [*BEGUN, *DIFFERED]

    bring([*beyond, back("u6"), answer("a7", "u6", text("Here."))])
    assert shown(main()) == ["Counted.", "Then.", "Here."]


def test_a_compaction_that_a_person_switched_off_stays_off(
    bring: Callable[..., Imported], by_hand: Record
) -> None:
    compacted = [*V1, *compaction("1", "a2", "Counted."), user("u6", "s1", "Then.")]
    bring(compacted)
    by_hand(Revert(operations=("o1",)))
    beyond = [*compacted, back("a1"), *OTHER]
    bring(beyond, [*beyond, back("u6"), answer("a7", "u6", text("Here."))])

    assert shown(main()) == [*BEGUN, *WENT, "Then.", "Here."]


def test_a_compaction_of_a_branch_is_recorded_when_the_thread_comes_to_it(
    bring: Callable[..., Imported],
) -> None:
    compacted = [*V1, *compaction("1", "a2", "Counted."), user("u6", "s1", "Then.")]
    spoken = [*compacted, answer("a6", "u6", text("So."))]
    left = [*spoken, back("a1"), *OTHER]
    bring(V1, left)
    assert (
        Session.objects.count() == 2
    )  # what was said behind the compaction is elsewhere
    bring([*left, back("a6"), user("u8", "a6", "Last.")])

    assert shown(main()) == ["Counted.", "Then.", "So.", "Last."]


def test_a_compaction_that_the_first_import_had_left_is_recorded_when_it_comes_back(
    bring: Callable[..., Imported],
) -> None:
    compacted = [*START, *compaction("1", "a1", "Counted."), user("u6", "s1", "Then.")]
    bring([*compacted, back("a1")])
    assert shown(main()) == BEGUN
    bring([*compacted, back("a1"), back("u6"), answer("a7", "u6", text("Here."))])

    assert shown(main()) == ["Counted.", "Then.", "Here."]


# What people did


def test_operations_stay_on_what_they_named(
    bring: Callable[..., Imported], by_hand: Record
) -> None:
    bring(V1)
    told = (MadeMessage("system", (Text("In short."),), 2),)
    by_hand(Digest(targets=("m1", "m2"), messages=told))
    assert shown(main()) == ["Start.", "In short.", "Went on."]
    bring(V2)
    assert shown(main()) == ["Start.", "In short.", *DIFFERED]
    thread = load_thread(main())
    assert thread.outcomes[1].status == "applied"
    bring([*V2, back("a2"), user("u5", "a2", "Again.")])
    assert shown(main()) == ["Start.", "In short.", "Went on.", "Again."]


def test_what_a_person_unfolds_again_stays_unfolded(
    bring: Callable[..., Imported], by_hand: Record
) -> None:
    bring(V1, V2)
    by_hand(Revert(operations=("o1",)))
    both = [*BEGUN, *WENT, *DIFFERED]
    assert shown(main()) == both
    bring([*V2, user("u4", "a3", "More.")])
    assert shown(main()) == [*both, "More."]


def test_an_import_that_broke_off_follows_it_when_it_is_tried_again(
    bring: Callable[..., Imported],
    stage: Take,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(done: int, _total: int | None, unit: str) -> None:
        if done and unit == "messages":
            raise Interrupted

    monkeypatch.setattr(file_groups, "AT_ONCE", 0)
    bring(V1)
    job = uuid.uuid4()
    with pytest.raises(Interrupted):
        stage({"s.jsonl": lines(V2)}, job, stop)
    stage({"s.jsonl": lines(V2)}, job)
    imports.publish(project, job)

    assert shown(main()) == [*BEGUN, *DIFFERED]
    assert texts(main()) == [*BEGUN, *WENT, *DIFFERED]
    assert Session.objects.count() == 1


def test_a_conversation_with_sub_agents_is_followed_too(take: Take) -> None:
    agent = [
        {**user("x1", None, "Look."), "isSidechain": True, "agentId": "k"},
        {**answer("x2", "x1", text("Seen.")), "isSidechain": True, "agentId": "k"},
    ]
    for version in (V1, V2):
        beside = {f"{SESSION}/subagents/agent-k.jsonl": lines(agent)}
        take({f"{SESSION}.jsonl": lines(version), **beside})

    assert shown(main()) == [*BEGUN, *DIFFERED]
    assert Session.objects.count() == 2


# What is no rewind


def test_a_file_that_does_not_begin_with_the_old_one_is_a_branch_beside_it(
    bring: Callable[..., Imported],
) -> None:
    imported = bring(V1, [*START, *OTHER])

    assert imported.row.report["outcomes"] == {"branched": 1}
    assert shown(main()) == [*BEGUN, *WENT]


def test_an_older_version_shortens_nothing(bring: Callable[..., Imported]) -> None:
    imported = bring(V1, START)

    assert imported.row.report["outcomes"] == {"known": 1}
    assert shown(main()) == [*BEGUN, *WENT]


def test_what_somebody_else_added_is_never_left(
    bring: Callable[..., Imported],
) -> None:
    bring(START)
    session = main()
    record_messages(session, [BY_HAND])
    imported = bring(V1)

    assert imported.row.report["outcomes"] == {"branched": 1}
    assert shown(main()) == [*BEGUN, "By hand."]


def test_an_answer_that_is_held_back_is_not_left(
    bring: Callable[..., Imported],
) -> None:
    bring(V1)
    note = {"type": "mode", "sessionId": SESSION}
    bring([*V1, note], hold_back=True)
    assert shown(main()) == [*BEGUN, *WENT]

    bring([*V1, note, back("a1"), *OTHER])
    bring([*V1, note, back("a1"), *OTHER, note], hold_back=True)
    assert shown(main()) == [*BEGUN, *DIFFERED]


def test_a_branch_of_two_rewinds_ago_is_known(bring: Callable[..., Imported]) -> None:
    third = [user("u5", "a1", "Third."), answer("a5", "u5", text("Course."))]
    imported = bring(V1, V2, [*V2, back("a1"), *third])

    assert Session.objects.count() == 1
    assert imported.row.report["outcomes"] == {"known": 2, "rewound": 1}
    assert shown(main()) == [*BEGUN, "Third.", "Course."]


def test_a_thread_that_comes_to_a_branch_of_the_first_import_says_that_it_is_one(
    bring: Callable[..., Imported],
) -> None:
    bring(V2)
    assert Session.objects.count() == 2
    branch = Session.objects.get(parent=main())
    again = [*V2, back("a2"), user("u5", "a2", "Again.")]
    imported = bring(again)

    assert shown(main()) == [*BEGUN, *WENT, "Again."]
    assert Session.objects.count() == 2
    assert said(imported) == [
        'In "Start." the conversation went back to #1; what it left, #2–#3, is folded.',
        '"Start." now has all messages (4) of its branch "Go on."; the branch stays as it'
        " is.",
    ]
    [file, _] = shown_files(imported.row.sources.order_by("pk"))
    assert file.repeated == [branch]
    for options in ({}, {"hold_back": True}):
        more = [*again, answer("a5", "u5", text("So be it."))]
        bring([*more, user("u6", "a5", "More.")], **options)
        [(_, [kin])] = load_origin(main()).children
        assert (kin.id, kin.repeated) == (branch.pk, 4)
        assert load_origin(branch).repeated == 4


def test_a_branch_that_somebody_added_to_is_more_than_what_came_back(
    bring: Callable[..., Imported],
) -> None:
    bring(V2)
    branch = Session.objects.get(parent=main())
    record_messages(branch, [BY_HAND])
    imported = bring([*V2, back("a2"), user("u5", "a2", "Again.")])

    assert len(said(imported)) == 1
    assert load_origin(branch).repeated == 0


def test_records_off_the_course_are_not_told_twice(
    bring: Callable[..., Imported],
) -> None:
    bring(V1, V2)
    before = Event.objects.count()
    bring([*V2, user("u4", "a3", "More.")])

    assert Event.objects.count() == before
