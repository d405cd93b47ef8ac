"""What a key that keeps its own sessions does with every tool, and what a wide key recalls."""

from typing import Any

import pytest

from contextstudio.accounts import services
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.accounts.selectors import caller_of_actor
from operations.context.policies import policy_of
from operations.edits.arguments import SnipArguments, TagArguments
from operations.edits.services import record_bundle
from tests.operations.support.sessions import session_of
from tests.people import caller, key_of
from threads.models import Session

from .cases import CASES, COUNT, Case
from .doors import Door, rest, service
from .test_every_tool import prepare

KEPT = {
    "append_messages",
    "create_session",
    "manage_scratchpad",
    "request_context_slice",
    "save_memo",
    "set_active_tags",
    "set_context_window",
    "tag_messages",
    "update_memo",
    "delete_memo",
}
"""What it does in its own session without asking."""
PROPOSED = {
    "context",
    "digest_messages",
    "drop_group",
    "insert_messages",
    "resequence_messages",
    "revise_messages",
    "snip_messages",
    "summarize_message_range",
    "undo",
}
"""What it may only propose, wherever it does it."""
IN_ANY = {"create_session"}
"""What is in no session, so that it does it whosever session is at hand."""
OF_ITS_OWN = {"undo_operation", "redo_operation"}
"""They act on entries of the caller; `test_it_undoes_what_it_kept` asks for more."""
READS = {name for name, case in CASES.items() if case.right is Right.READ} - KEPT
OF_LONG_ONES = {"prune"}
"""What finds nothing to do in a session as short as these: tests/archive/pruning asks it."""
OF_PROPOSERS = {"manage_snapshots"}
"""What whoever may propose does anywhere, without a proposal."""
REFUSED = (
    set(CASES) - KEPT - PROPOSED - READS - OF_ITS_OWN - OF_LONG_ONES - OF_PROPOSERS
)


@pytest.fixture
def keeping(owner: User, project: Project) -> Door:
    """A tool called with a key that keeps its own sessions."""
    return service(key_of(owner, project, Right.OWN_SESSION))


@pytest.fixture
def theirs(owner: User, project: Project) -> Session:
    """A session that a person made."""
    return session_of(owner, project, COUNT)


@pytest.fixture
def own(theirs: Session, keeping: Door) -> Session:
    """The same, as if that key had made it."""
    theirs.created_by = f"key:{ApiKey.objects.latest('pk').pk}"
    theirs.save()
    return theirs


def statuses(answer: Any) -> set[str]:
    """Of the operations that an answer speaks of."""
    body = answer.body
    found = body.get("replacements") or [body]
    return {one["status"] for one in found if "status" in one}


def call(name: str, session: Session, door: Door, prepared_by: Door) -> Any:
    case: Case = CASES[name]
    return door(name, **prepare(prepared_by, case, str(session.pk)))


@pytest.mark.parametrize("name", sorted(KEPT))
def test_in_its_own_session_a_key_keeps_its_work(
    name: str, own: Session, keeping: Door
) -> None:
    answer = call(name, own, keeping, keeping)
    assert answer.status == 200, answer.body
    assert "proposed" not in statuses(answer)


@pytest.mark.parametrize("name", sorted(KEPT - IN_ANY))
def test_in_anothers_session_it_does_not(
    name: str, owner: User, project: Project, theirs: Session, keeping: Door
) -> None:
    of_owner = service(key_of(owner, project))
    answer = call(name, theirs, keeping, of_owner)
    if name == "tag_messages":
        assert statuses(answer) == {"proposed"}
    else:
        assert (answer.status, answer.body["code"]) == (403, "forbidden")
        assert answer.body["right"] == Right.EDIT


@pytest.mark.parametrize("name", sorted(PROPOSED))
def test_the_rest_is_proposed_in_its_own_session_too(
    name: str, own: Session, keeping: Door
) -> None:
    answer = call(name, own, keeping, keeping)
    assert answer.status == 200, answer.body
    own.refresh_from_db()
    assert own.overview["proposed"] >= 1
    assert own.overview["on"] == 0


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_can_not_be_proposed_is_refused_in_its_own_session_too(
    name: str, owner: User, project: Project, own: Session, keeping: Door
) -> None:
    of_owner = service(key_of(owner, project))
    answer = call(name, own, keeping, of_owner)
    assert (answer.status, answer.body["code"]) == (403, "forbidden")


def test_it_undoes_what_it_kept_and_switches_its_tags(
    own: Session, keeping: Door
) -> None:
    about = {"session_id": str(own.pk)}
    tag = keeping("tag_messages", **about, range=[1, 2], tags=["a"]).body
    keeping("set_active_tags", **about, tags=["a"])
    assert keeping("undo_operation", **about).status == 200
    assert keeping("redo_operation", **about).body["head"] == 4
    named = {"operation_id": tag["operation_id"]}
    assert keeping("toggle_operation", **named, active=False).status == 200
    assert keeping("revert_operation", **named).status == 200


