"""The tasks `item`, `distractors` and `translate` of the mock server: multiple-choice questions on
facts in the pixels, never on captions or notes, and their translation to Chinese.
"""

import json
import re

from methods.json_text import from_json
from resources.mock_server import vocabulary
from resources.mock_server.chat_request import ReceivedRequest
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.vocabulary import true_values

_DISTRACTORS = 3
QUESTIONS = {
    vocabulary.COLOUR: ("Which colour does the background have?", "{}"),
    vocabulary.LIGHT: ("How much light is there in the picture as a whole?", "{}"),
    vocabulary.VIVIDNESS: ("How strong are the colours of the picture?", "{}"),
    vocabulary.SHAPE: ("Which outline does the main subject have?", "{}"),
    vocabulary.PLACE: ("Where does the main subject stand in the frame?", "on the {}"),
    vocabulary.COUNT: ("How much is there to be counted in the picture?", "{} forms"),
    vocabulary.ORIENTATION: ("Which way up is the picture?", "{} format"),
}
"""The question about each kind of fact, and the template of a choice."""
_IN_CHINESE = {
    vocabulary.COLOUR: ("背景是什么颜色？", "{}"),
    vocabulary.LIGHT: ("整个画面的光线如何？", "{}"),
    vocabulary.VIVIDNESS: ("画面的色彩有多强烈？", "{}"),
    vocabulary.SHAPE: ("主体的轮廓是什么样的？", "{}"),
    vocabulary.PLACE: ("主体在画面的什么位置？", "在{}"),
    vocabulary.COUNT: ("画面中可数的东西有多少？", "{}形体"),
    vocabulary.ORIENTATION: ("画面朝哪个方向？", "{}画幅"),
}
_WORDED = {"on the centre": "at the centre", "single forms": "a single form"}
_OF_ABILITY = {
    "image_quality": vocabulary.VIVIDNESS,
    "image_scene": vocabulary.LIGHT,
    "image_style": vocabulary.ORIENTATION,
    "object_localization": vocabulary.PLACE,
    "spatial_relationship": vocabulary.PLACE,
    "attribute_recognition": vocabulary.SHAPE,
    "attribute_comparison": vocabulary.COUNT,
}
"""The kind of fact nearest to an ability. For other abilities any kind is chosen."""
_TOPICS = (
    *("Bridges", "Castles", "Coins", "Ferries", "Fountains", "Gardens", "Glaciers", "Harbours"),
    *("Kites", "Lakes", "Locomotives", "Maps", "Markets", "Mountains", "Observatories"),
    *("Orchards", "Paintings", "Palaces", "Railway stations", "Rivers", "Sculptures", "Towers"),
)
_TITLES = ("{}", "{} of the north", "{} by type", "{} at night", "{} in the 19th century")
_WORDS_OF_SENTENCE = 6
"""A right answer with at least this many words is a statement rather than a title."""
_WORDS = {
    "which": "哪个", "what": "什么", "where": "哪里", "who": "谁", "how many": "多少个",
    "is": "是", "are": "是", "in": "在", "of": "的", "and": "和", "or": "或", "than": "比",
    "more": "更多", "the": "", "a": "", "an": "", "colour": "颜色", "shape": "形状", "light": "光线",
    "background": "背景", "picture": "图片", "image": "图片", "boat": "船", "boats": "船",
    "tower": "塔", "house": "房子", "water": "水", "sky": "天空",
}  # fmt: skip
_MARKS = str.maketrans({"?": "？", "!": "！", ",": "，"})
_CODE = re.compile(r"(`[^`]*`|<[^<>]*>|\$[^$]+\$)")
_HAN = re.compile("[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


def write_item(request: ReceivedRequest) -> str:
    """Return a question about the image, with its answer and up to three distractors.

    Without an image, as in a dry run, any value is the answer.
    """
    ability = request.section("ability")
    pictures = list(request.labelled.values())
    seeded = SeededChoice("item", ability, pictures)
    kind = _OF_ABILITY.get(ability) or seeded.choice("kind", list(QUESTIONS))
    question, form = QUESTIONS[kind]
    values = _values(pictures[0], kind) if pictures else list(vocabulary.values(kind))
    wrong = seeded.order("wrong", values[1:])[:_DISTRACTORS]
    choices = [worded(form, value) for value in (values[0], *wrong)]
    item = {"question": question, "hint": "", "answer": choices[0], "distractors": choices[1:]}
    return json.dumps(item)


def _values(facts: Facts, kind: str) -> list[str]:
    """Return the right value of a kind, then the wrong ones, without nearly right colours."""
    true = true_values(facts, kind)
    wrong = [value for value in vocabulary.values(kind) if value not in true]
    if kind != vocabulary.COLOUR:
        return [*true, *wrong]
    far = [value for value in wrong if not any(vocabulary.near(value, other) for other in true)]
    return [facts.background, *far]


def worded(form: str, value: str) -> str:
    """Insert a value into the template of a choice."""
    plain = form.format(value)
    return _WORDED.get(plain, plain)


def write_distractors(request: ReceivedRequest) -> str:
    """Return the requested number of wrong answers."""
    answer = request.section("answer")
    excluded = {text.casefold() for text in (answer, *request.section("right").splitlines())}
    seeded = SeededChoice("distractors", answer, request.section("question"))
    form = "It is about {}." if len(answer.split()) >= _WORDS_OF_SENTENCE else "{}"
    names = [
        form.format(seeded.choice(f"form of {name}", _TITLES).format(name))
        for name in seeded.order("names", _TOPICS)
    ]
    wrong = [name for name in names if name.casefold() not in excluded]
    return json.dumps({"distractors": wrong[: request.exactly("wrong answers", 3)]})


def _phrases() -> dict[str, str]:
    """Return the English-Chinese dictionary of questions, choices and words."""
    phrases = dict(_WORDS)
    for kind, (question, form) in QUESTIONS.items():
        chinese_question, chinese_form = _IN_CHINESE[kind]
        phrases[question.casefold().rstrip("?")] = chinese_question.rstrip("？")
        for value in vocabulary.values(kind):
            # "square" is a value of two kinds (format and shape); the first one stays.
            phrases.setdefault(value, vocabulary.CHINESE[kind][value])
            choice = worded(form, value)
            phrases[choice] = chinese_form.format(vocabulary.CHINESE[kind][value])
    return phrases


PHRASES = _phrases()
_ENGLISH = {chinese: english for english, chinese in PHRASES.items() if chinese}


def _any(texts: dict[str, str], form: str) -> re.Pattern[str]:
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(form.format("|".join(map(re.escape, longest_first))), re.IGNORECASE)


_KNOWN_ENGLISH, _KNOWN_CHINESE = _any(PHRASES, r"\b(?:{})\b"), _any(_ENGLISH, "{}")


def translate(request: ReceivedRequest) -> str:
    """Translate the texts of a question to Chinese, as JSON with the names that were kept."""
    texts = _texts(request)
    translated = {name: to_chinese(text) for name, text in texts.items()}
    first = [_WORD.match(text) for text in texts.values()]
    texts_to_keep = {
        word[0]: None
        for word, text in zip(first, translated.values(), strict=True)
        if word and word[0] in _WORD.findall(text)
    }
    names = [{"name": name, "rendering": name} for name in texts_to_keep if name[0].isupper()]
    return json.dumps({**translated, "names": names}, ensure_ascii=False)


def _texts(request: ReceivedRequest) -> dict[str, str]:
    """Return the texts to translate by name; none if the prompt has another format."""
    try:
        item = from_json(request.section("item", "{}"))
    except ValueError:
        return {}
    texts = item if isinstance(item, dict) else {}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def to_chinese(text: str) -> str:
    """Translate the known words of a text to Chinese; names, numbers and code stay."""
    parts = _CODE.split(text)
    for place in range(0, len(parts), 2):
        text_part = _KNOWN_ENGLISH.sub(lambda found: PHRASES[found[0].casefold()], parts[place])
        text_part = re.sub(r"(?<=[\u4e00-\u9fff]) +| +(?=[\u4e00-\u9fff])", "", text_part)
        parts[place] = re.sub(r" {2,}", " ", text_part).translate(_MARKS)
    return "".join(parts).strip()


def is_chinese(text: str) -> bool:
    """Tell whether a text has a Chinese character."""
    return _HAN.search(text) is not None


def to_english(text: str) -> str:
    """Translate the known Chinese words of a text to English."""
    return _KNOWN_CHINESE.sub(lambda found: f" {_ENGLISH[found[0]]} ", text).strip(" ？")
