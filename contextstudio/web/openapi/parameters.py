"""Refuses unknown parameters of a route, like unknown members of a body.

Ninja ignores them, so that `?limt=5` would be answered as if it were not there.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NoReturn

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.operation import Operation
from ninja.params.models import ParamModel
from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from contextstudio.accounts.domain.errors import unknown_name

_OF_FORMS = frozenset({"form", "file"})


class NamesModel(ParamModel):
    """A model that Ninja resolves in addition to a route's parameters; it refuses unknown names."""

    __ninja_param_source__ = "query"  # type: ignore[assignment]  # as Ninja's own models
    __ninja_flatten_map_reverse__: ClassVar[dict[Any, Any]] = {}

    in_query: ClassVar[list[str]]
    in_form: ClassVar[list[str] | None]
    """The fields of its form; None if it takes no form."""

    @classmethod
    def get_request_data(cls, *_: Any) -> None:
        """Return nothing: `resolve` only reads the names."""

    @classmethod
    def resolve(  # type: ignore[override]  # it returns no values
        cls, request: HttpRequest, api: NinjaAPI, path_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Return no values. Raises ValidationError with a fault for each unknown name."""
        faults = list(_faults("query parameter", request.GET, cls.in_query))
        if cls.in_form is not None:
            sent = [*request.POST, *request.FILES]
            faults += _faults("form field", sent, cls.in_form)
        if faults:
            _refuse(faults)
        return {}


def names_model(operation: Operation) -> type[NamesModel]:
    """The model with the names that a route takes."""
    of_query: list[str] = []
    of_form: list[str] = []
    for model in operation.models:
        source = model.__ninja_param_source__
        if source == "query":
            of_query += model.__ninja_flatten_map__
        elif source in _OF_FORMS:
            of_form += [
                field.alias or name for name, field in model.model_fields.items()
            ]
    return type(
        "Names", (NamesModel,), {"in_query": of_query, "in_form": of_form or None}
    )


def _faults(
    kind: str, sent: Iterable[str], known: list[str]
) -> Iterator[InitErrorDetails]:
    for name in sent:
        if name not in known:
            # As an argument, since a name may contain braces.
            words = {"words": unknown_name(kind, name, known)}
            error = PydanticCustomError("unknown_parameter", "{words}", words)
            yield {"type": error, "loc": (name,), "input": None}


def _refuse(faults: list[InitErrorDetails]) -> NoReturn:
    raise ValidationError.from_exception_data("parameters", faults)
