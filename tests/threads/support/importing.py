"""Helpers for tests of the import: input, and checks of the results."""

import io
from collections.abc import Callable
from typing import Any

from operations.log.selectors import load_thread
from threads.imports.running.outcome import Imported
from threads.imports.upload import Upload, keep_folder, keep_upload
from threads.models import Import, Session
from threads.store import blobs
from threads.store.originals import load_messages

Take = Callable[..., Imported]


def kept(data: bytes | dict[str, bytes], **options: Any) -> Upload:
    if isinstance(data, bytes):
        return keep_upload(io.BytesIO(data), name="talk.stub", **options)
    files = [
        (name, lambda held=held: blobs.store_stream(io.BytesIO(held)))
        for name, held in data.items()
    ]
    return keep_folder(files, name="talks", **options)


def texts(session: Session) -> list[str]:
    session.refresh_from_db()
    return [
        "|".join(getattr(part, "text", part.kind) for part in original.parts)
        for original in load_messages(session)
    ]


def shown(session: Session) -> list[str]:
    """The texts that the model sees."""
    session.refresh_from_db()
    thread = load_thread(session)
    words = []
    for message in thread.effective():
        if message.index is not None:
            words += texts(session)[message.index : message.index + 1]
        else:
            assert message.message is not None
            words.append("|".join(part.text for part in message.message.parts))  # type: ignore[union-attr]
    return words


def outcomes(row: Import) -> dict[str, str]:
    return dict(row.sources.order_by("pk").values_list("name", "outcome"))


def child(relation: str, **more: Any) -> dict[str, Any]:
    return {"parent": {"external_id": "a", "relation": relation, **more}}
