"""SQLite's SQL in Postgres's dialect: the stores' statements are written once.

What belongs here: the translation. sqlglot does most of it; the rest is what SQLite means and Postgres
says otherwise: whole numbers of 64 bits, texts compared by their bytes, columns that number their rows,
lists as JSON, triggers. References between tables are left out, as SQLite does not enforce them.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.tokens import TokenType

from resources.stores.versions import statements

_STATEMENTS_KEPT = 2048
"""Statements whose translation is kept: lists of values of many lengths are statements of their own."""
_STORAGE = re.compile(r"\)\s*(STRICT|WITHOUT ROWID)(\s*,\s*(STRICT|WITHOUT ROWID))*\s*;?\s*$")
_TRIGGER = re.compile(
    r"CREATE TRIGGER (?:IF NOT EXISTS )?(?P<name>\w+) BEFORE (?P<event>UPDATE|DELETE|INSERT) "
    r"ON (?P<table>\w+)(?: WHEN (?P<condition>.*))? "
    r"BEGIN SELECT RAISE ?\((?P<act>ABORT|IGNORE)(?:, '(?P<message>[^']*)')?\); END;?"
)
_DROP_TRIGGER = re.compile(r"DROP TRIGGER (?:IF EXISTS )?(?P<name>\w+);?")
_FUNCTION = """
CREATE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS $trigger$
#variable_conflict use_column
BEGIN
    IF {condition} THEN
        {act};
    END IF;
    RETURN {row};
