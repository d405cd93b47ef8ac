"""Loading the demonstration once per project, through the services that every door uses."""

from pathlib import Path
from uuid import UUID

from django.db.transaction import atomic
from pydantic import TypeAdapter

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import AuditEntry, Project, User
from contextstudio.accounts.selectors import caller_of_actor, caller_of_user
from contextstudio.accounts.services import (
    create_key,
    create_user,
    owner_of,
    revoke_key,
    set_member,
)
from operations.edits import services
from operations.edits.arguments import AmendArguments, AnyEdit, EditArguments
from operations.edits.lenses import save_lens
from threads.imports import import_upload
from threads.imports.running.outcome import Imported
from threads.imports.upload import keep_upload
from threads.models import Session

from . import edits

TRANSCRIPT = Path(__file__).with_name("night-sailings.json")
EDITOR = "demonstration-editor"
"""Name of the person who edits beside the owner; has no password."""
AGENT = "tidy"
"""Name of the agent's key. It is revoked once the log is written."""
LOADED = "demonstration.load"
"""The audited action that says that a project had its demonstration, deleted since or not."""

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
    imported = _import(caller_of_user(owner), project)
    (session,) = imported.sessions
    if imported.created:
        _Cast(project, owner, session.pk).perform()
    AuditEntry.objects.create(
        project=project, actor="system", action=LOADED, object_id=str(session.pk)
    )
    return session


def _import(caller: Caller, project: Project) -> Imported:
    with TRANSCRIPT.open("rb") as stream:
        upload = keep_upload(stream, name=TRANSCRIPT.name)
    return import_upload(caller, project, upload)


class _Cast:
    """The owner, an editor and an agent, at work on the session."""

    def __init__(self, project: Project, owner: User, session_id: UUID) -> None:
        self.project = project
        self.maker = owner
        self.owner = caller_of_user(owner)
        self.session_id = session_id

    def perform(self) -> None:
        """Record what they do, in the order in which they would do it."""
        editor = self._editor()
        scopes = frozenset({Right.PROPOSE, Right.EDIT})
        key = create_key(self.maker, self.project, name=AGENT, scopes=scopes).row
        agent = caller_of_actor(f"key:{key.pk}")
        services.record_bundle(
            self.owner, self.session_id, [_arguments(edit) for edit in edits.TAGS]
        )
        self._do(agent, edits.LONG_LOG)
        search = self._do(self.owner, edits.SEARCH_DIGEST)
        mistyped = self._do(editor, edits.MISTYPED_EDIT)
        self._do(editor, edits.CLEAR_WORDS)
        self._do(agent, edits.ATTEMPTS)
        self._do(editor, edits.MISSING_LINTER)
        self._do(editor, edits.WINTER_TIME)
        services.switch(self.owner, mistyped, services.Act.OFF)
        self._do(self.owner, edits.COUNTER_BEFORE_NOTE)
        words = AmendArguments.model_validate({"summary": edits.SEARCH_IN_FULL})
        services.amend(self.owner, search, words.amended)
        self._do(editor, edits.BRIEFING)
        save_lens(editor, self.session_id, edits.LENS, edits.LENS_TAGS)
        self._do(agent, edits.SECOND_LOOK)
        revoke_key(self.owner, key.pk)

    def _editor(self) -> Caller:
        found = User.objects.filter(username=EDITOR).first()
        editor = found or create_user(EDITOR, display_name="Editor")
        set_member(self.owner, self.project, editor, ProjectRole.EDITOR)
        return caller_of_user(editor)

    def _do(self, caller: Caller, edit: edits.Edit) -> UUID:
        transaction = services.record_edit(caller, self.session_id, _arguments(edit))
        return transaction.history.rows[transaction.numbers[0]].id


def _arguments(edit: edits.Edit) -> EditArguments:
    return _EDIT.validate_python(edit)
