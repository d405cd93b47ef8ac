"""Records tags that a client gives with its messages: one edit per set of equal tags."""

from collections import defaultdict
from collections.abc import Iterable

from pydantic import ValidationError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.shape import wrong_shape
from operations.domain.tree.key import Key, original_key
from operations.log.selectors import load_thread
from threads.models import Session
from threads.sessions.given_tags import Tags

from .arguments import TagArguments
from .services import record_bundle

TITLE = "Tags given with messages"


def record(caller: Caller, session: Session, tags: Tags, first: int) -> None:
    """Record the tags of messages that start at the original `first`. Raises Invalid."""
    targets: dict[tuple[str, ...], list[Key]] = defaultdict(list)
    for place, given in tags.items():
        key = original_key(first + place)
        try:
            read = TagArguments.model_validate({"targets": [key], "tags": given})
        except ValidationError as error:
            refused = wrong_shape(error.errors())
            at = ("messages", place, *refused.at)
            raise Invalid(refused.message, at=at, code=refused.code) from error
        targets[tuple(read.tags)].append(key)
    edits = [
        TagArguments.model_validate({"targets": keys, "tags": list(named)})
        for named, keys in targets.items()
    ]
    record_bundle(caller, session.pk, edits, title=TITLE)


def load(session: Session, indexes: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The tags that originals have in the thread."""
    thread = load_thread(session)
    return {index: tuple(thread.tags(original_key(index))) for index in indexes}
