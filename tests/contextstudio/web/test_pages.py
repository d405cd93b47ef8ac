"""What holds for every page: the policy, no caching, readable refusals, reports."""

import logging
from html import unescape

import pytest
from django.conf import LazySettings
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from contextstudio.accounts.domain.errors import (
    Conflict,
    DomainError,
    Forbidden,
    NotFound,
    Unauthenticated,
)
from contextstudio.accounts.models import User
from contextstudio.web import health
from contextstudio.web.middleware import (
    RefusalMiddleware,
    csrf_failure,
    page_not_found,
    server_error,
)

PAGES = ["/sign-in", "/healthz", "/metrics", "/api/openapi.json", "/no/such/page"]


def request_to(path: str = "/", *, method: str = "get", **headers: str) -> HttpRequest:
    request: HttpRequest = getattr(RequestFactory(headers=headers), method)(path)
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    request.user = User()
    return request


@pytest.fixture
def refuse() -> RefusalMiddleware:
    return RefusalMiddleware(lambda _: HttpResponse())


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_cached_and_every_page_has_the_strict_policy(
    client: Client, path: str
) -> None:
    answer = client.get(path)
    assert answer["Cache-Control"] == "private, no-store"
    policy = dict(
        part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db
def test_a_page_that_is_not_there_says_so(client: Client) -> None:
    answer = client.get("/no/such/page")
    assert answer.status_code == 404
    assert "There is no such page." in answer.content.decode()


@pytest.mark.django_db
def test_a_program_gets_a_problem_document_where_no_page_is(client: Client) -> None:
    answer = client.get("/no/such/page", headers={"Accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_refusal_is_a_page_with_its_sentence_and_status(
    refuse: RefusalMiddleware,
) -> None:
    answer = refuse.process_exception(
        request_to(), NotFound("There is no such session.")
    )
    assert answer is not None
    assert answer.status_code == 404
    assert b"There is no such session." in answer.content  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (NotFound("There is no such session."), "Not found"),
        (Forbidden("Your role may not edit."), "Not allowed"),
        (Conflict("It would cut through a digest."), "That didn't work"),
    ],
)
def test_the_tab_of_a_refusal_says_what_its_heading_says(
    refuse: RefusalMiddleware, error: DomainError, title: str
) -> None:
    answer = refuse.process_exception(request_to(), error)
    shown = unescape(answer.content.decode())  # type: ignore[union-attr]
    assert f"<title>{title} · ContextStudio</title>" in shown
    assert f"<h1>{title}</h1>" in shown


def test_whoever_follows_a_link_to_what_is_hidden_learns_why_it_may_be(
    refuse: RefusalMiddleware,
) -> None:
    request = request_to()
    request.user = User(username="harbour.master")
    answer = refuse.process_exception(request, NotFound("There is no such session."))
    shown = answer.content.decode()  # type: ignore[union-attr]
    assert "in a project that you aren&#x27;t a member of" in shown
    assert "signed in as <bdi>harbour.master</bdi>." in shown
    assert (
        "aren&#x27;t a member"
        not in page_not_found(request, Http404()).content.decode()
    )
    posted = refuse.process_exception(
        request_to(method="post"), NotFound("There is no such session.")
    )
    assert "aren&#x27;t a member" not in posted.content.decode()  # type: ignore[union-attr]


def test_htmx_gets_the_refusal_as_a_toast(refuse: RefusalMiddleware) -> None:
    request = request_to(**{"HX-Request": "true"})
    answer = refuse.process_exception(
        request, Conflict("It would cut through a digest.")
    )
    assert answer is not None
    assert answer.status_code == 409
    assert answer["HX-Retarget"] == "#toasts"
    assert b"<html" not in answer.content  # type: ignore[attr-defined]
    assert b"It would cut through a digest." in answer.content  # type: ignore[attr-defined]


def test_who_is_not_signed_in_is_led_to_the_sign_in_page_and_back(
    refuse: RefusalMiddleware,
) -> None:
    refusal = Unauthenticated("Sign in.")
    read = refuse.process_exception(request_to("/a?b=c"), refusal)
    assert read is not None
    assert (read.status_code, read["Location"]) == (302, "/sign-in?next=%2Fa%3Fb%3Dc")
    by_htmx = refuse.process_exception(request_to(**{"HX-Request": "true"}), refusal)
    assert by_htmx is not None
    assert (by_htmx.status_code, by_htmx["WWW-Authenticate"]) == (401, "Bearer")
    posted = refuse.process_exception(request_to(method="post"), refusal)
    assert posted is not None
    assert (posted.status_code, posted["WWW-Authenticate"]) == (401, "Bearer")


