"""What holds for every route of the API: who comes in, and how it says no."""

import json
import re
import uuid
from typing import Any

import jsonschema
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.templatetags.static import static
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import encode_cursor
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.responses import dump, read_json
from contextstudio.api import api
from tests.operations.support.rest import make_session
from tests.people import key_of
from threads.models import Session

PROBLEM_MEMBERS = {"type", "title", "status", "code", "detail", "at", "errors"}
DESCRIBED = api.get_openapi_schema(path_prefix="/api/")
DESCRIBED_PROBLEM = {
    "$ref": "#/components/schemas/ProblemDocument",
    "components": DESCRIBED["components"],
}
ROUTES = [
    (path, method, route)
    for path, methods in DESCRIBED["paths"].items()
    for method, route in methods.items()
]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=10,
)


def is_problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert set(document) >= PROBLEM_MEMBERS
    jsonschema.validate(document, DESCRIBED_PROBLEM)
    assert document["status"] == status
    return document


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer x", "Basic b3duZXI6eA==", "cs_x", "Bearer \x00"],
)
def test_without_a_valid_key_the_answer_is_401_and_says_how_to_come_in(
    client: Client, header: str | None
) -> None:
    headers = {} if header is None else {"Authorization": header}
    for method in ("get", "post"):
        answer = getattr(client, method)("/api/sessions", headers=headers)
        is_problem(answer, 401)
        assert answer["WWW-Authenticate"] == "Bearer"


def test_a_key_comes_in(agent: Client) -> None:
    assert agent.get("/api/sessions").json()["items"] == []


def test_a_wrong_key_is_refused_though_the_browser_is_signed_in(
    client: Client, owner: User
) -> None:
    client.force_login(owner)
    assert client.get("/api/sessions").status_code == 200
    refused = client.get("/api/sessions", headers={"Authorization": "Bearer cs_x"})
    is_problem(refused, 401)


def test_a_browser_changes_things_only_with_its_csrf_token(owner: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    body = {"title": "A session"}
    refused = browser.post("/api/sessions", body, "application/json")
    is_problem(refused, 403)
    browser.get("/sign-in")
    token = browser.cookies["contextstudio_csrf"].value
    made = browser.post(
        "/api/sessions", body, "application/json", headers={"X-CSRFToken": token}
    )
    assert made.status_code == 201


def test_a_key_needs_no_csrf_token(key: str) -> None:
    agent = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {key}"})
    assert agent.post("/api/sessions", {}, "application/json").status_code == 201


def test_a_key_of_another_project_is_told_nothing(
    agent: Client, stranger: User
) -> None:
    made = agent.post("/api/sessions", {"title": "Secret"}, "application/json").json()
    other = key_of(stranger, Project.objects.get(slug="other"))
    answer = Client().get(
        f"/api/sessions/{made['id']}", headers={"Authorization": f"Bearer {other}"}
    )
    assert "Secret" not in json.dumps(is_problem(answer, 404))


_PART = 'Content-Disposition: form-data; name="file"'


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "kind", "body", "told"),
    [
        ("/sessions/import", "multipart/form-data", "x", "Let your HTTP client set"),
        ("/sessions/transfer", "multipart/form-data; boundary=", "x", "boundary"),
        (
            "/sessions/import",
            "multipart/form-data; boundary=b",
            f'--b\r\n{_PART}; filename="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n!x',
            "base64",
        ),
        (
            "/sessions/import",
            "multipart/form-data; boundary=b",
            f"--b\r\n{_PART}\r\n\r\nx\r\n" * 1500,
            "number",
        ),
        ("/sessions", "multipart/form-data", "{}", "boundary"),
        ("/sessions", "multipart/form-data; boundary=b", "--b\r\n", "it is a form"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_as_everything_is(
    agent: Client, path: str, kind: str, body: str, told: str
) -> None:
    once = {"Idempotency-Key": f"{path} {kind}"}
    refused = agent.post(f"/api{path}", body.encode(), kind, headers=once)
    assert told in is_problem(refused, 422)["detail"]
    assert not Session.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["new", "\\ud800 new"], ids=["plain", "surrogate"])
def test_of_a_member_that_is_sent_twice_the_last_counts(
    agent: Client, words: str
) -> None:
    said = f'{{"role": "user", "content": "old", "content": "{words}"}}'
    body = f'{{"messages": [], "messages": [{said}]}}'.encode()
    made = agent.post("/api/sessions", body, "application/json").json()
    other = make_session(agent, 0)
    agent.post(f"/api/sessions/{other}/apply", body, "application/json")
    for session_id in (made["id"], other):
        read = agent.get(f"/api/sessions/{session_id}/messages").json()["items"]
        assert [one["content"] for one in read] == [json.loads(f'"{words}"')]


@pytest.mark.django_db
def test_whatever_can_be_read_has_a_head(agent: Client) -> None:
    session_id = make_session(agent, 2)
    for path in ("", f"/{session_id}", f"/{session_id}/export?format=openai"):
        read = agent.get(f"/api/sessions{path}")
        head = agent.head(f"/api/sessions{path}")
        assert (head.status_code, head["Content-Type"]) == (200, read["Content-Type"])
        assert b"".join(head) == b""
    assert agent.head("/api/sessions/import").status_code == 405
    assert agent.head(f"/api/sessions/{uuid.uuid4()}").status_code == 404
    assert not [path for path, route in DESCRIBED["paths"].items() if "head" in route]


@pytest.mark.django_db
def test_a_query_of_too_many_parameters_is_refused_as_everything_is(
    agent: Client,
) -> None:
    query = "&".join(f"a{number}=" for number in range(1500))
    is_problem(agent.get(f"/api/sessions?{query}"), 422)


def test_what_a_schema_refuses_names_every_place(agent: Client) -> None:
    body = {"title": 7, "messages": "none"}
    document = is_problem(agent.post("/api/sessions", body, "application/json"), 422)
    assert {tuple(fault["at"]) for fault in document["errors"]} == {
        ("title",),
        ("messages",),
    }
    assert document["at"] == document["errors"][0]["at"]
    assert all(fault["detail"].endswith(".") for fault in document["errors"])


def test_a_wrong_query_names_its_parameter(agent: Client) -> None:
    document = is_problem(agent.get("/api/sessions?limit=many"), 422)
    assert document["at"] == ["limit"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid"),
        (b"{", "json_invalid"),
        (b'{"title": NaN}', "json_invalid"),
        (b'{"title": 1e999}', "json_invalid"),
        (b'{"title": "\xff"}', "json_invalid"),
        (b"[" * 100_000 + b"]" * 100_000, "json_too_deep"),
    ],
)
def test_what_is_no_json_is_refused_in_words(
    agent: Client, body: bytes, code: str
) -> None:
    answer = agent.post("/api/sessions", body, "application/json")
    assert is_problem(answer, 422)["code"] == code


