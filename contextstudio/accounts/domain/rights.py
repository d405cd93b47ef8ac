"""Roles of people, scopes of keys, and the rights that both confer."""

from collections.abc import Iterable
from enum import StrEnum


class Right(StrEnum):
    """A right in a project, and a scope of a key.

    `own_session` is the right to create sessions and to keep one's work in them.
    """

    READ = "read"
    PROPOSE = "propose"
    EDIT = "edit"
    REVIEW = "review"
    ADMIN = "admin"
    OWN_SESSION = "own_session"
    """Create sessions and keep one's work in them. The right to edit covers every session."""


class ProjectRole(StrEnum):
    """The role of a member in a project."""

    OWNER = "owner"
    EDITOR = "editor"
    REVIEWER = "reviewer"
    VIEWER = "viewer"


RIGHTS_OF: dict[ProjectRole, frozenset[Right]] = {
    ProjectRole.VIEWER: frozenset({Right.READ}),
    ProjectRole.REVIEWER: frozenset({Right.READ, Right.PROPOSE, Right.REVIEW}),
    ProjectRole.EDITOR: frozenset(set(Right) - {Right.ADMIN}),
    ProjectRole.OWNER: frozenset(Right),
}
_IMPLIED = {
    Right.EDIT: {Right.OWN_SESSION, Right.PROPOSE},
    Right.OWN_SESSION: {Right.PROPOSE},
}


def with_implied(scopes: Iterable[Right]) -> frozenset[Right]:
    """The rights that scopes confer.

    Every key may read. The right to edit includes keeping own sessions, and that includes
    proposing.
    """
    asked = frozenset(scopes)
    return asked.union({Right.READ}, *(_IMPLIED.get(scope, ()) for scope in asked))