def test_a_bug_is_left_to_django(refuse: RefusalMiddleware) -> None:
    assert refuse.process_exception(request_to(), ValueError("a bug")) is None


def test_a_form_without_its_token_is_refused_in_words() -> None:
    refused = csrf_failure(request_to())
    assert refused.status_code == 403
    assert "<h1>Out of date</h1>" in refused.content.decode()


def test_a_form_from_behind_a_proxy_that_does_not_speak_of_https_is_refused_with_what_to_set() -> (
    None
):
    behind = csrf_failure(request_to(method="post", Origin="https://testserver"))
    assert behind.status_code == 403
    assert "FORWARDED_ALLOW_IPS" in behind.content.decode()
    plain = csrf_failure(request_to(method="post", Origin="http://testserver"))
    assert "<h1>Out of date</h1>" in plain.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_what_a_page_asks_for_that_was_drawn_for_another_is_refused_with_who_is_signed_in(
    owner: User, viewer: User, method: str
) -> None:
    client = Client(headers={"HX-Request": "true"})
    client.force_login(viewer)
    ask = getattr(client, method)
    told = ask("/sessions/matches", headers={"X-Person": str(owner.pk)})
    assert told.status_code == 403
    assert "you are signed in as viewer by now" in told.content.decode()
    for person in ("", str(viewer.pk)):
        assert ask("/sessions/matches", headers={"X-Person": person}).status_code != 403
    shown = client.get("/sessions/", headers={"HX-Request": ""}).content.decode()
    assert f'"X-Person": "{viewer.pk}"' in shown


@pytest.mark.django_db
def test_a_form_that_was_drawn_for_another_is_refused_with_who_is_signed_in(
    owner: User, viewer: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    drawn = client.get("/settings/projects/").content.decode()
    token = drawn.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    client.logout()
    client.cookies.pop("contextstudio_csrf", None)
    client.force_login(viewer)
    client.get("/settings/projects/")
    form = {"name": "Another", "slug": "another", "csrfmiddlewaretoken": token}
    refused = client.post("/settings/projects/", form)
    assert refused.status_code == 403
    assert "you are signed in as viewer by now" in refused.content.decode()


@pytest.mark.django_db
def test_every_unsafe_page_wants_the_csrf_token(
    settings: LazySettings, owner: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    for path in ("/sign-in", "/sign-out", "/settings/keys/", "/settings/keys/1/revoke"):
        assert client.post(path).status_code == 403, path


def test_a_report_of_a_browser_is_logged_on_one_line_and_counted(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    before = health.csp_reports.value
    with caplog.at_level(logging.WARNING, "contextstudio.csp"):
        answer = client.post(
            "/csp-report",
            '{"csp-report": {"blocked-uri": "a\\nb"}}',
            "application/csp-report",
        )
    assert answer.status_code == 204
    assert health.csp_reports.value == before + 1
    assert caplog.messages == ['CSP report {"csp-report": {"blocked-uri": "a\\nb"}}']


@pytest.mark.parametrize("body", [b"no JSON", b"\xff", b"[" * 16_000])
def test_what_is_no_report_is_refused(client: Client, body: bytes) -> None:
    before = health.csp_reports.value
    answer = client.post("/csp-report", body, "application/csp-report")
    assert answer.status_code == 400
    assert health.csp_reports.value == before


def test_a_report_that_is_none_is_refused(client: Client) -> None:
    assert client.post("/csp-report", "{", "application/csp-report").status_code == 400
    assert client.get("/csp-report").status_code == 405


@pytest.mark.parametrize("path", ["/sign-out", "/sessions/import"])
def test_an_address_that_is_only_posted_to_says_so_on_a_page(
    client: Client, path: str
) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "<h1>Not a page</h1>" in answer.content.decode()


@pytest.mark.django_db
def test_a_form_that_is_sent_after_signing_out_is_answered_by_a_page(
    client: Client,
) -> None:
    answer = client.post("/settings/keys/", {"name": "one"})
    assert answer.status_code == 401
    assert "<h1>Signed out</h1>" in answer.content.decode()
    assert 'href="/"' in answer.content.decode()


@pytest.mark.parametrize("error", [RuntimeError("x"), OperationalError("locked")])
def test_a_page_that_failed_keeps_the_colours_that_were_chosen(
    error: Exception,
) -> None:
    request = request_to("/sessions/", Accept="text/html")

    def failed(theme: str) -> str:
        request.COOKIES["theme"] = theme
        try:
            raise error
        except (RuntimeError, OperationalError):
            return server_error(request).content.decode()  # type: ignore[attr-defined,no-any-return]

    assert '<html lang="en" data-theme="dark">' in failed("dark")
    assert '<html lang="en">' in failed('">')
