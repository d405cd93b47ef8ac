"""A model provider: a real HTTP server whose answers depend on the requested model."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import PATIENCE_SECONDS

KEY = "sk-of-the-tests"
SUMMARY = "They chose SQLite."
_ENDS = {"wordy": "length", "filtered": "content_filter"}


@dataclass
class FakeProvider:
    """OpenAI's chat completions, at `base_url`.

    The model `fast` answers at once, `slow` pauses after its first word until `go_on` is set,
    `thinking` pauses before it, `busy` answers 429, so does `dated` (see `dates`), `fault` answers
    500, `broken` breaks off, `wordy` stops at its length limit, `filtered` at a filter, `redirect`
    redirects, `mute` answers with nothing, `plain` in one piece, `blocks` too, but in blocks and
    with an invalid count, `free` needs no key, and `none` does not exist. Below `/moved` everything
    redirects. Any other key is refused.
    """

    port: int = 0
    answer: Callable[[dict[str, Any]], str] = lambda asked: SUMMARY
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)
    """The values of `retry` and `date` for `dated`."""
    go_on: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def forget(self) -> None:
        """Reset to the initial state."""
        self.asked.clear()
        self.paths.clear()
        self.dates = {}
        self.answer = lambda asked: SUMMARY
        self.go_on.clear()
        self.began.clear()


class _Handler(BaseHTTPRequestHandler):
    provider: FakeProvider

    def log_message(self, *_: object) -> None:
        """Log nothing: the tests look at what was asked."""

    def do_GET(self) -> None:
        self.provider.paths.append(self.path)
        self._refuse(404, "there is nothing to get")

    def do_POST(self) -> None:
        provider = self.provider
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(body)
        provider.paths.append(self.path)
        provider.asked.append(asked)
        if self.path.startswith("/moved"):
            return self._redirect()
        is_paid = asked["model"] != "free"
        sent = self.headers.get("Authorization")
        if is_paid and sent != f"Bearer {KEY}":
            return self._refuse(401, f"this key is wrong: {sent}")
        match asked["model"]:
            case "busy":
                return self._refuse(429, "slow down", retry="7")
            case "dated":
                return self._refuse(429, "slow down", **self.provider.dates)
            case "fault":
                return self._refuse(500, "out of order")
            case "none":
                return self._refuse(404, "no such model")
            case "redirect":
                return self._redirect()
            case "plain" | "blocks":
                return self._say_at_once(asked)
        return self._stream(asked)

    def _redirect(self) -> None:
        self.send_response(307)
        elsewhere = f"http://127.0.0.1:{self.provider.port}/else"
        self.send_header("Location", elsewhere)
        self.end_headers()

    def _say_at_once(self, asked: dict[str, Any]) -> None:
        words, is_plain = self.provider.answer(asked), asked["model"] == "plain"
        blocks = [{"type": "text", "text": words}, {"type": "other"}]
        message = {"role": "assistant", "content": words if is_plain else blocks}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        used = {"prompt_tokens": 100 if is_plain else "many", "completion_tokens": 20}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        self.send_response(200)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.end_headers()
        self._write(json.dumps({**whole, "choices": [choice], "usage": used}))

    def _stream(self, asked: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        model = asked["model"]
        words = self.provider.answer(asked) if model != "mute" else ""
        half = 0 if model == "thinking" else len(words) // 2
        first, rest = words[:half], words[half:]
        self._say({"content": first})
        if model == "broken":
            return
        if model == "thinking":
            self._say({"reasoning_content": "Which port?"})
        if model in ("slow", "thinking"):
            self.provider.began.set()
            self.provider.go_on.wait(PATIENCE_SECONDS)
        self._say({"content": rest})
        self._say({}, finish_reason=_ENDS.get(model, "stop"))
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        self._chunk({"choices": [], "usage": usage})
        self._write("data: [DONE]\n\n")

    def _say(self, delta: dict[str, str], finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self._chunk({"choices": [choice]})

    def _chunk(self, rest: dict[str, Any]) -> None:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1}
        self._write(f"data: {json.dumps({**head, 'model': 'm', **rest})}\n\n")

    def _write(self, text: str) -> None:
        try:
            self.wfile.write(text.encode())
            self.wfile.flush()
        except OSError:  # the client has gone
            pass

    def _refuse(
        self, status: int, sentence: str, *, retry: str = "", date: str = ""
    ) -> None:
        self.send_response_only(status)
        for name, value in (("Retry-After", retry), ("Date", date)):
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps({"error": {"message": sentence}}).encode())


def serve() -> Iterator[FakeProvider]:
    """Run a provider until the generator is resumed."""
    provider = FakeProvider()
    handler = type("Handler", (_Handler,), {"provider": provider})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        provider.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield provider
        provider.go_on.set()
        server.shutdown()
