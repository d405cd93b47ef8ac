"""What is changed of a key: its end, limit, scopes and secret; by whom, and on the page."""

from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from contextstudio.accounts import services as accounts
from contextstudio.accounts.authentication import caller_by_secret
from contextstudio.accounts.domain.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Unauthenticated,
)
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import change_key, create_key, rotate_key
from contextstudio.accounts.models import (
    ApiKey,
    AuditEntry,
    KeyRequest,
    Project,
    User,
)
from contextstudio.accounts.selectors import (
    KEYS_SHOWN,
    REQUESTS_SHOWN,
    caller_of_key,
    find_key,
)
from tests.people import caller, key_of

SOON = timedelta(hours=1)


@pytest.fixture
def row(key: str) -> ApiKey:
    return ApiKey.objects.get()


def settings_of(row: ApiKey, **other: Any) -> dict[str, Any]:
    names = ("name", "expires_at", "requests_per_minute")
    kept = {name: getattr(row, name) for name in names}
    return {**kept, "scopes": frozenset(map(Right, row.scopes)), **other}


def form_of(row: ApiKey, **other: Any) -> dict[str, Any]:
    return {"name": row.name, "scopes": row.scopes, **other}


def test_a_key_ends_when_it_is_to(owner: User, key: str, row: ApiKey) -> None:
    ends = timezone.now() + SOON
    change_key(caller(owner), row.pk, **settings_of(row, expires_at=ends))
    assert find_key(key) is not None
    ApiKey.objects.update(expires_at=timezone.now())
    assert find_key(key) is None


def test_a_moment_that_is_past_ends_no_key(
    owner: User, project: Project, row: ApiKey
) -> None:
    past = timezone.now() - SOON
    with pytest.raises(Invalid) as refused:
        change_key(caller(owner), row.pk, **settings_of(row, expires_at=past))
    assert refused.value.at == ("expires_at",)
    with pytest.raises(Invalid):
        scopes = frozenset({Right.READ})
        create_key(owner, project, name="", scopes=scopes, expires_at=past)
    with pytest.raises(Invalid):
        rotate_key(caller(owner), row.pk, old_until=past)


@pytest.mark.parametrize("limit", [0, -1, 1_000_001])
def test_a_limit_is_a_number_of_requests(owner: User, row: ApiKey, limit: int) -> None:
    with pytest.raises(Invalid):
        change_key(caller(owner), row.pk, **settings_of(row, requests_per_minute=limit))


def test_an_owner_may_narrow_a_key_and_only_its_maker_widens_it(
    owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project, Right.PROPOSE)
    row = ApiKey.objects.get()
    wide = settings_of(row, scopes=frozenset({Right.READ, Right.EDIT}))
    narrow = settings_of(row, scopes=frozenset({Right.READ}))
    with pytest.raises(Invalid) as refused:
        change_key(caller(owner), row.pk, **wide)
    assert refused.value.at == ("scopes",)
    assert change_key(caller(owner), row.pk, **narrow).scopes == ["read"]
    assert change_key(caller(editor), row.pk, **wide).scopes == ["read", "edit"]
    implied = settings_of(row, scopes=frozenset({Right.PROPOSE, Right.OWN_SESSION}))
    changed = change_key(caller(owner), row.pk, **implied)
    assert changed.scopes == ["read", "propose", "own_session"]


def test_an_owner_may_end_a_key_sooner_and_only_its_maker_later(
    owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project)
    row = ApiKey.objects.get()
    ends = timezone.now() + SOON
    assert change_key(caller(owner), row.pk, **settings_of(row, expires_at=ends))
    for later in (ends + SOON, None):
        with pytest.raises(Invalid) as refused:
            change_key(caller(owner), row.pk, **settings_of(row, expires_at=later))
        assert refused.value.at == ("expires_at",)
    sooner = settings_of(row, expires_at=ends - SOON / 2)
    assert change_key(caller(owner), row.pk, **sooner)
    last = change_key(caller(editor), row.pk, **settings_of(row, expires_at=None))
    assert last.expires_at is None