@pytest.mark.parametrize("levels", [960, 100_000])
def test_a_message_that_is_nested_too_deep_is_refused_in_words(
    agent: Client, levels: int
) -> None:
    deep = b"[" * levels + b"]" * levels
    block = b'{"messages": [{"role": "user", "content": [{"type": "x", "y": %b}]}]}'
    session_id = make_session(agent, 2)
    own = f"/api/sessions/{session_id}"
    for path in ("/api/sessions", f"{own}/messages", f"{own}/apply"):
        answer = agent.post(path, block % deep, "application/json")
        assert is_problem(answer, 422)["code"] == "json_too_deep", path


def test_a_route_that_is_not_there_and_a_wrong_method_are_refused(
    agent: Client,
) -> None:
    assert agent.get("/api/nothing").status_code == 404
    answer = agent.put("/api/sessions")
    document = is_problem(answer, 405)
    assert document["code"] == "method_not_allowed"
    assert document["detail"] == f"PUT is not allowed here; {answer['Allow']} is."
    assert set(answer["Allow"].split(", ")) >= {"GET", "POST"}


@given(json_values)
def test_any_json_value_is_written_and_read_again(value: Any) -> None:
    assert read_json(dump(value)) == value


def test_a_lone_surrogate_passes_both_ways() -> None:
    assert read_json(dump({"text": "a\ud800b"})) == {"text": "a\ud800b"}
    assert read_json(b'"\\ud800"') == "\ud800"


@pytest.mark.parametrize("body", [b"Infinity", b"NaN", b"-1e999", b"01", b"'a'"])
def test_what_json_does_not_allow_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid, match="not JSON"):
        read_json(body)


@pytest.mark.django_db
def test_the_description_and_its_page_need_no_key_and_nothing_from_elsewhere(
    client: Client,
) -> None:
    document = client.get("/api/openapi.json").json()
    assert document["info"]["title"] == "ContextStudio"
    assert "/api/jobs/{job_id}" in document["paths"]
    page = client.get("/api/docs").content.decode()
    assert static("ninja/swagger-ui-bundle.js") in page
    assert "http" not in page.replace("application/json", "")


def test_the_description_is_made_once() -> None:
    assert api.get_openapi_schema() is api.get_openapi_schema(path_prefix="/api/")


@pytest.mark.parametrize("path", ["nothing", "sessions/1", "sessions/x/thread", ""])
def test_an_address_that_is_none_of_the_api_is_answered_as_the_api_answers(
    agent: Client, path: str
) -> None:
    assert is_problem(agent.get(f"/api/{path}"), 404)["at"] == ["path"]


