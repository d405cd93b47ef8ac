"""Fills a database with the current code, and stores it with what is read from it now."""

import base64
import gzip
import json
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from contextstudio.sqlite import use_bundled_library
from tests.servers import PATIENCE_SECONDS, Server

from . import NAME, SECRET
from .answers import read

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def main(folder: Path) -> None:
    """Create the folder. Django's own settings are those of the server's process."""
    with tempfile.TemporaryDirectory() as data:
        server = _Server(Path(data))
        server.start()
        key = server.key()
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(
            base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS
        ) as client:
            _fill(client)
            server.index()
            answers = read(client)
        server.stop()
        _keep(Path(data), folder)
    (folder / "key").write_text(key)
    text = json.dumps(answers, ensure_ascii=False, sort_keys=True)
    (folder / "answers.json").write_text(text + "\n")


class _Server(Server):
    def environment(self) -> dict[str, str]:
        return super().environment() | {"SECRET_KEY": SECRET}

    def index(self) -> None:
        """Add the recorded messages to the word index."""
        self.command("shell", "-c", f"{INDEX}; list(BODIES.catch_up())")


INDEX = "from threads.search.bodies import BODIES"


def _keep(data: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    use_bundled_library()
    import sqlite3  # the one that wrote it: the standard library's may be older

    with closing(sqlite3.connect(data / "contextstudio.sqlite3")) as database:
        database.execute("VACUUM INTO ?", [str(folder / "database")])
    with (folder / "database").open("rb") as file, gzip.open(folder / NAME, "wb") as to:
        shutil.copyfileobj(file, to)
    (folder / "database").unlink()
    shutil.copytree(data / "blobs", folder / "blobs")


def _fill(client: httpx.Client) -> None:
    """Create sessions: with an entry of every kind, an imported one, one with a purged group."""
    for shown in client.get("/api/sessions").json()["items"]:  # the demonstration
        client.delete(f"/api/sessions/{shown['id']}", params={"purge": 1})
    id_ = _post(client, "/sessions", title="Ferries", messages=_talk())["id"]
    path = f"/sessions/{id_}"

    def edit(type_: str, **more: object) -> Any:
        return _post(client, f"{path}/operations", type=type_, **more)

    def control(made: Any, word: str, **more: object) -> Any:
        return _post(client, f"/operations/{made['operation_id']}/{word}", **more)

    edit("tag", range=[1, 2], tags=["question"])
    digest = edit("digest", range=[3, 6], summary="The timetable was read.")
    control(digest, "amend", summary="The ferry timetable was read: 7 sailings.")
    edit(
        "revise", range=[4, 5], replacements=[{"role": "user", "content": "In short?"}]
    )
    off = edit("snip", range=[8, 8], title="Small talk")
    control(off, "toggle", active=False)
    edit("condense", target="m10", text="40 lines of a log.")
    edit(
        "insert", after_idx=7, messages=[{"role": "user", "content": "By night, too."}]
    )
    edit("resequence", new_order=[14, 13])
    told = {"start": "The harbour master was told at", "replacement": "They knew by"}
    edit("replace", patterns=[told])
    edit("redact", patterns=[{"start": "7731", "all": True}], include_folded=True)
    edit("snip", range=[15, 16], condition={"tags": ["brief"]})
    control(edit("digest", range=[17, 18], summary="Reverted."), "revert")
    control(edit("snip", range=[19, 19], propose=True), "accept")
    control(edit("snip", range=[20, 20], propose=True), "reject")
    edit("digest", range=[21, 22], summary="Still proposed.", propose=True)
    bundle = _post(
        client,
        f"{path}/bundles",
        title="Two at once",
        operations=[
            {"type": "tag", "range": [17, 17], "tags": ["a"]},
            {"type": "snip", "range": [18, 18]},
        ],
    )
    _post(client, f"/bundles/{bundle['bundle_id']}/toggle", active=False)
    edit("snip", range=[23, 23])
    _post(client, f"{path}/undo")
    _post(client, f"{path}/redo")
    _post(client, f"{path}/undo")
    _post(client, f"{path}/staged", operations=[{"type": "snip", "range": [17, 17]}])
    _put(client, f"{path}/lenses/Handover", tags=["brief", "late"])
    _put(client, f"{path}/policy", policy={"preset": "nexora"})
    _put(client, f"{path}/scratchpad", content="- [ ] ask the crew")
    _put(client, f"{path}/scratchpad", content="- [x] ask the crew")
    _put(client, f"{path}/state", content="Goal: night sailings")
    _tool(client, "set_active_tags", session_id=id_, tags=["late"])
    _tool(
        client,
        "save_memo",
        session_id=id_,
        content="The ferry timetable is kept in UTC.",
        tags=["time"],
    )
    _tool(
        client,
        "request_context_slice",
        session_id=id_,
        start_message_index=0,
        end_message_index=24,
    )
    file = "\n".join(json.dumps(one) for one in _rollout()).encode()
    _files(client, "night.jsonl", file)
    purged = _post(client, "/sessions", title="Purged", messages=_talk()[:8])["id"]
    _tool(client, "remove_group", session_id=purged, group_id=2)


def _talk() -> list[dict[str, Any]]:
    """25 messages in OpenAI's form: calls, an image, a number to redact, a STATE."""
    call = {"name": "read_log", "arguments": '{"day": "Friday"}'}
    image = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "You help at the harbour."},
        {"role": "user", "content": "When do the night ferries sail?"},
        {"role": "assistant", "content": "I look at the timetable."},
        {"role": "user", "content": "The door's code is 7731."},
        {"role": "assistant", "content": "Noted: 7731."},
        {"role": "user", "content": "What does the harbour master say?"},
        {"role": "assistant", "content": "Seven sailings on Friday."},
        {"role": "user", "content": "And what do you see here?"},
        {"role": "assistant", "content": "Good evening to you, too."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        },
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": "\n".join(f"22:{n:02d} hold H{n} swept" for n in range(40)),
        },
        {"role": "assistant", "content": "The harbour master was told at ten."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "A picture of the quay:"},
                {"type": "image_url", "image_url": {"url": image}},
            ],
        },
    ]
    for number in range(13, 25, 2):
        talk.append({"role": "user", "content": f"Question {number}?"})
        talk.append({"role": "assistant", "content": f"Answer {number + 1}."})
    talk[-1]["content"] += "\n\n### STATE\n\n**Goal**: ferries by night\n"
    return talk


