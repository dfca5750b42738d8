"""Quality checks of every question-answer pair of the dialogues, by rules and by a model."""

from collections import Counter
from collections.abc import Iterable

import dagster as dg
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from assets.cluster import image_sets
from assets.common.drops import reasons, require_few_lost
from assets.common.generation import GenerationSettings, Row
from assets.common.tables import report, table_asset, write_rows
from assets.dialogue import dialogues
from assets.ingest import entries
from assets.quality.model_checks import TABLE, CheckedDialogue, ModelCheckFindings, by_model
from methods.mmdu.composing import without_places
from methods.quality.languages import SCRIPTS_OF
from methods.quality.outcome import (
    DROPPED,
    NOT_CHECKED,
    OUTCOMES,
    REASONS,
    REVIEWED,
    DialogueContent,
    QualityPolicy,
    QuestionAnswerPair,
    WriterContext,
    counts,
    outcome_of,
)
from methods.quality.rules import Evidence, RuleLimits, by_rules
from methods.validation import require_known
from resources.embedding.embedder import PACKAGED, Embedder
from resources.llm.gateway import Gateway
from resources.warehouse import Warehouse

REQUESTS, LOSSES = "quality.asked", "quality.failed"


class ChecksSettings(GenerationSettings):
    """Limits of the checks, and the outcome of each finding."""

    model_checks: bool = Field(
        True, description="Whether a model checks as well as rules; it costs calls."
    )
    language: str | None = Field(
        None,
        description="Language that questions and answers are wanted in; null: that of the set's pages.",
    )
    fewest_question_words: int = Field(3, ge=0, description="Fewest words of a question.")
    fewest_answer_words: int = Field(50, ge=0, description="Fewest words of an answer.")
    most_answer_words: int = Field(1500, gt=0, description="Most words of an answer.")
    leak_words: int = Field(
        5,
        gt=1,
        description="Words in a row that make a leak of a caption; two more of a page.",
    )
    alike: float = Field(
        0.8,
        gt=0,
        le=1,
        description="Share of word pairs from which two questions are nearly the same.",
    )
    reworded: float = Field(
        0.75,
        gt=0,
        le=1,
        description="Cosine, with and without answers, from which a question rewords another.",
    )
    most_alike: int = Field(
        20, gt=0, description="Questions of all dialogues that may be nearly the same."
    )
    seed: int = Field(
        0, description="Seed that chooses the other set, with whose images a question is asked."
    )
    highest_blind_grade: int = Field(
        6,
        ge=0,
        le=10,
        description="Highest grade of an answer that was given without the pictures.",
    )
    drop: list[str] = Field(
        list(DROPPED), description="Checks that keep a pair out of instruction sets."
    )
    review: list[str] = Field(
        list(REVIEWED), description="Checks after which people look at a pair first."
    )

    @field_validator("language")
    @classmethod
    def _known_language(cls, language: str | None) -> str | None:
        if language is not None:
            require_known("language", [language], SCRIPTS_OF)
        return language

    @field_validator("drop", "review")
    @classmethod
    def _known_checks(cls, names: list[str]) -> list[str]:
        require_known("check", names, REASONS)
        return names

    def limits(self, language: str) -> RuleLimits:
        """Return the limits of the rules for dialogues about Wikipedia pages in this language."""
        limits = {name: getattr(self, name) for name in RuleLimits._fields}
        return RuleLimits(**{**limits, "language": self.language or language})

    @property
    def policy(self) -> QualityPolicy:
        """Return which finding leads to which outcome."""
        return QualityPolicy(self.drop, self.review, self.highest_blind_grade)


