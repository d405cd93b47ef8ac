"""ChatGPT's data export: conversations as trees, alone or with the export's other files.

`conversations.json` is a list of conversations (large accounts get `conversations-000.json`
and so on); each holds its messages as nodes of a tree (`mapping`), and the leaf that was last
looked at (`current_node`). The way to that leaf is the conversation; regenerated answers and
edited questions are branches, conversations of their own.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.branches import branches
from threads.domain.formats.kit.items import Opener, items_in, opened
from threads.domain.formats.kit.transcripts import at_least_one, warn_first
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Transcript, Warning

from . import chatgpt_content, chatgpt_tree, export_folder
from .chatgpt_content import Asset, Assets
from .chatgpt_tree import TreeIndex

NAME = "chatgpt"
LABEL = "a ChatGPT conversation"
FILES = re.compile(r"conversations(?:-\d+)?\.json")
OWN = frozenset(
    {"chat.html", "user.json", "message_feedback.json", "shared_conversations.json"}
    | {"group_chats.json", "shopping.json", "sora.json", "model_comparisons.json"}
    | {"user_settings.json", "export_manifest.json"}
)
"""The export's other files, which hold no conversation of their own."""
OWN_PLACES = re.compile(r"file[-_]|dalle-generations/|user-|textdocs/|[\w-]+/audio/")
MEDIA = {
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webp": "image/webp",
}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of conversations.json, or of one conversation saved alone."""
    return _read(file, opened(file), "", chatgpt_content.no_assets)


def gather(folder: Folder) -> list[Gathered]:
    """Each export of the folder: its conversations with the images and files beside them."""
    return export_folder.gather(folder, FILES, _score, _gather)


def _gather(folder: Folder, root: str, members: list[Member]) -> Gathered:
    beside = {
        name: member
        for name, member in folder.members.items()
        if name.startswith(root) and OWN_PLACES.match(name.removeprefix(root))
    }
    found: list[Transcript] = []
    for member in members:
        with member.open() as file:
            found += _read(file, member.open, member.name, _assets(beside))
    own = {root + name for name in OWN} & folder.members.keys()
    return Gathered(found, frozenset({m.name for m in members} | own | set(beside)))


def _assets(beside: dict[str, Member]) -> Assets:
    """Files by the id their names begin with; one too large to hold is not given."""
    by_id: dict[str, Member] = {}
    for name, member in beside.items():
        words = re.split(r"[-.]", PurePosixPath(name).name)
        # file-<id>-<name>.png, file_<hex>-sanitized.jpeg: the id may hold dashes.
        for end in range(1, len(words)):
            by_id.setdefault("-".join(words[:end]), member)

    def find(id_: str) -> Asset | None:
        member = by_id.get(id_)
        if not id_.startswith("file") or member is None:
            return None
        if member.size > source.MAX_PIECE:
            return None
        with member.open() as file:
            data = file.read()
        suffix = member.name.rpartition(".")[2].lower()
        type_ = MEDIA.get(suffix, "application/octet-stream")
        return Asset(type_, data, f"{member.name}#bytes:0-{len(data)}")

    return find


def _read(
    file: BinaryIO, opener: Opener, member: str, assets: Assets
) -> list[Transcript]:
    skipped: list[Warning] = []
    found = [
        transcript
        for span in json_file.held_objects(file, "conversations", skipped)
        for transcript in _conversation(file, span, opener, member, assets, skipped)
    ]
    return warn_first(at_least_one(found, skipped, LABEL), skipped)


def _conversation(
    file: BinaryIO,
    span: ByteSpan,
    opener: Opener,
    member: str,
    assets: Assets,
    skipped: list[Warning],
) -> Iterator[Transcript]:
    """The conversation of one object, and its branches; none where it says nothing."""
    file = json_file.in_memory(file, span)
    said = fields.mapping(json_file.known_value(file, span, skipped))
    if not fields.mapping(said, "mapping"):
        return
    try:
        start = next(
            child.span.start
            for child in source.children(file, span.start)
            if child.key == "mapping"
        )
        known = chatgpt_tree.index(file, start, said)
    except (Invalid, StopIteration):  # a duplicate key: not what was parsed
        words = f"The conversation at byte {span.start:,} can't be read."
        skipped.append(Warning("json_invalid", words))
        return
    yield from _transcripts(said, known, opener, member, assets)


def _transcripts(
    said: dict[str, Any], known: TreeIndex, opener: Opener, member: str, assets: Assets
) -> Iterator[Transcript]:
    tree = known.tree
    id_ = fields.word(said, "conversation_id", "id", limit=200) or tree.ids[0][:200]
    title = fields.text(said, "title").strip() or known.words.strip()
    found = branches(
        tree.parents, known.leaf, lambda nodes: chatgpt_tree.spoken(tree, nodes)
    )
    for branch in found:
        items = items_in(
            opener, chatgpt_tree.reading(tree, branch.nodes, branch.left, assets)
        )
        yield Transcript(
            format=NAME,
            title=branch.title(fields.one_line(title) or "ChatGPT conversation"),
            items=items,
            external_id=branch.external_id(id_, tree.ids),
            model=known.model or fields.word(said, "default_model_slug"),
            member=member,
            parent=branch.parent(id_, tree.ids, found),
            warnings=items.warnings,
        )


def _score(sample: Sample) -> float:
    """A tree of nodes with messages; the leaf stands behind it, often beyond the sample."""
    held = [row for row in sample.rows if isinstance(row.get("mapping"), dict)]
    held += [
        row
        for row in fields.items(sample.object, "conversations")
        if isinstance(fields.mapping(row).get("mapping"), dict)
    ]
    for row in held:
        nodes = [fields.mapping(node) for node in row["mapping"].values()]
        names = {name for node in nodes for name in node}
        if "current_node" in row or names & {"message", "parent", "children"}:
            return 0.95
    return 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
