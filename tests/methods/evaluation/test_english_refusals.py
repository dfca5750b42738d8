"""Refusals: counted apart, and told from answers with a caveat."""

import pytest

from methods.evaluation.english_refusals import MOST_WORDS, is_refusal

REFUSALS = [
    "I'm sorry, but I can't help with that request.",
    "I'm sorry, but I am unable to assist with this.",
    "I apologize, but I cannot answer questions about these images.",
    "Sorry, I can't help with identifying what is in these images.",
    "I'm very sorry, but I won't describe this.",
    "I’m sorry, but I can’t assist with that.",
    "Unfortunately, I cannot see the image.",
    "As an AI language model, I cannot identify people.",
    "I can not do that.",
    "I'm unable to view images.",
    "I am not able to view images.",
    "We are unable to answer.",
    "I must decline.",
    "**I cannot help with this.**",
    "\n  I CANNOT\nHELP.  ",
    # An offer to do something else does not comply.
    "I can't help with that, but I can help with something else.",
    "I cannot identify people, but feel free to ask about the scene.",
    "I'm sorry, I can't do that. However, if you have other questions, ask.",
    "I won't answer this, but I'd be happy to try another.",
]
ANSWERS = [
    "",
    "The boat is red.",
    "I can see a red boat.",
    "I think the boat cannot float.",
    "The sign says: I cannot swim.",
    "Sorry for the length: the boat is red.",
    "Unfortunately the boat is red.",
    "I am unablenough.",
    "As an AI, I see a boat, and I can't read its name.",
    # It complies after a caveat.
    "I cannot tell the year, but the boat is red.",
    "I'm sorry, I can't read the name. However, the boat is red.",
    "I'm unable to name the person, but they wear a red coat.",
    "I can't help but notice the red boat.",
]


@pytest.mark.parametrize(
    ("answer", "declines"), [*((a, True) for a in REFUSALS), *((a, False) for a in ANSWERS)]
)
def test_a_refusal_declines_and_says_nothing_of_the_picture(answer, declines):
    assert is_refusal(answer) == declines


def test_sixty_words_may_refuse_and_sixty_one_are_an_answer():
    assert MOST_WORDS == 60
    # "I cannot" is two words.
    assert is_refusal("I cannot" + " see" * 58)
    assert not is_refusal("I cannot" + " see" * 59)
