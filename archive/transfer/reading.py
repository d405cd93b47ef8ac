"""Reads a transfer file that `writing` wrote: recreates its messages, operations and archive.

The file is untrusted. Messages are read like those of any import, and operations are recorded
with the usual checks, which refuse what is malformed or doesn't fit. All or nothing is kept.
"""

import secrets
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import SEEK_END
from typing import Any, get_args

from pydantic import ValidationError

from archive.domain.pruning.classes import Rule
from archive.domain.pruning.plan import Stashed
from archive.domain.reference import read_location
from archive.domain.tool_use import KindName
from archive.entries.store import keep, pack
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.idempotency import effect
from contextstudio.accounts.selectors import project_to_edit
from contextstudio.database.steps import chunks, in_short_transactions
from operations.domain.tree.key import Key, parse_made_key
from operations.edits.arguments import ActiveTags
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from threads.domain.batch import clean
from threads.domain.formats.contextstudio import read_message
from threads.domain.formats.io import fields, json_text
from threads.imports import publishing
from threads.imports.hooks import Completion
from threads.models import Message as MessageRow
from threads.models import Session
from threads.sessions import erasing
from threads.sessions.services import NewSession, clean_objective, stage_session
from threads.store import blobs

from .members import list_of, text_of
from .names import read_lenses, read_snapshots
from .operations import record_operations
from .writing import NAME, VERSION

LARGEST = 256 << 20
"""Largest file, in bytes, whose operations and archive are read, as it is held in memory."""
MAX_OPERATIONS = 20_000
"""Most operations that are recorded while a request waits; an import has no such limit."""
_AT_ONCE = 100
"""Messages that one statement names."""
_KEPT_AT_ONCE = 50
"""Archive entries that are written as one step, between two checks of the clock."""
_LEFT_OUT = "Only its messages were imported, without its operations and its archive."
_KINDS = frozenset(get_args(KindName))


def read_session(
    caller: Caller, document: Mapping[str, Any], project: str | None
) -> Session:
    """Create a document's session in a project. Raises Invalid with the place.

    The session is hidden until it is complete: a single transaction would block other writers for
    seconds.
    """
    new = _new_session(document)
    target = project_to_edit(caller, project, Right.EDIT)
    stage = uuid.uuid4()
    try:
        session = stage_session(caller, target, new, stage)
        _complete(caller, session, document)
        with effect():
            publishing.show(target, stage)
    except BaseException:
        erasing.erase_all(Session.objects.filter(staged_by=stage))
        raise
    return session


def _new_session(document: Mapping[str, Any]) -> NewSession:
    _require_version(document)
    if len(list_of(document, "operations")) > MAX_OPERATIONS:
        words = f"A request brings at most {MAX_OPERATIONS:,} operations. Import it as a file."
        raise Invalid(words, at=["operations"])
    given = list_of(document, "messages")
    messages = [read_message(one, at=("messages", n)) for n, one in enumerate(given)]
    return NewSession(
        title=text_of(document, "title"),
        model=fields.word(document, "model"),
        parsing_strategy=fields.word(document, "strategy", limit=32) or "openai",
        format="contextstudio",
        messages=messages,
    )


def complete_imported(caller: Caller, session: Session, sha256: str) -> Completion:
    """Add the operations and the archive of a file whose messages have been imported.

    Raises Invalid with the place, as `read_session` does.
    """
    with blobs.open_blob(sha256) as stream:
        if stream.seek(0, SEEK_END) > LARGEST:
            words = f"The file is over {LARGEST >> 20} MiB. {_LEFT_OUT}"
            return Completion(warnings=[words])
        stream.seek(0)
        document = json_text.parse(stream.read())
    if not isinstance(document, dict):
        return Completion(warnings=[f"The file holds several sessions. {_LEFT_OUT}"])
    _require_version(document)
    if len(list_of(document, "messages")) != session.message_count:
        return Completion(warnings=[f"Some messages couldn't be read. {_LEFT_OUT}"])
    return Completion(_complete(caller, session, document))


def _require_version(document: Mapping[str, Any]) -> None:
    if document.get("format") != NAME or document.get("version") != VERSION:
        sentence = f"This is not a {NAME} of version {VERSION}."
        raise Invalid(sentence, at=["format"])


