"""The tasks `summary`, `questions` and `rewrite` of the mock server. Questions depend on the facts of
the images, never on captions or notes.
"""

import re

from resources.mock_server.careful_answers import listed, token
from resources.mock_server.chat_request import ReceivedRequest
from resources.mock_server.choice_questions import is_chinese
from resources.mock_server.seeded_choice import SeededChoice

_MOST_WORDS = 90
_MOST_SENTENCES = 4
_NOISE = re.compile(r"\[[^\]]{0,30}\]|={2,}[^=\n]*={2,}|'{2,}|[\[\]{}|]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")
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
_TOKEN = re.compile(r"(<[^<>\s]+>)")
_QUESTION_WORDS = ("what", "which", "how", "where", "who", "why", "when", "is", "are", "does", "do")
_REQUEST_FRAMES = (
    "Please {}",
    "Could you {}",
    "I would like you to {}",
    "Take a moment to {}",
    "Your task is to {}",
    "Would you kindly {}",
    "Help me out: {}",
    "Now {}",
)
_QUESTION_FRAMES = (
    "Could you tell me: {}",
    "I would like to know: {}",
    "Here is what I am asking: {}",
    "In your view, {}",
    "Let me ask you this: {}",
    "Please answer the following: {}",
    "Having looked carefully, {}",
    "Going by what you see, {}",
)
_CHINESE_FRAMES = (
    "麻烦你：{}",
    "请问，{}",
    "能否告诉我：{}",
    "我想知道，{}",
    "仔细看图后回答：{}",
    "根据所见，{}",
    "请认真作答：{}",
    "在你看来，{}",
)
_SYNONYMS = {
    "describe": "give a description of",
    "compare": "draw a comparison of",
    "explain": "make clear",
    "differences": "contrasts",
    "images": "pictures",
    "image": "picture",
    "pictures": "images",
    "picture": "image",
    "detailed": "thorough",
    "show": "present",
}
_SYNONYM = re.compile(rf"\b({'|'.join(_SYNONYMS)})\b", re.IGNORECASE)


def write_summary(request: ReceivedRequest) -> str:
    """Return the first sentences of the Wikipedia page, or of the caption, up to four and 90 words."""
    sentences = _informative(request.section("page")) or _informative(request.section("caption"))
    if not sentences:
        return f"A page about {request.section('title') or 'an untitled subject'}."
    chosen: list[str] = []
    for sentence in sentences[:_MOST_SENTENCES]:
        if chosen and len(" ".join([*chosen, sentence]).split()) > _MOST_WORDS:
            break
        chosen.append(sentence)
    words = " ".join(chosen).split()
    return " ".join(words) if len(words) <= _MOST_WORDS else " ".join(words[:_MOST_WORDS]) + " ..."


def _informative(text: str) -> list[str]:
    """Split a text into sentences, without fragments of fewer than five words."""
    plain = " ".join(_NOISE.sub("", text).split())
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(plain)]
    return [sentence for sentence in sentences if len(sentence.split()) >= 5]


def write_questions(request: ReceivedRequest) -> str:
    """Return numbered questions about the images. The system message states their number."""
    pictures = request.labelled
    number = request.exactly("questions?", default=1)
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


def write_rewrites(request: ReceivedRequest) -> str:
    """Return rewrites of the prompt, one per line. The system message states their number."""
    prompt = " ".join(request.section("prompt").split())
    number = request.exactly("rewrites?", default=1)
    seeded = SeededChoice("rewrites", prompt)
    if is_chinese(prompt):
        frames = seeded.order("frames", _CHINESE_FRAMES)
        return "\n".join(frame.format(prompt) for frame in frames[:number])
    asks = prompt.lower().startswith(_QUESTION_WORDS)
    frames = seeded.order("frames", _QUESTION_FRAMES if asks else _REQUEST_FRAMES)
    lines: list[str] = []
    for index in range(number):
        turn, place = divmod(index, len(frames))
        body = _reworded(prompt) if (place + turn) % 2 else prompt
        closing = " " + "Please be thorough. " * turn if turn else ""
        lines.append((_framed(frames[place], body) + closing).strip())
    return "\n".join(lines)


def _framed(frame: str, body: str) -> str:
    """Put the prompt into a frame. If the frame is a question, the text ends with a question mark."""
    text = frame.format(_lowered(body))
    asks = frame.startswith(("Could you {}", "Would you"))
    return text[:-1] + "?" if asks and text.endswith(".") else text


def _reworded(prompt: str) -> str:
    """Replace words by synonyms, except inside tokens."""
    return "".join(
        piece if index % 2 else _SYNONYM.sub(lambda hit: _SYNONYMS[hit.group(1).lower()], piece)
        for index, piece in enumerate(_TOKEN.split(prompt))
    )


def _lowered(text: str) -> str:
    """Begin with a lower-case letter, unless the first word is a token, an abbreviation or "I"."""
    first = text.split(" ", 1)[0]
    plain = first.isalpha() and first[1:].islower()
    return text[:1].lower() + text[1:] if plain else text
