"""Creates, changes, rotates and revokes keys. Every change is recorded for audit."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from contextstudio.accounts.credentials import generate_key, key_digest
from contextstudio.accounts.domain import errors
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right, with_implied
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.accounts.selectors import get_key
from contextstudio.accounts.services import audit, refuse_unfit
from contextstudio.database.best_effort import write_if_free

MAX_REQUESTS = 1_000_000
"""The highest limit that a key may have, in requests per minute."""


class NewKey(NamedTuple):
    """A key with a newly generated secret; `text` can't be retrieved later."""

    row: ApiKey
    text: str


@transaction.atomic
def create_key(
    maker: User,
    project: Project,
    *,
    name: str,
    scopes: frozenset[Right],
    recalls: Sequence[Project] = (),
    expires_at: datetime | None = None,
    requests_per_minute: int | None = None,
    actor: str = "",
) -> NewKey:
    """Create a key for a project. Its rights are determined when it is used.

    It never has more rights than its maker has at that time. In the projects that it `recalls` it
    can only find memos and recall messages. `actor` is whoever creates it on behalf of its maker,
    if not the maker. Raises NotFound if the maker is not a member of one of these projects, Invalid
    without a scope or with an expiry in the past.
    """
    for at, one in (("project", project), *(("recalls", one) for one in recalls)):
        if not one.memberships.filter(user=maker).exists():
            raise errors.NotFound("There is no such project.", at=[at])
    text, prefix = generate_key()
    refuse_unfit(ApiKey, name=name or prefix)
    key = ApiKey(
        project=project,
        maker=maker,
        name=name or prefix,
        prefix=prefix,
        digest=key_digest(text),
        scopes=_written(scopes),
        expires_at=_future(expires_at, "expires_at"),
        requests_per_minute=_limit(requests_per_minute),
    )
    key.save()
    key.recalls.set(one for one in recalls if one != project)
    audit(actor or f"user:{maker.pk}", "key.create", key.pk, project=project)
    return NewKey(key, text)


def create_key_as(
    caller: Caller,
    project: Project,
    *,
    name: str,
    scopes: frozenset[Right],
    recalls: Sequence[Project] = (),
    expires_at: datetime | None = None,
    requests_per_minute: int | None = None,
) -> NewKey:
    """Create a key for a project, as a person or as a key of the project that administers.

    A key made by a key acts for the same person, and may do no more: not in its rights and
    projects, nor in its rate and lifetime. Raises what `create_key` does, and Forbidden.
    """
    if caller.user_id is not None:
        maker = User.objects.get(pk=caller.user_id)
    else:
        if not caller.may(Right.ADMIN, project.pk):
            raise errors.Forbidden("Only a key with the scope admin can create keys.")
        own = ApiKey.objects.select_related("maker").get(pk=caller.key_id or 0)
        _refuse_stronger(own, with_implied(scopes), recalls, expires_at)
        maker = own.maker
        if own.requests_per_minute is not None:
            most = own.requests_per_minute
            requests_per_minute = min(requests_per_minute or most, most)
    return create_key(
        maker,
        project,
        name=name,
        scopes=scopes,
        recalls=recalls,
        expires_at=expires_at,
        requests_per_minute=requests_per_minute,
        actor=caller.actor,
    )


def _refuse_stronger(
    own: ApiKey,
    rights: frozenset[Right],
    recalls: Sequence[Project],
    expires_at: datetime | None,
) -> None:
    """Raise Invalid with the place if a key would make one that may do more than itself."""
    if more := rights - with_implied(map(Right, own.scopes)):
        sentence = f"This key can't give the scope {min(more)}: it doesn't have it."
        raise errors.Invalid(sentence, at=["scopes"])
    known = {own.project_id, *own.recalls.values_list("pk", flat=True)}
    if any(project.pk not in known for project in recalls):
        raise errors.Invalid(
            "This key can only give access to projects that it can recall from itself.",
            at=["recalls"],
        )
    ends = own.expires_at
    if ends is not None and (expires_at is None or expires_at > ends):
        raise errors.Invalid(
            f"This key expires at {ends.isoformat()}; a key that it creates must not last longer.",
            at=["expires_at"],
        )


@transaction.atomic
def change_key(
    caller: Caller,
    key_id: int,
    *,
    name: str,
    scopes: frozenset[Right],
    expires_at: datetime | None,
    requests_per_minute: int | None,
    recalls: Sequence[Project] | None = None,
) -> ApiKey:
    """Change a key's name, scopes, expiry, limit or further projects; its secret and history stay.

    Only a person may, and only its maker may extend what it can do, for how long or how often.
    `recalls` None leaves them unchanged. Raises NotFound, Forbidden, or Invalid with the place.
    """
    key = get_key(caller, key_id, lock=True)
    if caller.is_agent:
        raise errors.Forbidden("Only a person can change keys.")
    if key.maker_id != caller.user_id:
        _refuse_wider(key, scopes, expires_at, requests_per_minute)
    if expires_at != key.expires_at:
        key.expires_at = _future(expires_at, "expires_at")
    key.name = name.strip() or key.prefix
    refuse_unfit(ApiKey, name=key.name)
    key.scopes = _written(scopes)
    key.requests_per_minute = _limit(requests_per_minute)
    changed = ["name", "scopes", "expires_at", "requests_per_minute"]
    key.save(update_fields=changed)
    if recalls is not None:
        _recall(key, caller, recalls)
    audit(caller.actor, "key.change", key.pk, project=key.project)
    return key


