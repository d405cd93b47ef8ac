"""Files that are made while they are sent."""

from collections.abc import Iterator

from contextstudio.accounts.responses import CHUNK, Streamed

PIECE = b"x" * 10_000


async def test_of_a_download_no_more_is_made_than_is_sent() -> None:
    made: list[int] = []

    def pieces() -> Iterator[bytes]:
        for number in range(100):
            made.append(number)
            yield PIECE

    sent = aiter(Streamed(pieces()))
    first = await anext(sent)
    assert CHUNK <= len(first) < CHUNK + len(PIECE)
    assert len(made) * len(PIECE) == len(first)
    assert first + b"".join([chunk async for chunk in sent]) == 100 * PIECE
