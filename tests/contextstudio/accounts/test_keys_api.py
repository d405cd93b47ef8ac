"""Keys over REST: by people and by keys, none of which makes one that may do more."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import ApiKey, AuditEntry, Membership, Project, User

KEYS = "/api/keys"
ADMIN = frozenset({Right.READ, Right.PROPOSE, Right.ADMIN})


@pytest.fixture
def second(owner: User) -> Project:
    made = Project.objects.create(slug="second", name="Second")
    Membership.objects.create(project=made, user=owner, role=ProjectRole.OWNER)
    return made


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def asking(text: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {text}"})


def admin_key(owner: User, project: Project, **other: Any) -> Client:
    made = create_key(owner, project, name="admin", scopes=ADMIN, **other)
    return asking(made.text)


def send(
    client: Client, method: str, path: str, body: Any = None, **headers: str
) -> Any:
    send_ = getattr(client, method)
    return send_(path, body or {}, "application/json", headers=headers)


def make(client: Client, status: int = 201, **body: Any) -> Any:
    answer = send(client, "post", KEYS, {"project": "demo", **body})
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_person_makes_changes_rotates_and_revokes_a_key(
    owner: User, project: Project, second: Project
) -> None:
    page = signed_in(owner)
    unknown = make(page, 404, recalls=["second", "nowhere"])
    assert unknown["at"] == ["recalls", 1]
    made = make(page, name="mine", scopes=["edit"], recalls=["second"])
    assert made["scopes"] == ["read", "edit"]
    assert made["recalls"] == ["second"]
    path = f"{KEYS}/{made['id']}"
    assert asking(made["key"]).get(path).json()["name"] == "mine"
    changed = send(page, "patch", path, {"name": "ours"}).json()
    assert (changed["name"], changed["scopes"]) == ("ours", ["read", "edit"])
    assert changed["recalls"] == ["second"]
    changed = send(page, "patch", path, {"recalls": [], "requests_per_minute": 9})
    assert changed.json()["recalls"] == []
    rotated = send(page, "post", f"{path}/rotate").json()
    assert asking(made["key"]).get(path).status_code == 401
    assert asking(rotated["key"]).get(path).json()["requests_per_minute"] == 9
    assert [one["id"] for one in page.get(KEYS).json()["items"]] == [made["id"]]
    assert send(page, "delete", path).status_code == 204
    assert asking(rotated["key"]).get(path).status_code == 401


def test_a_key_makes_none_that_may_do_more(
    owner: User, project: Project, second: Project
) -> None:
    ends = timezone.now() + timedelta(days=1)
    agent = admin_key(owner, project, expires_at=ends, requests_per_minute=60)
    soon = (ends - timedelta(hours=1)).isoformat()
    late = (ends + timedelta(hours=1)).isoformat()
    made = make(agent, scopes=["propose"], expires_at=soon)
    assert made["requests_per_minute"] == 60
    assert made["created_by"] == str(owner)
    assert (
        make(agent, expires_at=soon, requests_per_minute=90)["requests_per_minute"]
        == 60
    )
    assert (
        make(agent, expires_at=soon, requests_per_minute=9)["requests_per_minute"] == 9
    )
    for place, wrong in (
        ("scopes", {"scopes": ["edit"], "expires_at": soon}),
        ("scopes", {"scopes": ["own_session"], "expires_at": soon}),
        ("expires_at", {"expires_at": late}),
        ("expires_at", {}),
    ):
        refused = make(agent, 422, **wrong)
        assert refused["at"] == [place]
    assert make(agent, 404, recalls=["second"], expires_at=soon)
    assert make(agent, 404, project="second", expires_at=soon)
    key = ApiKey.objects.get(name="admin")
    entries = AuditEntry.objects.filter(action="key.create", actor=f"key:{key.pk}")
    assert entries.count() == 3


def test_a_key_without_the_scope_makes_none_and_sees_itself_alone(
    owner: User, project: Project
) -> None:
    create_key(owner, project, name="other", scopes=ADMIN)
    made = create_key(owner, project, name="weak", scopes=frozenset({Right.EDIT}))
    weak = asking(made.text)
    make(weak, 403, scopes=["read"])
    assert [one["name"] for one in weak.get(KEYS).json()["items"]] == ["weak"]


def test_a_key_rotates_and_revokes_itself_and_changes_nothing(
    owner: User, project: Project
) -> None:
    made = create_key(owner, project, name="own", scopes=frozenset({Right.READ}))
    path = f"{KEYS}/{made.row.pk}"
    assert send(asking(made.text), "patch", path, {"name": "a"}).status_code == 403
    text = send(asking(made.text), "post", f"{path}/rotate").json()["key"]
    assert asking(made.text).get(path).status_code == 401
    other = create_key(owner, project, name="other", scopes=ADMIN).row
    rotate = f"{KEYS}/{other.pk}/rotate"
    assert send(asking(text), "post", rotate).status_code == 404
    assert send(admin_key(owner, project), "post", rotate).status_code == 403
    assert send(asking(text), "delete", path).status_code == 204
    assert asking(text).get(path).status_code == 401


def test_a_repeat_tells_the_key_and_not_its_secret(
    owner: User, project: Project
) -> None:
    page, body = signed_in(owner), {"project": "demo"}
    first, again = (
        send(page, "post", KEYS, body, **{"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert first.json()["key"].startswith("cs_")
    assert first["Cache-Control"] == "no-store"
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json() | {"key": None}


def test_only_its_maker_lets_a_key_recall_from_more_on_its_page(
    owner: User, editor: User, project: Project, second: Project
) -> None:
    scopes = frozenset({Right.READ})
    hidden = Project.objects.create(slug="hidden", name="Hidden")
    third = Project.objects.create(slug="third", name="Third")
    for one in (hidden, third):
        Membership.objects.create(project=one, user=editor, role=ProjectRole.EDITOR)
    Membership.objects.create(project=third, user=owner, role=ProjectRole.OWNER)
    row = create_key(editor, project, name="e", scopes=scopes, recalls=[hidden]).row
    page, path = signed_in(editor), f"/settings/keys/{row.pk}/"
    form = {"name": "e", "scopes": ["read"], "recalls": ["hidden", "third"]}
    assert page.post(path, form).status_code == 302
    assert {one.slug for one in row.recalls.all()} == {"hidden", "third"}
    others = signed_in(owner)
    assert b'value="hidden"' not in others.get(path).content
    form = {"name": "e", "scopes": ["read"], "recalls": ["second"]}
    assert others.post(path, form).status_code == 422
    form = {"name": "e", "scopes": ["read"], "recalls": []}
    assert others.post(path, form).status_code == 302
    assert {one.slug for one in row.recalls.all()} == {"hidden"}
    answer = send(others, "patch", f"{KEYS}/{row.pk}", {"recalls": ["second"]})
    assert answer.json()["at"] == ["recalls"]


@pytest.mark.parametrize(
    "moment", ["2099-01-01T00:00:00", "9999-12-31T23:59:59-12:00", "2001-01-01T00:00Z"]
)
def test_a_moment_at_which_no_key_can_end_is_refused_with_its_place(
    owner: User, project: Project, moment: str
) -> None:
    page = signed_in(owner)
    assert make(page, 422, expires_at=moment)["at"] == ["expires_at"]
    path = f"{KEYS}/{make(page)['id']}"
    changed = send(page, "patch", path, {"expires_at": moment})
    assert (changed.status_code, changed.json()["at"]) == (422, ["expires_at"])
    rotated = send(page, "post", f"{path}/rotate", {"old_until": moment})
    assert (rotated.status_code, rotated.json()["at"]) == (422, ["old_until"])