def test_an_owner_may_lower_the_limit_of_a_key_and_only_its_maker_raises_it(
    owner: User, editor: User, project: Project, settings: LazySettings
) -> None:
    settings.REQUESTS_PER_MINUTE = 60
    key_of(editor, project)
    row = ApiKey.objects.get()
    with pytest.raises(Invalid) as refused:
        change_key(caller(owner), row.pk, **settings_of(row, requests_per_minute=61))
    assert refused.value.at == ("requests_per_minute",)
    change_key(caller(owner), row.pk, **settings_of(row, requests_per_minute=5))
    with pytest.raises(Invalid, match="raise its limit"):
        change_key(caller(owner), row.pk, **settings_of(row, requests_per_minute=None))
    raised = change_key(
        caller(editor), row.pk, **settings_of(row, requests_per_minute=None)
    )
    assert raised.requests_per_minute is None


def test_a_key_changes_no_key_and_a_stranger_knows_of_none(
    stranger: User, key: str, row: ApiKey
) -> None:
    found = find_key(key)
    assert found is not None
    with pytest.raises(Forbidden):
        change_key(caller_of_key(found), row.pk, **settings_of(row))
    for do in (change_key, rotate_key):
        with pytest.raises(NotFound):
            more = settings_of(row) if do is change_key else {}
            do(caller(stranger), row.pk, **more)


def test_after_a_rotation_the_old_secret_works_until_it_is_to_end(
    owner: User, key: str, row: ApiKey
) -> None:
    until = timezone.now() + SOON
    rotated = rotate_key(caller(owner), row.pk, old_until=until)
    for secret in (key, rotated.text):
        found = find_key(secret)
        assert found is not None
        assert (found.pk, found.name, found.scopes) == (row.pk, row.name, row.scopes)
    assert rotated.text.startswith(rotated.row.prefix)
    ApiKey.objects.update(previous_until=timezone.now())
    assert find_key(key) is None
    assert find_key(rotated.text) is not None
    assert AuditEntry.objects.latest("pk").action == "key.rotate"


def test_a_rotation_ends_the_secret_at_once_and_the_one_before_in_any_case(
    owner: User, key: str, row: ApiKey
) -> None:
    until = timezone.now() + SOON
    second = rotate_key(caller(owner), row.pk, old_until=until).text
    third = rotate_key(caller(owner), row.pk, old_until=until).text
    assert [find_key(one) is not None for one in (key, second, third)] == [
        *(False, True, True)
    ]
    fourth = rotate_key(caller(owner), row.pk).text
    assert [find_key(one) is not None for one in (second, third, fourth)] == [
        *(False, False, True)
    ]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_rotations_at_once_each_gives_a_secret_that_works(
    owner: User, key: str, row: ApiKey
) -> None:
    until, begun, made = timezone.now() + SOON, Event(), list[str]()

    def rotate() -> None:
        with transaction.atomic():
            made.append(rotate_key(caller(owner), row.pk, old_until=until).text)
            begun.set()
            Event().wait(0.3)  # until the other one is at it too
        connection.close()

    other = Thread(target=rotate)
    other.start()
    assert begun.wait(10)
    made.append(rotate_key(caller(owner), row.pk, old_until=until).text)
    other.join()
    assert [find_key(one) is not None for one in (key, *made)] == [False, True, True]


def test_only_its_maker_has_a_new_secret_and_none_for_what_has_ended(
    owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project)
    row = ApiKey.objects.get()
    with pytest.raises(Forbidden):
        rotate_key(caller(owner), row.pk)
    ApiKey.objects.update(expires_at=timezone.now())
    with pytest.raises(Conflict, match="expired"):
        rotate_key(caller(editor), row.pk)


def test_a_raw_key_is_known_outside_a_request(key: str, project: Project) -> None:
    assert caller_by_secret(key).may(Right.ADMIN, project.pk)
    for wrong in ("", "cs_wrong", f"Bearer {key}"):
        with pytest.raises(Unauthenticated):
            caller_by_secret(wrong)