def _refuse_wider(
    key: ApiKey,
    scopes: frozenset[Right],
    expires_at: datetime | None,
    requests_per_minute: int | None,
) -> None:
    """Raise Invalid with the place if a key could do more for its maker than they chose."""
    if not with_implied(scopes) <= with_implied(map(Right, key.scopes)):
        sentence = "Only the person who made the key can give it more permissions."
        raise errors.Invalid(sentence, at=["scopes"])
    ends = key.expires_at
    if ends is not None and (expires_at is None or expires_at > ends):
        sentence = "Only the person who made the key can let it expire later."
        raise errors.Invalid(sentence, at=["expires_at"])
    if _per_minute(requests_per_minute) > _per_minute(key.requests_per_minute):
        sentence = "Only the person who made the key can raise its limit."
        raise errors.Invalid(sentence, at=["requests_per_minute"])


def _per_minute(limit: int | None) -> float:
    """The number of requests per minute under a limit, or under the default if it is None."""
    return limit or settings.REQUESTS_PER_MINUTE or inf


@transaction.atomic
def rotate_key(
    caller: Caller, key_id: int, *, old_until: datetime | None = None
) -> NewKey:
    """Generate a new secret for a key; the old one works until `old_until`, or stops at once.

    Name, rights and history stay: to the log it is the same key. A secret kept by an earlier
    rotation ends now. Only the key's maker may do this, since the secret acts for them, and the key
    itself. Raises NotFound, Forbidden, Conflict if the key has expired, or Invalid with the place.
    """
    key = get_key(caller, key_id, lock=True)
    if key.pk != caller.key_id and key.maker_id != caller.user_id:
        raise errors.Forbidden(
            "Only the person who made a key can get a new secret for it. You can revoke it."
        )
    if key.expires_at is not None and key.expires_at <= timezone.now():
        raise errors.Conflict("This key has expired: give it a later expiry first.")
    until = _future(old_until, "old_until")
    text, prefix = generate_key()
    key.previous_digest, key.previous_until = (key.digest if until else None), until
    key.digest, key.prefix = key_digest(text), prefix
    rotated = ["digest", "prefix", "previous_digest", "previous_until"]
    key.save(update_fields=rotated)
    audit(caller.actor, "key.rotate", key.pk, project=key.project)
    return NewKey(key, text)


@transaction.atomic
def revoke_key(caller: Caller, key_id: int) -> None:
    """Revoke a key at once; its maker or a project owner may. Raises NotFound."""
    key = get_key(caller, key_id)
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    audit(caller.actor, "key.revoke", key.pk, project=key.project)


def _recall(key: ApiKey, caller: Caller, recalls: Sequence[Project]) -> None:
    """Set the projects from which a key recalls besides its own."""
    known = set(key.recalls.values_list("pk", flat=True))
    further = [one for one in recalls if one.pk != key.project_id]
    if key.maker_id != caller.user_id and any(one.pk not in known for one in further):
        sentence = (
            "Only the person who made the key can let it recall from more projects."
        )
        raise errors.Invalid(sentence, at=["recalls"])
    key.recalls.set(further)


def note_use(key: ApiKey) -> None:
    """Record when a key was last used, to the minute, so that few requests write.

    If another writer is active, it is left to the next request: reads must not wait for a lock.
    """
    now = timezone.now()
    if key.last_used_at is not None and now - key.last_used_at <= timedelta(minutes=1):
        return
    rows = ApiKey.objects.filter(pk=key.pk)
    if connection.features.has_select_for_update_skip_locked:
        free = rows.select_for_update(skip_locked=True, of=("self",))
        rows = ApiKey.objects.filter(pk__in=free.values("pk"))
    write_if_free(lambda: rows.update(last_used_at=now))


def _written(scopes: frozenset[Right]) -> list[str]:
    if not scopes:
        raise errors.Invalid("A key needs at least one scope.", at=["scopes"])
    return [right.value for right in Right if right in scopes | {Right.READ}]


def _future(moment: datetime | None, at: str) -> datetime | None:
    """A future time, in UTC. Raises Invalid if it is past."""
    if moment is None:
        return None
    try:
        ends = moment.astimezone(UTC)
    except OverflowError as error:
        raise errors.Invalid("This time is too far in the future.", at=[at]) from error
    if ends <= timezone.now():
        raise errors.Invalid("This time is in the past.", at=[at])
    return ends


def _limit(requests: int | None) -> int | None:
    if requests is not None and not 1 <= requests <= MAX_REQUESTS:
        raise errors.Invalid(
            f"A key may send 1 to {MAX_REQUESTS:,} requests a minute.",
            at=["requests_per_minute"],
        )
    return requests
