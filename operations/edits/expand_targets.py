"""In the place of an operation that would cut through folds, one that takes all of them in."""

import uuid

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from operations.domain.thread.check import expanded
from operations.log.selectors import get_operation
from operations.log.transaction import LogTransaction

from . import services


@atomic
def expand_targets(caller: Caller, operation_id: uuid.UUID) -> LogTransaction:
    """Take an operation that is set aside back, and record it with the targets it would need.

    Raises Invalid where no range would do.
    """
    _, key = get_operation(caller, operation_id)
    taken_back = services.switch(caller, operation_id, services.Act.REVERT)
    edit = expanded(taken_back.before, key)
    if edit is None:
        raise Invalid("There is no wider range for this operation.", at=["operation"])
    return services.record_edit(caller, taken_back.session.pk, edit)