def _complete(
    caller: Caller, session: Session, document: Mapping[str, Any]
) -> dict[str, int]:
    """Add everything but the messages to a session; returns the number of each thing added."""
    _name(session, list_of(document, "messages"))
    session.objective = clean_objective(text_of(document, "objective"))
    session.save(update_fields=["objective"])
    operations, tags = list_of(document, "operations"), _active_tags(document)
    numbers = record_operations(caller, session, operations, tags)
    session.refresh_from_db()
    first = 1 if tags else 0
    counts = (
        ("operation", "operations", len(numbers)),
        (
            "snapshot",
            "snapshots",
            read_snapshots(caller, session, document, numbers, first=first),
        ),
        ("lens", "lenses", read_lenses(session, document)),
        (
            "archive entry",
            "archive entries",
            _archive(session, list_of(document, "archive"), numbers),
        ),
    )
    return {one if count == 1 else more: count for one, more, count in counts if count}


def _active_tags(document: Mapping[str, Any]) -> list[str]:
    try:
        return ActiveTags(tags=list_of(document, "active_tags")).tags
    except ValidationError as error:
        raise Invalid(
            "active_tags must be a list of tags.", at=["active_tags"]
        ) from error


def _name(session: Session, given: Sequence[Any]) -> None:
    """Give the messages their original short ids, so that references in texts stay valid."""
    names = [one.get("short_id") for one in given]
    wanted = {
        index: name
        for index, name in enumerate(names)
        if isinstance(name, str)
        and len(name) == 12
        and name.startswith("msg-")
        and set(name[4:]) <= set("0123456789abcdef")
    }
    if len(set(wanted.values())) != len(wanted):
        raise Invalid("Two messages have the same short id.", at=["messages"])
    rows = MessageRow.objects.filter(session=session)
    drawn = dict(rows.values_list("short_id", "index"))
    # A short id drawn here may be the original one of another message, so free those first.
    held = [drawn[name] for name in wanted.values() if name in drawn]
    free = _free_names({*drawn, *wanted.values()})
    _write_names(session, dict(zip(held, free, strict=False)))
    _write_names(session, wanted)


def _free_names(taken: set[str]) -> Iterator[str]:
    """Yield short ids that are not taken."""
    while True:
        name = f"msg-{secrets.token_hex(4)}"
        if name not in taken:
            taken.add(name)
            yield name


def _write_names(session: Session, names: Mapping[int, str]) -> None:
    """Write short ids, given as a map of message index to short id."""
    rows = MessageRow.objects.filter(session=session).only("session_id", "index")
    for some in chunks(sorted(names), _AT_ONCE):
        named = list(rows.filter(index__in=some))
        for row in named:
            row.short_id = names[row.index]
        MessageRow.objects.bulk_update(named, ["short_id"])


def _archive(session: Session, given: Sequence[Any], numbers: Mapping[int, int]) -> int:
    """Archive the entries of the document, with the messages' content here; returns their number.

    Entries of messages that don't exist here are left out.
    """
    reader = MessageReader(session, load_thread(session))
    keys = [_here(one, place, numbers) for place, one in enumerate(given)]
    words = reader.recorded(key for key in dict.fromkeys(keys) if key)
    stashed = [
        _stashed(one, key, text.original.row.short_id if text.original else key)
        for one, key in zip(given, keys, strict=True)
        if key and (text := words.get(key))
    ]
    packed = pack(session, stashed, words)
    steps = (partial(keep, session, some) for some in chunks(packed, _KEPT_AT_ONCE))
    for _ in in_short_transactions(steps):
        pass
    return len(packed)


def _here(one: Any, place: int, numbers: Mapping[int, int]) -> Key | None:
    """The key of an entry's message here; None if its operation is not in the document."""
    if not isinstance(one, dict):
        raise Invalid("An entry must be an object.", at=["archive", place])
    key = text_of(one, "message")
    number, inner = parse_made_key(key) or (0, None)
    if not number:
        return key
    return f"o{numbers[number]}.{inner}" if number in numbers else None


def _stashed(one: Mapping[str, Any], key: Key, name: str) -> Stashed:
    kind, rule = text_of(one, "content_type"), text_of(one, "rule")
    tokens = one.get("token_count")
    listed = list_of(one, "file_paths")
    paths = [clean(path) for path in listed if isinstance(path, str)]
    return Stashed(
        key=key,
        name=name,
        location=read_location(text_of(one, "location")),
        content_type=kind if kind in _KINDS else "other",
        summary=text_of(one, "summary")[:1000],
        file_paths=tuple(paths[:1000]),
        tool_name=clean(text_of(one, "tool_name")),
        tokens=tokens if isinstance(tokens, int) and 0 <= tokens < 10**9 else 0,
        rule=Rule(rule) if rule in list(Rule) else None,
    )
