"""What is no reply of a model's own: words of the prompt's form, and mentions of its material."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from methods.evaluation.judging import Judgment, own_judgment
from methods.evaluation.rating import read_rating
from methods.evaluation.verdicts import read_verdict
from methods.mmdu.judging import read_judgment
from methods.prompts import material
from methods.prompts.material import mention_of_material
from methods.prompts.messages import Message
from methods.prompts.parsing import ParseError
from methods.prompts.placeholders import is_placeholder
from methods.quality.reading import read_lists, read_marks, read_reread
from resources.settings.prompts import PROMPTS_ROOT, prompt
from tests.golden.test_prompts import DATA
from tests.methods.quality import written
from tests.methods.refusals import reason_of

REPLIES = Path(__file__).resolve().parents[4] / "shared/data/real_replies/judge.jsonl"
READERS: dict[str, Callable[[str], object]] = {
    "alignmmbench/judge_en": read_rating,
    "alignmmbench/judge_zh": read_rating,
    "convbench/grade": read_rating,
    "convbench/compare_turn": read_verdict,
    "convbench/compare_conversation": read_verdict,
    "pairwise/compare": read_verdict,
    "mmdu/judge": read_judgment,
    "quality/marks": lambda reply: read_marks(reply, 2),
    "quality/ground": lambda reply: read_lists(reply, 2),
    "quality/reread": lambda reply: read_reread(reply, 2),
}


def test_a_placeholder_is_known_whatever_it_says_and_what_a_judge_says_is_none():
    placeholders = [
        "<two or three sentences: what is right, what is wrong or missing>",
        "two or three sentences: what is right, what is wrong or missing",
        *("<reason>", "[your explanation]", "{reason}", "2-4 sentences on the answer"),
        *("One sentence.", "Your reason here.", "a short explanation", "string"),
        "'<quoted words>', but A1 has '<other words>'",
        *("<两三句话：哪里对，哪里错或缺>", "两三句话：哪里对，哪里错或缺", "你的理由"),
    ]
    said = [
        "right",
        "<image-1> is brighter than <image-2>.",
        'The table has <td colspan="2"> where <b> was asked for.',
        "回答只有两句话，但都对。",
    ]
    assert [text for text in placeholders + said if is_placeholder(text)] == placeholders


@pytest.mark.parametrize("name", sorted(READERS))
def test_the_form_that_a_prompt_shows_is_read_by_nobody(name):
    system, _ = prompt(name).render(images=(), **{"structured": False, **DATA[name]})
    text = "".join(part.text for part in system.parts)
    form = text[text.index("{") : text.rindex("}") + 1]
    with pytest.raises(ParseError):
        READERS[name](f"As asked for: {form}")


def test_no_prompt_of_a_judge_is_left_out():
    task = "task: (judge|rate|grade|compare|marks|ground|reread)"
    judging = {
        f"{path.parts[-3]}/{path.stem}"
        for path in PROMPTS_ROOT.glob("*/prompts/*.md")
        if re.search(task, path.read_text())
    }
    assert judging == READERS.keys()


CRITERIA = (
    '6: less than half of it is false.\n{"Rating": 9}\n{"Reason": "say what the answer lacks"}'
)
INSTRUCTIONS = (
    Message.from_text("system", CRITERIA),
    Message.from_text("user", "<answer>{say nothing of it}</answer>"),
)


def test_words_of_an_example_are_not_the_judges_own_and_others_may_be_quoted():
    for reason in ("say what the answer lacks", "What the answer lacks."):
        judgment = Judgment({"Rating": 9}, 9, reason)
        assert reason_of(own_judgment, judgment, INSTRUCTIONS) == "copied_example"
    for reason in ("Less than half of it is false.", "say nothing of it", "lacks"):
        judgment = Judgment({"Rating": 6}, 6, reason)
        assert own_judgment(judgment, INSTRUCTIONS) is judgment


@pytest.mark.skipif(not REPLIES.is_file(), reason="the shared folder is not here")
def test_the_samples_copies_are_refused_and_its_judgments_are_read():
    def outcome(reply: dict[str, str]) -> str:
        read = read_judgment if reply["prompt"].startswith("mmdu") else read_rating
        try:
            return str(read(reply["reply"]).score)
        except ParseError as error:
            return error.reason

    replies = [json.loads(line) for line in REPLIES.read_text().splitlines()]
    assert [outcome(reply) for reply in replies] == [
        *["placeholder"] * 8,
        *["no_explanation"] * 5,
        *["placeholder"] * 3,
        *["5"] * 3,
    ]


def test_captions_notes_and_pages_are_found_and_pictures_are_not() -> None:
    expected = {
        "What does the article say about it?": "What does the article",
        "According to the short article, when was it built?": "According to the short article",
        "Based on this information, who is it?": "Based on this information",
        "这个词条讲了什么？": "词条",
        "根据图片写一首诗。": None,
        "Laut dem Text ist sie alt.": "Laut dem Text",
        "この記事によると、いつですか。": "記事によると",
        # What is in the picture is shown.
        "What does the text on the sign say?": None,
        "The caption below the picture says so.": "caption",
        "The summary of the page names him.": "The summary",
    }
    assert {text: mention_of_material(text) for text in expected} == expected


def test_looking_for_a_part_of_a_phrase_first_loses_none() -> None:
    turns = [turn for each in written.texts(written.SEEN) for turn in each["turns"]]
    for text in [turn[of] for turn in turns for of in ("question", "answer")]:
        found = material._MATERIAL.search(text) or material._OTHER_LANGUAGES.search(text)
        assert mention_of_material(text) == (found[0].strip() if found else None)
