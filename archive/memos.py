"""Saves memos and finds them again, across sessions and the projects that a caller may see."""

import uuid
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import BigIntegerField, UUIDField
from django.utils import timezone

from contextstudio.accounts import selectors
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, Project
from contextstudio.database.prepared import Param, Prepared
from operations.context.layers import LayerWords, Surroundings
from operations.context.policies import policy_of
from operations.domain.context.policy import Memos
from operations.domain.log.mask import mask_words
from operations.domain.providers.request import Injected
from operations.messages.reader import mask_text, masked_in
from threads.models import Session
from threads.store.selectors import get_session

from .domain.memo import ReadableMemo, keywords, layer_text, relevant, tagged
from .models import Memo, MemoReader

MAX_LENGTH = 20_000
"""Most characters of a memo."""
MAX_IN_CONTEXT = 5
MAX_ANSWERED = 20
_MAX_READ = 2000
"""How many of a project's newest memos are searched; per project, so that a busy one hides none of
another's."""


@transaction.atomic
def save_memo(
    caller: Caller,
    content: str,
    tags: Sequence[str],
    *,
    session_id: uuid.UUID | None = None,
    project: str | None = None,
    supersedes: uuid.UUID | None = None,
) -> Memo:
    """Save a memo in the session's project, the given project, or the caller's only project.

    A memo that it supersedes is kept but no longer found. Raises Invalid if the content is empty
    or too long, or if no project is determined; Conflict if another memo has already superseded
    that one.
    """
    _require_words(content)
    session = get_session(caller, session_id, Right.OWN_SESSION) if session_id else None
    memo = Memo.objects.create(
        project=_project(caller, session, project),
        session=session,
        content=content.encode("utf-8", "surrogatepass"),
        tags=list(dict.fromkeys(tags)),
        actor=caller.actor,
        actor_name=caller.name[:150],
    )
    if supersedes is not None:
        old = _memo_to_change(caller, supersedes, at="supersedes")
        if old.project_id != memo.project_id:
            sentence = "A memo can only supersede one of its own project."
            raise Invalid(sentence, at=["supersedes"])
        _refuse_superseded(old, "supersedes")
        Memo.objects.filter(pk=old.pk).update(superseded_by=memo)
    if session is not None:
        MemoReader.objects.get_or_create(session=session)
    return memo


def _memo_to_change(caller: Caller, memo_id: uuid.UUID, *, at: str = "memo_id") -> Memo:
    """Lock a memo that the caller may change; without the right to edit, only the caller's own.

    Raises NotFound or Forbidden.
    """
    memos = Memo.objects.filter(
        project__in=selectors.visible_projects(caller), deleted_at=None
    )
    memos = memos.select_for_update(of=("self",), no_key=True)
    memo = memos.select_related("project").filter(pk=memo_id).first()
    if memo is None:
        raise NotFound("There is no such memo.", at=[at])
    is_own = memo.actor == caller.actor
    right = Right.OWN_SESSION if is_own else Right.EDIT
    selectors.require(caller, right, memo.project_id)
    return memo


def _refuse_superseded(memo: Memo, at: str) -> None:
    """Raise Conflict if another memo supersedes this one, as nobody would find the change."""
    other = memo.superseded_by
    if other is None:
        return
    if other.deleted_at is not None:
        raise Conflict(
            "The memo that superseded this one was deleted, so neither can be found any more. Save "
            "a new memo without `supersedes`.",
            at=[at],
            code="superseded",
        )
    raise Conflict(
        f"This memo was superseded by memo {other.pk} and can no longer be found. Use that one, "
        "or save a new memo.",
        at=[at],
        code="superseded",
        facts={"superseded_by": str(other.pk)},
    )


@transaction.atomic
def update_memo(
    caller: Caller,
    memo_id: uuid.UUID,
    *,
    content: str | None = None,
    tags: Sequence[str] | None = None,
) -> Memo:
    """Change a memo's content or tags; None leaves either as it is.

    Content equal to the masked content is also left as it is. Raises Invalid, or Conflict if
    another memo supersedes it.
    """
    memo = _memo_to_change(caller, memo_id)
    if content is not None and content != _content_of(memo):
        _require_words(content)
        memo.content = content.encode("utf-8", "surrogatepass")
    if tags is not None:
        memo.tags = list(dict.fromkeys(tags))
    _refuse_superseded(memo, "memo_id")
    memo.actor, memo.actor_name = caller.actor, caller.name[:150]
    memo.changed_at = timezone.now()
    memo.save(update_fields=["content", "tags", "actor", "actor_name", "changed_at"])
    return memo


