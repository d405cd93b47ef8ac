"""Tries a policy on the newest sessions of a project: what it saves, and what it would have lost.

Reading so many sessions takes a while, so this runs as a job. It changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.jobs import JobContext, enqueue
from contextstudio.accounts.models import Job, Project
from contextstudio.accounts.selectors import get_project
from operations.domain.context.policy import Policy, encode_policy, read_policy
from threads.models import Session
from threads.store.selectors import visible_sessions

from .services import SessionHindsight, under_policy, under_rules

KIND = "hindsight"
MAX_SESSIONS = 50
MAX_MESSAGES = 20_000
"""Most messages of a session that is tried; longer sessions are skipped."""
WORDS, SENT, PRUNED = "session", "sent", "pruned"

Try = Callable[[Session], SessionHindsight]


def order_trial(
    caller: Caller,
    slug: str,
    settings: Mapping[str, Any],
    sessions: int = MAX_SESSIONS,
) -> Job:
    """Enqueue a trial of a policy on a project's newest sessions. Raises Invalid, NotFound."""
    return try_in(caller, get_project(caller, slug), settings, sessions)


def try_in(
    caller: Caller,
    project: Project,
    settings: Mapping[str, Any],
    sessions: int = MAX_SESSIONS,
) -> Job:
    """`order_trial` in a project that the caller is known to be allowed to read."""
    arguments = {"policy": encode_policy(read_policy(settings)), "sessions": sessions}
    return enqueue(project, KIND, arguments, caller)


def run_trial(
    context: JobContext, policy: dict[str, Any], sessions: int
) -> dict[str, Any]:
    """Try a policy: what its steps leave out of requests, and what its rules prune, separately.

    The rules don't name what is used later, as a running session can't know that.
    """
    tries = tries_of(read_policy(policy))
    tried, passed = _newest(context, sessions)
    sums = {name: dict.fromkeys(_FIGURES, 0) for name in tries}
    for number, session in enumerate(tried):
        context.progress(number, total=len(tried), unit=WORDS)
        for name, one in tries.items():
            found = one(session)
            for figure in _FIGURES:
                sums[name][figure] += getattr(found, figure)
    context.progress(len(tried), total=len(tried), unit=WORDS)
    return {
        "sessions": len(tried),
        "passed_over": passed,
        **{name: _shares(sums[name]) if name in sums else None for name in _PARTS},
    }


_FIGURES = ("before", "after", "references", "lost")
_PARTS = (SENT, PRUNED)


def tries_of(policy: Policy) -> dict[str, Try]:
    """The functions that try a policy, by name: for its steps, its pruning rules, or both."""
    tries: dict[str, Try] = {}
    pruning = policy.pruning
    if policy.window or policy.truncation or policy.isolation:
        tries[SENT] = lambda session: under_policy(session, policy)
    if pruning is not None:
        rules = replace(pruning, name_used_later=False)
        tries[PRUNED] = lambda session: under_rules(session, rules)
    return tries


def _newest(context: JobContext, count: int) -> tuple[list[Session], int]:
    """The newest sessions that can be tried, and how many were skipped."""
    sessions = visible_sessions(context.caller, context.project.slug)
    newest = list(sessions.order_by("-updated_at", "pk")[:count])
    tried = [one for one in newest if 0 < one.message_count <= MAX_MESSAGES]
    return tried, len(newest) - len(tried)


def _shares(sums: Mapping[str, int]) -> dict[str, Any]:
    before, references = sums["before"], sums["references"]
    return {
        "tokens": {"before": before, "after": sums["after"]},
        "saved_share": (before - sums["after"]) / before if before else 0.0,
        "references": references,
        "lost": sums["lost"],
        "lost_share": sums["lost"] / references if references else 0.0,
    }
