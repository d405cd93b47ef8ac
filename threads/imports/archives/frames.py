"""Checks that a zstandard file is complete: its reader ends early without an error."""

import io
from typing import BinaryIO

import zstandard

_MAX_HEADER_LENGTH = 18
_BLOCK_HEADER, _CHECKSUM, _SKIPPABLE_HEADER = 3, 4, 8
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_RLE = 1


def is_whole(stream: BinaryIO) -> bool:
    """Whether a zstandard file reaches the end of its last frame; reads headers only."""
    end = stream.seek(0, io.SEEK_END)
    place = 0
    while 0 <= place < end:
        stream.seek(place)
        place = _frame_end(stream, place, end)
    return place == end


def _frame_end(stream: BinaryIO, place: int, end: int) -> int:
    """The offset at which the frame that begins here ends; -1 if it can't be determined."""
    head = stream.read(_MAX_HEADER_LENGTH)
    if int.from_bytes(head[:4], "little") in _SKIPPABLE:
        return place + _SKIPPABLE_HEADER + int.from_bytes(head[4:8], "little")
    try:
        has_checksum = zstandard.get_frame_parameters(head).has_checksum
        place += zstandard.frame_header_size(head)
    except zstandard.ZstdError:
        return -1
    is_last = False
    while not is_last:
        if place + _BLOCK_HEADER > end:
            return -1
        stream.seek(place)
        header = int.from_bytes(stream.read(_BLOCK_HEADER), "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        place += _BLOCK_HEADER + (1 if kind == _RLE else size)
    return place + (_CHECKSUM if has_checksum else 0)
