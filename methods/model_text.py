"""Chain-of-thought removal: splits a model's text into answer and reasoning (`<think>` and other tags),
and removes special tokens of chat templates.

Replies of models and imported predictions both go through `without_reasoning`. A "mark" is a tag or
token that opens or closes reasoning. An answer may also mention a mark. So an opening mark only counts
at the start of a line or directly after a word, and no mark counts in code, in quotation marks or in a
sentence about it.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

MOST_CHARACTERS = 1_000_000
"""Limit of the text of a reply, of its reasoning, and of one prediction: about twice 131,072 tokens. A
million characters takes half a second to scan, and all models of a stage wait meanwhile."""

_NAME = (
    r"(?:(?:\w{1,20}[:_])?(?:think|thinking|thoughts?|reasoning|reflection|reflect|scratchpad"
    r"|inner_monologue|chain_of_thought|analysis|rationale|cot)|thought_process|reason)"
)
_ATTRIBUTES = r"(?:\s[^<>\n]{0,200})?(?<!/)"
_KINDS = {
    "DeepSeek, Qwen, GLM <think>, EXAONE <thought>, Seed <seed:think>, prompts <reasoning>": (
        rf"<\s*{_NAME}{_ATTRIBUTES}>",
        rf"<\s*[/\\]\s*{_NAME}\s*>",
    ),
    "Magistral": (r"\[(?:think|thinking|thought)\]", r"\[/\s*(?:think|thinking|thought)\]"),
    "Kimi": (r"◁\s*think(?:ing)?\s*▷", r"◁\s*/\s*think(?:ing)?\s*▷"),
    "Gemma": (
        r"<\|channel>(?!\s*final)(?:\s*(?:thought|thinking|reasoning|analysis)\b)?"
        r"|<\|?channel\|?>\s*(?:thought|thinking|reasoning)\b",
        r"<\|?/?channel\|>(?!\s*(?:final|analysis|commentary))",
    ),
    "Command A <|START_THINKING|>, OpenThinker <|begin_of_thought|>": (
        r"<\|(?:begin|start)_(?:of_)?(?:thought|thinking|think|reasoning)\|>",
        r"<\|end_(?:of_)?(?:thought|thinking|think|reasoning)\|>",
    ),
    "a token with a bar at its end": (
        r"<\|(?:think|thinking|thought|reasoning)\|>",
        r"<\|/(?:think|thinking|thought|reasoning)\|>",
    ),
    "Apertus": (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    "openPangu": (r"\[unused16\]", r"\[unused17\]"),
    "MedGemma": (r"<unused94>(?:thought\b)?", r"<unused95>"),
}
"""Regular expressions of the marks that open and close reasoning, by the models that write them."""
_MARK = re.compile(
    "|".join(
        f"(?P<o{kind}>{opens})|(?P<c{kind}>{closes})"
        for kind, (opens, closes) in enumerate(_KINDS.values())
    ),
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"<\|channel\|>\s*final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>", re.IGNORECASE
)
_ANALYSIS = re.compile(
    r"\s*(?:<\|start\|>assistant)?<\|channel\|>\s*(?:analysis|commentary)", re.IGNORECASE
)
"""Marks of the channels of gpt-oss: the final answer, and the analysis before it."""
_WHOLE_FORMS = (
    # gpt-oss behind a server that removes the special tokens of its channels.
    re.compile(r"\s*analysis(?=\S)(?P<reasoning>.*?)assistantfinal(?P<answer>.*)", re.DOTALL),
    # LLaVA-CoT
    re.compile(
        r"\s*(?P<reasoning><SUMMARY>.*</REASONING>)\s*<CONCLUSION>(?P<answer>.*)",
        re.DOTALL,
    ),
    # Open WebUI
    re.compile(
        r"\s*<details\s[^<>\n]{0,200}type=.reasoning.[^<>\n]{0,200}>(?P<reasoning>.*?)</details>"
        r"(?P<answer>.*)",
        re.DOTALL,
    ),
    # Granite
    re.compile(
        r"\s*Here(?: is|'s) my thought process:(?P<reasoning>.*?)"
        r"Here(?: is|'s) my response:(?P<answer>.*)",
        re.DOTALL | re.IGNORECASE,
    ),
)
"""Formats that are recognised only in a whole text; the named groups are `reasoning` and `answer`."""
_ANSWER_OPENS = r"(?:<\|begin_of_solution\|>|<\|START_RESPONSE\|>|<answer>|<response>)"
_ANSWER = re.compile(
    rf"{_ANSWER_OPENS}(?P<text>(?:(?!{_ANSWER_OPENS}).)*?)"
    r"(?:<\|end_of_solution\|>|<\|END_RESPONSE\|>|</answer>|</response>)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A tagged answer at the end of a text. It ends reasoning that has no closing mark."""
