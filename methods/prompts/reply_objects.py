"""Parses JSON objects in replies of models (structured output), also malformed ones.

All JSON replies of models are parsed here: judgments, verdicts, grades, drafts. Models put objects into
code fences and sentences, and write trailing commas, single or Chinese quotation marks, comments and
line breaks. If Python's decoder fails, `json-repair` is used. It also guesses: it reads `3 + 4` as 3.
So only free text is taken from a repaired object. Short values, such as ratings, are taken from the
text of the reply.
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import json_repair

from methods.json_text import MOST_DEPTH, NestingError, from_json, json_at
from methods.model_text import without_reasoning
from methods.prompts.parse_error import ParseError, require_unicode

MOST_CHARACTERS = 20_000
"""The most characters of a damaged object that is repaired. Repairing is slow."""
_MOST_STARTS, _MOST_REPAIRS = 2_000, 50
"""The most opening braces of a reply that are tried, and the most damaged objects that are repaired."""
_MOST_REPAIRED = 3 * MOST_CHARACTERS
"""The most characters of a reply that are repaired in total: the longest object with three ends."""
_MOST_DOUBLE_QUOTES = 500
"""The most double quotation marks of a damaged object that is repaired: 125 names with texts."""
_MOST_DAMAGED = MOST_DEPTH * MOST_CHARACTERS
"""The most characters of a reply that are read in damaged objects: all objects inside a damaged one are
tried, too."""
_QUOTES = "\"'`“”„‘’«»「」『』＂"
_QUOTE = rf"[{_QUOTES}*_\s]*"
_MARKS = _QUOTES + "*_" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""Characters that are stripped from free text: quotation marks, Markdown emphasis and white space."""
_MOST_SHORT = 1_000
"""The most characters of a short value in quotation marks."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|(?://|#).*", re.DOTALL)
_FENCE_AFTER = re.compile(r"\A\s*`{3,}")
_NO_PROSE = re.compile(
    r"[\W_]*+(?:(?:here|is|s|are|my|the|final|overall|json|output|reply|response|result|ratings?|scores?"
    r"|grades?|verdict|judge?ment|evaluation|assessment|done|(?<=[</])answer(?=>))(?![^\W_])[\W_]*+)*+",
    re.IGNORECASE,
)
"""Text next to an object that announces or ends it: punctuation, code fences, "Here is my rating:"."""
_IN_OBJECT = rf"[{{,，\n*{_QUOTES}][^\S\n]*+"
_ANYWHERE = r"\b"
_LINE_START = (
    rf"^(?:[^\w\n{_QUOTES}]|_)*+(?:\d\d?[.)][\s*_]*+)?(?:(?:my|the|final|overall)[^\S\n]++){{0,2}}"
)
"""Patterns of the text before a name."""
_QUOTATION = r"(?<!\w)\"[^\"]{0,1000}\"|“[^”]{0,1000}”"
_ALONE = rf"(?:[a-z]|tie|\d++)[{_QUOTES}*_ \t]*+(?:[,，;；}}\]\n]|\Z)"
_MORE = (
    rf"(?:(?:(?<=\S)[{_QUOTES}]++|(?<=[{_QUOTES}]))[^\S\n]*+\w|[{_QUOTES}]*+[^\S\n]*+"
    rf"(?:[,，;；]\s*+\d|[,，;；\n]\s*+[{_QUOTES}]*+{_ALONE}))"
)
"""Text after a short value that continues it: a word after its quotation mark, a digit after a comma,
or a number, a letter or "tie" that stands alone, as in "8,5", "A, B" and "A's answer"."""


class ReplyObject(NamedTuple):
    """A JSON object of a reply: its values by name, and its position in the reply's `text`.

    `is_whole` is False if the reply ends inside the object.
    """

    values: dict[str, object]
    text: str
    start: int
    end: int
    is_whole: bool

    def text_or_around(self, name: str) -> str:
        """Return the text under a name, or the text before the object, or else the text after it.

        A code fence around the object is removed.
        """
        if isinstance(text := self.values.get(name), str):
            return text.strip()
        before = _without_open_fence(self.text[: self.start].strip())
        return before or _FENCE_AFTER.sub("", self.text[self.end :]).strip()


def objects_in(
    reply: str, short: Sequence[str], texts: Sequence[str] = (), *, only_whole: bool = False
) -> list[ReplyObject]:
    """Find the JSON objects of a reply that have at least one of the given names, in order.

    Args:
        reply: The reply of a model; reasoning in front of the answer is ignored.
        short: Names of values that are one number or word, such as a rating.
        texts: Names of other values: free text, lists, objects.
        only_whole: Whether to leave out an object that the end of the reply cuts off.

    Returns:
        The objects, also nested ones. A nested object inherits the named values that it lacks, and the
        object around it follows if it has any of the same names. Names that differ from `short` and
        `texts` only in case and punctuation are replaced by these; other names are kept. If an object
        has several values for a short name, it is returned several times, so that each value occurs.

    Raises:
        ParseError: `not_unicode`, if a text in an object has a lone surrogate. `quoted_object`, if an
            object with a short value has prose before and after it: the model may only quote it.
    """
    text = without_reasoning(reply).answer
    names = {_plain(name): name for name in (*short, *texts)}
    objects = _objects(text, names, short)
    if not objects and "｛" in text:
        text = text.translate({ord("｛"): "{", ord("｝"): "}"})
        objects = _objects(text, names, short)
    before = _NO_PROSE.match(text)
    assert before is not None
    last_end, no_prose_after = text.rfind("}") + 1, len(text)
    for reply_object in objects:
        require_unicode(reply_object.values)
        end = reply_object.end if reply_object.is_whole else last_end
        is_first = reply_object.start <= before.end()
        if is_first or end >= no_prose_after or reply_object.values.keys().isdisjoint(short):
            continue
        if not _NO_PROSE.fullmatch(text, end):
            raise ParseError(
                "quoted_object", "The reply has text before and after a JSON object. Send it alone."
            )
        no_prose_after = end
    return [each for each in objects if each.is_whole or not only_whole]


def reply_object(reply: str, schema: Mapping[str, object]) -> dict[str, object]:
    """Find the JSON object of a reply.

    Args:
        reply: The reply, which may have text around its objects.
        schema: The JSON schema that the reply was asked to follow.

    Returns:
        The last object with all names of the schema, or else the last object with any of them. Objects
        that the end of the reply cuts off are ignored.

    Raises:
        ParseError: There is no such object (`not_json`).
    """
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    names = list(properties)
    objects = [each.values for each in objects_in(reply, (), names, only_whole=True)]
    complete = [values for values in objects if all(name in values for name in names)]
    if not objects:
        raise ParseError(
            "not_json", f"The reply has no complete JSON object with {', '.join(names)[:200]}."
        )
    return (complete or objects)[-1]


def text_outside(objects: Sequence[ReplyObject]) -> str:
    """Return the text of a reply without its complete objects.

    Args:
        objects: All objects that `objects_in` found in the reply, at least one.

    Returns:
        The text. A closing brace and a line break stand for each object, so that no value continues
        across it. An object that is cut off stays, because the text after it may belong to it or not.
    """
    parts, end = [], 0
    for reply_object in objects:
        if reply_object.is_whole:
            parts.append(reply_object.text[end : reply_object.start])
            end = reply_object.end
    return "}\n".join([*parts, objects[0].text[end:]])


def labelled(text: str, name: str, *, anywhere: bool = False) -> list[object]:
    """Read the short values after each "name:" at the start of a line, outside quotation marks.

    Args:
        text: The text.
        name: The name.
        anywhere: Whether to read quotations and the rest of a line, too.
    """
    return _values(_pattern(name, _ANYWHERE if anywhere else _LINE_START), text)


def labelled_text(text: str, name: str, other: str) -> str:
    """Read the free text after a name and a colon, up to another name or the end.

    Args:
        text: The text of a reply.
        name: The name before the text.
        other: The name that ends it.

    Returns:
        The text. If the reply lacks `name`, the text before `other`; empty if it lacks both.
    """
    text = text[:MOST_CHARACTERS]
    label = re.search(rf"\b{name}\b{_QUOTE}[:：]", text, re.IGNORECASE)
    start = label.end() if label else 0
    end = re.compile(rf"\b{other}\b", re.IGNORECASE).search(text, start)
    if label is None:
        return text[: end.start()].rstrip(_MARKS).strip(" \t\n{") if end else ""
    free_text = text[start : end.start()] if end else _without_end_of_object(text[start:])
    free_text = free_text.strip(_MARKS)
    return free_text[:-1].rstrip(_MARKS) if free_text.endswith((",", "，")) else free_text


def _without_end_of_object(text: str) -> str:
    """Remove a closing code fence and brace from the end of a text."""
    return text.rstrip().removesuffix("```").rstrip().removesuffix("}")


def _without_open_fence(text: str) -> str:
    """Remove an opening code fence, with its language, from the end of a text."""
    bare = text.rstrip(string.ascii_letters + string.digits + "_-")
    return bare.rstrip("`").rstrip() if bare.endswith("```") else text


def _objects(text: str, names: Mapping[str, str], short: Sequence[str]) -> list[ReplyObject]:
    objects: list[ReplyObject] = []
    start = text.find("{")
    n_starts = n_repairs = n_characters = n_damaged = 0
    while start >= 0 and n_starts < _MOST_STARTS and n_damaged < _MOST_DAMAGED:
        n_starts += 1
        end = start + 1
        try:
            value, after = json_at(text, start)
        except NestingError:
            return objects  # The objects nested in it are nested too deeply, too.
        except ValueError as error:
            n_damaged += getattr(error, "pos", len(text)) - start
            if n_repairs < _MOST_REPAIRS:
                n_repairs += 1
                repaired, n_read = _repaired(
                    text, start, names, short, _MOST_REPAIRED - n_characters
                )
                n_characters += n_read
                for values, after, is_whole in repaired:
                    objects.append(ReplyObject(values, text, start, after, is_whole))
                    end = after
        else:
            end = after
            for values in _named(value, names, short):
                objects.append(ReplyObject(values, text, start, end, True))
        start = text.find("{", end)
    return objects


def _repaired(
    text: str, start: int, names: Mapping[str, str], short: Sequence[str], most: int
) -> tuple[list[tuple[dict[str, object], int, bool]], int]:
    """Repair a damaged object that begins at `start`: its possible values, its end, and whether it is
    complete. Empty if it has none of the names. Also the number of characters that this took, up to
    `most`.
    """
    some: list[tuple[dict[str, object], int, bool]] = []
    n_characters = 0
    for end, is_whole in _ends(text, start):
        span = text[start:end]
        if len(span) > min(MOST_CHARACTERS, most - n_characters):
            continue
        # json-repair searches the rest of a text at each of these characters.
        if max(span.count("{") + span.count("["), span.count("}") + span.count("]")) > MOST_DEPTH:
            continue
        if sum(map(span.count, '"“”')) > _MOST_DOUBLE_QUOTES:
            continue
        n_characters += len(span)
        if not any(name in _plain(span) for name in names):
            break
        try:
            value = json_repair.loads(span, skip_json_loads=True)
        except (ValueError, RecursionError, ArithmeticError):
            continue
        readings = [
            reading
            for values in _named(value, names, short)
            for reading in _with_short_values(values, span, short)
            if reading.keys() & set(names.values())
        ]
        results = [(values, end, is_whole) for values in readings]
        if results and all(name in readings[-1] for name in short):
            return results, n_characters
        some = some or results
    return some, n_characters


def _ends(text: str, start: int) -> Iterator[tuple[int, bool]]:
    """Yield the possible ends of a damaged object: the matching brace, the end of the text, the last
    brace. The matching brace may be wrong, because texts may contain single braces.
    """
    depth = 0
    for match in re.finditer(r"[{}]", text[start : start + MOST_CHARACTERS]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            yield start + match.end(), True
            break
    yield len(text), False
    yield text.rfind("}", start) + 1, False


def _with_short_values(
    values: dict[str, object], span: str, short: Sequence[str]
) -> list[dict[str, object]]:
    """Replace the short values of a repaired object by those written in the text `span`."""
    written = {
        name: list(dict.fromkeys(_values(_pattern(name, _IN_OBJECT), span)))
        for name in short
        if not isinstance(values.get(name), (list, dict))
    }
    rest = {name: value for name, value in values.items() if name not in written}
    return [{**rest, **each} for each in _readings(written)]


def _readings(values: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    """Make as few objects as possible in which each of the values of each name occurs."""
    n_readings = max(map(len, values.values()), default=0)
    return [
        {name: some[min(n, len(some) - 1)] for name, some in values.items() if some}
        for n in range(max(n_readings, 1))
    ]


@lru_cache(maxsize=256)
def _pattern(name: str, before: str) -> re.Pattern[str]:
    """The pattern of a name, a colon and a short value after the pattern `before`. At the start of a
    line, quotations are skipped: their match has no value.
    """
    words = r"[\s_]*".join(re.escape(word) for word in name.split())
    # Possessive quantifiers avoid backtracking over blanks.
    skipped = f"|{_QUOTATION}" if before == _LINE_START else ""
    return re.compile(
        rf"{before}(?:{words}|[\"“]{words}[\"”]){_QUOTE}+[:：]"
        rf"(?:[*_\s]*+[\"“„]([^\"”\n]{{0,{_MOST_SHORT}}})[\"”](?!{_MORE})"
        rf"|{_QUOTE}+([^{_QUOTES},，;；}}\]\n]*+(?:(?={_MORE})[{_QUOTES}\s,，;；]*[^}}\]\n]*)?))"
        rf"{skipped}",
        re.IGNORECASE | re.MULTILINE,
    )


def _values(pattern: re.Pattern[str], text: str) -> list[object]:
    captures = (match[1] or match[2] or "" for match in pattern.finditer(text))
    bare = (_COMMENT.sub("", value).strip(" \t*_。") for value in captures)
    return [_number_or_text(value) for value in bare if value]


def _number_or_text(value: str) -> object:
    try:
        number = from_json(value)
    except ValueError:
        return value
    return number if isinstance(number, (int, float)) else value


def _named(
    value: object, names: Mapping[str, str], short: Sequence[str]
) -> list[dict[str, object]]:
    """The objects in a value that have any of the names, the nested ones first. Nested objects get the
    named values that they lack from the objects around them.
    """
    if isinstance(value, list):
        return [each for part in value for each in _named(part, names, short)]
    if not isinstance(value, dict):
        return []
    parts: dict[str, list[object]] = {}
    for key, part in value.items():
        parts.setdefault(names.get(_plain(key), key), []).append(part)
    readings = _readings(
        {name: some if name in short else some[-1:] for name, some in parts.items()}
    )
    own = [{name: each[name] for name in each if name in names.values()} for each in readings]
    nested = [each for part in value.values() for each in _named(part, names, short)]
    inherited = [{**own[-1], **each} for each in nested]
    is_own = len(own) > 1 or not nested or any(own[0].keys() & each.keys() for each in nested)
    return [*inherited, *readings] if own[0] and is_own else inherited


def _plain(name: object) -> str:
    """Normalize a name: lower case, spaces for punctuation. `overall_score` equals `Overall Score`."""
    return " ".join(re.split(r"[\W_]+", str(name).casefold())).strip()
