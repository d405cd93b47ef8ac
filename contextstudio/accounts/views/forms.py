"""What the forms of accounts share."""

from django import forms

from contextstudio.accounts.domain.errors import DomainError


def field_of(refusal: DomainError, form: forms.Form) -> str | None:
    """The field in which was typed what is refused, if it is one."""
    at = str(refusal.at[-1]) if refusal.at else ""
    return at if at in form.fields else None