def test_a_snip_of_its_own_that_came_to_apply_is_no_longer_its_to_switch(
    owner: User, project: Project, own: Session, keeping: Door
) -> None:
    snip = keeping("snip_messages", session_id=str(own.pk), range=[1, 2]).body
    named = {"operation_id": snip["operation_id"]}
    of_owner = service(key_of(owner, project))
    assert of_owner("accept_operation", **named).status == 200
    assert keeping("toggle_operation", **named, active=False).status == 403
    assert keeping("undo_operation", session_id=str(own.pk)).status == 403


def test_tags_with_anything_else_in_one_bundle_wait_with_it(
    owner: User, project: Project, own: Session
) -> None:
    key = ApiKey.objects.latest("pk")
    tags = {"type": "tag", "range": [1, 1], "tags": ["a"]}
    snip = {"type": "snip", "range": [3, 3]}
    made = record_bundle(
        caller_of_actor(f"key:{key.pk}"),
        own.pk,
        [TagArguments.model_validate(tags), SnipArguments.model_validate(snip)],
    )
    states = {one.state for one in made.history.log.edits.values()}
    assert states == {"proposed"}


def test_a_window_of_its_own_leaves_the_rest_of_the_policy_alone(
    own: Session, keeping: Door
) -> None:
    keeping("set_context_window", session_id=str(own.pk), n=3)
    assert policy_of(own).window == 3


def test_a_person_corrects_a_memo_and_the_key_no_longer_changes_it(
    owner: User, project: Project, keeping: Door
) -> None:
    memo = keeping("save_memo", content="Use UTC.", project=project.slug).body
    named = {"memo_id": memo["memo_id"]}
    assert keeping("update_memo", **named, tags=["time"]).status == 200
    of_owner = service(key_of(owner, project))
    assert of_owner("update_memo", **named, content="Use UTC always.").status == 200
    assert keeping("update_memo", **named, content="Use local time.").status == 403
    again = keeping("save_memo", content="Or not.", supersedes=memo["memo_id"])
    assert again.status == 403


@pytest.fixture
def wide(owner: User, project: Project, stranger: User) -> tuple[Door, Door]:
    """A key of `other` that recalls from `demo`, over REST, and one that does not."""
    other = Project.objects.get(slug="other")
    services.set_member(caller(owner), project, stranger, ProjectRole.VIEWER)
    texts = [
        create_key(
            stranger, other, name="", scopes=frozenset(Right), recalls=recalls
        ).text
        for recalls in ((project,), ())
    ]
    return rest(texts[0]), rest(texts[1])


def test_document_2_a_wide_key_finds_memos_of_its_further_projects(
    owner: User, project: Project, theirs: Session, wide: tuple[Door, Door]
) -> None:
    of_owner = service(key_of(owner, project))
    of_owner("save_memo", content="Use UTC.", session_id=str(theirs.pk))
    uri = f"nexora://demo/{str(theirs.pk)[:8]}/m3"
    there, _ = wide
    found = there("recall", ref_id=uri)
    assert (found.status, found.body["content"]) == (200, "message 3")
    for narrowed in ({}, {"project": "demo"}):
        (memo,) = there("retrieve_memos", **narrowed).body["memos"]
        assert (memo["content"], memo["project"]) == ("Use UTC.", "demo")


def test_what_a_key_may_not_recall_reads_as_what_is_not_there(
    owner: User, project: Project, theirs: Session, wide: tuple[Door, Door]
) -> None:
    of_owner = service(key_of(owner, project))
    memo = of_owner("save_memo", content="Use UTC.", session_id=str(theirs.pk)).body
    there, without = wide
    uri = f"nexora://demo/{str(theirs.pk)[:8]}/m3"
    absent = f"nexora://nothing/{str(theirs.pk)[:8]}/m3"
    forbidden, none = (
        without("recall", ref_id=one).body["detail"].replace(one, "")
        for one in (uri, absent)
    )
    assert forbidden == none
    assert without("retrieve_memos").body["memos"] == []
    forbidden, none = (
        without("retrieve_memos", project=slug) for slug in ("demo", "nothing")
    )
    assert (forbidden.status, forbidden.body) == (none.status, none.body)
    # Nor does one that recalls see anything else of the project, or change it.
    for door in (there, without):
        about = {"session_id": str(theirs.pk)}
        assert door("get_message_range", **about, start=0, end=1).status == 404
        assert door("recall", **about, ref_id="m3").status == 404
        assert door("save_memo", content="x", project="demo").status == 404
        assert door("delete_memo", memo_id=memo["memo_id"]).status == 404
        listed = door("list_sessions").body["sessions"]
        assert listed == []
