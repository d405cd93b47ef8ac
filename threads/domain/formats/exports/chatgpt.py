"""ChatGPT's data export: conversations as trees, alone or with the export's other files.

`conversations.json` is a list of conversations (large accounts get `conversations-000.json`
and so on); each holds its messages as nodes of a tree (`mapping`), and the leaf that was last
looked at (`current_node`). The way to that leaf is the conversation; regenerated answers and
edited questions are branches, conversations of their own.
"""

import re
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, source
from threads.domain.formats.io.folder import Member
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Warning

from . import chatgpt_tree
from .chatgpt_content import Asset, Assets
from .conversations import Conversation, ExportFormat

OWN = re.compile(
    r"chat\.html|(?:user|message_feedback|shared_conversations|group_chats|shopping|sora"
    r"|model_comparisons|user_settings|export_manifest)\.json"
    r"|(?:file[-_]|dalle-generations/|user-|textdocs/|[\w-]+/audio/)(?s:.*)"
)
"""The export's other files, which hold no conversation of their own."""
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


def _assets(own: dict[str, Member]) -> Assets:
    """Files by the id their names begin with; one too large to hold is not given."""
    by_id: dict[str, Member] = {}
    for name, member in own.items():
        words = re.split(r"[-.]", PurePosixPath(name).name)
        # file-<id>-<name>.png, file_<hex>-sanitized.jpeg: the id may hold dashes.
        for end in range(1, len(words)):
            by_id.setdefault("-".join(words[:end]), member)

    def find(id_: str) -> Asset | None:
        member = by_id.get(id_) if id_.startswith("file") else None
        if member is None or member.size > source.MAX_PIECE:
            return None
        with member.open() as file:
            data = file.read()
        suffix = member.name.rpartition(".")[2].lower()
        type_ = MEDIA.get(suffix, "application/octet-stream")
        return Asset(type_, data, f"{member.name}#bytes:0-{len(data)}")

    return find


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    assets: Assets,
    skipped: list[Warning],
) -> Conversation | None:
    if not fields.mapping(said, "mapping"):
        return None
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
        return None
    tree = known.tree
    return Conversation(
        id=fields.word(said, "conversation_id", "id", limit=200) or tree.ids[0][:200],
        title=fields.text(said, "title").strip() or known.words.strip(),
        model=known.model or fields.word(said, "default_model_slug"),
        ids=tree.ids,
        parents=tree.parents,
        leaf=known.leaf,
        spoken=partial(chatgpt_tree.spoken, tree),
        read=partial(chatgpt_tree.read, tree, assets),
    )


def _score(sample: Sample) -> float:
    """A tree of nodes with messages; the leaf stands behind it, often beyond the sample."""
    for row in [*sample.rows, *fields.items(sample.object, "conversations")]:
        mapping = fields.mapping(row).get("mapping")
        if not isinstance(mapping, dict):
            continue
        names = {name for node in mapping.values() for name in fields.mapping(node)}
        if "current_node" in row or names & {"message", "parent", "children"}:
            return 0.95
    return 0


EXPORT = ExportFormat(
    name="chatgpt",
    label="a ChatGPT conversation",
    score=_score,
    index=_index,
    own=OWN,
    beside=_assets,
    untitled="ChatGPT conversation",
    strategy="openai",
)
FORMAT = EXPORT.format
