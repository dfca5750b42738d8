"""Translating multiple-choice items with a model (MMBench, 3.2, MMBench-CN).

The model is never told which choice is right, so the translation cannot reveal it.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from methods.choice.languages import Language
from methods.choice.lettered import one_line
from methods.choice.translation_checks import Texts, check_translation
from methods.ids import content_id
from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.reply_objects import reply_object

NAMES = "names"
_TEXT: JsonSchema = {"type": "string"}


class Translation(NamedTuple):
    """The translated texts of an item by field, and the proper names that the model listed with their
    renderings.
    """

    texts: dict[str, str]
    names: dict[str, str]


def as_json(texts: Texts) -> str:
    """Write texts as JSON for the prompt. "</" is escaped, so that no text can close a tag of it."""
    return json.dumps(texts, ensure_ascii=False, indent=1).replace("</", "<\\/")


def schema_of(texts: Texts) -> JsonSchema:
    """Make the JSON schema of the reply to a request with these texts."""
    name = object_schema({"name": _TEXT, "rendering": _TEXT})
    return object_schema({**dict.fromkeys(texts, _TEXT), NAMES: {"type": "array", "items": name}})


def read_translation(reply: str, source: Texts, language: Language) -> Translation:
    """Read the translation in a model's reply, a JSON object as in `schema_of`.

    Args:
        reply: The reply.
        source: The original texts by field.
        language: The language of the translation.

    Raises:
        ParseError: `not_json`, `wrong_fields`, `not_unicode`, or a reason of `translation_checks.py`.
    """
    fields = reply_object(reply, schema_of(source))
    names = _names(fields.pop(NAMES, []))
    if list(fields) != list(source):
        raise ParseError(
            "wrong_fields",
            f"The reply needs {', '.join(source)} in this order, and the list names; it has "
            f"{', '.join(fields)[:200] or 'nothing'}.",
        )
    if not all(isinstance(text, str) for text in fields.values()):
        raise ParseError("wrong_fields", f"Each of {', '.join(source)} is one text.")
    texts = {name: one_line(str(text)) for name, text in fields.items()}
    check_translation(source, texts, names, language)
    return Translation(texts, names)


def _names(value: object) -> dict[str, str]:
    if not isinstance(value, list) or not all(_is_name(entry) for entry in value):
        raise ParseError(
            "wrong_fields", 'names is a list of objects with the texts "name" and "rendering".'
        )
    return {entry["name"].strip(): entry["rendering"].strip() for entry in value}


def _is_name(entry: object) -> bool:
    if not isinstance(entry, Mapping) or entry.keys() != {"name", "rendering"}:
        return False
    return all(isinstance(text, str) and text.strip() for text in entry.values())


def translation_id(item_id: str, language: str, source: Texts, target: Texts) -> str:
    """Compute the id of a translation: a hash of item, language, original texts and translated texts.

    Args:
        item_id: The item.
        language: The language.
        source: The original texts.
        target: The translated texts.
    """
    return content_id("translation", item_id, language, source, target)
