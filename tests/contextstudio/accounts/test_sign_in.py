"""Ways in: one-time links, names with passwords, and what stops guessing."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from contextstudio.accounts import services
from contextstudio.accounts.domain.errors import Conflict, Unauthenticated
from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.models import Membership, Project, SignInLink, User
from contextstudio.accounts.sign_in import links, tries
from contextstudio.accounts.sign_in.tries import take_token

PASSWORD = "a long enough password"


@pytest.fixture
def owner_with_password(owner: User) -> User:
    owner.set_password(PASSWORD)
    owner.save()
    return owner


def test_a_link_signs_in_once(client: Client, owner: User) -> None:
    token = links.create_sign_in_link(owner)
    answer = client.post(f"/sign-in/{token}")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(owner.pk)
    spent = Client().get(f"/sign-in/{token}")
    assert spent.status_code == 410
    assert "used or has expired" in spent.content.decode()


def test_a_browser_knows_which_field_takes_the_name_and_which_the_password(
    client: Client,
) -> None:
    page = client.get("/sign-in").content.decode()
    assert 'autocomplete="username"' in page
    assert 'autocomplete="current-password"' in page


def test_who_is_signed_in_may_open_a_spent_link(client: Client, owner: User) -> None:
    token = links.create_sign_in_link(owner)
    client.post(f"/sign-in/{token}")
    assert client.get(f"/sign-in/{token}")["Location"] == "/"
    assert client.post(f"/sign-in/{token}")["Location"] == "/"


def test_a_look_at_a_link_does_not_spend_it(client: Client, owner: User) -> None:
    token = links.create_sign_in_link(owner)
    for look in (client.get, client.head):
        assert look(f"/sign-in/{token}").status_code == 200
        assert "_auth_user_id" not in client.session
    assert "signs you in as owner" in client.get(f"/sign-in/{token}").content.decode()
    assert links.redeem_sign_in_link(token) == owner


def test_the_button_of_a_link_is_pushed_by_its_own_page_alone(owner: User) -> None:
    token = links.create_sign_in_link(owner)
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(f"/sign-in/{token}").status_code == 403
    assert links.redeem_sign_in_link(token) == owner


def test_a_link_ends_after_a_day_and_with_the_next_one(owner: User) -> None:
    first, second = (links.create_sign_in_link(owner) for _ in range(2))
    with pytest.raises(Unauthenticated):
        links.redeem_sign_in_link(first)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Unauthenticated):
        links.redeem_sign_in_link(second)


def test_a_link_of_one_who_left_is_dead(owner: User) -> None:
    token = links.create_sign_in_link(owner)
    owner.is_active = False
    owner.save()
    with pytest.raises(Unauthenticated):
        links.redeem_sign_in_link(token)


def test_the_token_is_not_in_the_database(owner: User) -> None:
    token = links.create_sign_in_link(owner)
    assert token not in str(list(SignInLink.objects.values_list()))


@pytest.mark.django_db(transaction=True)
def test_of_many_who_use_a_link_at_once_one_gets_in(owner: User) -> None:
    token = links.create_sign_in_link(owner)

    def redeem(_: int) -> bool:
        try:
            links.redeem_sign_in_link(token)
        except Unauthenticated:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(redeem, range(8))) == 1


def test_what_spends_a_link_asks_its_row_alone(
    owner: User,
) -> None:
    """PostgreSQL doesn't ask a query within an update again once another changed the row."""
    token = links.create_sign_in_link(owner)
    with CaptureQueriesContext(connection) as asked:
        links.redeem_sign_in_link(token)
    (update,) = [one["sql"] for one in asked if one["sql"].startswith("UPDATE")]
    assert "SELECT" not in update


def test_the_first_start_makes_an_owner_and_the_project(db: None) -> None:
    owner, first = services.prepare_first_use()
    assert first
    assert not owner.has_usable_password()
    membership = Membership.objects.get()
    assert (membership.user, membership.role) == (owner, ProjectRole.OWNER)
    assert membership.project.slug == "demo"
    assert services.prepare_first_use() == (owner, False)
    assert Project.objects.count() == User.objects.count() == 1


