"""Reads everything from a server through REST alone, which every version has."""

from typing import Any

import httpx

VIEWS = ("annotated", "effective", "original")
PROVIDERS = ("openai", "anthropic", "gemini")


def read(client: httpx.Client) -> dict[str, Any]:
    """Every session with its threads, log, notes, contexts and exports; memos and searches."""
    sessions = sorted(_get(client, "/sessions")["items"], key=lambda one: one["title"])
    return {
        "sessions": {one["title"]: _session(client, one["id"]) for one in sessions},
        "memos": _tool(client, "retrieve_memos", query="ferry timetable"),
        "search": _get(client, "/search", q="harbour"),
        "imports": _get(client, "/imports"),
    }


def without_sentences(value: Any) -> Any:
    """An answer in which each reason is replaced by whether there is one.

    Sentences for people may be reworded; the facts must stay.
    """
    if isinstance(value, list):
        return [without_sentences(item) for item in value]
    if isinstance(value, dict):
        return {
            name: bool(item) if name == "reason" else without_sentences(item)
            for name, item in value.items()
        }
    return value


def known(answer: Any, expected: Any) -> Any:
    """An answer without members that later versions added to the expected one."""
    if isinstance(answer, list) and isinstance(expected, list):
        if len(answer) != len(expected):
            return answer
        return [known(one, other) for one, other in zip(answer, expected, strict=True)]
    if isinstance(answer, dict) and isinstance(expected, dict):
        return {
            name: known(value, expected[name])
            for name, value in answer.items()
            if name in expected
        }
    return answer


def _session(client: httpx.Client, id_: str) -> dict[str, Any]:
    path = f"/sessions/{id_}"
    operations = _get(client, f"{path}/operations")
    return {
        "session": _get(client, path),
        "messages": _get(client, f"{path}/messages"),
        "threads": {view: _get(client, f"{path}/thread", view=view) for view in VIEWS},
        "with_tag": _get(
            client, f"{path}/thread", view="effective", active_tags="brief"
        ),
        "operations": operations,
        "each": [
            _get(client, f"/operations/{o['id']}") for o in operations["operations"]
        ],
        "log": _get(client, f"{path}/log"),
        "staged": _get(client, f"{path}/staged")["operations"],
        "lenses": _get(client, f"{path}/lenses"),
        "policy": _get(client, f"{path}/policy")["policy"],
        "scratchpad": _get(client, f"{path}/scratchpad"),
        "versions": _get(client, f"{path}/scratchpad/versions"),
        "state": _get(client, f"{path}/state"),
        "groups": _tool(client, "list_groups", session_id=id_),
        "found": _tool(
            client, "search_session_history", session_id=id_, query="harbour"
        ),
        "contexts": {
            name: _get(client, f"{path}/context", provider=name)["messages"]
            for name in PROVIDERS
        },
        "exports": {
            f"{form} {view}": _export(client, path, form, view)
            for form, view in (
                ("openai", "original"),
                ("anthropic", "original"),
                ("contextstudio", "original"),
            )
        },
    }


def _get(client: httpx.Client, path: str, **query: str) -> Any:
    answer = client.get(f"/api{path}", params=query)
    assert answer.status_code == 200, (path, answer.text)
    return answer.json()


def _export(client: httpx.Client, path: str, form: str, view: str) -> Any:
    return _get(client, f"{path}/export", format=form, view=view)


def _tool(client: httpx.Client, name: str, **arguments: object) -> Any:
    answer = client.post(f"/api/tools/{name}", json=arguments)
    assert answer.status_code == 200, (name, answer.text)
    return answer.json()
