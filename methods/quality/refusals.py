"""Answers that decline, in many languages, and answers that say there is no picture.

What belongs here: the phrases. English refusals are found as those of evaluated models are
(`methods/evaluation/refusals.py`); the other languages by the opening of the answer.
"""

import re

from methods.evaluation.refusals import MOST_WORDS, OPENING, is_refusal
from methods.prompts.json_replies import without_thinking
from methods.words import n_words

_DECLINES = re.compile(
    r"""^\W*(?:
      (?:很?抱歉|对不起|非常抱歉|不好意思|很遗憾|作为(?:一个|一名)?(?:人工智能|AI))?[，,。\s]*
        (?:我|本人|目前)?(?:无法|不能|没办法|沒有辦法|無法)
        (?:回答|提供|查看|识别|識別|帮助|协助|辨认|满足|看到|处理)
      | (?:申し訳(?:ありません|ございません)|すみません)[^。]{0,20}(?:できません|いたしかねます)
      | 죄송(?:합니다|하지만|스럽지만)[^.]{0,30}(?:없습니다|어렵습니다|못합니다)
      | (?:es\ tut\ mir\ leid|tut\ mir\ leid|leider|entschuldigung)\b[^.!?]{0,30}\b
        (?:kann|darf|bin)\b[^.!?]{0,60}\bnicht\b
      | (?:je\ suis\ (?:vraiment\ )?désolée?|désolée?)\b[^.!?]{0,30}\bje\ ne\ (?:peux|suis|saurais)\b
      | je\ ne\ (?:peux|suis)\ (?:malheureusement\ )?pas\ (?:en\ mesure|répondre|vous\ aider)
      | (?:lo\ siento|lo\ lamento|disculpa)\b[^.!?]{0,30}\bno\ (?:puedo|me\ es\ posible)\b
      | (?:desculpe|sinto\ muito|lamento)\b[^.!?]{0,30}\bnão\ (?:posso|consigo|é\ possível)\b
      | mi\ dispiace\b[^.!?]{0,30}\bnon\ (?:posso|sono\ in\ grado)\b
      | (?:het\ spijt\ me|sorry|helaas)\b[^.!?]{0,30}\bkan\ ik\b[^.!?]{0,50}\bniet\b
      | (?:извините|простите|к\ сожалению)\b[^.!?]{0,30}\bне\ (?:могу|в\ состоянии)\b
      | (?:przepraszam|niestety)\b[^.!?]{0,30}\bnie\ (?:mogę|jestem\ w\ stanie)\b
      | (?:üzgünüm|maalesef)\b[^.!?]{0,80}(?:amıyorum|emiyorum|amam|emem)
      | (?:آسف|عذرا|عذرًا|أعتذر)[^.!؟]{0,40}(?:لا\ (?:أستطيع|يمكنني)|لا\ أقدر)
      | (?:क्षमा\ करें|माफ़\ कीजिए|मुझे\ खेद\ है)[^।]{0,60}(?:नहीं\ (?:कर\ )?सकत)
      | (?:xin\ lỗi|rất\ tiếc)\b[^.!?]{0,30}\bkhông\ thể\b
      | maaf\b[^.!?]{0,30}\btidak\ (?:bisa|dapat)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_PICTURE = re.compile(
    r"\b(?:i (?:do not|don't|cannot|can't) see (?:any|an|the|your) (?:image|picture|photo)s?"
    r"|there (?:is|are) no (?:image|picture|photo)s? (?:attached|provided|in this conversation|here)"
    r"|no (?:image|picture|photo)s? (?:was|were|ha(?:s|ve) been) (?:provided|attached|shared|uploaded)"
    r"|please (?:upload|provide|attach|share) (?:the|an|your) (?:image|picture|photo)s?"
    r"|(?:i am|i'm) (?:unable|not able) to (?:view|see|access|open) (?:the |any )?"
    r"(?:image|picture|photo)s?)"
    r"|(?:没有|未)(?:看到|收到|提供)(?:任何)?(?:图片|图像|照片)|请(?:提供|上传)(?:图片|图像|照片)",
    re.IGNORECASE,
)


def refusal_in(answer: str) -> str | None:
    """The opening of an answer that declines, or that says there is no picture; None for an answer.

    Reasoning in tags before it is left out. What is long and goes on is an answer with a caveat
    (`is_refusal`); that holds for other languages by the same number of words.
    """
    text = " ".join(without_thinking(answer).replace("’", "'").split())
    short = n_words(text) <= MOST_WORDS
    found = _NO_PICTURE.search(text[:OPENING])
    declined = is_refusal(text) or (short and _DECLINES.match(text[:OPENING]) is not None)
    return text[:80] if declined or (short and found) else None
