"""Translations of multiple-choice items (MMBench, 3.2, MMBench-CN)."""

from collections import Counter
from typing import NamedTuple

import dagster as dg
from pydantic import Field, field_validator

from assets.choice.items import items
from assets.common.drops import FAILED_CALLS, in_words, is_retry_worthwhile
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from methods.choice.contents import choices_of, texts_of
from methods.choice.languages import LANGUAGES, SOURCE_LANGUAGE, Language
from methods.ids import content_id
from methods.mmbench.translating import as_json, read_translation, schema_of, translation_id
from methods.review.contents import content_of
from methods.validation import require_known, require_once
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class TranslationsSettings(GenerationSettings):
    """The languages into which all items are translated. An empty list makes no model calls."""

    languages: list[str] = Field(
        ["zh"], description=f"Languages that every item is translated into, of {sorted(LANGUAGES)}."
    )

    @field_validator("languages")
    @classmethod
    def _are_known(cls, languages: list[str]) -> list[str]:
        require_known("language", languages, LANGUAGES)
        require_once("language", languages)
        return languages


class TranslationTask(NamedTuple):
    """The input of one translation: an item, its texts by name, and the language."""

    item: Row
    texts: dict[str, str]
    language: Language


@table_asset("choice.translations", side_tables=["choice.failed"], kinds={"openai"}, deps=[items])
def translations(
    context: dg.AssetExecutionContext,
    config: TranslationsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Translations of every English multiple-choice item into the configured languages.

    Names, numbers, symbols and code stay. The letter of the right choice is never sent to the model.
    """
    if not warehouse.count("choice.items"):
        raise dg.Failure(
            "There are no multiple-choice items to translate: materialize choice/items first.",
            allow_retries=False,
        )
    written = warehouse.read("choice/items", {"language": SOURCE_LANGUAGE}).to_pylist()
    subjects = [
        TranslationTask(
            item, texts_of(item["question"], item["hint"], item["choices"]), LANGUAGES[code]
        )
        for code in config.languages
        for item in written
    ]
    asks = [
        GenerationRequest(
            subject=subject,
            set_id=subject.item["set_id"],
            name=f"item {subject.item['item_id']}, {subject.language.code}",
            images=[],
            data={"item": as_json(subject.texts), "language": subject.language.name},
        )
        for subject in subjects
    ]
    generated = ask_and_read(
        context,
        llm,
        "choice.translations",
        prompt("mmbench/translate"),
        asks,
        _read,
        lambda subject: schema_of(subject.texts),
    )
    if asks and not generated.rows:
        lost = Counter(row["reason"] for row in generated.failed)
        raise dg.Failure(
            "choice.translations keeps its earlier rows: no item could be translated "
            f"({in_words(lost)}). {generated.usage.advice or FAILED_CALLS}",
            allow_retries=is_retry_worthwhile(lost, len(asks), config.max_failed_share),
        )
    counts = Counter(row["language"] for row in generated.rows)
    return write_generated(
        warehouse,
        "choice.translations",
        generated,
        config.max_failed_share,
        {f"items in {code}": counts[code] for code in config.languages}
        or {"warning": "Nothing is translated: languages is set to none."},
    )


def _read(subject: TranslationTask, reply: str) -> list[Row]:
    item, source, language = subject
    translated = read_translation(reply, source, language)
    reviewed = {**item, "kind": "multiple_choice", "image_ids": [item["image_id"]]}
    return [
        {
            "translation_id": translation_id(
                item["item_id"], language.code, source, translated.texts
            ),
            "item_id": item["item_id"],
            "language": language.code,
            "source_hash": content_id(content_of(reviewed)),
            "question": translated.texts["question"],
            "hint": translated.texts.get("hint"),
            "choices": list(choices_of(translated.texts)),
            "names": translated.names,
        }
    ]
