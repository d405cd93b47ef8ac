"""Statements whose SQL costs nothing, for what is asked and kept with every request of a loop.

Django makes the SQL of a query anew each time, which takes ten times as long as the answer. A
prepared query is written with Django's own querysets, so that a rule stands in one place: where
a value differs from one time to the next it has a `given` in its place.
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

MOST = 200
"""Statements of one query that are kept."""
Row = TypeVar("Row")


class _Slot(NamedTuple):
    """Where in the parameters of a query a value goes, and of what kind it is."""

    name: str
    field: "Field[Any, Any]"


class given(Expression):  # noqa: N801  # reads as the value that it stands for
    """Stands in a prepared query for a value that comes with each call, by its name."""

    def __init__(self, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self._slot = _Slot(name, field)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        """A parameter of the statement."""
        return "%s", [self._slot]


class Prepared(Generic[Row]):
    """A query by what makes it; gives rows as its queryset would.

    Each shape (the arguments of `make`) has SQL of its own, of which the last `MOST` are kept.
    """

    def __init__(self, make: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._statement = lru_cache(MOST)(lambda *shape: _statement(make(*shape)))

    def rows(self, *shape: Any, **values: Any) -> list[Row]:
        """What the query finds. `values` are those that are `given`."""
        found: list[Row] = self._statement(*shape).rows(values)
        return found

    def first(self, *shape: Any, **values: Any) -> Row | None:
        """The first of the rows, where the query finds any."""
        return next(iter(self.rows(*shape, **values)), None)


def insert(rows: Sequence[Model]) -> None:
    """Insert rows of one model; what the database fills in itself is not read back."""
    connection = connections[DEFAULT_DB_ALIAS]
    fields = tuple(
        one
        for one in type(rows[0])._meta.local_concrete_fields
        if not _is_databases(one, rows[0])
    )
    values = [
        [_bound(one, one.pre_save(row, True), connection) for one in fields]
        for row in rows
    ]
    driver.write(_insertion(type(rows[0]), fields), values)


@lru_cache(maxsize=MOST)
def _insertion(
    model: type[Model], fields: tuple["Field[Any, Any]", ...]
) -> driver.Statement:
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    names = ", ".join(quote(one.column or "") for one in fields)
    places = ", ".join(["%s"] * len(fields))
    table = quote(model._meta.db_table)
    return driver.statement(f"INSERT INTO {table} ({names}) VALUES ({places})")  # noqa: S608


def update(row: Model, *names: str) -> None:
    """Save some fields of a row that is there."""
    connection, about = connections[DEFAULT_DB_ALIAS], row._meta
    fields: list[Any] = [*map(about.get_field, names), about.pk]
    values = [_bound(one, getattr(row, one.attname), connection) for one in fields]
    driver.write(_change(type(row), names), [values])


@lru_cache(maxsize=MOST)
def _change(model: type[Model], names: tuple[str, ...]) -> driver.Statement:
    about, quote = model._meta, connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields: list[Any] = [*map(about.get_field, names), about.pk]
    *places, key = (f"{quote(one.column)} = %s" for one in fields)
    table = quote(about.db_table)
    return driver.statement(f"UPDATE {table} SET {', '.join(places)} WHERE {key}")  # noqa: S608


def _is_databases(field: "Field[Any, Any]", row: Model) -> bool:
    """Whether the database gives a field of a new row its value."""
    value = getattr(row, field.attname)
    return isinstance(value, DatabaseDefault) or (field.primary_key and value is None)


def _bound(field: "Field[Any, Any]", value: Any, connection: Any) -> Any:
    """A value of a row as a statement takes it: half of a row's are words, or nothing."""
    if value is None or (type(value) is str and type(field) in _OF_WORDS):
        return value
    return field.get_db_prep_save(value, connection)


_OF_WORDS = frozenset({CharField, TextField})
Converter = Callable[[Any, Any, Any], Any]


class _Statement(NamedTuple):
    """A compiled query."""

    sql: driver.Statement | None
    """None where nothing can be found."""
    parameters: Sequence[Any]
    converters: Sequence[tuple[int, Sequence[Converter], Any]]
    read: Callable[[Sequence[Any]], Any]
    """Makes of the columns of a row what the queryset gives."""

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
    except EmptyResultSet:  # such as what is in an empty list
        return _Statement(None, (), (), tuple)
    found = compiler.get_converters(expression for expression, *_ in compiler.select)
    converters = [(place, *one) for place, one in found.items()]
    kind: Any = queryset._iterable_class
    reads: dict[Any, Callable[..., Any]] = {
        FlatValuesListIterable: itemgetter(0),
        ValuesListIterable: tuple,
    }
    read = reads[kind] if kind in reads else _reader(compiler)
    return _Statement(driver.statement(sql), parameters, converters, read)


def _reader(compiler: Any) -> Callable[[Sequence[Any]], Model]:
    """What makes models of rows, as a queryset does."""
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
