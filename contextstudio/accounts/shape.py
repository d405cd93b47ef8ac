"""The base class of request bodies, and refusals for pydantic's validation errors."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticKnownError
from pydantic_core.core_schema import no_info_before_validator_function

from .domain.errors import Invalid, Place, unknown_name

_VALUE_ERROR_PREFIX = "Value error, "
_AFTER_VALIDATION = " after validation"
_TYPE_NAMES = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "an object"),
    "uuid_type": "a UUID",
}
"""Expected types in our words, where pydantic names its own."""
_UNKNOWN_TYPE_CODES = frozenset({"union_tag_invalid", "union_tag_not_found"})
_BRANCH = re.compile(r"(?:str|int|constrained-str|[A-Z]\w*)\Z|.*[\[(]")
"""Steps of a fault's place by which pydantic names an alternative that it tried."""
_OTHER_TYPE_SUFFIXES = ("_type", "_parsing")
"""Suffixes of the codes of faults that say that a value isn't meant for an alternative."""
_SHOULD_BE = "Input should be "


def _refuse_boolean(code: Literal["int_type", "float_type"]) -> Callable[[Any], Any]:
    def refuse(value: Any) -> Any:
        if isinstance(value, bool):
            raise PydanticKnownError(code)
        return value

    return refuse


_NUMBERS = {"int": _refuse_boolean("int_type"), "float": _refuse_boolean("float_type")}
"""Validators that precede pydantic's own for numbers."""
_BOOLEAN_REFUSERS = frozenset(_NUMBERS.values())
_PLAIN_MEMBERS = frozenset({"default", "expected", "metadata"})
"""Members of a schema that aren't schemas themselves."""


def _refuse_booleans(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_refuse_booleans, schema))
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    if kind in ("int", "float"):
        return no_info_before_validator_function(_NUMBERS[kind], schema)
    if (
        kind == "function-before"
        and schema["function"]["function"] in _BOOLEAN_REFUSERS
    ):
        return schema
    # Other dicts map names to fields or kinds.
    others = _PLAIN_MEMBERS if isinstance(kind, str) else ()
    return {
        name: value if name in others else _refuse_booleans(value)
        for name, value in schema.items()
    }


class RequestBody(BaseModel):
    """What a caller sends, as a body or as a tool's arguments.

    Unknown members are refused, and true where a number is wanted: pydantic would take it for 1.
    """

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Pydantic's schema, in which numbers accept no booleans, at any depth."""
        schema: CoreSchema = _refuse_booleans(handler(source))
        return schema


def wrong_shape(
    faults: Sequence[Mapping[str, Any]],
    *,
    place: Callable[[Place], Place] = lambda place: place,
    model: Any = None,
    fields: Sequence[str] = (),
) -> Invalid:
    """The refusal for the result of `ValidationError.errors()`: every fault with its place.

    For an unknown field or type it lists the known ones: a fault's own `known`, else those of
    `model`, of which `fields` are worth naming.
    """
    refusals = []
    for fault in _without_alternatives(faults):
        words, code, at = sentence(fault["msg"]), fault["type"], fault["loc"]
        known = fault.get("known") or known_names(model, fault)
        if code == "extra_forbidden":
            known = fields if fields and len(at) == 1 else known
            words = unknown_name("field", at[-1], known)
        if code in _UNKNOWN_TYPE_CODES:
            # The place of a union that found no kind lacks the member that names the kind.
            at, words = (*at, "type"), _unknown_type(fault["ctx"], known)
        if code == "missing" and not place(at):
            words = "Send a body: a JSON object."
        refusals.append(Invalid(words, at=place(at), code=code))
    first = refusals[0]
    return Invalid(first.message, at=first.at, errors=refusals)


def _without_alternatives(
    faults: Iterable[Mapping[str, Any]],
) -> Iterator[Mapping[str, Any]]:
    """The faults with places in the request only: pydantic adds steps for alternatives it tried.

    If a value fits no alternative, the faults count that say more than that it is of another kind;
    if none does, one fault lists the alternatives.
    """
    by_value: dict[Place, list[Mapping[str, Any]]] = {}
    for fault in faults:
        loc = tuple(fault["loc"])
        named = 1 if fault["type"] == "extra_forbidden" else 0  # the client's own name
        steps = range(len(loc) - named)
        tried = [i for i in steps if _BRANCH.match(str(loc[i]))]
        at = tuple(step for i, step in enumerate(loc) if i not in tried)
        value = loc[: tried[0]] if tried else loc
        told = {**fault, "loc": at}
        if fault["type"] in _TYPE_NAMES:
            told["msg"] = f"{_SHOULD_BE}{_TYPE_NAMES[fault['type']]}"
        by_value.setdefault(value, []).append(told)
    for value, found in by_value.items():
        telling = [
            fault
            for fault in found
            if fault["loc"] != value or not fault["type"].endswith(_OTHER_TYPE_SUFFIXES)
        ]
        shapes = dict.fromkeys(one["msg"] for one in found)
        either = " or ".join(shapes).replace(f" or {_SHOULD_BE}", " or ")
        yield from telling or [{**found[0], "msg": either}]


def known_names(model: Any, fault: Mapping[str, Any]) -> list[str]:
    """The known fields or types, for a fault of `model` that names an unknown one."""
    code, place = fault["type"], tuple(fault["loc"])
    if code == "extra_forbidden":
        models = _models_at(model, place[:-1])
        return [field.alias or name for name, field in _fields(models)]
    if code in _UNKNOWN_TYPE_CODES:
        return [kind for one in _models_at(model, place) for kind in _type_names(one)]
    return []


def _models_at(annotation: Any, place: Place) -> list[type[BaseModel]]:
    """The models possible at a place, which also names the types that unions chose."""
    models = list(_models(annotation))
    for step in place:
        inner = [
            found
            for name, field in _fields(models)
            if step in (name, field.alias)
            for found in _models(field.annotation)
        ]
        models = inner or [one for one in models if step in _type_names(one)] or models
    return models


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation, including those inside unions, lists and other generics."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _fields(models: Iterable[type[BaseModel]]) -> Iterator[tuple[str, FieldInfo]]:
    for model in models:
        yield from model.model_fields.items()


def _type_names(model: type[BaseModel]) -> tuple[str, ...]:
    field = model.model_fields.get("type")
    return get_args(field.annotation) if field else ()


def _unknown_type(context: Mapping[str, Any], known: Sequence[str]) -> str:
    """A sentence without pydantic's word for kinds, tags, which means something else here."""
    if "tag" not in context:
        return f"Give a type: one of {', '.join(known)}." if known else "Give a type."
    return unknown_name("type", context["tag"], known)


def sentence(words: str) -> str:
    """A library's message with a capital and a full stop."""
    words = (
        words.removeprefix(_VALUE_ERROR_PREFIX)
        .replace(_AFTER_VALIDATION, "")
        .rstrip(".")
    )
    return f"{words[:1].upper()}{words[1:]}."
