"""Every route, with a request for it and the status that each caller gets."""

from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from operations.context.pages.forms import fields_of
from operations.domain.context.policy import REPLAY
from operations.tools import TOOLS

CALLERS = (
    *("anonymous", "stranger", "viewer", "reviewer", "editor", "owner", "revoked"),
)
"""`revoked` sends a revoked key, whatever its browser's session says."""


class GatedRoute(NamedTuple):
    """A route, with a request for it and the status for each of `CALLERS`."""

    method: str
    path: str
    statuses: tuple[int, ...]
    body: Any = None


def api_read(path: str, **body: Any) -> GatedRoute:
    return GatedRoute("GET", f"api/{path}", (401, 404, 200, 200, 200, 200, 401))


def api_list(path: str) -> GatedRoute:
    return GatedRoute("GET", f"api/{path}", (401, 200, 200, 200, 200, 200, 401))


def to_propose(
    path: str, body: Any = None, *, ok: tuple[int, int, int] = (200, 200, 200)
) -> GatedRoute:
    return GatedRoute("POST", f"api/{path}", (401, 404, 403, *ok, 401), body or {})


def to_edit(
    path: str, body: Any = None, *, ok: int = 200, method: str = "POST"
) -> GatedRoute:
    return GatedRoute(
        method, f"api/{path}", (401, 404, 403, 403, ok, ok, 401), body or {}
    )


def page(path: str, *, ok: int = 200) -> GatedRoute:
    return GatedRoute("GET", path, (302, 404, ok, ok, ok, ok, 302))


def page_of_all(path: str, *, ok: int = 200) -> GatedRoute:
    return GatedRoute("GET", path, (302, ok, ok, ok, ok, ok, 302))


def form(
    path: str, body: Any = None, *, statuses: tuple[int, ...] = (403, 403, 200, 200)
) -> GatedRoute:
    return GatedRoute("FORM", path, (401, 404, *statuses, 401), body or {})


