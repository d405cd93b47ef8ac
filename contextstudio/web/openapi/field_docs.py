"""The docstrings of fields, as the API's description gives them.

A string below a field describes it to readers of the code and of the API alike. Pydantic can read
these strings too, but whenever a class is made: a start would take longer.
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel


def describe_fields(schemas: dict[str, Any], models: Iterable[Any]) -> None:
    """Give fields that have no description the docstring below them.

    `schemas` are those of an OpenAPI document, by the names of their models; `models` are the
    models of its routes.
    """
    for model in _all_models(models):
        schema = schemas.get(model.__name__, {})
        for name, words in _docs_of(model).items():
            field = model.model_fields.get(name)
            shown = schema.get("properties", {}).get((field and field.alias) or name)
            if shown is not None:
                shown.setdefault("description", words)


def _all_models(annotations: Iterable[Any]) -> Iterator[type[BaseModel]]:
    """The models in annotations, and those in their fields; each once."""
    seen, waiting = set[Any](), list(annotations)
    while waiting:
        annotation = waiting.pop()
        waiting += get_args(annotation)
        if not inspect.isclass(annotation) or annotation in seen:
            continue
        seen.add(annotation)
        if issubclass(annotation, BaseModel):
            waiting += [one.annotation for one in annotation.model_fields.values()]
            yield annotation


def _docs_of(model: type[BaseModel]) -> dict[str, str]:
    """The docstrings of a model's fields, including inherited ones."""
    docs: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if issubclass(owner, BaseModel) and not owner.__module__.startswith("pydantic"):
            docs |= _docs_in(owner.__module__).get(owner.__qualname__, {})
    return docs


@cache
def _docs_in(module: str) -> dict[str, dict[str, str]]:
    """The docstrings of the fields of a module's classes, by class and field."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = dict(_docs_below(node.body))
    return found


def _docs_below(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as words)),
            ):
                yield name, inspect.cleandoc(words)
