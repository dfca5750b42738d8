"""The task `questions`.

What belongs here: the list of questions, and the choice among them by the pictures' facts. Captions
and notes are never used, so no question can give them away. No model is called.
"""

from __future__ import annotations

from resources.offline.chat_request import ChatRequest
from resources.offline.descriptions import listed, token
from resources.offline.prompt_parsing import exactly, labelled
from resources.offline.seeded_choice import SeededChoice

SINGLE = (
    "What are the main colours of {0}, and how are they spread over the picture?",
    "Describe the light in {0} and what it does for the subject.",
    "Which shapes stand out in {0}, and where do they sit in the frame?",
    "How is {0} composed, and what leads the eye through it?",
    "What mood does {0} convey, and which visual features create it?",
    "Describe the content of {0} in detail, from the background to the main subject.",
    "How does the main subject of {0} stand out from its background?",
    "How many separate parts can be seen in {0}, and how are they arranged?",
    "What role does contrast between light and colour play in {0}?",
    "If you had to recreate {0}, which colours, shapes and placement would you choose, and why?",
    "How does the format of {0} support what it shows?",
    "What is the first thing a viewer notices in {0}, and what might it suggest?",
)
SEVERAL = (
    "Compare the colours and the light in {0}. What do they share and where do they differ?",
    "How do the main shapes in {0} differ in outline, number and placement?",
    "Describe the mood of each of {0} and explain which visual features create the differences.",
    "Which of {0} is the brightest, which is the darkest, and how does this change the effect?",
    "What visual features connect {0}, and what sets each of them apart?",
    "If {0} were shown side by side, which contrasts in colour and composition would be noticed?",
    "How do the backgrounds of {0} differ, and how does each make its subject stand out?",
    "Imagine a story told through {0} in this order: how do colour and light change along it?",
    "Compare the composition of {0}: where is the main subject, and how much else is there?",
    "Which of {0} has the strongest palette, and how do the others compare with it?",
    "Explain how format, colour and shape work together in {0}, and compare the results.",
    "In which ways could {0} belong to one series, and which of them fits least, judged by sight?",
)


def write_questions(request: ChatRequest) -> str:
    """Return as many numbered questions about the pictures as the system message asks for."""
    pictures = labelled(request.last_user)
    number = exactly(request.system, "questions?", default=1)
    names = listed([token(label) for label in pictures] or [token(1)])
    bank = SEVERAL if len(pictures) > 1 else SINGLE
    seeded = SeededChoice("questions", sorted(pictures.items()))
    templates: list[str] = []
    while len(templates) < number:
        turn = len(templates) // len(bank)
        again = "" if turn == 0 else f"Looking once more (view {turn + 1}): "
        templates += [again + template for template in seeded.order(f"bank{turn}", bank)]
    return "\n".join(
        f"Q{index}: {template.format(names)}"
        for index, template in enumerate(templates[:number], start=1)
    )