def test_the_page_changes_a_key(client: Client, owner: User, row: ApiKey) -> None:
    client.force_login(owner)
    path = f"/settings/keys/{row.pk}/"
    ends = (timezone.now() + SOON).strftime("%Y-%m-%dT%H:%M")
    sent = form_of(row, name="Tidy", expires_at=ends, requests_per_minute="120")
    assert client.post(path, sent)["Location"] == path
    row.refresh_from_db()
    assert (row.name, row.requests_per_minute) == ("Tidy", 120)
    assert row.expires_at is not None
    assert row.expires_at.strftime("%Y-%m-%dT%H:%M") == ends
    past = client.post(path, form_of(row, expires_at="2020-01-01T00:00"))
    assert past.status_code == 422
    assert "This time is in the past." in past.content.decode()


def test_the_page_renames_a_key_that_has_ended_and_leaves_its_end_alone(
    client: Client, owner: User, row: ApiKey
) -> None:
    ended = timezone.now() - SOON
    ApiKey.objects.update(expires_at=ended)
    client.force_login(owner)
    shown = client.get(f"/settings/keys/{row.pk}/").context["form"]["expires_at"]
    sent = form_of(row, name="Old", expires_at=shown.value().strftime("%Y-%m-%dT%H:%M"))
    assert client.post(f"/settings/keys/{row.pk}/", sent).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.expires_at) == ("Old", ended)
    said = f"expired {ended.day} {ended:%b %Y}"
    assert said in client.get("/settings/keys/").content.decode()


def test_the_form_behind_a_list_of_keys_is_one_click_away(
    client: Client, owner: User, row: ApiKey
) -> None:
    client.force_login(owner)
    listed = client.get("/settings/keys/").content.decode()
    assert 'href="#create"' in listed
    assert listed.index(row.prefix) < listed.index('id="create"')
    ApiKey.objects.all().delete()
    assert 'href="#create"' not in client.get("/settings/keys/").content.decode()


def test_the_page_of_a_rotation_shows_the_new_secret_once(
    client: Client, owner: User, key: str, row: ApiKey
) -> None:
    client.force_login(owner)
    until = (timezone.now() + SOON).strftime("%Y-%m-%dT%H:%M")
    one = {"key": row, "at": timezone.now(), "method": "GET", "status": 200}
    KeyRequest.objects.bulk_create(KeyRequest(**one) for _ in range(REQUESTS_SHOWN + 1))
    path = f"/settings/keys/{row.pk}/"
    answer = client.post(f"{path}rotate", {"old_until": until})
    text = answer.context["new_key"].text
    assert f'href="{path}?before=' in answer.content.decode()
    assert text in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"
    assert find_key(text) is not None
    assert find_key(key) is not None
    assert text not in client.get(path).content.decode()
    assert client.post(f"{path}rotate", {"old_until": "soon"}).status_code == 422
    client.post(f"{path}rotate", {"old_until": ""})
    assert find_key(text) is None


def test_the_page_of_anothers_key_offers_no_rotation(
    client: Client, owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project)
    row = ApiKey.objects.get()
    client.force_login(owner)
    path = f"/settings/keys/{row.pk}/"
    assert "rotation" not in client.get(path).content.decode()
    assert client.post(f"{path}rotate").status_code == 403
    accounts.set_member(caller(owner), project, editor, ProjectRole.VIEWER)
    client.force_login(editor)
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("more", [0, 1])
def test_the_page_of_keys_shows_the_newest_and_leads_to_older_ones(
    client: Client, owner: User, project: Project, row: ApiKey, more: int
) -> None:
    for _ in range(KEYS_SHOWN - 1 + more):
        key_of(owner, project)
    client.force_login(owner)
    first = client.get("/settings/keys/")
    assert len(first.context["keys"]) == KEYS_SHOWN
    assert (row in first.context["keys"]) is (not more)
    assert first.context["older"] == (row.pk + 1 if more else None)
    if more:
        second = client.get("/settings/keys/", {"before": first.context["older"]})
        assert second.context["keys"] == [row]
        assert 'href="/settings/keys/"' in second.content.decode()
        assert "No keys yet" not in second.content.decode()
