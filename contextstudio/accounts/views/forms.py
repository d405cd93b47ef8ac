"""Shared by the forms of accounts."""

from django import forms

from contextstudio.accounts.domain.errors import DomainError


def field_of(refusal: DomainError, form: forms.Form) -> str | None:
    """The form field that a refusal is about, or None."""
    at = str(refusal.at[-1]) if refusal.at else ""
    return at if at in form.fields else None
