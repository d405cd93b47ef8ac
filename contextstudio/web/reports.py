"""What browsers report against the Content-Security-Policy."""

import json
import logging

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from . import counters

logger = logging.getLogger("contextstudio.csp")

_LONGEST = 16 * 1024


@csrf_exempt
@require_POST
def record(request: HttpRequest) -> HttpResponse:
    """Log a report on one line and count it. Anyone may send one, so it is kept short."""
    try:
        report = json.loads(request.read(_LONGEST))
    except ValueError:
        return HttpResponse(status=400)
    counters.csp_reports.add()
    logger.warning("CSP report %s", json.dumps(report)[:2000])
    return HttpResponse(status=204)
