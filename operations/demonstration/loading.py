"""Loading the demonstration once per project, through the services that every door uses.

What the owner, an editor and an agent do to its thread are edits as a client would post them to
`/api/sessions/{id}/operations`. Indexes are those of the messages of `night-sailings.json`.
"""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.transaction import atomic
from pydantic import TypeAdapter

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key, revoke_key
from contextstudio.accounts.models import AuditEntry, Project, User
from contextstudio.accounts.selectors import caller_of_actor, caller_of_user
from contextstudio.accounts.services import create_user, owner_of, set_member
from operations.edits import services
from operations.edits.arguments import AmendArguments, AnyEdit, EditArguments
from operations.edits.lenses import save_lens
from threads.imports import import_upload
from threads.imports.upload import keep_upload
from threads.models import Session

TRANSCRIPT = Path(__file__).with_name("night-sailings.json")
EDITOR = "demonstration-editor"
"""Name of the person who edits beside the owner; has no password."""
AGENT = "tidy"
"""Name of the agent's key. It is revoked once the log is written."""
LOADED = "demonstration.load"
"""The audited action that says that a project had its demonstration, deleted since or not."""

_Edit = dict[str, Any]

LENS, LENS_TAGS = "Handover", ["handover"]
"""The named set of tags under which the briefing at the top is shown."""

TAGS: list[_Edit] = [
    {"type": "tag", "range": [1, 1], "tags": ["objective"]},
    {"type": "tag", "range": [30, 30], "tags": ["evidence"]},
    {"type": "tag", "range": [37, 38], "tags": ["cause"]},
    {"type": "tag", "range": [68, 68], "tags": ["decision"]},
]
"""Recorded as one bundle."""

LONG_LOG: _Edit = {
    "type": "condense",
    "target": "m23",
    "text": (
        "148 lines of `logs/2025-10-03.log`, 22:03 to 01:39. Until 23:38 every swept hold "
        "lasted 20 minutes or more. From H8285 (taken 23:40:29, swept 23:45:03) on, holds "
        "go at the next sweep, at :00, :05, :10 and three seconds, all with "
        "`reason=swept`; 19 payments then meet no hold. H8293 was for a day sailing."
    ),
}

SEARCH = (
    "Listed what can end a hold: `harbour/holds/sweeper.py` when its 20 minutes are over, "
    "`harbour/payments/callback.py` when a card is declined or cancelled. In Friday's log "
    "the early ones all end by `reason=swept`; the first is H8285, taken 23:40:29 and "
    "swept 23:45:03. `tools/hold_times.py` prints how long swept holds lasted, by the hour."
)
SEARCH_IN_FULL = SEARCH + (
    "\n\nRuled out: the cache of seat maps (it decides nothing), the payment callback, and "
    "a clock that is off (sweeps come on the minute). The 14 tests pass; all of them live "
    "at noon."
)
"""The words that the owner gives the digest after reading it again."""
SEARCH_DIGEST: _Edit = {"type": "digest", "range": [2, 29], "summary": SEARCH}

ATTEMPTS: _Edit = {
    "type": "digest",
    "range": [53, 66],
    "summary": (
        "Two attempts in `harbour/holds/model.py`, both dropped.\n\n"
        "1. Add a day where the clock is before 04:00. All 15 tests pass, but 60 minutes of "
        "the coming year come back wrong: the second 02 h of 26 October.\n"
        "2. Mark that hour with a letter behind the stamp. Two of four new tests fail: a "
        "time in a repeated hour never equals one in another zone (PEP 495).\n\n"
        "The tests of that night in `tests/holds/test_model.py` stay."
    ),
}

MISTYPED_EDIT: _Edit = {"type": "snip", "range": [42, 45]}
"""The owner wants to see it and switches this snip off."""

MISSING_LINTER: _Edit = {"type": "snip", "range": [77, 82]}

CLEAR_WORDS: _Edit = {
    "type": "revise",
    "range": [41, 41],
    "replacements": [
        {
            "role": "user",
            "content": (
                "Before you touch it, write a test that fails because of this and of "
                "nothing else. I want to see it red."
            ),
        }
    ],
}

WINTER_TIME: _Edit = {
    "type": "insert",
    "after_idx": 52,
    "messages": [
        {
            "role": "user",
            "content": (
                "One hour of the night of 26 October happens twice. Whatever you choose "
                "must hold across it."
            ),
        }
    ],
}

COUNTER_BEFORE_NOTE: _Edit = {
    "type": "resequence",
    "new_order": [*range(112, 120), *range(108, 112)],
}
"""The counter belongs to the fix, so it moves up before the release note."""

BRIEFING: _Edit = {
    "type": "insert",
    "after_idx": 0,
    "messages": [
        {
            "role": "user",
            "content": (
                "You take over from another agent. The cause is known and the fix is "
                "merged as 4.3; what is left is to count the complaints, one journal a "
                "night since 29 September, with `tools/early_ends.py`."
            ),
        }
    ],
    "tags": LENS_TAGS,
}

SECOND_LOOK: _Edit = {
    "type": "snip",
    "range": [92, 95],
    "propose": True,
    "title": "Two looks at files that have not changed since.",
}
"""Two looks at files that have not changed: the agent proposes to leave them out."""

_EDIT: TypeAdapter[EditArguments] = TypeAdapter(AnyEdit)


@atomic
def load_demonstration(project: Project) -> Session | None:
    """Import the demonstration into a project and edit it; None where that was done before.

    Raises NotFound where the project has no owner.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    if AuditEntry.objects.filter(project=project, action=LOADED).exists():
        return None
    owner = owner_of(project)
    with TRANSCRIPT.open("rb") as stream:
        upload = keep_upload(stream, name=TRANSCRIPT.name)
    imported = import_upload(caller_of_user(owner), project, upload)
    (session,) = imported.sessions
    if imported.created:
        _perform(project, owner, session.pk)
    AuditEntry.objects.create(
        project=project, actor="system", action=LOADED, object_id=str(session.pk)
    )
    return session


def _perform(project: Project, maker: User, session_id: UUID) -> None:
    """Record what the owner, an editor and an agent do, in the order in which they would do it."""
    owner = caller_of_user(maker)
    found = User.objects.filter(username=EDITOR).first()
    person = found or create_user(EDITOR, display_name="Editor")
    set_member(owner, project, person, ProjectRole.EDITOR)
    editor = caller_of_user(person)
    scopes = frozenset({Right.PROPOSE, Right.EDIT})
    key = create_key(maker, project, name=AGENT, scopes=scopes).row
    agent = caller_of_actor(f"key:{key.pk}")

    def do(caller: Caller, edit: _Edit) -> UUID:
        made = _EDIT.validate_python(edit)
        transaction = services.record_edit(caller, session_id, made)
        return transaction.history.rows[transaction.numbers[0]].id

    services.record_bundle(owner, session_id, list(map(_EDIT.validate_python, TAGS)))
    do(agent, LONG_LOG)
    search = do(owner, SEARCH_DIGEST)
    mistyped = do(editor, MISTYPED_EDIT)
    do(editor, CLEAR_WORDS)
    do(agent, ATTEMPTS)
    do(editor, MISSING_LINTER)
    do(editor, WINTER_TIME)
    services.switch(owner, mistyped, services.Act.OFF)
    do(owner, COUNTER_BEFORE_NOTE)
    words = AmendArguments.model_validate({"summary": SEARCH_IN_FULL})
    services.amend(owner, search, words.amended)
    do(editor, BRIEFING)
    save_lens(editor, session_id, LENS, LENS_TAGS)
    do(agent, SECOND_LOOK)
    revoke_key(owner, key.pk)
