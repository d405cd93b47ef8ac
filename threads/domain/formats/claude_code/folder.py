"""Claude Code's sessions as they lie on a disk: one file each, their sub-agents in others.

`<session>.jsonl`, with `<session>/subagents/agent-<id>.jsonl` (in workflows a level deeper) and
its `agent-<id>.meta.json`; older versions put `agent-<id>.jsonl` beside the session. What else
lies in `<session>/` belongs to it as events. A session that was resumed into a new file repeats
the messages that it goes on from: the file that had them first is its parent.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from threads.domain.formats.io import fields
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.transcript import Parent, Relation

from . import plans as claude_plans
from . import record as claude_record
from .index import SessionIndex
from .session_files import SessionFile, SessionFiles, transcripts


def gather(folder: Folder) -> list[Gathered]:
    """The sessions that several files make; one that is a file alone is left to be read so."""
    files = [found for one in folder.named(".jsonl") if (found := _look(one))]
    families = _families(folder, files)
    resumed = _resumed([family.session for family in families if family.session])
    gathered = []
    for family in families:
        name = family.session.member.name if family.session else ""
        if family.agents or family.rest or name in resumed:
            told = transcripts(family, resumed.get(name))
            gathered.append(Gathered(told, frozenset(family.names())))
    return [one for one in gathered if one.transcripts]


def _look(member: Member) -> SessionFile | None:
    """What a file is by its beginning; None where it is no session of Claude Code's."""
    with member.open() as stream:
        sample = Sample(stream.read(HEAD), member.name)
    if not claude_record.score(sample):
        return None
    found = SessionFile(member)
    graph = [one for one in sample.records if one.get("uuid") and one.get("type")]
    found.is_agent = bool(graph) and all(
        one.get("isSidechain") is True for one in graph
    )
    for record in sample.records:
        found.session_id = found.session_id or fields.word(record, "sessionId")
        if record.get("type") in ("user", "assistant"):
            found.first_id = found.first_id or fields.word(record, "uuid")
    return found


def _families(folder: Folder, files: list[SessionFile]) -> list[SessionFiles]:
    """Each session with what lies in its folder, and each agent with its session."""
    sessions = {
        one.member.name.removesuffix(".jsonl"): SessionFiles(one)
        for one in files
        if not one.is_agent
    }
    by_id = {PurePosixPath(place).name: family for place, family in sessions.items()}
    read = {one.member.name for one in files}
    orphans: dict[str, SessionFiles] = {}
    for one in files:
        if one.is_agent:
            family = _owner(one.member.name, sessions) or by_id.get(one.session_id)
            family = family or orphans.setdefault(one.session_id, SessionFiles(None))
            family.agents.append(one)
    families = [*sessions.values(), *orphans.values()]
    metas = {one.meta_name: family for family in families for one in family.agents}
    for name, member in folder.members.items():
        owner = metas.get(name) or _owner(name, sessions)
        if owner and name not in read:
            owner.rest.append(member)
    return families


def _owner(name: str, sessions: dict[str, SessionFiles]) -> SessionFiles | None:
    """The session in whose folder a file lies."""
    for place in PurePosixPath(name).parents:
        if family := sessions.get(str(place)):
            return family
    return None


def _resumed(sessions: list[SessionFile]) -> dict[str, Parent | None]:
    """The sessions that begin with the same message, by the names of their files.

    Each but the first with the one before it that it shares most with, and how much.
    """
    alike: dict[str, list[SessionFile]] = {}
    for session in sessions:
        if session.first_id:
            alike.setdefault(session.first_id, []).append(session)
    found: dict[str, Parent | None] = {}
    for group in alike.values():
        if len(group) > 1:
            found.update(_lines_of_descent(group))
    return found


def _lines_of_descent(group: list[SessionFile]) -> Iterator[tuple[str, Parent | None]]:
    seen: list[tuple[str, list[str]]] = []
    indexed = [(one, *_message_ids(one)) for one in group]
    indexed.sort(
        key=lambda one: (one[0].session_id != one[0].stem, one[3], one[0].stem)
    )
    for one, external_id, ids, _ in indexed:
        parent = None
        common = [
            (_common(ids, theirs), name, len(theirs))
            for name, theirs in seen
            if name != external_id
        ]
        at, name, length = max(common, key=lambda one: one[0], default=(0, "", 0))
        if at:
            relation = Relation.CONTINUATION if at == length else Relation.BRANCH
            parent = Parent(external_id=name, relation=relation, at=at)
        yield one.member.name, parent
        if external_id:
            seen.append((external_id, ids))


def _message_ids(file: SessionFile) -> tuple[str, list[str], float]:
    """A session's id, the ids of its messages in order, and when it was last written."""
    with file.member.open() as stream:
        index = SessionIndex(stream, is_told=False)
        return (
            index.external_id(0, file.stem),
            claude_plans.message_ids(index),
            index.last_stamp,
        )


def _common(one: list[str], other: list[str]) -> int:
    """How many elements two lists have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next(
        (n for n, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other))
    )
