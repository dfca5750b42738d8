"""Two copies of rows that belong together, of which one comes before the other in an order.

The texts of a copy have a number: where one table has `item_id 2`, the others have it, too. So the rows
of a copy belong together, as those of `rows_of` do.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from resources.warehouse.staging import tables_with_rules
from tests.assets.query_rows import IMAGE, PARAM, PARAMS, SHA, Row, Rows, text_of_query
from tests.assets.query_table import Query

CHOICES = [("answers", "judgments"), ("common", "floor"), ("both given", "later turn")]
CHOICES += [("dialogue", "translation"), ("benchmark", "instruction"), ("judged", "refused")]
CHOICES += [("text_only", "wrong_item")]
"""Values that may not have a number, with the number 1 and with the number 2."""
COMPARED = {"question", "answer", "reference", "a", "b", "queue_id"}
"""What the score queue compares texts by: it is the same in both copies."""


NO_VALUE = -1
"""The number of a column that has no value."""


def keys_of(table: str) -> list[list[str]]:
    return [[*key] for key in tables_with_rules()[table].keys]


def one_of_each_key(table: str, rows: list[Row]) -> list[Row]:
    """The rows without two of one key: the last one counts."""
    for key in keys_of(table):
        rows = [*{tuple(str(row.get(name)) for name in key): row for row in rows}.values()]
    return rows


def numbered(column: str, value: Any, numbers: Mapping[str, int]) -> Any:
    """A value with the number of its text, or else of its column."""
    if numbers.get(column) == NO_VALUE:
        return None
    if isinstance(value, list):
        return [numbered(column, each, numbers) for each in value]
    if isinstance(value, dict):
        return {name: numbered(name, each, numbers) for name, each in value.items()}
    if value == IMAGE:
        return f"{numbers.get('image_id', 0)}{IMAGE[1:]}"
    for text, text_id in SHA.items():
        if value == text_id:
            return hashlib.sha256(numbered("text", text, numbers).encode()).hexdigest()
    if isinstance(value, str) and value in numbers and column not in ("kind", "split"):
        return f"{value} {numbers[value]}"
    if column not in numbers or isinstance(value, bool):
        return value
    for choices in CHOICES:
        if value in choices:
            return choices[numbers[column] - 1]
    if isinstance(value, float):
        return (value + numbers[column]) / 4
    return value + numbers[column] if isinstance(value, int) else value


def copy_of(world: Rows, numbers: Mapping[str, int]) -> Rows:
    """The rows with numbers."""
    copies = {
        table: [
            {column: numbered(column, value, numbers) for column, value in row.items()}
            for row in rows
        ]
        for table, rows in world.items()
    }
    return {table: one_of_each_key(table, rows) for table, rows in copies.items()}


def asked_for(query: Query) -> set[str]:
    """Texts that the query asks for by a parameter, or in the score queue. They have no number."""
    text = text_of_query(query.name)
    params = [PARAMS[name] for name in PARAM.findall(text)]
    fixed = {str(value) for value in params if not isinstance(value, list)}
    return fixed | COMPARED if "score_queue" in text else fixed


def texts_of_keys(world: Rows, column: str) -> set[str]:
    """The texts of the other columns of a key in tables that have a column, or its text."""
    columns = {name for rows in world.values() for row in rows for name in row}
    return {
        row[name]
        for table, rows in world.items()
        for row in rows
        if column in row or column in row.values()
        for key in keys_of(table)
        for name in key
        if row[name] in columns
    }


def is_of_each_key(world: Rows, column: str) -> bool:
    """Whether rows may differ in this column alone."""
    tables = [
        table
        for table, rows in world.items()
        if any(column in row or column in row.values() for row in rows)
    ]
    return bool(tables) and all(column in key for table in tables for key in keys_of(table))


def neighbours(
    query: Query, world: Rows
) -> Iterator[tuple[str, Mapping[str, int], Mapping[str, int]]]:
    """The numbers of two copies for each column of the order, by which the first copy comes first.

    The columns before it are the same in both. All later ones would order the copies the other way,
    and so would the texts of keys. Then the second copy has no value, or only this column differs.
    """
    order = query.order.split()
    fixed = asked_for(query)
    for place, marked in enumerate(order):
        column = marked.strip("+-")
        is_ordered = copy_of(world, {column: 1}) != copy_of(world, {column: 2})
        if marked[0] == "+" or column in fixed or not is_ordered:
            continue
        numbers = dict.fromkeys(texts_of_keys(world, column), (2, 1))
        for each in order:
            is_before = each in order[:place] and each[0] != "+"
            later = (1, 2) if each[0] == "-" else (2, 1)
            numbers[each.strip("+-")] = (1, 1) if is_before else later
        numbers[column] = (2, 1) if marked[0] == "-" else (1, 2)
        numbers = {name: pair for name, pair in numbers.items() if name not in fixed}
        # A row of both copies has the same texts in both.
        for table, rows in world.items():
            for row in rows:
                for key in keys_of(table):
                    pairs = [numbers.get(row[name], numbers.get(name, (0, 0))) for name in key]
                    if all(first == second for first, second in pairs):
                        texts = {value for value in row.values() if isinstance(value, str)}
                        numbers |= dict.fromkeys(texts & numbers.keys() - {column}, (1, 1))
        first, second = ({name: pair[copy] for name, pair in numbers.items()} for copy in (0, 1))
        yield column, first, second
        if marked == "-value":
            yield column, first, {**second, column: NO_VALUE}
        if is_of_each_key(world, column) and "QUALIFY" not in text_of_query(query.name):
            yield column, {column: first[column]}, {column: second[column]}
