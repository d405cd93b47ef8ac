"""Roles of people, scopes of keys, and the rights that both stand for."""

from enum import StrEnum


class Right(StrEnum):
    """One thing that a caller may do in a project; also the scopes of a key."""

    READ = "read"
    PROPOSE = "propose"
    EDIT = "edit"
    REVIEW = "review"
    ADMIN = "admin"


class ProjectRole(StrEnum):
    """What a member of a project is."""

    OWNER = "owner"
    EDITOR = "editor"
    REVIEWER = "reviewer"
    VIEWER = "viewer"


RIGHTS_OF: dict[ProjectRole, frozenset[Right]] = {
    ProjectRole.VIEWER: frozenset({Right.READ}),
    ProjectRole.REVIEWER: frozenset({Right.READ, Right.PROPOSE, Right.REVIEW}),
    ProjectRole.EDITOR: frozenset(
        {Right.READ, Right.PROPOSE, Right.EDIT, Right.REVIEW}
    ),
    ProjectRole.OWNER: frozenset(Right),
}