S = "sessions/{session}"
SNIP = {"type": "snip", "range": [4, 5]}
SAID = [{"role": "user", "content": "said"}]
REQUEST: Any = {
    "door": "apply",
    "format": "openai",
    "decision": "first",
    "messages": 1,
    "known": 0,
}
EVERYONE = (200,) * 7
TABLE = (
    # These need no credentials: they reveal nothing about any project.
    GatedRoute("GET", "api/openapi.json", EVERYONE),
    GatedRoute("GET", "api/docs", EVERYONE),
    GatedRoute("GET", "api/", (404,) * 7),
    GatedRoute("GET", "healthz", EVERYONE),
    GatedRoute("GET", "readyz", (503,) * 7),  # no worker runs beside these tests
    GatedRoute("GET", "metrics", EVERYONE),
    GatedRoute("POST", "csp-report", (204,) * 7, {}),
    GatedRoute("GET", "favicon.ico", (302,) * 7),
    GatedRoute("GET", "sign-in", EVERYONE),
    GatedRoute("GET", "sign-in/{token}", (410, *(302,) * 5, 410)),
    GatedRoute("FORM", "sign-in/{token}", (410, *(302,) * 5, 410), {}),
    GatedRoute("GET", "sign-in/invitation/{token}", (410,) * 7),
    GatedRoute("FORM", "sign-in/invitation/{token}", (410,) * 7, {}),
    GatedRoute("FORM", "sign-out", (302,) * 7, {}),
    # REST: sessions and their originals.
    GatedRoute(
        "POST", "api/sessions", (401, 404, 403, 403, 201, 201, 401), {"project": "demo"}
    ),
    api_list("sessions"),
    api_list("search?q=x"),
    GatedRoute(
        "FORM", "api/sessions/import", (401, 404, 403, 403, 201, 201, 401), "file"
    ),
    api_list("imports"),
    api_read("imports/{import}"),
    api_read(S),
    to_edit(S, {"title": "New"}, method="PATCH"),
    to_edit(S, ok=204, method="DELETE"),
    GatedRoute("DELETE", f"api/{S}?purge=1", (401, 404, 403, 403, 403, 204, 401), {}),
    api_read(f"{S}/messages"),
    # Off here; only callers who may see the session are told so.
    GatedRoute(
        "GET", f"api/{S}/relevance?question=it", (401, 404, 409, 409, 409, 409, 401)
    ),
    to_edit(f"{S}/messages", {"messages": SAID}, ok=201),
    api_read("blobs/{blob}"),
    api_read("jobs/{job}"),
    api_list("jobs"),
    to_edit("jobs/{job}/cancel"),
    to_edit("jobs/{job}/continue", ok=409),
    to_edit("jobs/{job}/retry", ok=409),
    to_edit("sessions/{deleted}/restore"),
    # REST: projects and who is in them.
    api_list("projects"),
    GatedRoute("POST", "api/projects", (401, *(201,) * 5, 401), {"slug": "new"}),
    GatedRoute(
        "PATCH",
        "api/projects/demo",
        (401, 404, 403, 403, 403, 200, 401),
        {"name": "Another name"},
    ),
    GatedRoute("DELETE", "api/projects/demo", (401, 404, 403, 403, 403, 409, 401), {}),
    api_read("projects/demo/members"),
    GatedRoute(
        "POST",
        "api/projects/demo/members",
        (401, 404, 403, 403, 403, 201, 401),
        {"username": "stranger", "role": "viewer"},
    ),
    GatedRoute(
        "PUT",
        "api/projects/demo/members/viewer",
        (401, 404, 403, 403, 403, 200, 401),
        {"role": "editor"},
    ),
    GatedRoute(
        "DELETE",
        "api/projects/demo/members/reviewer",
        (401, 404, 403, 204, 403, 204, 401),
        {},
    ),
    # REST: keys. Their maker and administrators of their project may see them.
    api_list("keys"),
    GatedRoute(
        "POST",
        "api/keys",
        (401, 404, *(201,) * 4, 401),
        {"project": "demo", "scopes": ["read"]},
    ),
    GatedRoute("GET", "api/keys/{key}", (401, *(404,) * 4, 200, 401)),
    GatedRoute(
        "PATCH", "api/keys/{key}", (401, *(404,) * 4, 200, 401), {"name": "named"}
    ),
    GatedRoute("POST", "api/keys/{key}/rotate", (401, *(404,) * 4, 200, 401), {}),
    GatedRoute("DELETE", "api/keys/{key}", (401, *(404,) * 4, 204, 401), {}),
    api_read("projects/demo/upstreams"),
    GatedRoute(
        "PUT",
        "api/projects/demo/upstreams/openai",
        (401, 404, 403, 403, 403, 200, 401),
        {"base_url": "https://93.184.216.34/v1", "api_key": "sk-1"},
    ),
    GatedRoute(
        "DELETE",
        "api/projects/demo/upstreams/gemini",
        (401, 404, 403, 403, 403, 204, 401),
        {},
    ),
    # REST: summaries and who makes them.
    to_propose(f"{S}/summaries", {"start": 1, "end": 2}, ok=(202, 202, 202)),
    api_read(f"{S}/summaries"),
    to_edit(f"{S}/summaries", {"disable_auto_summarize": True}, method="PATCH"),
    api_read("providers?project=demo"),
    GatedRoute(
        "PUT",
        "api/projects/demo/providers/groq",
        (401, 404, 403, 403, 403, 200, 401),
        {"api_key": "sk-1"},
    ),
    to_edit("projects/demo/providers/groq/test", {}, ok=422),  # not set up
    GatedRoute(
        "DELETE",
        "api/projects/demo/providers/xai",
        (401, 404, 403, 403, 403, 404, 401),
        {},
    ),
    api_read("projects/demo/summaries"),
    GatedRoute(
        "PATCH",
        "api/projects/demo/summaries",
        (401, 404, 403, 403, 403, 200, 401),
        {"summarization_provider": "groq"},
    ),
    # REST: the thread and the log.
    api_read(f"{S}/thread"),
    api_read(f"{S}/operations"),
    api_read(f"{S}/suggestions"),
    api_read(f"{S}/actors"),
    to_edit(f"{S}/actors/{{actor}}/toggle", {"active": False}),
    to_propose(f"{S}/operations", SNIP, ok=(201, 201, 201)),
    to_propose(f"{S}/bundles", {"operations": [SNIP]}, ok=(201, 201, 201)),
    api_read(f"{S}/log"),
    to_propose(f"{S}/undo", ok=(409, 409, 200)),
    to_propose(f"{S}/redo", ok=(409, 409, 409)),
    api_read("operations/{operation}"),
    to_edit("operations/{operation}/toggle", {"active": False}),
    to_edit("operations/{operation}/revert"),
    to_propose("operations/{proposal}/accept"),
    to_propose("operations/{proposal}/reject"),
    to_edit("operations/{operation}/amend", {"summary": "Better"}),
    GatedRoute(
        "POST",
        "api/operations/{operation}/reveal",
        (401, 404, 403, 403, 403, 422, 401),
        {},
    ),
    to_edit("bundles/{bundle}/toggle", {"active": False}, ok=409),
    to_edit("bundles/{bundle}/revert"),
    to_propose("bundles/{bundle}/accept"),
    to_propose("bundles/{bundle}/reject"),
    api_read(f"{S}/snapshots"),
    api_read(f"{S}/snapshots/known"),
    to_propose(f"{S}/snapshots", {"name": "new"}, ok=(201, 201, 201)),
    to_edit(f"{S}/snapshots/known/restore"),
    GatedRoute(
        "DELETE",
        f"api/{S}/snapshots/known",
        (401, 404, 403, 403, 204, 204, 401),
        {},
    ),
    api_read(f"{S}/lenses"),
    api_read(f"{S}/lenses/known"),
    to_edit(f"{S}/lenses/new", {"tags": ["a"]}, method="PUT"),
    to_edit(f"{S}/lenses/known", ok=204, method="DELETE"),
    to_edit(f"{S}/apply", {"messages": SAID}),
    GatedRoute(
        "POST",
        f"api/{S}/apply#reading",
        (401, 404, 200, 200, 200, 200, 401),
        {"messages": SAID, "append": False},
    ),
    api_read(f"{S}/requests"),
    api_read(f"{S}/requests/1"),
    api_read(f"{S}/export"),
    # REST: what the model sees.
    api_read(f"{S}/context"),
    api_read(f"{S}/ledger"),
    api_read(f"{S}/staged"),
    to_propose(f"{S}/staged", {"operations": [SNIP]}, ok=(201, 201, 201)),
    to_propose(f"{S}/staged/commit"),
    to_propose(f"{S}/staged/discard"),
    api_read(f"{S}/policy"),
    to_edit(f"{S}/policy", {"policy": {"preset": "slop"}}, method="PUT"),
    GatedRoute(
        "PUT",
        f"api/{S}/policy#trying",
        (401, 404, 200, 200, 200, 200, 401),
        {"policy": None, "dry_run": True},
    ),
    api_list("archive"),
    api_read(f"{S}/transfer"),
    GatedRoute(
        "POST",
        "api/sessions/transfer?project=demo",
        (401, 404, 403, 403, 201, 201, 401),
        {"format": "contextstudio-session", "version": 1},
    ),
    GatedRoute(
        "POST",
        "api/archive",
        (401, 404, 403, 403, 201, 201, 401),
        {"session_id": "{session}", "start": 1, "end": 2},
    ),
    GatedRoute(
        "GET",
        "api/archive/m1?session={session}",
        (401, 404, 200, 200, 200, 200, 401),
    ),
    api_read(f"{S}/tray"),
    GatedRoute(
        "POST",
        f"api/{S}/tray",
        (401, 404, 201, 201, 201, 201, 401),
        {"ref_id": "m1"},
    ),
    GatedRoute("DELETE", f"api/{S}/tray", (401, 404, 204, 204, 204, 204, 401), {}),
    GatedRoute(
        "DELETE",
        f"api/{S}/tray/{UUID(int=1)}",
        (401, 404, 204, 204, 204, 204, 401),
        {},
    ),
    # A tray with entries is tested in `tests/archive/test_tray.py`.
    to_propose(f"{S}/tray/insert", ok=(409, 409, 409)),
    to_propose(f"{S}/prune"),
    GatedRoute(
        "POST",
        f"api/{S}/prune#trying",
        (401, 404, 200, 200, 200, 200, 401),
        {"dry_run": True},
    ),
    api_read(f"{S}/rules"),
    to_edit(f"{S}/rules", {"rules": {"keep_last_n": 5}}, method="PUT"),
    api_read(f"{S}/hindsight"),
    GatedRoute(
        "POST",
        "api/projects/demo/hindsight",
        (401, 404, 202, 202, 202, 202, 401),
        {"policy": {"window": 1}, "sessions": 1},
    ),
    GatedRoute(
        "POST",
        f"api/{S}/hindsight",
        (401, 404, 200, 200, 200, 200, 401),
        {"policy": {"window": 1}},
    ),
    api_read("projects/demo/policy"),
    GatedRoute(
        "PUT",
        "api/projects/demo/policy",
        (401, 404, 403, 403, 403, 200, 401),
        {"policy": {"preset": "nexora"}},
    ),
    api_read(f"{S}/scratchpad"),
    api_read(f"{S}/scratchpad/versions"),
    to_edit(f"{S}/scratchpad", {"content": "Plan"}, method="PUT"),
    api_read(f"{S}/state"),
    to_edit(f"{S}/state", {"content": "Goal: ship"}, method="PUT"),
    api_list("tools?format=mcp"),
    to_propose("tools/snip_messages", {"session_id": "{session}", "range": [4, 5]}),
    GatedRoute("POST", "api/tools/dance", (401, *(404,) * 5, 401), {}),
    # Each tool's rights are tested in `test_every_tool`.
    *(
        GatedRoute(
            "POST", f"api/tools/{name}", (401, *(422,) * 5, 401), {"colour": "red"}
        )
        for name in TOOLS
        if name != "snip_messages"
    ),
    # Pages of people.
    page_of_all("", ok=302),
    page_of_all("sessions/"),
    page_of_all("sessions/matches?q=x"),
    page_of_all("imports/"),
    page("imports/{import}/"),
    form("imports/{import}/delete-sessions", statuses=(403, 403, 302, 302)),
    form(
        f"imports/{{import}}/restore-sessions?{urlencode({'at': '2026-01-01T00:00Z'})}",
        statuses=(403, 403, 302, 302),
    ),
    page_of_all("jobs/"),
    page_of_all("settings/keys/"),
    page_of_all("help/"),
    page_of_all("help/operations"),
    GatedRoute("GET", "settings/keys/{key}/", (302, 404, 404, 404, 404, 200, 302)),
    GatedRoute("FORM", "settings/keys/{key}/", (401, 404, 404, 404, 404, 422, 401), {}),
    GatedRoute(
        "FORM", "settings/keys/{key}/rotate", (401, 404, 404, 404, 404, 200, 401), {}
    ),
    GatedRoute(
        "FORM", "settings/keys/{key}/revoke", (401, 404, 404, 404, 404, 302, 401), {}
    ),
    GatedRoute("FORM", "sessions/import", (401, 422, 422, 422, 302, 302, 401), "text"),
    page_of_all("settings/account/"),
    GatedRoute(
        "FORM", "settings/account/name", (401, 302, 302, 302, 302, 302, 401), {}
    ),
    GatedRoute(
        "FORM", "settings/account/password", (401, 422, 422, 422, 422, 422, 401), {}
    ),
    page_of_all("settings/projects/"),
    page("settings/projects/demo/"),
    form(
        "settings/projects/demo/",
        {"username": "viewer", "role": "editor", "change": "1"},
        statuses=(403, 403, 403, 302),
    ),
    form(
        "settings/projects/demo/rename",
        {"name": "Another name"},
        statuses=(403, 403, 403, 302),
    ),
    form("settings/projects/demo/delete", statuses=(403, 403, 403, 302)),
    form(
        "settings/projects/demo/remove",
        {"username": "viewer"},
        statuses=(302, 403, 403, 302),
    ),
    form(
        "settings/projects/demo/invite",
        {"role": "editor"},
        statuses=(403, 403, 403, 200),
    ),
    form(
        "settings/projects/demo/invitations/1/withdraw",
        statuses=(403, 403, 403, 404),
    ),
    page_of_all("sessions/deleted"),
    page_of_all("settings/jobs/"),
    form("settings/jobs/{job}/cancel", statuses=(403, 403, 302, 302)),
    form("jobs/{job}/cancel"),
    form("jobs/{job}/forget"),
    form(f"{S}/rename", {"title": "New"}, statuses=(403, 403, 302, 302)),
    form(f"{S}/delete", statuses=(403, 403, 302, 302)),
    page(f"{S}/"),
    form("sessions/{deleted}/restore", statuses=(403, 403, 302, 302)),
    form("sessions/{deleted}/purge", statuses=(403, 403, 403, 302)),
    form(
        f"{S}/estimate",
        {"type": "snip", "targets": "m4 m5"},
        statuses=(200,) * 4,
    ),
    page(f"{S}/chunk?start=0&count=10"),
    page(f"{S}/changes?since=1"),
    form(f"{S}/folds/o1", {"open": "1"}, statuses=(200,) * 4),
    form(f"{S}/folds", {"open": "1"}, statuses=(200,) * 4),
    page(f"{S}/children?operation=o1&start=0&count=2"),
    page(f"{S}/messages/m0/raw"),
    page(f"{S}/context"),
    page(f"{S}/context.json"),
    page(f"{S}/provider-checks"),
    page(f"{S}/prune"),
    form(f"{S}/prune", statuses=(403, 302, 302, 302)),
    page(f"{S}/archive"),
    page(f"{S}/recall?ref=m1", ok=302),
    form(
        f"{S}/archive/insert",
        {"ref": "m1"},
        statuses=(403, 302, 302, 302),
    ),
    page(f"{S}/transfer"),
    form(f"{S}/tray", {"ref": "m1"}, statuses=(302,) * 4),
    form(f"{S}/tray/empty", statuses=(302,) * 4),
    form(f"{S}/tray/{UUID(int=1)}/remove", statuses=(302,) * 4),
    # A tray with entries is tested in `tests/archive/test_tray.py`.
    form(f"{S}/tray/insert", statuses=(403, 302, 302, 302)),
    page(f"{S}/policy"),
    form(f"{S}/policy", {"act": "reset"}, statuses=(403, 403, 302, 302)),
    form(
        f"{S}/policy?project",
        {**fields_of(REPLAY), "act": "project"},
        statuses=(403, 403, 403, 302),
    ),
    page(f"{S}/policy/effect?{urlencode(fields_of(REPLAY))}"),
    page(f"{S}/requests"),
    page("settings/projects/demo/upstreams"),
    form(
        "settings/projects/demo/upstreams",
        {"provider": "openai", "base_url": "https://93.184.216.34/v1"},
        statuses=(403, 403, 403, 302),
    ),
    form(
        "settings/projects/demo/upstreams/remove",
        {"provider": "gemini"},
        statuses=(403, 403, 403, 302),
    ),
    page(f"{S}/sent"),
    page(f"{S}/notes"),
    form(
        f"{S}/notes",
        {"act": "objective", "objective": "Ship"},
        statuses=(403, 403, 302, 302),
    ),
    page(f"{S}/notes?compare=1"),
    page("settings/projects/demo/providers"),
    form(
        "settings/projects/demo/providers",
        {"name": "groq", "api_key": "sk-1"},
        statuses=(403, 403, 403, 302),
    ),
    form("settings/projects/demo/providers/settings", statuses=(403, 403, 403, 302)),
    form("settings/projects/demo/providers/xai/remove", statuses=(403, 403, 403, 404)),
    form("settings/projects/demo/providers/groq/test", statuses=(403, 403, 422, 422)),
    form(f"{S}/summaries", {"targets": "m1"}, statuses=(403, 200, 200, 200)),
    page(f"{S}/summaries/pending"),
    page(f"{S}/summaries/settings"),
    form(f"{S}/summaries/settings", statuses=(403, 403, 302, 302)),
    # A job with a summary is tested in `tests/archive/summaries/test_pages.py`.
    page(f"{S}/summaries/{{job}}", ok=422),
    form(f"{S}/state", statuses=(403, 200, 200, 200)),
    page(f"{S}/state/{{job}}", ok=422),
    form(f"{S}/summaries/{{job}}/cancel", statuses=(403, 403, 422, 422)),
    page(f"{S}/memos?q=x&ref=m0"),
    form(f"{S}/memos", {"content": "Known"}, statuses=(403, 403, 302, 302)),
    # An existing memo is tested in `tests/archive/test_memos.py`.
    form(f"{S}/memos/{UUID(int=1)}", {"content": "Known"}, statuses=(404,) * 4),
    page(f"{S}/events"),
    page(f"{S}/events/{{event}}"),
    page(f"{S}/export"),
    page(f"{S}/selection?keys=m0"),
    form(f"{S}/tokens", {"text": "Words"}, statuses=(200,) * 4),
    page(f"{S}/locate?key=m0"),
    page(f"{S}/find?q=x"),
    page(f"{S}/dialogs/digest?targets=m0"),
    page(f"{S}/dialogs/texts"),
    form(f"{S}/texts", statuses=(422, 422, 422, 422)),
    page(f"{S}/panel"),
    page(f"{S}/ledger"),
    page(f"{S}/hindsight"),
    form(f"{S}/hindsight/trials", {"window": "x"}, statuses=(422,) * 4),
    page(f"{S}/hindsight/trials/{UUID(int=1)}", ok=404),
    page(f"{S}/log"),
    page(f"{S}/outline"),
    form(
        f"{S}/operations",
        {"type": "snip", "targets": "m4 m5"},
        statuses=(403, 200, 200, 200),
    ),
    form(
        f"{S}/operations/o1/amend",
        {"type": "amend", "operation": "o1", "text": "Better"},
    ),
    form(f"{S}/operations/o1/revert"),
    form(f"{S}/operations/o2/accept", statuses=(403, 200, 200, 200)),
    form(f"{S}/bundles/{{bundle}}/reject", statuses=(403, 200, 200, 200)),
    form(f"{S}/proposals/accept", statuses=(403, 200, 200, 200)),
    form(f"{S}/proposals/reject", statuses=(403, 200, 200, 200)),
    form(f"{S}/actors/{{actor}}/off"),
    form(f"{S}/snapshots", {"name": "new"}, statuses=(403, 200, 200, 200)),
    form(f"{S}/lenses/use", {"name": "known"}),
    form(f"{S}/lenses/delete", {"name": "known"}),
    form(f"{S}/snapshots/restore", {"name": "known"}),
    form(f"{S}/snapshots/delete", {"name": "known"}),
    form(f"{S}/undo", statuses=(403, 409, 409, 200)),
    form(f"{S}/redo", statuses=(403, 409, 409, 409)),
    form(f"{S}/staged/commit", statuses=(403, 200, 200, 200)),
    form(f"{S}/staged/discard", statuses=(403, 200, 200, 200)),
    form(f"{S}/tags", {"tags": "a"}),
)
