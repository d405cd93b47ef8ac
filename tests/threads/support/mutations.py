"""Malformed files: specimens whose bytes, structure or packaging is broken.

`mutated(seed)` returns the same file for the same seed in every process. Mutations change bytes
(flipped, doubled, cut out, cut off), encodings, line ends, JSON (types swapped, members removed,
values nested deep, keys doubled, extreme numbers), and archives (packed once, twice, packed
wrongly, or so that little unpacks to much).
"""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import zstandard

from .agent_specimens import document
from .specimens import SPECIMENS

Mutation = Callable[[Random, bytes], bytes]

STRANGE: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, 10**400, "", "\x00", "\ud800", "../../etc/passwd"),
    *([], {}, [[]], {"": {"": ""}}, "x" * 100_000, ["user"] * 5_000),
    *({"role": "user", "content": {"content": {"content": None}}}, {"type": []}),
    *("data:image/png;base64,////", "data:text/html;base64,PHNjcmlwdD4=", "2026-99-99"),
)
BOMB_BYTES = 120 << 20
"""The unpacked size of the worst archive."""


def mutated(seed: int) -> tuple[str, bytes]:
    """The name and the bytes of one file."""
    random = Random(seed)
    name = random.choice(sorted(SPECIMENS))
    data = SPECIMENS[name]
    steps = [random.choice(MUTATIONS) for _ in range(random.choice((1, 1, 2, 3)))]
    for step in steps:
        data = step(random, data)
    return f"{seed}-{'-'.join(step.__name__ for step in steps)}", data


def flip(random: Random, data: bytes) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 20)):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def truncate(random: Random, data: bytes) -> bytes:
    """Cut off the end."""
    return data[: random.randrange(len(data) + 1)]


def cut(random: Random, data: bytes) -> bytes:
    """Remove a piece, or repeat it many times."""
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[start:end] * random.choice((0, 2, 50)) + data[end:]


def insert(random: Random, data: bytes) -> bytes:
    """Insert foreign data between two lines or bytes."""
    stranger = random.choice(
        (
            *(
                b"\x00" * 100,
                b"\xff\xfe\x00",
                b"{" * 5_000,
                b"[" * 100_000,
                b'"\\ud800"',
            ),
            *(b"NaN", b'{"a":1,"a":2}', b"\r\r\n", b"\xef\xbb\xbf", b"x" * 2_000_000),
        )
    )
    breaks = [place for place, byte in enumerate(data) if byte == 10] or [len(data)]
    place = random.choice((random.choice(breaks), random.randrange(len(data) + 1)))
    return data[:place] + b"\n" + stranger + b"\n" + data[place:]


def encode(random: Random, data: bytes) -> bytes:
    """Use another encoding, or other line ends."""
    text = data.decode("utf-8", "replace")
    match random.randrange(6):
        case 0:
            return text.encode("utf-16")
        case 1:
            return text.encode("utf-32-le")
        case 2:
            return text.encode("latin-1", "replace")
        case 3:
            return b"\xef\xbb\xbf" * 2 + data
        case 4:
            return data.replace(b"\n", b"\r\n")
    return data.replace(b"\n", b"\r")


def shuffle(random: Random, data: bytes) -> bytes:
    """Shuffle the lines, and repeat some of them."""
    rows = data.splitlines(keepends=True)
    rows += random.choices(rows, k=len(rows) // 2) if rows else []
    random.shuffle(rows)
    return b"".join(rows)


def restructure(random: Random, data: bytes) -> bytes:
    """Change types, remove or rename members of JSON."""
    rows = data.splitlines() if data.count(b"\n") > 1 else [data]
    changed = [_restructured(random, row) for row in rows]
    return b"\n".join(changed)


def deepen(random: Random, data: bytes) -> bytes:
    """Nest JSON deeply."""
    depth = random.choice((50, 190, 250, 10_000))
    if random.random() < 0.5:
        return b"[" * depth + data + b"]" * depth
    return b'{"messages":' * depth + data + b"}" * depth


def double(random: Random, data: bytes) -> bytes:
    """Repeat a member of an object with another value."""
    place = data.find(b'"', random.randrange(len(data) + 1))
    strange = json.dumps(random.choice(STRANGE)).encode()
    return (
        data if place < 0 else data[:place] + b'"role":' + strange + b"," + data[place:]
    )


def pack(random: Random, data: bytes) -> bytes:
    """Pack the data, perhaps twice, perhaps cutting off the end."""
    packed = random.choice((gzip.compress, zstandard.compress, _zipped))(data)
    if random.random() < 0.3:
        packed = random.choice((gzip.compress, zstandard.compress, _zipped))(packed)
    return packed if random.random() < 0.6 else flip(random, truncate(random, packed))


def bomb(random: Random, data: bytes) -> bytes:
    """Build a small file that unpacks to a very large one, or to very many."""
    match random.randrange(5):
        case 0:
            return _packed_zeros(gzip.compress)
        case 1:
            return _packed_zeros(zstandard.compress)
        case 2:
            return _zipped(*[b" " * (BOMB_BYTES // 10)] * 10)
        case 3:
            return _zipped(*[b""] * 50_001)
    inner = _zipped(b"\0" * BOMB_BYTES)
    return _zipped(*[inner] * 4)


def misname(random: Random, data: bytes) -> bytes:
    """Build an archive whose members' names lead elsewhere."""
    names = (
        *("../../x.jsonl", "/etc/x.json", "C:\\x.json", "a/" * 400 + "x", "x\0y", " "),
        *("conversations.json", "header.json", "samples/1_epoch_1.json", "con.jsonl"),
    )
    return _zipped(*[data] * 3, names=random.sample(names, 3))


MUTATIONS: tuple[Mutation, ...] = (
    *(flip, truncate, cut, insert, encode, shuffle, restructure, restructure),
    *(restructure, deepen, double, pack, misname),
)
BOMBS_EVERY = 100
"""One in this many seeds is a bomb: each takes a second."""


def file_of(seed: int) -> tuple[str, bytes]:
    """`mutated`, or a bomb for certain seeds."""
    if seed % BOMBS_EVERY == BOMBS_EVERY // 2:
        random = Random(seed)
        return f"{seed}-bomb", bomb(random, SPECIMENS["openai"])
    return mutated(seed)


def _restructured(random: Random, row: bytes) -> bytes:
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return row
    for _ in range(random.randint(1, 3)):
        value = _changed(random, value)
    return json.dumps(value, ensure_ascii=True).encode()


def _changed(random: Random, value: Any) -> Any:
    """A value with one place in it changed."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return random.choice(STRANGE)
    key = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy = value.copy()
    match random.randrange(8):
        case 0:
            del copy[key]
        case 1 if isinstance(copy, dict):
            copy[random.choice(list(value))] = copy.pop(key)
        case 2 if isinstance(copy, list):
            copy += [copy[key]] * 3
        case _:
            copy[key] = _changed(random, value[key])
    return copy


def _zipped(*members: bytes, names: list[str] | None = None) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(members):
            archive.writestr(
                names[number] if names else f"{number}/session.jsonl", data
            )
    return packed.getvalue()


def _packed_zeros(compress: Callable[[bytes], bytes]) -> bytes:
    return compress(document([{"role": "user", "content": " " * BOMB_BYTES}]))
