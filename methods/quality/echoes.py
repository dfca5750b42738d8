"""Detects generated questions that copy the prompt, or that name the subject of the Wikipedia page.

Small models copy their prompt. A question that only repeats its angle is not about the image. A
question that names the subject of the page can be answered without the image. The prompt forbids both.
"""

import re
from collections.abc import Sequence

from methods.prompts.parsing import ParseError
from methods.quality.leaks import names_in
from methods.quality.near_questions import content_words

_WORKING_WORDS = content_words(
    "what which how why where when describe explain discuss compare identify tell give say show shown"
    " see seen look looking picture pictures image images photo photos photograph photographs question"
    " one each other between across among together detail",
    "en",
)
"""Content words that occur in questions about any image, and so are not counted as original."""
_LEAST_REPEATED = 0.5
"""Least share of the content words of a prompt sentence that a copied question has. Chosen by hand."""
_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.])\s+|\n\s*\n|\n- ")
_IN_PARENTHESES = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_HAN = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def sentences_of(prompt: str) -> list[str]:
    """Split the text of a prompt template into sentences and clauses, without Jinja expressions."""
    sentences = _SENTENCE_END.split(_JINJA.sub("", prompt))
    clauses = [clause for sentence in sentences for clause in re.split(r"[:;]\s", sentence)]
    return [text for part in dict.fromkeys([*sentences, *clauses]) if (text := part.strip())]


def require_own_questions(
    questions: Sequence[str], prompt_sentences: Sequence[str], titles: Sequence[str]
) -> None:
    """Check that questions do not copy the prompt and do not name the subject of a page.

    Args:
        questions: The questions Q1 to Qn.
        prompt_sentences: Sentences of the prompt, and the angles that it names.
        titles: Titles of the pages of the images shown.

    Raises:
        ParseError: `repeats_prompt` or `names_subject`, with the number of the first such question.
    """
    for number, question in enumerate(questions, start=1):
        if echo := repeated_sentence(question, prompt_sentences):
            raise ParseError(
                "repeats_prompt",
                f'Q{number} only repeats "{echo[:100]}" from the instructions. Ask about something '
                "that this picture shows.",
            )
        if name := named_subject(question, titles):
            raise ParseError(
                "names_subject",
                f'Q{number} gives away the name "{name}". Write <image-1> and so on in its place.',
            )


def repeated_sentence(question: str, prompt_sentences: Sequence[str]) -> str | None:
    """Find the sentence that an English question repeats; None if it has an original content word."""
    question_words = content_words(question, "en")
    for sentence in prompt_sentences:
        content = content_words(sentence, "en") - _WORKING_WORDS
        own = question_words - content - _WORKING_WORDS
        if content and not own and len(question_words & content) >= _LEAST_REPEATED * len(content):
            return " ".join(sentence.split())
    return None


def named_subject(question: str, titles: Sequence[str]) -> str | None:
    """Find a name from the title of a page in a question, or None.

    A name is a capitalized word inside a sentence, or a whole title of several words (in Chinese or
    Japanese, of several characters). Common nouns, such as "bridge", are no names: they may describe
    the image.
    """
    names = list(names_in(question))
    words = f" {' '.join(_WORD.findall(question.casefold()))} "
    for full_title in titles:
        title = _IN_PARENTHESES.sub("", full_title).strip()
        parts = _WORD.findall(title)
        if name := next((name for name in names if name in parts), None):
            return name
        if len(parts) > 1 and f" {' '.join(parts).casefold()} " in words:
            return title
        if len(title) > 1 and _HAN.match(title) and title in question:
            return title
    return None
