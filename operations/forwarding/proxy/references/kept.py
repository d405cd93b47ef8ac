"""Stores the items of replies by the ids that their provider gave them."""

import hashlib
import uuid
import zlib
from collections.abc import Container, Iterable, Mapping, Sequence

from django.db.models import Q, QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project
from contextstudio.accounts.responses import dump, read_json
from operations.models import ReplyItem, SessionRequest
from threads.domain.formats.requests import Form
from threads.models import Session
from threads.store.selectors import visible_sessions

_AT_ONCE = 500


def digest_of_id(given: str) -> bytes:
    """A digest that stands for a provider's id of any length."""
    return hashlib.sha256(given.encode("utf-8", "surrogatepass")).digest()


def keep(request_id: uuid.UUID, items: Sequence[Form]) -> None:
    """Store the items of a request's reply if its provider keeps them, which their ids show."""
    if not any(_id(item) for item in items):
        return
    ReplyItem.objects.bulk_create(
        ReplyItem(
            request_id=request_id,
            place=place,
            digest=digest_of_id(_id(item)) if _id(item) else b"",
            content=zlib.compress(dump(item)),
        )
        for place, item in enumerate(items)
    )


def requests_of(
    caller: Caller, project: Project, named: Session | None
) -> QuerySet[SessionRequest]:
    """This caller's requests in the sessions that it may read, the newest first.

    In the session that its request names, everybody's: several keys may work there, or one after
    another.
    """
    found = SessionRequest.objects.filter(
        Q(actor=caller.actor) | Q(session=named),
        session__in=visible_sessions(caller).filter(project=project),
    )
    return found.select_related("session").defer("sent").order_by("-created_at")


def request_of_reply(
    caller: Caller, project: Project, reply: object, named: Session | None = None
) -> SessionRequest | None:
    """The request that a response answered, found by the response's id."""
    if not isinstance(reply, str):
        return None
    rows = requests_of(caller, project, named).filter(reply_digest=digest_of_id(reply))
    return rows.first()


def items_named(
    caller: Caller, project: Project, ids: Iterable[str], named: Session | None
) -> Mapping[str, tuple[Form, Session]]:
    """Items by id, each with the session of its reply."""
    wanted = {digest_of_id(one): one for one in ids}
    requests = requests_of(caller, project, named).order_by()
    digests, found = [*wanted], dict[str, tuple[Form, Session]]()
    for start in range(0, len(digests), _AT_ONCE):
        rows = ReplyItem.objects.filter(
            digest__in=digests[start : start + _AT_ONCE],
            request__in=requests,
        )
        newest = rows.select_related("request__session").order_by("-pk")
        newest = newest.defer("request__sent")
        for row in newest:
            id_ = wanted[bytes(row.digest)]
            found.setdefault(id_, (_item(bytes(row.content)), row.request.session))
    return found


def items_of_replies(
    session: Session, indexes: Container[int | None]
) -> Mapping[int, Sequence[Form]]:
    """The items of a session's replies, by the index of the original that each reply became."""
    rows = ReplyItem.objects.filter(request__session=session)
    found: dict[int, dict[int, bytes]] = {}
    # The requests themselves aren't loaded: each lists everything that went out with it.
    named = rows.order_by("pk").values_list("request__reply_index", "place", "content")
    for index, place, content in named:
        if index is not None and index in indexes:
            found.setdefault(index, {})[place] = bytes(content)
    return {index: [*map(_item, items.values())] for index, items in found.items()}


def _item(content: bytes) -> Form:
    item: Form = read_json(zlib.decompress(content))
    return item


def _id(item: Form) -> str:
    given = item.get("id")
    return given if isinstance(given, str) else ""
