"""Answers to multiple-choice questions, made by chance from the forms that models use."""

from collections.abc import Iterator
from random import Random

LETTERS = "ABCD"
CHOICES = (
    ("cat", "horse", "bird", "dog"),
    ("red", "blue", "green"),
    ("yes", "no"),
    ("3", "3.5", "35", "-3"),
    ("B", "A", "D", "C"),
    ("Vitamin B", "Vitamin C", "Vitamin A", "none of these"),
    ("The little girl.", "The man.", "The woman."),
    ("dog", "dog house", "house", "kennel"),
    ("猫", "马", "鸟", "狗"),
)
FORMS = (
    "{letter}",
    "({letter})",
    "{letter}.",
    "{letter}. {text}",
    "**{letter}**",
    "{text}",
    "{text}.",
    "It is {text}",
    "The answer is {letter}",
    "the correct answer is **{letter}** because of what is to be seen at the left edge",
    "Answer: {letter}",
    "{letter} or {other}",
    "Not {other}, but {letter}",
    "I would say {letter}, since {text} is there and nothing else is as large as that.",
    "A {text} stands in front of the house, and so it has to be the one that is asked for",
    "None of them.",
    "Z",
    "I'm sorry, but without the image provided I cannot say.",
    "Cannot determine the answer from this.",
    "",
    "答案是{letter}。",
    "{lower}",
)


def answers(n: int, seed: int) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Draw answers.

    Args:
        n: The number of answers.
        seed: The seed.

    Yields:
        The answer, the choices, and the letter that it was made from.
    """
    draw = Random(seed)
    for _ in range(n):
        choices = draw.choice(CHOICES)
        yield one_answer(choices, draw.randrange(len(choices)), draw)


def one_answer(choices, place, draw) -> tuple[str, tuple[str, ...], str]:
    """An answer for the choice at `place`, in a form of its own, at times with words around it."""
    letter, other = LETTERS[place], LETTERS[(place + 1) % len(choices)]
    form = draw.choice(FORMS).format(
        letter=letter, other=other, text=choices[place], lower=letter.lower()
    )
    before = draw.choice(("", "", "", "Well, ", "Let me see: "))
    after = draw.choice(("", "", "", "\n", " That is all."))
    return f"{before}{form}{after}", choices, letter


def questions(n: int, seed: int) -> Iterator[list[tuple[str, tuple[str, ...], str]]]:
    """Draw questions that are asked once for each place of the right choice.

    Args:
        n: The number of questions.
        seed: The seed.

    Yields:
        By pass the answer, the choices in the order of the pass, and the right letter.
    """
    draw = Random(seed)
    for _ in range(n):
        choices = draw.choice(CHOICES)
        right, knows = draw.randrange(len(choices)), draw.random() < 0.8
        passes = []
        for shift in range(len(choices)):
            order = choices[shift:] + choices[:shift]
            place = (right - shift) % len(choices)
            named = place if knows else draw.randrange(len(choices))
            # A form that says a letter, for the most part, as models do.
            form = draw.choice(("{letter}", "{letter}.", "({letter})", "The answer is {letter}"))
            answer = form.format(letter=LETTERS[named])
            if draw.random() < 0.02:
                answer = one_answer(order, named, draw)[0]
            passes.append((answer, order, LETTERS[place]))
        yield passes
