"""What keys with narrow scopes are let in to: every URL again, as an agent's key."""

import pytest
from django.test import Client

from contextstudio.accounts import services
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import ApiKey, Project, User
from tests.people import caller, client_of
from threads.models import Session

from .gated_routes import TABLE, GatedRoute, S
from .test_gate_of_every_url import knock, places

__all__ = ["places"]

ANYWHERE = {"POST api/sessions": 201}
"""What a key may do besides, that keeps its own sessions, whosever session is at hand."""
IN_ITS_OWN = {
    **ANYWHERE,
    f"POST api/{S}/messages": 201,
    f"POST api/{S}/apply": 200,
    "POST api/archive": 201,
    f"PUT api/{S}/scratchpad": 200,
    f"PUT api/{S}/state": 200,
    f"FORM {S}/tags": 200,
    f"FORM {S}/lenses/use": 200,
    f"FORM {S}/memos": 302,
}
"""What it may do besides in a session that it made."""


def named(row: GatedRoute) -> str:
    return f"{row.method} {row.path}"


@pytest.fixture
def proposing(owner: User, project: Project) -> Client:
    """May read and propose."""
    return client_of(owner, project, Right.READ, Right.PROPOSE)


@pytest.fixture
def keeping(owner: User, project: Project) -> Client:
    """Keeps its own sessions."""
    return client_of(owner, project, Right.OWN_SESSION)


def let_in(client: Client, places: dict[str, str]) -> dict[str, int]:
    """The status that every address answers."""
    return {named(row): knock(client, row, places) for row in TABLE}


@pytest.mark.sqlite  # scopes are weighed without asking a database
def test_in_sessions_of_others_a_key_with_sessions_of_its_own_only_proposes(
    places: dict[str, str], proposing: Client, keeping: Client
) -> None:
    assert let_in(keeping, places) == let_in(proposing, places) | ANYWHERE


@pytest.mark.sqlite  # scopes are weighed without asking a database
def test_a_key_keeps_its_work_in_a_session_of_its_own_and_proposes_the_rest(
    places: dict[str, str], proposing: Client, keeping: Client
) -> None:
    expected = let_in(proposing, places) | IN_ITS_OWN
    made_by = f"key:{ApiKey.objects.latest('pk').pk}"
    Session.objects.filter(pk=places["session"]).update(created_by=made_by)
    assert let_in(keeping, places) == expected


def test_at_every_address_a_project_to_recall_from_is_as_absent_as_any_other(
    stranger: User, owner: User, project: Project, places: dict[str, str]
) -> None:
    other = Project.objects.get(slug="other")
    services.set_member(caller(owner), project, stranger, ProjectRole.OWNER)
    texts = [
        create_key(
            stranger, other, name="", scopes=frozenset(Right), recalls=recalls
        ).text
        for recalls in ((), (project,))
    ]
    without, wide = (
        let_in(Client(headers={"Authorization": f"Bearer {text}"}), places)
        for text in texts
    )
    assert wide == without