@transaction.atomic
def delete_memo(caller: Caller, memo_id: uuid.UUID) -> Memo:
    """Delete a memo, so that nobody finds it; what it superseded stays superseded."""
    memo = _memo_to_change(caller, memo_id)
    memo.deleted_at = timezone.now()
    memo.save(update_fields=["deleted_at"])
    AuditEntry.objects.create(
        project_id=memo.project_id,
        actor=caller.actor,
        action="delete memo",
        object_id=str(memo.pk),
    )
    return memo


def retrieve_memos(
    caller: Caller,
    *,
    tags: Sequence[str] = (),
    query: str = "",
    session_id: uuid.UUID | None = None,
    project: str | None = None,
) -> list[ReadableMemo]:
    """Memos of the projects that the caller may recall, best match first, then newest first.

    `tags` selects memos with any of them; `query` selects memos with any of its words.
    """
    session = get_session(caller, session_id) if session_id else None
    notes = _notes(selectors.recallable_projects(caller, project))
    if tags:
        notes = tagged(notes, tags)
    if query.strip():
        matches = relevant(notes, keywords(query), len(notes))
        notes = [match.note for match in matches]
    # Check first, so that only the first read of a session takes a lock.
    if session is not None and not MemoReader.objects.filter(session=session).exists():
        MemoReader.objects.get_or_create(session=session)
    return notes[:MAX_ANSWERED]


_READS = Prepared(
    lambda: MemoReader.objects.filter(
        session=Param("session", UUIDField())
    ).values_list("pk", flat=True)
)


def words_for_context(surroundings: Surroundings) -> LayerWords:
    """The memo layer: at most 5 memos of the session's project, chosen by the last question."""
    session = surroundings.session
    query = surroundings.policy.memos
    is_layer = query is Memos.RELEVANT
    if query is Memos.OWN:
        is_layer = _READS.first(session=session.pk) is not None
    words = keywords(surroundings.question()) if is_layer else frozenset()
    if not words:
        return LayerWords("")
    found = relevant(_notes([session.project]), words, MAX_IN_CONTEXT)
    return LayerWords(
        layer_text([match.note for match in found]),
        tuple(
            Injected(match.note.id, mask_text(session, match.note.content), match.why)
            for match in found
        ),
    )


def why_none(session: Session) -> str:
    """Why no memo would be sent with the session's next request, given that none is."""
    query = policy_of(session).memos
    if query is Memos.NONE:
        return "None: the policy never sends memos."
    if query is Memos.OWN and _READS.first(session=session.pk) is None:
        return (
            "None: the policy sends memos once the session has saved or retrieved one."
        )
    return "None: no memo shares a word with the last question."


def _require_words(content: str) -> None:
    if not content.strip() or len(content) > MAX_LENGTH:
        raise Invalid(f"A memo has 1 to {MAX_LENGTH:,} characters.", at=["content"])


def _project(caller: Caller, session: Session | None, slug: str | None) -> Project:
    if session is not None and slug in (None, session.project.slug):
        return session.project
    if session is not None:
        raise Invalid("The session is in another project.", at=["project"])
    return selectors.project_to_edit(caller, slug, Right.OWN_SESSION)


_NEWEST = Prepared(
    lambda: (
        Memo.objects.filter(
            project=Param("project", BigIntegerField()),
            superseded_by=None,
            deleted_at=None,
        )
        .select_related("project", "session")
        .order_by("-created_at", "pk")[:_MAX_READ]
    )
)


def _notes(projects: Iterable[Project]) -> list[ReadableMemo]:
    """The newest memos of each project, with redactions applied; newest first overall."""
    rows = [row for one in projects for row in _NEWEST.rows(project=one.pk)]
    rows.sort(key=lambda row: (-row.created_at.timestamp(), row.pk))
    return [
        ReadableMemo(
            id=str(row.pk),
            content=_content_of(row),
            tags=tuple(row.tags),
            project=row.project.slug,
            session_id=str(row.session_id) if row.session_id else None,
            actor=row.actor,
            actor_name=row.actor_name,
            created_at=row.created_at,
            changed_at=row.changed_at,
        )
        for row in rows
    ]


def _content_of(memo: Memo) -> str:
    """A memo's content, masked by redactions that are on in the session it came from."""
    content = bytes(memo.content).decode("utf-8", "surrogatepass")
    return mask_text(memo.session, content) if memo.session else content


def mask_for_good(session: Session, indexes: Sequence[int] | None) -> None:
    """Mask permanently what a session's memos quote of redacted texts that are being destroyed.

    `indexes` are the originals; None means the whole session. Runs in the caller's transaction:
    after it, nothing tells what a redaction masked in the originals.
    """
    memos = list(Memo.objects.filter(session=session))
    texts = masked_in(session, indexes) if memos else {}
    for memo in memos if texts else ():
        words = bytes(memo.content).decode("utf-8", "surrogatepass")
        memo.content = mask_words(words, texts).encode("utf-8", "surrogatepass")
        memo.save(update_fields=["content"])
