"""Refusals as answers over HTTP: `application/problem+json` (RFC 9457)."""

from django.http import HttpResponse

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.problem import problem
from contextstudio.accounts.responses import dump

PROBLEM = "application/problem+json"


def problem_response(error: DomainError) -> HttpResponse:
    answer = HttpResponse(
        dump(problem(error)), status=error.status, content_type=PROBLEM
    )
    if error.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    return answer
