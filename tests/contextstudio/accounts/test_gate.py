"""The gate to projects: a stranger is told nothing, a member without the right is."""

import uuid

import pytest

from contextstudio.accounts import selectors, services
from contextstudio.accounts.domain.errors import Conflict, Forbidden, NotFound
from contextstudio.accounts.domain.rights import RIGHTS_OF, ProjectRole, Right
from contextstudio.accounts.models import ApiKey, AuditEntry, Job, Project, User
from tests.people import caller, key_of


def test_a_stranger_cannot_tell_a_project_from_none(
    project: Project, stranger: User
) -> None:
    with pytest.raises(NotFound) as there:
        selectors.get_project(caller(stranger), project.slug)
    with pytest.raises(NotFound) as absent:
        selectors.get_project(caller(stranger), "nothing")
    assert str(there.value) == str(absent.value)


@pytest.mark.parametrize("role", list(ProjectRole))
@pytest.mark.parametrize("right", list(Right))
def test_a_member_gets_in_exactly_with_the_right(
    request: pytest.FixtureRequest, project: Project, role: ProjectRole, right: Right
) -> None:
    member = caller(request.getfixturevalue(role.value))
    if right in RIGHTS_OF[role]:
        assert selectors.get_project(member, project.slug, right) == project
    else:
        with pytest.raises(Forbidden, match="needs the right to"):
            selectors.get_project(member, project.slug, right)


def test_who_lacks_a_right_learns_which_members_have_it(
    project: Project, viewer: User
) -> None:
    for right, roles in (
        (Right.PROPOSE, "to propose .* the role reviewer, editor or owner has it"),
        (Right.ADMIN, "to administer .* the role owner has it"),
    ):
        with pytest.raises(Forbidden, match=roles):
            selectors.require(caller(viewer), right, project.pk)


def test_everybody_sees_their_own_projects_alone(
    project: Project, viewer: User, stranger: User
) -> None:
    assert list(selectors.visible_projects(caller(viewer))) == [project]
    assert [p.slug for p in selectors.visible_projects(caller(stranger))] == ["other"]


def test_where_a_request_names_no_project_the_only_one_is_meant(
    project: Project, editor: User
) -> None:
    assert selectors.default_project(caller(editor), Right.EDIT) == project
    services.create_project(caller(editor), slug="second", name="Second")
    assert selectors.default_project(caller(editor), Right.EDIT) is None


def test_a_job_is_seen_through_its_project(
    project: Project, viewer: User, stranger: User
) -> None:
    job = Job.objects.create(project=project, kind="x", actor="user:1")
    assert selectors.get_job(caller(viewer), job.pk) == job
    for asker, job_id in ((stranger, job.pk), (viewer, uuid.uuid4())):
        with pytest.raises(NotFound):
            selectors.get_job(caller(asker), job_id)
    with pytest.raises(Forbidden):
        selectors.get_job(caller(viewer), job.pk, Right.EDIT)


def test_an_actor_has_the_rights_of_now(
    owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project, Right.EDIT)
    key = ApiKey.objects.get()
    for actor in (f"user:{editor.pk}", f"key:{key.pk}"):
        assert selectors.caller_of_actor(actor).may(Right.EDIT, project.pk)
    services.set_member(caller(owner), project, editor, ProjectRole.VIEWER)
    for actor in (f"user:{editor.pk}", f"key:{key.pk}"):
        assert not selectors.caller_of_actor(actor).may(Right.EDIT, project.pk)
    services.set_member(caller(owner), project, editor, None)
    for actor in (f"user:{editor.pk}", f"key:{key.pk}", "system", "user:0"):
        assert not selectors.caller_of_actor(actor).rights


def test_only_who_administers_a_project_changes_its_members(
    project: Project, owner: User, editor: User, viewer: User
) -> None:
    with pytest.raises(Forbidden):
        services.set_member(caller(editor), project, viewer, ProjectRole.OWNER)
    services.set_member(caller(owner), project, viewer, ProjectRole.OWNER)
    assert caller(viewer).may(Right.ADMIN, project.pk)


def test_a_project_keeps_an_owner(project: Project, owner: User) -> None:
    for role in (ProjectRole.EDITOR, None):
        with pytest.raises(Conflict, match="needs an owner"):
            services.set_member(caller(owner), project, owner, role)
    assert project.memberships.filter(role=ProjectRole.OWNER).count() == 1


def test_who_makes_a_project_owns_it_and_its_name_is_taken(stranger: User) -> None:
    made = services.create_project(caller(stranger), slug="new", name="New")
    assert caller(stranger).may(Right.ADMIN, made.pk)
    with pytest.raises(Conflict, match="a project new"):
        services.create_project(caller(stranger), slug="new", name="Again")


def test_an_agent_makes_no_projects(project: Project, owner: User) -> None:
    key_of(owner, project)
    agent = selectors.caller_of_actor(f"key:{ApiKey.objects.get().pk}")
    with pytest.raises(Forbidden):
        services.create_project(agent, slug="new", name="New")


def test_what_is_changed_is_recorded_without_its_content(
    project: Project, owner: User, viewer: User
) -> None:
    services.set_member(caller(owner), project, viewer, ProjectRole.EDITOR)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action) == (f"user:{owner.pk}", "member.editor")
    assert entry.project == project
