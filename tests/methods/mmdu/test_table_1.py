"""Figures of dialogues beside the paper's, worked by hand."""

from methods.mmdu.table_1 import DialogueStatistics, figures_of


def built(n_turns, n_images, n_several, tokens=100, n_some=0, n_following=0) -> DialogueStatistics:
    questions, answers = ["What is it?"] * n_turns, ["It is red."] * n_turns
    return DialogueStatistics(n_images, questions, answers, n_several, n_some, n_following, tokens)


def test_figures_worked_by_hand() -> None:
    found = figures_of(
        [
            built(10, 2, 5, 1000),
            built(11, 2, 10),
            built(20, 10, 20, 100, 17),
            built(27, 20, 16, 4000, 0, 5),
        ]
    )
    assert found == {
        "Turns, mean": "17.0",
        "Turns, most": "27",
        "Dialogues of up to 10 turns": "25.0 %",
        "Dialogues of 11 to 15 turns": "25.0 %",
        "Dialogues of 16 to 20 turns": "25.0 %",
        "Dialogues of more than 20 turns": "25.0 %",
        "Images, mean": "8.5",
        "Images, most": "20",
        "Dialogues of 2 images": "50.0 %",
        "Dialogues of 3 to 10 images": "25.0 %",
        "Dialogues of more than 10 images": "25.0 %",
        # 51 of 68.
        "Questions on several images": "75.0 %",
        "Questions on one image": "25.0 %",
        # 17 and 5 of 68.
        "Questions on some images of a larger set": "25.0 %",
        "Questions that go on from an earlier turn": "7.4 %",
        "Image and text tokens, mean": "1,300",
        "Image and text tokens, most": "4,000",
        "Words of a question, mean": "3",
        "Words of a question, most": "3",
        "Words of an answer, mean": "3",
        "Words of an answer, most": "3",
    }
