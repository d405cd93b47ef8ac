"""A refusal as the object that every door answers with (RFC 9457 with our members)."""

from http import HTTPStatus

from .errors import DomainError


def problem(error: DomainError) -> dict[str, object]:
    """`{type, title, status, code, detail, at, errors: [{code, detail, at}]}` and the facts.

    `errors` names every place that is at fault; it repeats the refusal itself where there is
    but one.
    """
    return {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        **_fault(error),
        "errors": [_fault(fault) | fault.facts for fault in error.errors]
        or [_fault(error)],
        **error.facts,
    }


def _fault(error: DomainError) -> dict[str, object]:
    return {"code": error.code, "detail": error.message, "at": list(error.at)}