def test_every_route_is_described_with_how_it_refuses_and_every_write_with_how_to_repeat_it() -> (
    None
):
    repeated = {"$ref": "#/components/parameters/IdempotencyKey"}
    for path, method, route in ROUTES:
        refused = route["responses"]["default"]
        assert refused == {"$ref": "#/components/responses/ProblemDocument"}, path
        assert (repeated in route["parameters"]) is (method != "get"), path
    content = DESCRIBED["components"]["responses"]["ProblemDocument"]["content"]
    assert list(content) == ["application/problem+json"]


def test_every_parameter_but_a_name_is_described() -> None:
    described = {
        one["name"]: one.get("description")
        for _, _, route in ROUTES
        for one in route["parameters"]
        if "$ref" not in one
    }
    assert [name for name, words in described.items() if not words] == ["name"]


def test_a_docstring_below_a_field_describes_it_also_where_it_is_inherited() -> None:
    shapes = DESCRIBED["components"]["schemas"]
    for name in ("RequestOut", "SentRequestOut"):
        field = shapes[name]["properties"]["sentence"]
        assert field["description"] == "The decision in words."
    found = shapes["PruneItemOut"]["properties"]["class"]
    assert found["description"] == "What becomes of the message."


def lists_of(agent: Client, project: Project) -> dict[str, dict[str, str]]:
    """The addresses of lists with cursors, with what has to be asked of them."""
    places = {"session_id": make_session(agent, 3), "slug": project.slug}
    return {
        path.format(**places): {"q": "message"} if path == "/api/search" else {}
        for path, method, route in ROUTES
        if {"get", "cursor"}
        <= {method, *(one.get("name") for one in route["parameters"])}
        and not re.search("{(?!session_id|slug)", path)
    }


def test_an_empty_cursor_is_the_first_page_of_every_list(
    agent: Client, project: Project
) -> None:
    lists = lists_of(agent, project)
    assert len(lists) == 10
    for path, query in lists.items():
        first = agent.get(path, query)
        assert first.status_code == 200, first.content
        assert agent.get(path, {**query, "cursor": ""}).json() == first.json(), path


def test_a_cursor_that_somebody_made_up_is_a_fault_of_no_list(
    agent: Client, project: Project
) -> None:
    first = "0001-01-01T00:00:00+14:00"
    odd: tuple[object, ...] = (
        5,
        -1,
        2**70,
        1.5,
        True,
        None,
        "",
        "\x00",
        "\ud800",
        first,
        [],
        {},
    )
    made_up = [[one] * length for one in odd for length in (1, 2, 3, 4)]
    made_up += [[first[:19], 5], [first[:19], "0" * 32], [2**61, "\ud800", 1]]
    for path, query in lists_of(agent, project).items():
        for position in made_up:
            answer = agent.get(path, {**query, "cursor": encode_cursor(position)})
            assert answer.status_code in (200, 422), (path, position)


def test_what_is_too_few_is_counted_as_the_caller_sent_it(
    client: Client, editor: User, project: Project
) -> None:
    client.force_login(editor)
    session_id = make_session(client, [{"role": "user", "content": "Go on."}])
    answer = client.post(
        "/api/tools/resequence_messages",
        {"session_id": session_id, "new_order": [0]},
        content_type="application/json",
    )
    told = "List should have at least 2 items, not 1."
    assert (answer.status_code, answer.json()["detail"]) == (422, told)


@pytest.mark.django_db
def test_a_query_parameter_that_a_route_does_not_take_is_refused(agent: Client) -> None:
    document = is_problem(agent.get("/api/sessions?limt=5&{x}=1"), 422)
    assert [one["at"] for one in document["errors"]] == [["limt"], ["{x}"]]
    assert document["detail"] == (
        "There is no query parameter limt; the query parameters are "
        "project, q, source, external_id, cursor, limit."
    )


@pytest.mark.django_db
def test_a_route_without_parameters_refuses_every_one(agent: Client) -> None:
    session = make_session(agent, 1)
    document = is_problem(agent.get(f"/api/sessions/{session}?inline=1"), 422)
    assert document["detail"] == "There is no query parameter inline."


@pytest.mark.django_db
def test_a_form_field_that_an_import_does_not_take_is_refused(agent: Client) -> None:
    form = {"file": SimpleUploadedFile("a.json", b"[]"), "projct": "demo"}
    document = is_problem(agent.post("/api/sessions/import", form), 422)
    assert document["at"] == ["projct"]
    assert document["detail"] == (
        "There is no form field projct; "
        "the form fields are file, format, paths, project, session."
    )


@pytest.mark.django_db
def test_a_request_without_its_body_is_told_to_send_one(agent: Client) -> None:
    document = is_problem(
        agent.post("/api/sessions", "", content_type="application/json"), 422
    )
    assert document["detail"] == "Send a body: a JSON object."
