"""Finds secrets in originals, with rules that are maintained elsewhere, and proposes redactions.

Nothing is masked automatically except in titles, and no value is stored or logged: a secret is the
spans of one proposed redaction, named after the rule that found it. A job scans what was imported.
The scanner works offline; its package also has validators, which query the service that a key is
for, but these are never called.
"""

import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.db.models import Count, QuerySet
from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import JobContext, enqueue
from operations.domain.log import mask
from operations.domain.log.entry import IMPORTER
from operations.domain.log.log import Log
from operations.domain.log.operation import Redact
from operations.domain.tree.key import Key
from operations.domain.tree.span import MASK, Span, covered_text, fingerprint
from operations.log.selectors import load_history, load_thread
from operations.log.transaction import LogTransaction, write_apart
from operations.messages.saving import with_saved
from operations.models import LogEntry, SecretScan
from threads.domain.part import Part, Text
from threads.domain.text import text_of
from threads.models import Import, Session
from threads.sessions.services import forget_overview
from threads.store import events
from threads.store.originals import load_recorded_at
from threads.store.selectors import get_session

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

KIND = "secrets"
"""The kind of the job."""
MAX_LISTED = 100
"""Most sessions that an import's report names."""
MAX_PROPOSED = 200
"""Most redactions in one bundle; more would not be reviewed, and would lock the log too long."""
AT_ONCE = 1 << 20
"""Bytes of text that are scanned together."""
MESSAGES_AT_ONCE = 200
TITLE_WITHIN = 50
"""A title may have been made from any of this many first messages."""
_BETWEEN = b"\n\n"


class Secret(NamedTuple):
    """One credential, with all its occurrences."""

    title: str
    spans: tuple[Span, ...]


class _Piece(NamedTuple):
    """The text of a part of an original, with its offset in the scanned batch."""

    offset: int
    key: Key
    part: int
    data: bytes


def look_through(caller: Caller, brought: Import) -> None:
    """Enqueue a scan of an import's sessions, in the caller's transaction."""
    if settings.SKIP_SECRETS:
        return
    enqueue(brought.project, KIND, {"import_id": str(brought.pk)}, caller)


def run_secrets(context: JobContext, import_id: str) -> dict[str, Any]:
    """Propose redactions in the sessions of an import; the result has their number.

    Each message is scanned once: when a session has grown, only its new messages are. A job that
    was interrupted continues, and its result includes what was proposed before.
    """
    project = context.project
    rights = {project.pk: frozenset({Right.READ, Right.PROPOSE})}
    importer = Caller(actor=IMPORTER, name="Import", rights=rights)
    sessions = Session.objects.filter(
        sources__brought_by=uuid.UUID(import_id), project=project, deleted_at=None
    ).distinct()
    count = sessions.count()
    for done, session in enumerate(sessions.order_by("created_at", "pk")):
        scan, _ = SecretScan.objects.get_or_create(session=session)
        if scan.through < session.message_count:

            def tick(number: int = done) -> None:
                context.progress(number, total=count, unit="sessions")

            if not scan.through:
                mask_title(session)
            with suppress(NotFound):  # this session was deleted in the meantime
                propose_redactions(importer, session.pk, scan.through, tick)
        context.progress(done + 1, total=count, unit="sessions")
    found = _proposed(sessions, context.job.created_at)
    context.on_finish(lambda: _report(uuid.UUID(import_id), found))
    return {"proposed": sum(line["proposed"] for line in found)}


def _proposed(sessions: QuerySet[Session], since: datetime) -> list[dict[str, Any]]:
    """The sessions in which redactions were proposed since then, with their number."""
    entries = LogEntry.objects.filter(
        session__in=sessions, actor=IMPORTER, kind=Redact.kind, created_at__gte=since
    )
    counts = dict(entries.order_by().values_list("session").annotate(Count("pk")))
    listed = sessions.order_by("created_at", "pk").values_list("pk", "title")
    return [
        {"session_id": str(key), "title": title, "proposed": counts[key]}
        for key, title in listed
        if key in counts
    ]


def _report(import_id: uuid.UUID, found: list[dict[str, Any]]) -> None:
    """Add to the import's report what was found; only the first sessions are named."""
    brought = Import.objects.select_for_update().filter(pk=import_id).first()
    if brought is None:  # it was deleted with its last session
        return
    brought.report["secrets"] = found[:MAX_LISTED]
    brought.report["sessions_with_more_secrets"] = len(found[MAX_LISTED:])
    brought.save(update_fields=["report"])


def find_secrets(
    originals: Iterable[tuple[Key, Sequence[Part]]],
    tick: Callable[[], object] = lambda: None,
) -> list[Secret]:
    """The credentials in originals, each once with all its spans.

    Of overlapping findings, the one with the higher confidence is taken. `tick` is called from
    time to time and may raise to stop the scan.
    """

    def doubt(finding: "Finding") -> tuple[bool, int]:
        return finding.confidence != "high", finding.location["start_offset"]

    found: dict[tuple[str, str], list[Span]] = {}
    taken: dict[Key, list[Span]] = {}
    for pieces in _batches(originals):
        tick()
        data = _BETWEEN.join(piece.data for piece in pieces)
        for finding in sorted(_scanner().scan(data), key=doubt):
            span = _span(pieces, finding.location)
            if span is None or any(
                _overlap(span, other) for other in taken.get(span.key, ())
            ):
                continue
            taken.setdefault(span.key, []).append(span)
            found.setdefault((finding.rule_id, span.sha256), []).append(span)
    secrets = []
    for (rule, _), spans in found.items():  # such as `betterleaks.github-pat`
        words = rule.rpartition(".")[2].replace("-", " ")
        secrets.append(Secret(f"Secret: {words}", tuple(spans)))
    return secrets