def _rollout() -> list[dict[str, Any]]:
    """A session of Claude Code."""
    ids = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(4)]
    said: list[tuple[str, Any]] = [
        ("user", "Where is the harbour?"),
        ("assistant", [{"type": "text", "text": "North of the bridge."}]),
        ("user", "And the ferry?"),
        ("assistant", [{"type": "text", "text": "It leaves from the quay."}]),
    ]
    return [
        {
            "type": role,
            "uuid": ids[n],
            "parentUuid": ids[n - 1] if n else None,
            "sessionId": "11111111-1111-4111-8111-111111111111",
            "timestamp": f"2026-01-05T10:00:0{n}.000Z",
            "cwd": "/work",
            "version": "2.0.0",
            "message": {"role": role, "content": content},
        }
        for n, (role, content) in enumerate(said)
    ]


def _post(client: httpx.Client, path: str, **body: object) -> Any:
    return _done(client.post(f"/api{path}", json=body))


def _put(client: httpx.Client, path: str, **body: object) -> Any:
    return _done(client.put(f"/api{path}", json=body))


def _tool(client: httpx.Client, name: str, **arguments: object) -> Any:
    return _post(client, f"/tools/{name}", **arguments)


def _files(client: httpx.Client, name: str, content: bytes) -> Any:
    return _done(client.post("/api/sessions/import", files={"file": (name, content)}))


def _done(answer: httpx.Response) -> Any:
    assert answer.status_code < 300, (str(answer.request.url), answer.text)
    return answer.json()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
