"""Completes the API's description: every route may refuse, and writes can be repeated.

Ninja describes what a route returns; that any route can refuse, and in which shape, is known only
to the API as a whole. So is what the parameters mean that many routes take.
"""

from typing import Any

from ninja import NinjaAPI, Router
from ninja.errors import ValidationError, ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from pydantic import BaseModel, ConfigDict, Field

from contextstudio.accounts.domain.paging import DEFAULT_LIMIT, MAX_LIMIT
from contextstudio.accounts.idempotency import MAX_KEY_LENGTH
from contextstudio.accounts.responses import PROBLEM
from contextstudio.accounts.shape import known_names

from ..guard import SAFE_METHODS
from ..idempotency import HEADER
from .field_docs import describe_fields
from .parameters import names_model


class Fault(BaseModel):
    """One thing that is wrong with a request. A conflict may have further members."""

    model_config = ConfigDict(extra="allow")

    code: str = Field(description="A stable identifier, for programs.")
    detail: str = Field(description="What is wrong, in a sentence for people.")
    at: list[str | int] = Field(
        description="The place in the request, as names and indexes; empty for the whole request."
    )


class ProblemDocument(Fault):
    """The body of every error response (RFC 9457).

    A conflict may also have `operations`, `needs`, `fitting`, `head`, `version`, `message_count` or
    `job_id`, depending on its code.
    """

    type: str
    title: str = Field(description="The name of the status.")
    status: int = Field(description="The HTTP status of the response.")
    errors: list[Fault] = Field(
        description="Every fault, with its place in the request; at least one."
    )


class DescribedAPI(NinjaAPI):
    """Ninja's API, with descriptions and refusals that apply to all routes."""

    def __init__(self, **options: Any) -> None:
        self._models: list[Any] = []
        super().__init__(**options)
        self._described: dict[str, OpenAPISchema] = {}

    def add_router(self, prefix: str, router: Router, **options: Any) -> None:  # type: ignore[override]  # never by name
        """Add routes, which refuse unknown parameters; what can be read is there for HEAD too."""
        super().add_router(prefix, router, **options)
        for path in router.path_operations.values():
            for operation in path.operations:
                self._models += [*operation.models, *operation.response_models.values()]
                operation.models = [*operation.models, names_model(operation)]
                if "GET" in operation.methods:
                    operation.methods = [*operation.methods, "HEAD"]

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Add the names `known` at its place to each fault, while its model is at hand."""
        refused = super().validation_error_from_error_contexts(error_contexts)
        known = [
            known_names(context.model, fault)
            for context in error_contexts
            for fault in context.pydantic_validation_error.errors(include_url=False)
        ]
        for fault, names in zip(refused.errors, known, strict=True):
            fault["known"] = names
        return refused

    def get_openapi_schema(
        self,
        *,
        path_prefix: str | None = None,
        path_params: dict[str, Any] | None = None,
    ) -> OpenAPISchema:
        """The OpenAPI 3.1 description of all routes; built once, which takes half a second."""
        if path_prefix is None:
            path_prefix = self.get_root_path(path_params or {})
        if path_prefix not in self._described:
            self._described[path_prefix] = self._describe(path_prefix)
        return self._described[path_prefix]

    def _describe(self, path_prefix: str) -> OpenAPISchema:
        described = super().get_openapi_schema(path_prefix=path_prefix)
        components = described["components"]
        shape = ProblemDocument.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        components["schemas"] |= {**shape.pop("$defs"), ProblemDocument.__name__: shape}
        describe_fields(components["schemas"], self._models)
        components["responses"] = {ProblemDocument.__name__: _REFUSAL}
        components["parameters"] = {"IdempotencyKey": _IDEMPOTENCY_KEY}
        for route in described["paths"].values():
            route.pop("head", None)  # it goes without saying
            for method, operation in route.items():
                _complete(operation, writes=method.upper() not in SAFE_METHODS)
        return described


_REFUSAL = {
    "description": (
        "An error: 401 without valid credentials, 403 without the right, 404 for what doesn't "
        "exist or isn't visible to the caller, 409 for a conflict with what is recorded, 422 for "
        "an invalid request, 429 and 503 (with `Retry-After`) if a later request may succeed."
    ),
    "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
}
_IDEMPOTENCY_KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Requests with the same key take effect once and get the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
}

_PARAMETERS = {
    "active_tags": "Tags that are active for this request alone, separated by commas; empty: "
    "none. By default, the session's active tags.",
    "bundle_id": "The bundle's id, a UUID.",
    "cursor": "`next_cursor` of the previous page; omit it for the first page.",
    "import_id": "The import's id, a UUID.",
    "inline": "Whether to return images and files as `data:` URIs instead of URLs.",
    "job_id": "The job's id, a UUID.",
    "key_id": "The key's id, a number.",
    "limit": f"How many items a page has at most: 1 to {MAX_LIMIT}, {DEFAULT_LIMIT} by default.",
    "operation_id": "The operation's id, a UUID.",
    "session_id": "The session's id, a UUID.",
    "slug": "The project's slug.",
    "username": "The person's username.",
}
"""What parameters mean that mean the same in every route."""


def _complete(operation: dict[str, Any], *, writes: bool) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in _PARAMETERS:
            parameter.setdefault("description", _PARAMETERS[parameter["name"]])
    # As strings: Ninja's keys are numbers, which can't be sorted with `default`.
    returned = {str(code): what for code, what in operation["responses"].items()}
    refused = {"default": {"$ref": "#/components/responses/ProblemDocument"}}
    operation["responses"] = returned | refused
    if writes:
        parameters = operation.setdefault("parameters", [])
        parameters.append({"$ref": "#/components/parameters/IdempotencyKey"})
