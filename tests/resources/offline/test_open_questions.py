"""Open questions, dialogues and conversations: sound ones, of facts in the pixels."""

import json

import pytest

from methods.alignmmbench.drafting import (
    DIALOGUE_TASKS,
    LANGUAGES,
    SINGLE_TASKS,
    read_dialogue,
    read_seed,
)
from methods.convbench.drafting import (
    CAPABILITIES,
    leaking_turn,
    read_caption,
    read_instruction,
    read_reference,
    read_turns,
)
from methods.rewriting.checks import language_of, read_rewrites
from resources.offline.chat_completion import answer
from resources.offline.chat_request import read_chat
from resources.offline.vocabulary import correctness, stated_facts
from tests.resources.offline.offline_drawings import DRAWN, draw, picture_part, prompt_messages
from tests.resources.offline.offline_drawings import text_part as text

IMAGES = [draw(*drawn) for drawn in DRAWN]
SHOWN = range(len(IMAGES))


def ask(task: str, prompt: str, image: int | None = 0) -> str:
    parts = [*([] if image is None else [picture_part(IMAGES[image])]), text(prompt)]
    chat = {"model": "offline-writer", "messages": prompt_messages("", parts)}
    return answer(read_chat({**chat, "metadata": {"task": task}}))


def conversation(image: int | None) -> tuple[list[str], list[str]]:
    """Questions and references, written one over the other as the project asks for them."""
    instruction = read_instruction(ask("instruction", "<caption>A lynx</caption>", image))
    draft = read_turns(ask("turns", f"<instruction>{instruction}</instruction>", image))
    questions = [turn.question for turn in draft.turns]
    listed = "\n".join(f"{n}. {question}" for n, question in enumerate(questions, start=1))
    caption = read_caption(ask("caption", f"<questions>\n{listed}\n</questions>", image))
    references: list[str] = []
    for question in questions:
        earlier = "".join(
            f"<question>{asked}</question>\n<answer>{said}</answer>\n"
            for asked, said in zip(questions, references, strict=False)
        )
        shown = f"<description>{caption}</description>\n{earlier}<last>{question}</last>"
        references.append(read_reference(question, ask("reference", shown, image)))
    return questions, references


@pytest.mark.parametrize("image", SHOWN)
def test_a_conversation_is_sound_and_gives_no_answer_away(image: int) -> None:
    questions, references = conversation(image)
    assert leaking_turn(questions, references) is None
    assert len(set(references)) == len(CAPABILITIES)


def test_captions_and_references_are_right_in_every_fact() -> None:
    for image in SHOWN:
        facts = (
            read_chat(
                {"model": "m", "messages": prompt_messages("", [picture_part(IMAGES[image])])}
            )
            .last_user.pictures[0]
            .facts
        )
        for said in (ask("caption", "", image), *conversation(image)[1]):
            stated = stated_facts(said, default=1)
            assert len(stated) > 5 and all(correctness(fact, facts) == 1.0 for fact in stated)


def test_other_pictures_raise_other_instructions_and_other_names_of_tasks() -> None:
    instructions = {read_instruction(ask("instruction", "", image)) for image in SHOWN}
    assert len(instructions) > 1
    told = "<instruction>Make a poster for an exhibition out of this picture.</instruction>"
    drafts = [read_turns(ask("turns", told, image)) for image in SHOWN]
    assert len({draft.turns[0].question for draft in drafts}) == 1
    assert {draft.turns[0].task for draft in drafts} == {
        "Position Description",
        "Describing Positions",
    }


def test_an_instruction_of_somebody_else_is_divided_too() -> None:
    assert read_turns(ask("turns", "<instruction>Sell it.</instruction>"))


def test_captions_and_notes_change_nothing() -> None:
    without = ask("caption", "<questions>\n1. What is it?\n</questions>")
    told = "<questions>\n1. What is it?\n</questions>\n<text>A red lynx</text><notes>Red.</notes>"
    assert ask("caption", told) == without


def test_a_creation_has_a_sentence_more() -> None:
    last = "<last>Write a poem.</last>"
    said = ask("reference", last)
    assert ask("reference", f"{last}<focus>\n- It is short.\n</focus>").startswith(f"{said} ")


def test_without_a_picture_a_conversation_can_be_read_as_in_a_dry_run() -> None:
    assert len(conversation(None)[1]) == 3


# --- Questions and dialogues of AlignMMBench ------------------------------------------------------


def drafted(task: str, kind: str, language: str, image: int | None = 0) -> str:
    return ask(task, f"<kind>{kind}</kind>\n<language>{LANGUAGES[language]}</language>", image)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", SINGLE_TASKS)
def test_a_seed_of_each_task_is_sound_and_can_be_rewritten(kind: str, language: str) -> None:
    seed = read_seed(drafted("seed", kind, language), language)
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
    dialogue = read_dialogue(drafted("context", kind, language, image), kind, language)
    if dialogue.error:
        assert dialogue.error not in dialogue.last.reference


def test_references_follow_from_the_pixels() -> None:
    said = {
        json.loads(drafted("seed", "Description", "en", image))["reference"] for image in range(3)
    }
    assert len(said) == 3


def test_without_a_picture_there_is_a_draft_all_the_same() -> None:
    for language in LANGUAGES:
        assert read_dialogue(
            drafted("context", "Incoherence", language, None), "Incoherence", language
        )
        assert read_seed(drafted("seed", "OCR", language, None), language)
