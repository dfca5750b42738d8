"""Imported human scores (ratings): judges are compared with them in `judge_quality.py`."""

from pathlib import Path
from typing import NamedTuple

from assets.common.tables import rows_to_arrow, table_spec
from assets.evaluate.released import items_of
from assets.release import releases
from methods.benchmarks import BENCHMARKS
from methods.delimited import Quoting
from methods.evaluation.asking import PLAIN
from methods.evaluation.human_scores import (
    REASONS,
    HumanScoreKey,
    HumanScores,
    HumanScoresError,
    RatingScope,
    human_scores_of,
)
from methods.evaluation.judge_quality import AnswerKey
from methods.release_card import benchmark_of
from resources.files.atomic import hold_lock
from resources.files.bounded import file_hash
from resources.importing.answer_files import read_scores
from resources.publishing.releases import cards_of, release_meant
from resources.warehouse import TableWrite, Warehouse

TABLE, FILES = "evaluate.human_scores", "evaluate.human_score_files"

human_scores = table_spec(
    TABLE,
    kinds={"file"},
    side_tables=[FILES],
    deps=[releases],
    description="Scores that people gave elsewhere, as the job `import_scores` took them from files. "
    "`evaluate/judge_quality` compares judges with them.",
)


class StoredScore(NamedTuple):
    """A score, the rater's reason if the file has one, and the content hash of the file."""

    score: float
    reason: str | None
    content_hash: str


class HumanScoresImport(NamedTuple):
    """The result of importing a file: `n_new` new and `n_changed` changed scores."""

    release_id: str
    human_scores: HumanScores
    n_new: int
    n_changed: int

    def sentences(self) -> str:
        """Return a message with all counts."""
        scores = self.human_scores.scores
        sentences = [
            f"{len(scores)} scores of {len({scored[:3] for scored in scores})} answers on "
            f"{self.release_id}, from {self.human_scores.n_rows} records."
        ]
        if self.n_changed:
            sentences.append(f"{self.n_changed} replace other scores or reasons by the same rater.")
        if not (self.n_new or self.n_changed):
            sentences.append("They were here already, and nothing changes.")
        counted = sorted(self.human_scores.counts.items())
        return " ".join(
            [*sentences, *(f"{n} records are {REASONS[reason]}." for reason, n in counted)]
        )


def import_scores(
    warehouse: Warehouse, release: str, file: Path, quoting: Quoting = "checked"
) -> HumanScoresImport:
    """Import a file of people's scores on a release.

    A rater has one score for each answer and dimension. A later file replaces it; importing the same
    scores again changes nothing.

    Args:
        warehouse: The tables.
        release: The id or name of the release, or the beginning of its id.
        file: The file.
        quoting: How the quotes of a CSV or TSV are read.

    Returns:
        The result, with counts.

    Raises:
        UserError: The file cannot be imported; nothing is changed.
    """
    release_id = release_meant(warehouse, release)
    (card,) = cards_of(warehouse, [release_id])
    benchmark = BENCHMARKS.get(benchmark_of(card) or "")
    if benchmark is None or not benchmark.judge_prompts:
        raise HumanScoresError(
            f"{release_id} is not judged by a model, so human scores have nothing to be compared with."
        )
    answered = warehouse.select("evaluate.answers", "model", distinct=True, release_id=release_id)
    rated = RatingScope(
        items_of(warehouse, release_id),
        set(answered["model"].to_pylist()),
        benchmark.dimensions,
        *benchmark.score_range,
    )
    rows = read_scores(file, quoting)
    try:
        brought = human_scores_of(rated, rows)
    except HumanScoresError as error:
        raise HumanScoresError(f"{file} cannot be imported for {release_id}: {error}") from None
    # Imports of several processes follow each other, so that each keeps the scores of the others.
    with hold_lock(Path(f"{warehouse.path}.scores.lock")):
        n_new, n_changed = _add_scores(warehouse, release_id, file, brought)
    return HumanScoresImport(release_id, brought, n_new, n_changed)


def _add_scores(
    warehouse: Warehouse, release_id: str, file: Path, brought: HumanScores
) -> tuple[int, int]:
    """Add the scores of a file to the stored ones; return the numbers of new and changed scores."""
    release_key, content_hash = {"release_id": release_id}, brought.content_hash
    before = stored_scores(warehouse, release_id)
    updates: dict[HumanScoreKey, StoredScore] = {}
    for scored, score in brought.scores.items():
        earlier, reason = before.get(scored), brought.reasons.get(scored)
        if reason is None and earlier is not None and earlier.score == score:
            # The file has no reason for the same score: the earlier reason stays.
            reason = earlier.reason
        if earlier is None or earlier[:2] != (score, reason):
            updates[scored] = StoredScore(score, reason, content_hash)
    if updates:
        rows_to_store = [
            {**release_key, **scored._asdict(), **stored._asdict()}
            for scored, stored in sorted({**before, **updates}.items())
        ]
        source = {
            **release_key,
            "content_hash": content_hash,
            "file": file.name,
            "sha256": file_hash(file),
            "n_rows": brought.n_rows,
            "n_scores": len(brought.scores),
            "counts": sorted(brought.counts.items()),
        }
        warehouse.replace_all(
            [
                TableWrite(TABLE, rows_to_arrow(TABLE, rows_to_store), release_key),
                TableWrite(
                    FILES,
                    rows_to_arrow(FILES, [source]),
                    {**release_key, "content_hash": content_hash},
                ),
            ]
        )
    n_new = len(updates.keys() - before.keys())
    return n_new, len(updates) - n_new


def imported_scores(warehouse: Warehouse, release_id: str) -> dict[AnswerKey, dict[str, float]]:
    """Average the imported scores of each answer over raters.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The mean score by answer and dimension.
    """
    scores_of: dict[tuple[AnswerKey, str], list[float]] = {}
    for scored, stored in stored_scores(warehouse, release_id).items():
        key = AnswerKey(scored.model, scored.item_id, PLAIN, scored.turn)
        scores_of.setdefault((key, scored.dimension), []).append(stored.score)
    means: dict[AnswerKey, dict[str, float]] = {}
    for (key, dimension), scores in scores_of.items():
        means.setdefault(key, {})[dimension] = sum(scores) / len(scores)
    return means


def stored_scores(warehouse: Warehouse, release_id: str) -> dict[HumanScoreKey, StoredScore]:
    """Read the imported scores on a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The scores by answer, dimension and rater.
    """
    rows = warehouse.select(
        "evaluate.human_scores",
        order="item_id, model, turn, dimension, rater",
        release_id=release_id,
    ).to_pylist()
    return {
        HumanScoreKey(*(row[name] for name in HumanScoreKey._fields)): StoredScore(
            *(row[name] for name in StoredScore._fields)
        )
        for row in rows
    }
