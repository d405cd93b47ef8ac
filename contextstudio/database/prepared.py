"""Queries whose SQL is compiled once, for what each request or loop queries repeatedly.

Django compiles the SQL of a query anew each time, which takes ten times as long as answering it. A
prepared query is written with Django's own querysets, so that each rule is defined in one place:
where a value differs between calls it has a `Param`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import (
    CharField,
    Expression,
    Field,
    Model,
    QuerySet,
    TextField,
)
from django.db.models.expressions import DatabaseDefault
from django.db.models.query import (
    FlatValuesListIterable,
    ValuesListIterable,
    get_related_populators,
)

from . import driver

MAX_STATEMENTS = 200
"""How many statements are cached per query."""
Row = TypeVar("Row")


class _Slot(NamedTuple):
    """The place of a value in the parameters of a query, with its field."""

    name: str
    field: "Field[Any, Any]"


class Param(Expression):
    """A placeholder in a prepared query for a value passed by name with each call."""

    def __init__(self, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self._slot = _Slot(name, field)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        """Compile to a parameter of the statement."""
        return "%s", [self._slot]


class Prepared(Generic[Row]):
    """A query given by the function that makes it; returns rows as its queryset would.

    Each shape (the arguments of `make`) has its own SQL; the last `MAX_STATEMENTS` are cached.
    """

    def __init__(self, make: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._statement = lru_cache(MAX_STATEMENTS)(
            lambda *shape: _statement(make(*shape))
        )

    def rows(self, *shape: Any, **values: Any) -> list[Row]:
        """The rows of the query. `values` are those of its `Param` placeholders."""
        found: list[Row] = self._statement(*shape).rows(values)
        return found

    def first(self, *shape: Any, **values: Any) -> Row | None:
        """The first row of the query, or None."""
        return next(iter(self.rows(*shape, **values)), None)


def insert(rows: Sequence[Model]) -> None:
    """Insert rows of one model; values that the database fills in are not read back."""
    connection = connections[DEFAULT_DB_ALIAS]
    fields = tuple(
        one
        for one in type(rows[0])._meta.local_concrete_fields
        if not _is_database_default(one, rows[0])
    )
    values = [
        [_bound(one, one.pre_save(row, True), connection) for one in fields]
        for row in rows
    ]
    driver.write(_insert_statement(type(rows[0]), fields), values)


@lru_cache(maxsize=MAX_STATEMENTS)
def _insert_statement(
    model: type[Model], fields: tuple["Field[Any, Any]", ...]
) -> driver.Statement:
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    names = ", ".join(quote(one.column or "") for one in fields)
    places = ", ".join(["%s"] * len(fields))
    table = quote(model._meta.db_table)
    return driver.prepare(f"INSERT INTO {table} ({names}) VALUES ({places})")  # noqa: S608


def update(row: Model, *names: str) -> None:
    """Save some fields of an existing row."""
    connection, about = connections[DEFAULT_DB_ALIAS], row._meta
    fields: list[Any] = [*map(about.get_field, names), about.pk]
    values = [_bound(one, getattr(row, one.attname), connection) for one in fields]
    driver.write(_update_statement(type(row), names), [values])


@lru_cache(maxsize=MAX_STATEMENTS)
def _update_statement(model: type[Model], names: tuple[str, ...]) -> driver.Statement:
    about, quote = model._meta, connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields: list[Any] = [*map(about.get_field, names), about.pk]
    *places, key = (f"{quote(one.column)} = %s" for one in fields)
    table = quote(about.db_table)
    return driver.prepare(f"UPDATE {table} SET {', '.join(places)} WHERE {key}")  # noqa: S608


def _is_database_default(field: "Field[Any, Any]", row: Model) -> bool:
    """Whether the database assigns the value of a new row's field."""
    value = getattr(row, field.attname)
    return isinstance(value, DatabaseDefault) or (field.primary_key and value is None)


def _bound(field: "Field[Any, Any]", value: Any, connection: Any) -> Any:
    """A value in the form of a statement; a shortcut for text and None, half of all values."""
    if value is None or (type(value) is str and type(field) in _TEXT_FIELDS):
        return value
    return field.get_db_prep_save(value, connection)


_TEXT_FIELDS = frozenset({CharField, TextField})
Converter = Callable[[Any, Any, Any], Any]


class _Statement(NamedTuple):
    """A compiled query."""

    sql: driver.Statement | None
    """None if the query can't find anything."""
    parameters: Sequence[Any]
    converters: Sequence[tuple[int, Sequence[Converter], Any]]
    read: Callable[[Sequence[Any]], Any]
    """Converts the columns of a row into what the queryset returns."""

    def rows(self, values: Mapping[str, Any]) -> list[Any]:
        if self.sql is None:
            return []
        connection = connections[DEFAULT_DB_ALIAS]
        bound = [
            one.field.get_db_prep_value(values[one.name], connection)
            if isinstance(one, _Slot)
            else one
            for one in self.parameters
        ]
        found = driver.fetch(self.sql, bound, connection)
        return [self.read(self._converted(row, connection)) for row in found]

    def _converted(self, row: Sequence[Any], connection: Any) -> Sequence[Any]:
        columns = list(row)
        for place, converters, expression in self.converters:
            for convert in converters:
                columns[place] = convert(columns[place], expression, connection)
        return columns


def _statement(queryset: "QuerySet[Any, Any]") -> _Statement:
    compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:  # such as a filter on an empty list
        return _Statement(None, (), (), tuple)
    found = compiler.get_converters(expression for expression, *_ in compiler.select)
    converters = [(place, *one) for place, one in found.items()]
    kind: Any = queryset._iterable_class
    reads: dict[Any, Callable[..., Any]] = {
        FlatValuesListIterable: itemgetter(0),
        ValuesListIterable: tuple,
    }
    read = reads[kind] if kind in reads else _reader(compiler)
    return _Statement(driver.prepare(sql), parameters, converters, read)


def _reader(compiler: Any) -> Callable[[Sequence[Any]], Model]:
    """A function that converts rows into models, as a queryset does."""
    about = compiler.klass_info
    model, select = about["model"], about["select_fields"]
    start, end = select[0], select[-1] + 1
    names = [one[0].target.attname for one in compiler.select[start:end]]
    annotated = list(compiler.annotation_col_map.items())
    related = get_related_populators(about, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # as of Django 5.2

    def read(row: Sequence[Any]) -> Model:
        found: Model = model.from_db(DEFAULT_DB_ALIAS, names, row[start:end])
        for populate in related:
            populate.populate(row, found)
        for name, place in annotated:
            setattr(found, name, row[place])
        return found

    return read
