"""Quality checks of dialogues by a model: blind answers, hallucination (unsupported statements),
contradictions and sensitive content.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import dagster as dg

from assets.common.generation import GenerationRequest, Row, ask_and_read, failed_row
from methods.prompts.parsing import JsonSchema, numbered_schema, parse_numbered
from methods.quality.outcome import DialogueContent, QuestionAnswerPair, other_images
from methods.quality.reading import (
    lists_schema,
    marks_schema,
    read_lists,
    read_marks,
    read_reread,
    reread_schema,
)
from resources.llm.gateway import Gateway
from resources.llm.usage import Usage
from resources.settings.prompts import prompt

TABLE = "quality.checks"
UNSEEN_PROMPT = "quality/unseen"
MARKS_PROMPT = "quality/marks"
GROUND_PROMPT = "quality/ground"
REREAD_PROMPT = "quality/reread"
BLIND, OTHER = "blind", "other images"
BLIND_GRADES, OTHER_GRADES = "blind grades", "other grades"
GROUNDING, TEXTS = "grounding", "texts"
ANSWER_WORDS = 80
"""Length in words that answers without the images are asked for, chosen by hand."""
MOST_READ = 20_000
"""Characters of an answer that a check reads, so that requests stay within a model's context. Answers
within the allowed length are shorter.
"""
NO_OTHER_SET = "no_other_set"
Place = tuple[str, str]


class CheckedDialogue(NamedTuple):
    """A dialogue to check, with its image set and its images."""

    set_id: str
    image_ids: Sequence[str]
    dialogue: DialogueContent

    @property
    def pairs(self) -> Sequence[QuestionAnswerPair]:
        """The pairs of question and answer of the dialogue, in order."""
        return self.dialogue.pairs


class ModelCheckStep(NamedTuple):
    """A check with one request for each dialogue. `read` turns the reply into columns of
    `quality.checks`, one row for each pair of question and answer.
    """

    name: str
    prompt: str
    schema: Callable[[int], JsonSchema]
    read: Callable[[str, int], Sequence[Row]]


@dataclass
class ModelCheckFindings:
    """The findings: columns of `quality.checks` by pair, the calls, and failed checks by dialogue."""

    columns: dict[Place, Row] = field(default_factory=lambda: defaultdict(dict))
    calls: list[Row] = field(default_factory=list)
    failed: list[Row] = field(default_factory=list)
    not_made: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    usage: Usage = field(default_factory=lambda: Usage(stage=TABLE))

    def by_step(self) -> dict[str, tuple[int, Counter[str]]]:
        """Return for each step the number of requests, and of failed requests by reason.

        Requests that were not sent, because there are no other images to show, are not counted.
        """
        lost: dict[str, Counter[str]] = defaultdict(Counter)
        for loss in self.failed:
            if loss["reason"] != NO_OTHER_SET:
                lost[loss["subject"].rpartition(", ")[2]][loss["reason"]] += 1
        n_replies = Counter(row["step"] for row in self.calls)
        return {
            step: (n_replies[step] + lost[step].total(), lost[step]) for step in (*n_replies, *lost)
        }

    def lacks(self, dialogue_id: str, step: str, loss: Row) -> None:
        """Record that a check failed for a dialogue.

        Args:
            dialogue_id: The dialogue.
            step: The check.
            loss: The reason.
        """
        self.failed.append(loss)
        self.not_made[dialogue_id].append(f"{step}: {loss['reason']}")


Images = Callable[[CheckedDialogue], Sequence[str]]


def by_model(
    context: dg.AssetExecutionContext, llm: Gateway, checked: Sequence[CheckedDialogue], seed: int
) -> ModelCheckFindings:
    """Check every pair by a model.

    The model answers the questions without the images and with other images, grades these answers, and
    finds statements that the images do not support, contradictions, sensitive content and answers that
    do not answer the question.

    Args:
        context: The asset's context.
        llm: The gateway.
        checked: The dialogues.
        seed: The seed that chooses other images.
    """
    findings = ModelCheckFindings()
    elsewhere = other_images(
        {subject.dialogue.dialogue_id: subject.image_ids for subject in checked}, seed
    )

    def ask(
        step: ModelCheckStep,
        data: Callable[[CheckedDialogue], Row | None],
        images: Images = lambda _: (),
    ) -> None:
        """Run one step for every dialogue that has data for it, and add the findings of the replies."""
        asks = [
            GenerationRequest(
                subject=subject,
                set_id=subject.set_id,
                name=f"{subject.dialogue.dialogue_id}, {step.name}",
                images=images(subject),
                data=values,
            )
            for subject in checked
            if (values := data(subject)) is not None
        ]

        def read(subject: CheckedDialogue, reply: str) -> list[Row]:
            rows = step.read(reply, len(subject.pairs))
            return [
                {"place": _place(pair), "columns": row}
                for pair, row in zip(subject.pairs, rows, strict=True)
            ]

        generated = ask_and_read(
            *(context, llm, TABLE, prompt(step.prompt), asks, read),
            lambda subject: step.schema(len(subject.pairs)),
        )
        findings.usage.add(generated.usage)
        calls: dict[str, Row] = {}
        for row in generated.rows:
            findings.columns[row["place"]].update(row["columns"])
            calls[row["place"][0]] = {"dialogue_id": row["place"][0], "step": step.name, **row}
        findings.calls += calls.values()
        for loss in generated.failed:
            findings.lacks(loss["subject"].partition(",")[0], step.name, loss)

    def others(checked: CheckedDialogue) -> Sequence[str]:
        return elsewhere.get(checked.dialogue.dialogue_id, ())

    for subject in checked:
        if not others(subject):
            why = f"No other dialogue is without its pictures, so {OTHER} cannot be shown."
            dialogue_id = subject.dialogue.dialogue_id
            where, name = {"set_id": subject.set_id}, f"{dialogue_id}, {OTHER}"
            loss = failed_row(TABLE, where, name, NO_OTHER_SET, why)
            findings.lacks(dialogue_id, OTHER, loss)
    ask(_answering(BLIND, "blind_answer"), _questions)
    ask(
        _answering(OTHER, "other_answer"),
        lambda subject: _questions(subject) if others(subject) else None,
        others,
    )
    for name, answer, grade in (
        (BLIND_GRADES, "blind_answer", "blind_grade"),
        (OTHER_GRADES, "other_answer", "other_grade"),
    ):
        ask(_grading(name, grade), partial(_beside_references, findings=findings, column=answer))
    ask(_GROUNDING, _texts, lambda subject: subject.image_ids)
    ask(_REREADING, _texts)
    return findings


def _place(pair: QuestionAnswerPair) -> Place:
    return pair.dialogue_id, pair.question_id


# --- Steps ---------------------------------------------------------------------------------------


def _answering(name: str, column: str) -> ModelCheckStep:
    return ModelCheckStep(
        name,
        UNSEEN_PROMPT,
        lambda n: numbered_schema("A", n),
        lambda reply, n: [{column: text} for text in parse_numbered(reply, "A", n)],
    )


def _grading(name: str, column: str) -> ModelCheckStep:
    return ModelCheckStep(
        name,
        MARKS_PROMPT,
        marks_schema,
        lambda reply, n: [{column: grade} for grade in read_marks(reply, n)],
    )


_GROUNDING = ModelCheckStep(
    GROUNDING,
    GROUND_PROMPT,
    lists_schema,
    lambda reply, n: [{"unsupported": texts} for texts in read_lists(reply, n)],
)
_REREADING = ModelCheckStep(TEXTS, REREAD_PROMPT, reread_schema, read_reread)


def _questions(checked: CheckedDialogue) -> Row:
    return {"n_words": ANSWER_WORDS, "questions": [pair.question for pair in checked.pairs]}


def _texts(checked: CheckedDialogue) -> Row:
    return {
        "pairs": [{"question": p.question, "answer": p.answer[:MOST_READ]} for p in checked.pairs]
    }


def _beside_references(
    checked: CheckedDialogue, findings: ModelCheckFindings, column: str
) -> Row | None:
    """Return the answers of a step with the reference answers; None if an answer is missing."""
    answers = [findings.columns[_place(pair)].get(column) for pair in checked.pairs]
    if None in answers:
        return None
    return {
        "pairs": [
            {
                "question": pair.question,
                "reference": pair.answer[:MOST_READ],
                "answer": str(answer)[:MOST_READ],
            }
            for pair, answer in zip(checked.pairs, answers, strict=True)
        ]
    }