_WRAPS = re.compile(
    r"<\|(?:begin|end)_of_(?:box|solution)\|>|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>", re.IGNORECASE
)
"""Tokens around an answer, or around its final part, that are removed."""
_SPECIAL = re.compile(r"<[|｜][^|｜<>\s]{1,40}[|｜]>")
"""Special tokens that some servers leave in a message."""
_BEGINS = re.compile(
    r"(?=\s*<)\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|turn>)\s*"
    r"(?:assistant|model)?\s*(?:<\|end_header_id\|>)?"
    r"|<[|｜]assistant[|｜]>|<\|begin_of_text\|>|<[|｜]begin▁of▁sentence[|｜]>|<bos>)?\s*"
    rf"(?:<\s*{_NAME}\s*/>\s*)?",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:<[|｜][^|｜<>\s`]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>|<end_of_utterance>|<turn\|>)\s*\Z",
    re.IGNORECASE,
)
"""Tokens of chat templates before and after an answer, and an empty mark (`<think/>`) before it."""
_LONGEST_END = 60
_STRUCK_OUT = re.compile(r"<s(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_OPENING_QUOTES = "`\"'“‘«「『(（"
_CLOSING_QUOTES = "`\"'”’»」』)）"
_BEFORE_A_NAME = re.compile(
    r"(?:\b(?:tags?|marks?|markers?|tokens?|elements?|delimiters?|closing|opening|with|by|and|or|to|in|of"
    r"|as|the|a|an|called|like|writes?|written|puts?|uses?|using|emits?|says?|between|before|after)"
    r"|标签|标记|符号)\s*\Z",
    re.IGNORECASE,
)
_AFTER_A_NAME = re.compile(
    r"\s+(?:is|are|was|marks?|ends?|closes?|means?|tells?|tags?|tokens?|should|must|would|will|and|or|to"
    r"|in|at|before|after|around)\b",
    re.IGNORECASE,
)
"""Words before or after a mark which show that a sentence is about the mark."""
_MOST_MARKS = 200
"""The most marks of a text that are parsed: a looping model may repeat a mark until its token limit."""
_NEARBY = 40
"""The number of characters before and after a mark that are examined."""


class ModelText(NamedTuple):
    """The answer and the reasoning in a model's text; each is empty if the text has none."""

    answer: str
    reasoning: str

    @property
    def reasoning_only(self) -> bool:
        """Whether there is reasoning but no answer, as in a text that was cut off."""
        return bool(self.reasoning) and says_nothing(self.answer)


def without_reasoning(text: str) -> ModelText:
    """Split a model's text into answer and reasoning, and remove tokens of a chat template.

    Reasoning without a closing mark includes the rest of the text. If the chat template opens the
    reasoning in the prompt, the text has only the closing mark, and everything before it is reasoning.
    Marks that an answer writes about are kept. A text without marks is returned unchanged.

    Args:
        text: The text that a model wrote, of any length.

    Returns:
        The answer and the reasoning, without white space around them.
    """
    split = _channels(text) or _split(text)
    if split is not None:
        return ModelText(_without_template(split.answer), split.reasoning)
    bare = _without_template(text)
    return ModelText(text if bare == text.strip() else bare, "")


def says_nothing(text: str) -> bool:
    """Check that a text has no visible character, apart from special tokens and terminal codes."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", _SPECIAL.sub("", text))
    return not any(character.isprintable() and not character.isspace() for character in plain)


class _Mark(NamedTuple):
    """A mark of reasoning. `counts` is False if the text only writes about the mark."""

    opens: bool
    kind: str
    start: int
    end: int
    counts: bool = True
    in_inline_code: bool = False


def _marks(text: str) -> list[_Mark]:
    """The first `_MOST_MARKS` marks of a text, in order."""
    spans = [match.span() for match in _CODE.finditer(text)]
    starts = [start for start, _ in spans]
    marks: list[_Mark] = []
    for match in _MARK.finditer(text):
        if len(marks) == _MOST_MARKS:
            break
        group = match.lastgroup or ""
        mark = _Mark(group[0] == "o", group[1:], *match.span())
        around = bisect_right(starts, mark.start) - 1
        if around >= 0 and mark.start < spans[around][1]:
            inline = not text.startswith("```", spans[around][0])
            marks.append(mark._replace(counts=False, in_inline_code=inline))
        else:
            marks.append(mark._replace(counts=_counts(text, mark, marks)))
    return marks


def _counts(text: str, mark: _Mark, earlier: list[_Mark]) -> bool:
    """Whether the mark is markup, not mentioned in the text."""
    before = text[max(0, mark.start - _NEARBY) : mark.start]
    after = text[mark.end : mark.end + _NEARBY]
    if before[-1:] in _OPENING_QUOTES and after[:1] in _CLOSING_QUOTES and before and after:
        return False
    on_line = before.rpartition("\n")
    starts_line = not on_line[2].strip() and (bool(on_line[1]) or mark.start < _NEARBY)
    is_glued = bool(before) and not before[-1].isspace() and before[-1] not in _OPENING_QUOTES
    if mark.opens:
        return starts_line or is_glued
    last = earlier[-1] if earlier else None
    if (
        last is not None
        and last.opens
        and not last.counts
        and last.kind == mark.kind
        and "\n" not in text[last.end : mark.start]
    ):
        return False
    if _AFTER_A_NAME.match(after):
        return is_glued
    if starts_line or is_glued:
        return True
    return not _BEFORE_A_NAME.search(before) and after[:1] not in (",", ".", ";", ":", "，", "。")


def _split(text: str) -> ModelText | None:
    """Split a text at its marks; None for a text without marks of reasoning."""
    marks = _marks(text)
    if not any(mark.counts for mark in marks):
        return None
    start_of_last = _start_of_last_marks(text, marks)
    begins = _BEGINS.match(text)
    position = begins.end() if begins else 0
    answer: list[str] = []
    reasoning: list[str] = []
    is_split = False
    place = 0
    while place < len(marks):
        mark = marks[place]
        before = text[position : mark.start]
        end = _end_of(marks, place) if mark.opens and mark.counts else None
        is_example = bool(before.strip()) and (
            before.rstrip().endswith((":", "：")) or (end is None and not is_split)
        )
        if not mark.counts or (mark.opens and is_example):
            place = place + 1 if end is None else end + 1
            continue
        is_split = True
        if not mark.opens:
            if any(reasoning) and place >= start_of_last:
                answer.append(before)
            else:
                reasoning += [*answer, before]
                answer = []
            position, place = mark.end, place + 1
            continue
        answer.append(before)
        if end is None:
            rest = text[mark.end :]
            stated = _ANSWER.search(rest)
            reasoning.append(rest[: stated.start()] if stated else rest)
            answer.append(stated["text"] if stated else "")
            position = len(text)
            break
        reasoning.append(text[mark.end : marks[end].start])
        position, place = marks[end].end, end + 1
    if not is_split:
        return None
    answer.append(text[position:])
    thoughts = [_without_first_mark(part.strip()) for part in reasoning]
    return ModelText("".join(answer).strip(), "\n".join(thought for thought in thoughts if thought))


def _without_first_mark(thought: str) -> str:
    """Remove a second mark at the beginning of reasoning: both template and model may write one."""
    mark = _MARK.match(thought)
    return thought[mark.end() :].strip() if mark else thought


def _end_of(marks: list[_Mark], place: int) -> int | None:
    """The index of the mark that closes the reasoning opened at index `place`; None if none does."""
    kind = marks[place].kind
    depth = 0
    ends = []
    for later in range(place, len(marks)):
        mark = marks[later]
        if mark.counts and mark.kind == kind:
            depth += 1 if mark.opens else -1
            if depth == 0:
                return later
            if not mark.opens:
                ends.append(later)
    # Without a matching closing mark the last closing mark ends the reasoning: if two opening marks
    # share one, if another kind of mark closes it, or if a code fence hides it.
    others = [
        later
        for later in range(place, len(marks))
        if not marks[later].opens and not marks[later].in_inline_code
    ]
    counted = [later for later in others if marks[later].counts]
    return next(reversed(ends or counted or others), None)


def _start_of_last_marks(text: str, marks: list[_Mark]) -> int:
    """The index of the first mark that only marks follow."""
    if len(marks) == _MOST_MARKS:
        return _MOST_MARKS
    place, end = len(marks), len(text)
    while place and says_nothing(text[marks[place - 1].end : end]):
        place -= 1
        end = marks[place].start
    return place


def _channels(text: str) -> ModelText | None:
    """Split texts in the formats of gpt-oss and of `_WHOLE_FORMS`; None for other texts."""
    for form in _WHOLE_FORMS:
        if whole := form.fullmatch(text):
            answer = whole["answer"].strip().removesuffix("</CONCLUSION>").strip()
            return ModelText(answer, whole["reasoning"].strip())
    final = _FINAL.search(text)
    if final and text[max(0, final.start() - 1) : final.start()] in tuple(_OPENING_QUOTES):
        final = None
    if final is None and not _ANALYSIS.match(text):
        return None
    before = text[: final.start()] if final else text
    thought = _SPECIAL.sub(" ", before.replace("<|start|>assistant", " "))
    thought = re.sub(r"^\s*(?:assistant\s*)?(?:analysis|commentary)\s*", "", thought).strip()
    return ModelText(_SPECIAL.sub("", text[final.end() :]).strip() if final else "", thought)


def _without_template(answer: str) -> str:
    """Remove the tokens of a chat template around an answer."""
    if begins := _BEGINS.match(answer):
        answer = answer[begins.end() :]
    answer = answer.strip()
    first: re.Match[str] | None = None
    length = len(answer)
    while end := _ENDS.search(answer, max(0, length - _LONGEST_END), length):
        first, length = end, end.start()
    if first is not None and not _is_text(answer, first):
        answer = answer[:length].rstrip()
    return answer if "`" in answer else _WRAPS.sub("", answer).strip()


def _is_text(answer: str, end: re.Match[str]) -> bool:
    """Whether a token at the end belongs to the answer: in code, as the end of HTML strikethrough
    (`</s>`), or because the answer writes about it.
    """
    before = answer[: end.start()]
    if before.count("```") % 2 or (
        before[-1:].isspace() and _BEFORE_A_NAME.search(before[-_NEARBY:])
    ):
        return True
    struck_out = len(_STRUCK_OUT.findall(before)) > before.lower().count("</s>")
    return struck_out and end[0].strip().lower() == "</s>"