def propose_redactions(
    caller: Caller,
    session_id: uuid.UUID,
    start: int = 0,
    tick: Callable[[], object] = lambda: None,
) -> int:
    """Scan the originals from `start` on and propose to mask what is found.

    Returns the number of proposed redactions, which are recorded in bundles of `MAX_PROPOSED`.
    What a redaction in the log covers already, whether on, off or rejected, is not proposed again.
    Nothing is locked while originals are read: they never change, and new ones are scanned by the
    import that brings them.
    """
    session = get_session(caller, session_id, Right.PROPOSE)
    through = session.message_count
    found = find_secrets(_originals(session, start), tick)
    found = _with_saved(session, _unknown(found, load_history(session).log))

    def propose(transaction: LogTransaction) -> int:
        new = _unknown(found, transaction.history.log)[:MAX_PROPOSED]
        if new:
            transaction.add(
                *(Redact(spans=secret.spans) for secret in new),
                proposed=True,
                bundle=uuid.uuid4(),
                titles=[secret.title for secret in new],
            )
        return len(new)

    proposed = 0
    while found:
        tick()
        session = get_session(caller, session_id, Right.PROPOSE)
        count = write_apart(session, caller, propose)
        proposed += count
        if not count:
            break
    with atomic():
        _note(session, through)
    return proposed


def _unknown(secrets: Iterable[Secret], log: Log) -> list[Secret]:
    """The secrets with at least one span that no redaction in the log covers."""
    known = {
        (span.key, span.sha256)
        for recorded in log.edits.values()
        if isinstance(recorded.edit, Redact)
        for span in recorded.edit.spans
    }
    return [
        secret
        for secret in secrets
        if any((span.key, span.sha256) not in known for span in secret.spans)
    ]


def _with_saved(session: Session, secrets: Sequence[Secret]) -> list[Secret]:
    """The secrets with the tokens that masking each span saves, counted for all at once."""
    if not secrets:
        return []
    spans = [span for secret in secrets for span in secret.spans]
    counted = iter(with_saved(session, load_thread(session), Redact, spans))
    return [
        secret._replace(spans=tuple(islice(counted, len(secret.spans))))
        for secret in secrets
    ]


def _note(session: Session, through: int) -> None:
    """Record how far a session was scanned, in the caller's transaction."""
    scan, _ = SecretScan.objects.get_or_create(session=session)
    if scan.through < through:
        scan.through = through
        scan.save(update_fields=["through"])


def mask_title(session: Session) -> None:
    """Mask the credentials in a session's title, even one that the title's end cuts off.

    Everybody who sees the list reads the title, and proposals don't apply to it, so it is masked
    at once. The text that it was made from stays in its message, to be redacted or not.
    """
    opening = list(_originals(session, 0, TITLE_WITHIN))
    opening.append(("title", (Text(session.title),)))
    parts = dict(opening)
    values = {
        covered_text(parts[span.key], span) or ""
        for secret in find_secrets(opening)
        for span in secret.spans
    }
    title = mask.mask_title(session.title, dict.fromkeys(values, MASK))
    if title != session.title:
        session.title = title
        session.save(update_fields=["title"])
        forget_overview(session)
        events.announce(session)


def _originals(
    session: Session, start: int, end: int | None = None
) -> Iterator[tuple[Key, Sequence[Part]]]:
    count = min(session.message_count, end or session.message_count)
    for first in range(start, count, MESSAGES_AT_ONCE):
        rows = range(first, min(first + MESSAGES_AT_ONCE, count))
        for index, original in load_recorded_at(session, rows).items():
            yield f"m{index}", original.parts


def _batches(
    originals: Iterable[tuple[Key, Sequence[Part]]],
) -> Iterator[list[_Piece]]:
    """Yield batches of texts, to be joined with a gap, of up to `AT_ONCE` bytes each."""
    pieces: list[_Piece] = []
    offset = 0
    for key, parts in originals:
        for place, part in enumerate(parts):
            data = text_of(part).encode("utf-8", "surrogatepass")
            if not data:
                continue
            if pieces and offset + len(data) > AT_ONCE:
                yield pieces
                pieces, offset = [], 0
            pieces.append(_Piece(offset, key, place, data))
            offset += len(data) + len(_BETWEEN)
    if pieces:
        yield pieces


def _span(pieces: Sequence[_Piece], location: dict[str, int]) -> Span | None:
    """The span of a finding in its message; None if it doesn't lie within one part."""
    start, end = location["start_offset"], location["end_offset"]
    piece = pieces[bisect_right(pieces, start, key=lambda one: one.offset) - 1]
    start, end = start - piece.offset, end - piece.offset
    if not start < end <= len(piece.data):
        return None
    before, covered_text = (
        piece.data[cut].decode("utf-8", "surrogatepass")
        for cut in (slice(start), slice(start, end))
    )
    return Span(
        key=piece.key,
        part=piece.part,
        start=len(before),
        end=len(before) + len(covered_text),
        sha256=fingerprint(covered_text),
    )


def _overlap(one: Span, other: Span) -> bool:
    return one.part == other.part and one.start < other.end and other.start < one.end


@cache
def _scanner() -> "Scanner":
    """The scanner of this process. Compiling its rules takes seconds, once per machine."""
    from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  # 100 MB, only if needed

    return Scanner(Rules())
