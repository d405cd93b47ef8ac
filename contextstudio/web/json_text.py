"""Reading the JSON that clients send: strict and fast, and lossless for any text."""

import json
from typing import Any

import orjson

from contextstudio.accounts.domain.errors import Invalid


def read_json(body: bytes) -> Any:
    """The value of a JSON text. Raises Invalid for anything else, NaN and Infinity included.

    orjson refuses lone surrogates, which transcripts hold; the standard library reads them.
    """
    try:
        return orjson.loads(body)
    except ValueError:
        pass
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise Invalid(
            "The body is JSON that is nested too deeply.", code="json_too_deep"
        ) from error
    except ValueError as error:
        raise Invalid(f"The body is not JSON: {error}.", code="json_invalid") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no value of it")