@table_asset(
    TABLE,
    version="3",
    side_tables=[REQUESTS, LOSSES],
    kinds={"openai"},
    deps=[dialogues, image_sets, entries],
)
def checks(
    context: dg.AssetExecutionContext,
    config: ChecksSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Quality checks of each question-answer pair, and the outcome: pass, review first, or drop.

    A pair does not pass if a wanted check could not be made.
    """
    dialogue_rows = warehouse.read("quality/dialogues").to_pylist()
    if not dialogue_rows:
        raise dg.Failure("There are no dialogues: run the job dialogue first.", allow_retries=False)
    content_of = {row["dialogue_id"]: _dialogue(row) for row in dialogue_rows}
    of_language: dict[str, list[DialogueContent]] = {}
    for row in dialogue_rows:
        of_language.setdefault(row["language"], []).append(content_of[row["dialogue_id"]])
    by_rule: dict[tuple[str, str], Evidence] = {}
    for language, contents in of_language.items():
        limits = config.limits(language)
        by_rule |= by_rules(contents, limits, _vectors(contents, embedder, limits.language))
    asked_about = [
        CheckedDialogue(row["set_id"], row["image_ids"], content_of[row["dialogue_id"]])
        for row in dialogue_rows
    ]
    findings = ModelCheckFindings()
    if config.model_checks:
        findings = by_model(context, llm, asked_about, config.seed)
    for step, (n_requests, lost) in findings.by_step().items():
        things = f"requests of the step {step!r}"
        require_few_lost(TABLE, things, lost, n_requests, config.max_failed_share, findings.usage)
    rows = []
    for row in dialogue_rows:
        for pair in content_of[row["dialogue_id"]].pairs:
            place = pair.dialogue_id, pair.question_id
            evidence = {**by_rule[place], **findings.columns[place]}
            rows.append(_row(row, pair, evidence, findings, config.policy))
    table = write_rows(warehouse, {TABLE: rows, REQUESTS: findings.calls, LOSSES: findings.failed})
    return report(
        table,
        {
            **{name: n for name, n in counts(rows).items() if name in OUTCOMES},
            "checks not made": len(findings.failed),
            **reasons(Counter(why for row in rows for why in row["reasons"])),
        },
        usage=findings.usage if config.model_checks else None,
    )


def _vectors(
    dialogues: Iterable[DialogueContent], embedder: Embedder, language: str
) -> dict[tuple[str, str], NDArray[np.float32]] | None:
    """Embed each question, alone and with its answer; None if the model does not know the language.

    Returns:
        By dialogue and question, an array of shape (2, dimensions).
    """
    if embedder.model == PACKAGED and language != "en":
        return None
    pairs = [pair for dialogue in dialogues for pair in dialogue.pairs]
    alone = embedder.encode([pair.question for pair in pairs])
    answered = embedder.encode([f"{pair.question} {pair.answer}" for pair in pairs])
    return {
        (pair.dialogue_id, pair.question_id): np.stack(vectors)
        for pair, *vectors in zip(pairs, alone, answered, strict=True)
    }


def _row(
    dialogue: Row,
    pair: QuestionAnswerPair,
    evidence: Row,
    findings: ModelCheckFindings,
    policy: QualityPolicy,
) -> Row:
    """Return the row of a pair: its ids, the findings and the outcome."""
    not_made = "; ".join(findings.not_made[pair.dialogue_id]) or None
    row = {**evidence, NOT_CHECKED: not_made}
    outcome, why = outcome_of(row, policy)
    return {
        **{name: dialogue[name] for name in ("set_id", "dialogue_id", "kind")},
        **{"question_id": pair.question_id, "turn": pair.turn},
        **{**row, "outcome": outcome, "reasons": list(why)},
    }


def _dialogue(row: Row) -> DialogueContent:
    """Convert a row to the dialogue that the rules check."""
    return DialogueContent(
        row["dialogue_id"],
        [
            QuestionAnswerPair(
                row["dialogue_id"],
                pair["question_id"],
                turn,
                without_places(pair["question"]),
                pair["answer"],
            )
            for turn, pair in enumerate(row["turns"], start=1)
        ],
        [WriterContext(**source) for source in row["sources"]],
        len(row["image_ids"]),
    )
