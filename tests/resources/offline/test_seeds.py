"""Open questions and dialogues of the offline server: sound ones, of facts in the pixels."""

from __future__ import annotations

import json

import pytest

from methods.alignmmbench.drafting import (
    DIALOGUE_TASKS,
    LANGUAGES,
    SINGLE_TASKS,
    read_dialogue,
    read_seed,
)
from methods.rewriting.checks import language_of, read_rewrites
from resources.offline.chat_request import read_chat
from resources.offline.tasks import answer
from tests.resources.offline.offline_drawings import DRAWN, draw, picture_part, prompt_messages
from tests.resources.offline.offline_drawings import text_part as text

IMAGES = [draw(*drawn) for drawn in DRAWN]


def ask(task: str, kind: str, language: str, image: int | None = 0) -> str:
    parts = [text(f"<kind>{kind}</kind>\n<language>{LANGUAGES[language]}</language>")]
    if image is not None:
        parts.append(picture_part(IMAGES[image]))
    messages = prompt_messages("", parts)
    return answer(
        read_chat({"model": "offline-writer", "messages": messages, "metadata": {"task": task}})
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", SINGLE_TASKS)
def test_a_seed_of_each_task_is_sound_and_can_be_rewritten(kind: str, language: str) -> None:
    seed = read_seed(ask("seed", kind, language), language)
    assert language_of(seed.question) == language
    messages = prompt_messages("Write exactly 7 rewrites.", f"<prompt>{seed.question}</prompt>")
    request = {"model": "m", "messages": messages, "metadata": {"task": "rewrite"}}
    reply = answer(read_chat(request))
    assert len(read_rewrites(reply, *seed, 7).rewrites) == 7


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", DIALOGUE_TASKS)
@pytest.mark.parametrize("image", range(len(IMAGES)))
def test_a_dialogue_is_sound_and_its_planted_error_is_wrong(
    kind: str, language: str, image: int
) -> None:
    dialogue = read_dialogue(ask("context", kind, language, image), kind, language)
    if dialogue.error:
        assert dialogue.error not in dialogue.last.reference


def test_references_follow_from_the_pixels() -> None:
    said = {json.loads(ask("seed", "Description", "en", image))["reference"] for image in range(3)}
    assert len(said) == 3


def test_without_a_picture_as_in_a_dry_run_there_is_a_draft_all_the_same() -> None:
    for language in LANGUAGES:
        assert read_dialogue(ask("context", "Incoherence", language, None), "Incoherence", language)
        assert read_seed(ask("seed", "OCR", language, None), language)
