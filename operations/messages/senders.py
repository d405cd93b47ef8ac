"""Finds the agents whose keys sent the messages of a session through the proxy."""

from collections.abc import Collection, Mapping

from django.db.models import F

from contextstudio.accounts.domain.caller import is_agent
from operations.models import SessionRequest
from threads.domain.formats.sources import is_from_proxy
from threads.models import Session


def agents_of(session: Session, indexes: Collection[int]) -> Mapping[int, str]:
    """Map of original to the name of the key that sent it, or received it as a reply.

    Empty unless the proxy made the session. A request's messages are the last `new` of the
    originals that exist when it is rewritten, and its reply is the next original.
    """
    if not indexes or not is_from_proxy(session.format):
        return {}
    requests = SessionRequest.objects.filter(
        session=session,
        door="proxy",
        message_count__gte=min(indexes),
        message_count__lte=max(indexes) + F("new"),
    )
    rows = requests.order_by("-number").values_list(
        "message_count", "new", "actor", "actor_name"
    )
    found: dict[int, str] = {}
    wanted = set(indexes)
    for count, new, actor, name in rows.iterator():
        # Newest first: a message that a request brought is not the reply to an earlier one.
        brought = range(count - new, count + 1) if is_agent(actor) else range(0)
        found |= {at: name for at in wanted.intersection(brought) if at not in found}
    return found
