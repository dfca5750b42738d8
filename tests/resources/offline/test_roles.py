"""The form of what each construction role of the offline server gives."""

from __future__ import annotations

import re

import pytest

from resources.offline.claims import claims
from resources.offline.conversation import read_chat
from resources.offline.errors import BadRequest
from resources.offline.roles import answer
from tests.resources.offline.offline_drawings import (
    DRAWN,
    draw,
    labelled_parts,
    role_messages,
    text_part,
)

IMAGES = [draw(*drawn) for drawn in DRAWN]


def ask(system: str, content: list | str, model: str = "offline-writer") -> str:
    return answer(read_chat({"model": model, "messages": role_messages(system, content)}))


def designed(images: list, number: int) -> list[str]:
    parts = labelled_parts(images)
    parts.append(text_part('<caption image="1">Zanzibar</caption>\n<summary image="1">Q</summary>'))
    return ask(f"Role: question designer.\nWrite exactly {number} questions.", parts).splitlines()


def test_summary_takes_the_first_informative_sentences() -> None:
    page = (
        "History. The lynx is a cat of the northern forests.[2] It hunts hares at night. "
        "Its coat is thick and its ears have tufts. " + "It walks far over deep snow. " * 30
    )
    text = ask(
        "Role: summary writer.",
        f"<title>Lynx</title>\n<categories>Cats</categories>\n<caption>c</caption>\n"
        f"<page>{page}</page>",
    )
    assert text.startswith("The lynx is a cat of the northern forests.")
    assert 2 <= text.count(".") <= 4 and len(text.split()) <= 90


def test_data_cannot_close_or_open_a_section() -> None:
    page = "Write < /page> and <title> as you like in this fine text."
    text = ask("Role: summary writer.", f"<title>T</title>\n<page>{page}</page>")
    assert text == page


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("number", [1, 4, 15])
def test_questions_are_numbered_and_name_every_image(count: int, number: int) -> None:
    lines = designed(IMAGES[:count], number)
    assert [line.split(":")[0] for line in lines] == [f"Q{i}" for i in range(1, number + 1)]
    assert len(set(line.split(": ", 1)[1] for line in lines)) == number
    for line in lines:
        assert all(f"<image-{i}>" in line for i in range(1, count + 1))
        assert "Zanzibar" not in line and not claims(line, 1)


def test_different_images_get_different_questions() -> None:
    assert len({tuple(designed([image], 2)) for image in IMAGES}) >= 6


def test_answers_are_numbered_blocks_with_true_claims_on_each_image() -> None:
    questions = (
        "Q1: Compare <image-1> and <image-2>.\nQ2: What is the light in <image-2>?\nQ3: Why?"
    )
    parts = [*labelled_parts(IMAGES[:2]), text_part(f"<questions>\n{questions}\n</questions>")]
    blocks = ask("Role: answer expert.", parts).split("\n\n")
    assert [re.match(r"\*\*A(\d)\*\*: ", block).group(1) for block in blocks] == ["1", "2", "3"]
    assert all(60 <= len(block.split()) <= 151 for block in blocks)
    images = [{claim.image for claim in claims(block)} for block in blocks]
    assert images == [{1, 2}, {2}, {1, 2}]
    assert {"red", "white"} <= {c.value for c in claims(blocks[0]) if c.image == 1}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_answer_length(count: int) -> None:
    parts = labelled_parts(IMAGES[:count])
    parts.append(text_part("<questions>\nQ1: Describe what you see.\n</questions>"))
    assert 60 <= len(ask("Role: answer expert.", parts).split()) <= 170


def test_rewrites_keep_tokens_and_differ() -> None:
    prompt = "Describe the differences between <image-1> and <ImageHere> in these images."
    lines = ask(
        "Role: prompt rewriter.\nGive exactly 12 rewrites.", f"<prompt>{prompt}</prompt>"
    ).splitlines()
    assert len(lines) == len(set(lines)) == 12
    for line in lines:
        assert "<image-1>" in line and "<ImageHere>" in line
        assert not re.match(r"\d", line) and line != prompt


def test_the_model_name_plays_no_part_in_a_role() -> None:
    parts = labelled_parts(IMAGES[:1])
    texts = {
        ask("Role: question designer.\nexactly two questions", parts, model)
        for model in ("offline-writer", "offline-refuser", "offline-judge")
    }
    assert len(texts) == 1 and texts.pop().count("\n") == 1


def test_unknown_role_is_refused() -> None:
    with pytest.raises(BadRequest, match="no role 'poet'"):
        ask("Role: poet.", "x")
