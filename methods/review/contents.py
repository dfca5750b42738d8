"""The review content of generated items: the fields that reviewers see and edit."""

from collections.abc import Mapping
from typing import Any

from methods.choice.contents import texts_of
from methods.choice.languages import SOURCE_LANGUAGE
from methods.choice.lettered import LETTERS
from methods.review.kinds import KINDS, Content

ItemRow = Mapping[str, Any]


def content_of(row: ItemRow) -> Content:
    """Make the content of a generated item.

    Args:
        row: The `kind` and its fields. For multiple choice, `choices` is a list in the order of the
            letters. A translation has the original texts in `question`, `hint` and `choices`, and the
            translated texts in `target`.
    """
    kind = row["kind"]
    if kind == "multiple_choice":
        choices = dict(zip(LETTERS, row["choices"], strict=False))
        return {
            **{key: row[key] for key in KINDS[kind].keys if key != "choices"},
            "choices": choices,
        }
    if kind == "translation":
        return {
            "source_language": SOURCE_LANGUAGE,
            "target_language": row["target_language"],
            "source": texts_of(row["question"], row["hint"], row["choices"]),
            "target": texts_of(**row["target"]),
        }
    return {key: row[key] for key in KINDS[kind].keys}
