"""Deciding by tool on what was proposed together."""

from contextstudio.accounts.models import Project, User
from operations.edits.arguments import SnipArguments
from operations.edits.services import record_bundle, record_edit
from operations.log.selectors import load_thread
from tests.operations.support.sessions import session_of
from tests.people import caller, key_of

from .doors import service


def test_a_bundle_is_reviewed_by_any_of_its_operations(
    owner: User, project: Project
) -> None:
    session = session_of(owner, project, 8)
    first, crossing, other = (
        SnipArguments.model_validate({"type": "snip", "range": [at, at + 1]})
        for at in (1, 2, 4)
    )
    record_edit(caller(owner), session.pk, first)
    made = record_bundle(caller(owner), session.pk, [crossing, other], propose=True)
    review = service(key_of(owner, project))
    named = {"operation_id": str(made.history.rows[3].id), "bundle": True}
    refused = review("accept_operation", **named)
    assert refused.status == 409
    assert refused.body["fitting"] == ["o3"]
    accepted = review("accept_operation", **named, skip_conflicts=True)
    assert [one["code"] for one in accepted.body["warnings"]] == ["skipped"]
    assert review("reject_operation", **named).status == 200
    session.refresh_from_db()
    states = [one.status for one in load_thread(session).reports]
    assert states == ["applied", "rejected", "applied"]
