"""Questions about several pictures: the careful model compares their pixels, the careless one guesses.

The questions are those that the project makes of pictures (`methods/mmiu/derived`).
"""

import json

import numpy as np
import pytest
from PIL import Image

from methods.mmiu.derived import drawing
from methods.mmiu.unanswerable_tasks import CANNOT
from resources.offline.chat_completion import answer
from resources.offline.chat_request import read_chat
from tests.resources.offline.offline_drawings import chat_messages, draw, prompt_messages

pytestmark = pytest.mark.slow

LETTERS = "ABCDEFGH"


def scene(seed: int) -> Image.Image:
    """A smooth picture that differs everywhere."""
    noise = np.random.default_rng(seed).integers(0, 256, (5, 6, 3), np.uint8)
    return Image.fromarray(noise).resize((360, 300), Image.Resampling.BICUBIC)


def said(
    images: list[Image.Image], question: str, choices: list[str], skill: str = "careful"
) -> str:
    """The choice that a model names; it is asked as MMIU's questions are."""
    lettered = "\n".join(f"({LETTERS[place]}) {text}" for place, text in enumerate(choices))
    text = f"Context: Compare.\nQuestion: {question}\nChoices:\n{lettered}\nHint: a letter alone."
    request = {"model": f"offline-{skill}", "messages": chat_messages(images, text)}
    return choices[LETTERS.index(answer(read_chat(request)).rstrip(".")[-1])]


TURNS = list(drawing.TURNS)
HOW = "How was the first image transformed to get the second?"


@pytest.mark.parametrize("turn", TURNS)
def test_a_transformation_is_seen_and_another_picture_is_none(turn: str) -> None:
    before = drawing.square(scene(1), 240)
    after = before.transpose(drawing.TURNS[turn])
    assert said([before, after], HOW, [*TURNS, CANNOT]) == turn
    assert said([before, drawing.square(scene(2), 240)], HOW, [*TURNS, CANNOT]) == CANNOT


def test_a_homography_is_applied_and_compared() -> None:
    before = drawing.framed(scene(3), 320, 240)
    right, other = ((0.8, 0.1, 20), (-0.1, 0.8, 30), (0, 0, 1)), ((1, 0, 90), (0, 1, 0), (0, 0, 1))
    choices = [str([list(row) for row in each]) for each in (other, right)]
    images = [before, drawing.warped(before, right)]
    assert said(images, "Which matrix?", [*choices, CANNOT]) == choices[1]
    broken = ["[[1, 2], [3, 4]]", "[[nonsense", choices[1]]
    assert said(images, "Which matrix?", broken) == choices[1]


def test_tiles_are_put_where_their_edges_meet() -> None:
    tiles = drawing.quarters(scene(4))
    shown = [tiles[place] for place in (2, 0, 3, 1)]
    question = "Which images make up the picture, row by row?"
    choices = ["1, 2, 3, 4", "2, 4, 1, 3", "4, 3, 2, 1", CANNOT]
    assert said(shown, question, choices) == "2, 4, 1, 3"
    replaced = [*shown[:3], drawing.quarters(drawing.framed(scene(9), 300, 360))[0]]
    assert said(replaced, question, choices) == CANNOT


def test_differences_are_counted() -> None:
    before = scene(5)
    for n_differences in (1, 3, 5):
        after = drawing.altered(before, [0, 2, 5, 7, 8][:n_differences])
        asked = "How many differences are there between the two images?"
        assert said([before, after], asked, ["1", "2", "3", "5"]) == str(n_differences)


def test_versions_of_a_picture_are_known_from_other_pictures() -> None:
    before, asked = scene(6), "Are the two images versions of one picture?"
    for version in (
        before.transpose(drawing.TURNS["mirrored left to right"]),
        drawing.cropped(before, 0.85),
        drawing.brightened(before, 1.3),
    ):
        assert said([before, version], asked, ["No", "Yes"]) == "Yes"
    assert said([before, scene(7)], asked, ["No", "Yes"]) == "No"


def test_the_best_of_several_versions_is_seen() -> None:
    before = draw("red", "white", parts=5)
    blurred = [drawing.blurred(before, 8), before, drawing.blurred(before, 3)]
    assert (
        said(blurred, "Which image is the sharpest?", ["Image 1", "Image 2", "Image 3"])
        == "Image 2"
    )
    noisy = [drawing.noisy(before, 70, 0), drawing.noisy(before, 30, 0), before]
    asked = "Which image has the least noise?"
    assert said(noisy, asked, ["Image 1", "Image 2", "Image 3"]) == "Image 3"


def test_a_text_on_where_pictures_stand_is_compared_with_the_halves() -> None:
    one, other, third = (drawing.square(scene(seed), 160) for seed in (10, 11, 12))
    composed = [
        drawing.joined(one, other, side_by_side=True),
        drawing.joined(other, one, side_by_side=True),
        drawing.joined(third, one, side_by_side=False),
    ]
    asked = "Which image has the picture of Image 1 {} the picture of Image 2?"
    choices = ["Image 3", "Image 4", "Image 5", CANNOT]
    shown = [one, other, *composed]
    assert said(shown, asked.format("to the left of"), choices) == "Image 3"
    assert said(shown, asked.format("to the right of"), choices) == "Image 4"
    assert said([one, third, *composed], asked.format("below"), choices) == "Image 5"
    assert said(shown, asked.format("above"), choices) == CANNOT


def test_a_text_is_compared_with_what_candidates_show() -> None:
    shown = [draw("red", "white"), draw("blue", "black"), draw("yellow", "green")]
    choices = ["Image 1", "Image 2", CANNOT, "Image 3"]
    assert said(shown, 'Which image does the text "A blue ball" describe?', choices) == "Image 2"
    assert said(shown, 'Which image does the text "A pink ball" describe?', choices) == CANNOT


def test_a_picture_of_the_same_colours_is_taken_for_one_of_the_same_kind() -> None:
    shown = [draw("red", "white"), draw("blue", "black"), draw("red", "white", place="left")]
    asked = "Which image shows a subject of the same kind as Image 1?"
    assert said(shown, asked, ["Image 2", "Image 3"]) == "Image 3"


def test_the_careless_model_guesses() -> None:
    found = {said([scene(seed), scene(seed)], HOW, TURNS, "careless") for seed in range(12)}
    assert len(found) >= 3


# --- Wrong choices -------------------------------------------------------------------------------


def written(right: str, also: str = "", number: int = 3) -> list[str]:
    text = (
        f"<context>c</context><question>q</question><answer>{right}</answer><right>{also}</right>"
    )
    messages = prompt_messages(f"Write exactly {number} wrong answers.", text)
    request = {"model": "offline-writer", "messages": messages, "metadata": {"task": "distractors"}}
    return json.loads(answer(read_chat(request)))["distractors"]


def test_as_many_wrong_choices_are_written_as_are_asked_for_and_none_is_right() -> None:
    for number in (1, 3, 7):
        found = written("Bridges", "Castles\nLakes", number)
        assert len(set(found)) == number
        assert not {each.casefold() for each in found} & {"bridges", "castles", "lakes"}
    assert written("Bridges") == written("Bridges") != written("Mountains")


def test_a_statement_has_statements_for_wrong_choices() -> None:
    found = written("The boat turns because the wind has changed.")
    assert all(each.startswith("It is about ") for each in found)
