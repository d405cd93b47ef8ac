"""The proxy against applications that only pass requests on: `python -m bench.forwarding.passing`.

P2 and P3: what a turn takes beyond the same one to the provider itself, against what a Django view
and a bare ASGI application take that read nothing of it (`pass_through`). P4: the cost of sending a
conversation that is ready as bytes, against the OpenAI SDK. For streamed replies: how long a piece
is on its way, and whether pieces are held back. One process each, same provider, in turn.
"""

import asyncio
import http.client
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpcore
import orjson

from bench import processes
from bench.context.replay import Row
from bench.transcript import messages

from .beside_litellm import PATH, proxying
from .loop import Peer, Timing, middle
from .provider import APART, PIECES, SAID

TURNS, WARM = 12, 3
COUNTS = (50, 2_000)
CLIENTS, EACH = 32, 6
STREAMS = 10
SENDS = 5
_HELD = 1_000_000 * 1_000 * APART / 2
"""Nanoseconds after which the next piece must have been sent before this one arrived."""


class Addresses(NamedTuple):
    """Addresses that get the same requests, with the key if one is needed."""

    direct: tuple[str, str]
    ours: tuple[str, str, str]
    passing: tuple[str, str]


def rows() -> Iterator[Row]:
    """The rows of P2, P3, P4 and streaming."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = processes.running_server(folder, "bench.forwarding.provider")
        provider, pid = stack.enter_context(served).split()
        passing = processes.running_server(
            folder, "bench.forwarding.pass_through", provider
        )
        base, passing_pid = stack.enter_context(passing).split()
        ours = stack.enter_context(proxying(folder, provider))
        ways = Addresses((provider, pid), ours, (base, passing_pid))
        for count in COUNTS:
            yield from _added_time(ways, count)
        yield _crowd(ways)
        yield from _streaming(ways)
        yield _sending(provider)


def _added_time(ways: Addresses, count: int) -> Iterator[Row]:
    """What ours takes beyond the provider, over what the peers take."""
    peers = [Peer(*ways.direct), Peer(*ways.ours)]
    peers += [Peer(*ways.passing), Peer(*ways.passing)]
    paths = [PATH, PATH, PATH, f"/bare{PATH}"]
    took: list[list[Timing]] = [[] for _ in peers]
    for body in _turns(count, TURNS + WARM):
        for peer, path, known in zip(peers, paths, took, strict=True):
            known.append(peer.timed(path, body))
    direct, ours, django, bare = (middle(known[WARM:]) for known in took)
    bars = {
        f"P2 {count:,} messages: a turn / Django passing it on": (django, 2.0),
        f"P3 {count:,} messages: a turn / ASGI passing it on": (
            bare,
            1.5 if count == min(COUNTS) else 4.0,
        ),
    }
    for name, (peer, bar) in bars.items():
        added, theirs = ours.wall - direct.wall, peer.wall - direct.wall
        figure = (
            f"{added / theirs:.1f} x, {1000 * added:.1f} and {1000 * theirs:.1f} ms"
        )
        cpu = f" (CPU {ours.cpu / peer.cpu:.1f} x)"
        yield Row(
            f"{name}, added p50", figure + cpu, f"{bar:g} x", added <= bar * theirs
        )


def _crowd(ways: Addresses) -> Row:
    """Requests per second from many clients with a conversation each."""
    taken, errors = [], 0
    for base, key, path in (
        (ways.ours[0], ways.ours[2], PATH),
        (ways.passing[0], "none", PATH),
    ):
        seconds, failed = asyncio.run(_at_once(base, key, path))
        taken.append(CLIENTS * EACH / seconds)
        errors += failed
    figure = f"{taken[0]:.0f} and {taken[1]:.0f} a second, {errors} errors"
    name = f"P2 {CLIENTS} clients of 50 messages: ours and Django passing it on"
    return Row(name, figure, "0 errors", errors == 0)


async def _at_once(base: str, key: str, path: str) -> tuple[float, int]:
    """Seconds until all clients have had their turns, and how many turns failed."""
    headers = [("Content-Type", "application/json"), ("Authorization", f"Bearer {key}")]
    async with httpcore.AsyncConnectionPool(max_connections=CLIENTS) as pool:

        async def client(number: int) -> int:
            failed = 0
            for body in _turns(50, EACH, f"Client {number}"):
                response = await pool.request(
                    "POST", f"{base}{path}", headers=headers, content=body
                )
                failed += response.status != http.HTTPStatus.OK
            return failed

        begun = time.perf_counter()
        failures = await asyncio.gather(*map(client, range(CLIENTS)))
        return time.perf_counter() - begun, sum(failures)


class _Stream(NamedTuple):
    """When each piece of a reply was sent, and when it arrived, in nanoseconds."""

    sent: list[int]
    came: list[int]

    @property
    def first(self) -> float:
        """Milliseconds that the first piece was on its way."""
        return (self.came[0] - self.sent[0]) / 1e6

    @property
    def held(self) -> int:
        """The most later pieces that the provider had already sent when a piece arrived."""
        return max(
            sum(sent + _HELD < came for sent in self.sent[place + 1 :])
            for place, came in enumerate(self.came)
        )


def _streaming(ways: Addresses) -> Iterator[Row]:
    direct, ours = list[_Stream](), list[_Stream]()
    for body in _turns(50, STREAMS + WARM, "Streaming", stream=True):
        direct.append(_streamed(ways.direct[0], "none", body))
        ours.append(_streamed(ways.ours[0], ways.ours[2], body))
    added = median(one.first for one in ours[WARM:]) - median(
        one.first for one in direct[WARM:]
    )
    name = "a reply that streams: first piece on its way, beyond the provider's"
    yield Row(name, f"{added:.2f} ms", "2 ms", added <= 2)
    most = max(one.held for one in ours[WARM:])
    yield Row("pieces of it that are held back", f"{most}", "1", most <= 1)


def _streamed(base: str, key: str, body: bytes) -> _Stream:
    address = urlsplit(base)
    line = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    line.request("POST", PATH, body, headers)
    response, found = line.getresponse(), _Stream([], [])
    while said := response.readline():
        now = time.monotonic_ns()
        if said.startswith(b"data: {"):
            [choice] = orjson.loads(said[len("data: ") :])["choices"]
            found.sent.append(int(choice["delta"]["content"]))
            found.came.append(now)
    line.close()
    if len(found.came) != PIECES:
        raise RuntimeError(f"{len(found.came)} pieces came, not {PIECES}")
    return found


def _sending(provider: str) -> Row:
    """P4: the CPU time of sending 2,000 messages from this process, against the OpenAI SDK."""
    count, [body] = max(COUNTS), _turns(max(COUNTS), 1)
    given = orjson.loads(body)
    ours, theirs = asyncio.run(_sent_both_ways(provider, body, given))
    name = f"P4 sending {count:,} messages as bytes / AsyncOpenAI.create, CPU"
    figure = f"1/{theirs / ours:.0f} ({1000 * ours:.1f} and {1000 * theirs:.0f} ms)"
    return Row(name, figure, "1/20", 20 * ours <= theirs)


async def _sent_both_ways(
    provider: str, body: bytes, given: dict[str, Any]
) -> tuple[float, float]:
    from openai import AsyncOpenAI  # noqa: PLC0415  # takes a second

    headers = [("Content-Type", "application/json")]
    async with (
        httpcore.AsyncConnectionPool() as pool,
        AsyncOpenAI(base_url=f"{provider}/v1", api_key="none") as sdk,
    ):

        async def as_bytes() -> None:
            await pool.request(
                "POST", f"{provider}{PATH}", headers=headers, content=body
            )

        async def by_sdk() -> None:
            await sdk.chat.completions.create(**given)

        return await _cpu(as_bytes), await _cpu(by_sdk)


async def _cpu(send: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """The median CPU seconds of sending."""
    taken = []
    for _ in range(SENDS + 1):
        begun = time.process_time()
        await send()
        taken.append(time.process_time() - begun)
    return median(taken[1:])


def _turns(
    count: int, turns: int, opening: str = "Go on", *, stream: bool = False
) -> Iterator[bytes]:
    """The bodies of a conversation of `count` messages, each time with one more reply and question.

    With another opening all texts differ: a session is also recognised by its replies.
    """
    said = [
        {**one, "content": f"{opening}: {one.get('content') or ''}"}
        for one in messages(count)
    ]
    for number in range(1, turns + 1):
        said += [{"role": "user", "content": f"{opening}, {number} of {count}."}]
        asked = {"model": "gpt-4o", "messages": said}
        yield orjson.dumps(asked | ({"stream": True} if stream else {}))
        said += [{"role": "assistant", "content": SAID}]


if __name__ == "__main__":
    for row in rows():
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:64} {row.value:>44} {row.bar:>8} {verdict}", flush=True)
