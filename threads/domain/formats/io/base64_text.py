"""Bytes encoded in JSON as base64, alone or in a `data:` URI."""

import base64
import binascii
import re

from threads.domain.part import JSON

_DATA_URI = re.compile(
    r"data:([\w.+/*-]*+)[\w=.+-]*+(?:;[\w=.+-]*+)*?;base64,", re.ASCII
)
_MEDIA_TYPE = re.compile(r"[\w.+/*-]+(;[\w=.+-]+)*", re.ASCII)
_UNKNOWN_TYPE = "application/octet-stream"


def decode(data: JSON) -> bytes | None:
    """The bytes of base64 text; None if it isn't base64 (a scrubber may have altered it)."""
    if not isinstance(data, str):
        return None
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def encode(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def split_data_uri(uri: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a base64 `data:` URI; None if it isn't one."""
    if not (match := _DATA_URI.match(uri)):
        return None
    data = decode(uri[match.end() :])
    return None if data is None else (match[1] or _UNKNOWN_TYPE, data)


def data_uri(media_type: str, data: bytes) -> str:
    """Bytes as a `data:` URI; an invalid media type is replaced by `application/octet-stream`."""
    type_ = media_type if _MEDIA_TYPE.fullmatch(media_type) else _UNKNOWN_TYPE
    return f"data:{type_};base64,{encode(data)}"
