"""Automatic pruning: when the policy says so and the next request would be too long."""

from archive.domain.pruning.trigger import Trigger, trigger
from archive.summaries.services import summarise_if_due
from operations.context.model_catalog import context_window
from operations.domain.context.policy import Pruning
from operations.log.cache import Cache
from operations.log.selectors import load_thread
from threads.models import Session

from .services import prune_automatically, rules_of

_futile: Cache[int] = Cache(lambda _: 0)
"""Map of session id to its number of messages when there was nothing to prune."""


def trigger_of(session: Session, model: str = "", more: int = 0) -> Trigger:
    """How full the model's window would be with the current thread and `more` tokens."""
    return _trigger(session, rules_of(session), model or session.model, more)


def prune_before_request(
    session: Session, rules: Pruning, model: str, more: int
) -> None:
    """Prune if too little of the window would be left; if that isn't enough, summarise.

    A session that had nothing to prune is tried again once it has `keep_last_n` more messages.
    """
    if not _trigger(session, rules, model, more).is_due:
        return
    known = _futile.get(session.pk)
    if known is None or session.message_count >= known + rules.keep_last_n:
        pruned = prune_automatically(session, rules)
        if pruned.transaction is None:
            _futile.keep(session.pk, session.message_count)
        session.refresh_from_db()
    if _trigger(session, rules, model, more).is_due:
        summarise_if_due(session, rules.protect_tags)


def _trigger(session: Session, rules: Pruning, model: str, more: int) -> Trigger:
    projected = load_thread(session).tokens.effective + more
    return trigger(projected, context_window(model) if model else None, rules)