END;
$trigger$
"""
_BOUND = """
CREATE TRIGGER "{name}" BEFORE {event} ON "{table}" FOR EACH ROW EXECUTE FUNCTION "{name}"()
"""


class _Dialect(SQLite):
    """SQLite, but that where nothing is said NULLs stand where Postgres puts them: what is ordered has
    no NULLs, and an order that names their place cannot use an index."""

    NULL_ORDERING = "nulls_are_large"


class Statement(NamedTuple):
    """A statement for Postgres, its values as `$1`, `$2`, and what each of these is: the value of a
    name or place, or whether that is NULL."""

    sql: str
    wanted: tuple[tuple[str | int, bool], ...]

    def values(self, given: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
        """The values that the statement was given, in the order of `$1`, `$2`."""
        found: Any = given
        return [found[key] is None if is_null else found[key] for key, is_null in self.wanted]


@lru_cache(maxsize=_STATEMENTS_KEPT)
def translated(sql: str) -> Statement:
    """A query or a change of rows; its values are `?` or `:name`."""
    marked, tokens, n_marks = sql, SQLite().tokenize(sql), 0
    marks = [token for token in tokens if token.token_type == TokenType.PLACEHOLDER]
    for n_marks, token in reversed(list(enumerate(marks))):
        marked = f"{marked[: token.start]}:_{n_marks}{marked[token.end + 1 :]}"
    wanted: dict[tuple[str | int, bool], exp.Expr] = {}

    def numbered(node: exp.Expr) -> exp.Expr:
        # Postgres does not know the type of a value that it finds beside NULL first.
        is_null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
        value = node.this if is_null else node
        if not isinstance(value, exp.Placeholder):
            return node
        key = int(value.name[1:]) if value.name.startswith("_") else value.name
        number = exp.Var(this=f"${len(wanted) + 1}")
        return wanted.setdefault((key, is_null), number).copy()

    tree = sqlglot.parse_one(marked, dialect=_Dialect).transform(numbered)
    return Statement(_postgres(tree), tuple(wanted))


def declarations(script: str) -> list[str]:
    """The statements of a file that declares tables, or of a step between versions."""
    made: list[str] = []
    for statement in statements(script):
        line = " ".join(re.sub(r"--[^\n]*", "", statement).split())
        if trigger := _TRIGGER.fullmatch(line):
            made += _trigger(trigger)
        elif trigger := _DROP_TRIGGER.fullmatch(line):
            # It stands on the function of its name.
            made.append(f'DROP FUNCTION "{trigger["name"]}" CASCADE')
        else:
            parsed = sqlglot.parse_one(_STORAGE.sub(")", line), dialect=_Dialect)
            made.append(_postgres(parsed))
    return made


def _trigger(trigger: re.Match[str]) -> list[str]:
    condition = "true"
    if trigger["condition"]:
        parsed = sqlglot.parse_one(trigger["condition"], dialect=_Dialect)
        for identifier in parsed.find_all(exp.Identifier):
            identifier.set("this", identifier.name.lower())
        condition = _postgres(parsed)
    refusal = (
        f"RAISE EXCEPTION USING MESSAGE = '{trigger['message']}', "
        "ERRCODE = 'integrity_constraint_violation'"
    )
    function = _FUNCTION.format(
        name=trigger["name"],
        condition=condition,
        act=refusal if trigger["act"] == "ABORT" else "RETURN NULL",
        row="OLD" if trigger["event"] == "DELETE" else "NEW",
    )
    return [function, _BOUND.format(**trigger.groupdict())]


def _postgres(tree: exp.Expr) -> str:
    for subquery in tree.find_all(exp.Subquery):
        if isinstance(subquery.parent, exp.From | exp.Join) and not subquery.alias:
            subquery.set("alias", exp.TableAlias(this=exp.to_identifier("rows")))
    return tree.transform(_meant).sql(dialect="postgres", identify=True)


def _meant(node: exp.Expr) -> exp.Expr:
    """A part of a statement as Postgres says it."""
    if isinstance(node, exp.Create) and node.kind == "VIEW":
        node.set("exists", False)
    elif isinstance(node, exp.ColumnDef):
        _declare(node)
    elif isinstance(node, exp.Like):
        # SQLite's LIKE takes upper and lower case as one.
        return exp.ILike(**node.args)
    elif isinstance(node, exp.In) and not any(
        node.args.get(given) for given in ("expressions", "query", "unnest", "field")
    ):
        return exp.false()
    elif _is_call(node, "json_array"):
        node.set("this", "json_build_array")
    elif isinstance(node, exp.JSONArrayAgg):
        listed = exp.Anonymous(this="json_agg", expressions=[node.this.transform(_meant)])
        empty = exp.cast(exp.Literal.string("[]"), "json")
        return exp.cast(exp.Coalesce(this=listed, expressions=[empty]), "text")
    elif isinstance(node, exp.Table) and _is_call(node.this, "json_each"):
        values = exp.cast(node.this.expressions[0].copy(), "json")
        alias = exp.TableAlias(
            this=exp.to_identifier("listed"), columns=[exp.to_identifier("value")]
        )
        call = exp.Anonymous(this="json_array_elements_text", expressions=[values])
        return exp.Table(this=call, alias=alias)
    return node


def _is_call(node: object, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == name


def _declare(column: exp.ColumnDef) -> None:
    """The type and rules of a column: a primary key that is a whole number numbers the rows."""
    rules = [
        rule
        for rule in column.args["constraints"]
        if not isinstance(rule.kind, exp.Reference | exp.AutoIncrementColumnConstraint)
    ]
    kind = column.args["kind"].this
    if kind == exp.DataType.Type.INT:
        column.set("kind", exp.DataType.build("bigint"))
        if any(isinstance(rule.kind, exp.PrimaryKeyColumnConstraint) for rule in rules):
            numbered = exp.GeneratedAsIdentityColumnConstraint(this=False)
            rules.append(exp.ColumnConstraint(kind=numbered))
    elif kind == exp.DataType.Type.FLOAT:
        column.set("kind", exp.DataType.build("double"))
    elif kind == exp.DataType.Type.TEXT:
        by_bytes = exp.CollateColumnConstraint(this=exp.to_identifier("C", quoted=True))
        rules.insert(0, exp.ColumnConstraint(kind=by_bytes))
    column.set("constraints", rules)