def test_a_name_with_its_password_signs_in_and_leads_on(
    client: Client, owner_with_password: User
) -> None:
    answer = client.post(
        "/sign-in?next=/sessions/1", {"username": "owner", "password": PASSWORD}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/sessions/1")


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_signing_in_never_leads_to_another_site(
    client: Client, owner_with_password: User, target: str
) -> None:
    answer = client.post(
        "/sign-in", {"username": "owner", "password": PASSWORD, "next": target}
    )
    assert answer["Location"] == "/"


def test_a_wrong_name_and_a_wrong_password_read_the_same(
    client: Client, owner_with_password: User
) -> None:
    answers = [
        client.post("/sign-in", {"username": name, "password": "guess"})
        for name in ("owner", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [401, 401]
    sentences = [answer.context["form"].non_field_errors() for answer in answers]
    assert sentences[0] == sentences[1] == ["The username or the password is wrong."]


def test_guessing_is_stopped_even_for_the_right_password(
    client: Client, owner_with_password: User
) -> None:
    for _ in range(10):
        client.post("/sign-in", {"username": "Owner", "password": "guess"})
    answer = client.post("/sign-in", {"username": "owner", "password": PASSWORD})
    assert answer.status_code == 429
    assert "Too many attempts" in answer.content.decode()


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No try comes back while a test takes its time."""
    for name in ("_ONE_MORE_TRY", "_ONE_MORE_FROM_ADDRESS"):
        monkeypatch.setattr(tries, name, timedelta(days=1))


def guess(name: str, times: int, address: str, **cookies: str) -> list[int]:
    """The answers to wrong passwords."""
    client = Client(REMOTE_ADDR=address)
    client.cookies.load(cookies)
    body = {"username": name, "password": "guess"}
    return [client.post("/sign-in", body).status_code for _ in range(times)]


def right(address: str, client: Client | None = None) -> int:
    client = client or Client()
    body = {"username": "owner", "password": PASSWORD}
    return client.post("/sign-in", body, REMOTE_ADDR=address).status_code


def test_who_guesses_at_one_place_locks_out_nobody_elsewhere(
    owner_with_password: User,
) -> None:
    assert guess("owner", 12, "192.0.2.1") == [401] * 10 + [429] * 2
    assert right("192.0.2.1") == 429
    assert right("192.0.2.2") == 302


def test_guesses_from_everywhere_are_stopped_but_not_a_browser_that_is_known(
    owner_with_password: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "_TRIES_PER_NAME", 20)
    at_home = Client()
    assert right("198.51.100.7", at_home) == 302
    for number in range(5):
        guess("OWNER", 5, f"203.0.113.{number}")
    assert right("198.51.100.9") == 429
    assert right("203.0.113.1", at_home) == 302


def test_an_office_behind_one_address_is_not_locked_out_by_one_in_it(
    owner_with_password: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "_TRIES_PER_ADDRESS", 30)
    colleague = Client()
    assert right("192.0.2.1", colleague) == 302
    assert guess("owner", 40, "192.0.2.1")[-1] == 429
    assert right("192.0.2.1", colleague) == 302
    for number in range(30):
        guess(f"name{number}", 1, "192.0.2.1")
    assert guess("nobody", 1, "192.0.2.1") == [429]
    assert right("192.0.2.1", colleague) == 302


def test_signing_in_takes_no_try(owner_with_password: User) -> None:
    assert [right("192.0.2.1") for _ in range(15)] == [302] * 15


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"),
        ("", "no address", "192.0.2.2"),
    ],
)
def test_addresses_of_one_subscriber_count_as_one(
    one: str, same: str, other: str
) -> None:
    assert tries._network(one) == tries._network(same)
    assert tries._network(one) != tries._network(other)


def test_a_forged_mark_of_a_known_browser_counts_for_nothing(
    owner_with_password: User, stranger: User
) -> None:
    theirs = tries.known_browser(stranger)
    for mark in ("x", theirs, theirs[:-1]):
        guess("owner", 10, "192.0.2.1", contextstudio_browser=mark)
    assert right("192.0.2.1") == 429


def test_a_bucket_refills_with_time(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()

    def try_at(seconds: int) -> bool:
        monkeypatch.setattr(timezone, "now", lambda: now + timedelta(seconds=seconds))
        return take_token("k", capacity=2, refill=timedelta(seconds=10))

    assert [try_at(0) for _ in range(3)] == [True, True, False]
    assert [try_at(9), try_at(10), try_at(11)] == [False, True, False]
    assert [try_at(1000) for _ in range(3)] == [True, True, False]
    # The clock is set back by an hour.
    assert [try_at(-2600), try_at(-2590), try_at(-2589)] == [False, True, False]


@pytest.mark.django_db(transaction=True)
def test_of_many_tries_at_once_a_bucket_allows_exactly_its_tokens() -> None:
    def attempt(_: int) -> bool:
        try:
            return take_token("k", capacity=5, refill=timedelta(days=1))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(attempt, range(40))) == 5


def test_signing_out_ends_the_session(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert client.get("/sign-out").status_code == 405
    client.post("/sign-out")
    assert "_auth_user_id" not in client.session
    assert client.get("/settings/keys/")["Location"].startswith("/sign-in")


def test_a_name_is_given_once(owner: User) -> None:
    with pytest.raises(Conflict, match="a user owner"):
        services.create_user("owner")
