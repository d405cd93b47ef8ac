"""Roles of people, scopes of keys, and the rights that both stand for."""

from enum import StrEnum


class Right(StrEnum):
    """One thing that a caller may do in a project; also the scopes of a key."""

    READ = "read"
    PROPOSE = "propose"
    EDIT = "edit"
    REVIEW = "review"
    ADMIN = "admin"


class Role(StrEnum):
    """What a member of a project is."""

    OWNER = "owner"
    EDITOR = "editor"
    REVIEWER = "reviewer"
    VIEWER = "viewer"


RIGHTS_OF: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.REVIEWER: frozenset({Right.READ, Right.PROPOSE, Right.REVIEW}),
    Role.EDITOR: frozenset({Right.READ, Right.PROPOSE, Right.EDIT, Right.REVIEW}),
    Role.OWNER: frozenset(Right),
}
