"""The people of the tests: a project with a person per role, and a stranger with another."""

import pytest
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import Membership, Project, User
from contextstudio.accounts.selectors import caller_of_user


def _member(project: Project, role: ProjectRole, *, name: str | None = None) -> User:
    user = User.objects.create_user(username=name or role.value)
    Membership.objects.create(project=project, user=user, role=role)
    return user


def cast() -> dict[str, User]:
    """All of them by name, where fixtures of a single test can't be used."""
    project = Project.objects.create(slug="demo", name="Demonstration")
    other = Project.objects.create(slug="other", name="Another project")
    people = {role.value: _member(project, role) for role in ProjectRole}
    return people | {"stranger": _member(other, ProjectRole.OWNER, name="stranger")}


def caller(user: User) -> Caller:
    """A person as a caller, with the rights of their roles."""
    return caller_of_user(user)


@pytest.fixture
def project(db: None) -> Project:
    """The project that everyone but the stranger is a member of."""
    return Project.objects.create(slug="demo", name="Demonstration")


@pytest.fixture
def owner(project: Project) -> User:
    """May do everything."""
    return _member(project, ProjectRole.OWNER)


@pytest.fixture
def editor(project: Project) -> User:
    """May edit, but not administer."""
    return _member(project, ProjectRole.EDITOR)


@pytest.fixture
def reviewer(project: Project) -> User:
    """May propose and review, but not edit."""
    return _member(project, ProjectRole.REVIEWER)


@pytest.fixture
def viewer(project: Project) -> User:
    """May read only."""
    return _member(project, ProjectRole.VIEWER)


@pytest.fixture(name="caller")
def caller_of_owner(owner: User) -> Caller:
    """The owner as a caller of services."""
    return caller(owner)


def key_of(maker: User, project: Project, *scopes: Right, name: str = "agent") -> str:
    """The text of a new key with these scopes, by default all."""
    made = create_key(maker, project, name=name, scopes=frozenset(scopes or Right))
    return made.text


def client_of(user: User, project: Project, *scopes: Right) -> Client:
    """A client of the API that sends a new key of this person."""
    key = key_of(user, project, *scopes)
    return Client(headers={"Authorization": f"Bearer {key}"})


@pytest.fixture
def key(owner: User, project: Project) -> str:
    """A key of the owner with all rights in the project."""
    return key_of(owner, project)


@pytest.fixture
def agent(client: Client, key: str) -> Client:
    """A client of the API that sends the owner's key."""
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    return client


@pytest.fixture
def stranger(db: None) -> User:
    """Owns another project and has no business here."""
    other = Project.objects.create(slug="other", name="Another project")
    return _member(other, ProjectRole.OWNER, name="stranger")
