"""The diff of two releases as Markdown, for the terminal and for the metadata of a run."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.evaluation.common_items import CommonScore
from methods.markdown import code, table
from methods.release_card import Card
from methods.release_diff import ItemChange, ReleaseDifference, Row

N_SHOWN = 50
"""The most items that the Markdown lists. The counts are of all items."""


class RepeatedResults(NamedTuple):
    """How many results on the common items come from the same calls in both releases (the cache).

    Attributes:
        n_turns: The number of turns with scores on both releases.
        n_answers: The number of these turns whose answers are from the same call.
        n_judgments: The number of these turns whose answers and judgments are from the same calls.
    """

    n_turns: int
    n_answers: int
    n_judgments: int

    @property
    def is_all(self) -> bool:
        """Whether all answers and judgments are from the same calls, so that scores cannot differ."""
        return 0 < self.n_turns == self.n_judgments

    @property
    def in_words(self) -> str:
        """The share of repeated answers, in words."""
        if self.is_all:
            return "all the same calls"
        return f"{self.n_answers} of {self.n_turns} answers the same"


class CommonScores(NamedTuple):
    """The scores that one version of a judge gave one model on the common items, the ranking metric
    first.
    """

    model: str
    judge: str
    judge_version: str
    scores: Sequence[CommonScore]
    repeated: RepeatedResults


def difference_markdown(
    first: Card, second: Card, changes: ReleaseDifference, common: Sequence[CommonScores] = ()
) -> str:
    """Write the diff of two releases as Markdown.

    Args:
        first: The card of the earlier release.
        second: The card of the later release.
        changes: The difference of their contents.
        common: The scores on common items, by model and judge.
    """
    first_id, second_id = first["release_id"], second["release_id"]
    lines = [f"# From {first_id} to {second_id}", ""]
    counts = [
        ("items", str(first["n_items"]), str(second["n_items"])),
        ("turns", str(first["n_turns"]), str(second["n_turns"])),
        ("images", str(first["n_images"]), str(second["n_images"])),
    ]
    lines += table(("", code(first_id), code(second_id)), counts)
    lines += [
        "",
        f"Items: {len(changes.added)} added, {len(changes.removed)} removed, "
        f"{len(changes.changed)} changed, {changes.n_same} the same.",
        f"Turns: {changes.turns['added']} added, {changes.turns['removed']} removed; "
        f"{changes.turns['questions']} questions and {changes.turns['references']} references changed.",
    ]
    if changes.kinds:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in changes.kinds.items())
        lines.append(f"What changed, by number of items: {kinds}.")
    lines += _common(changes, first_id, second_id, common)
    listed = listed_changes(changes)
    if listed:
        lines += ["", "## Items", ""]
        lines += table(
            ("", "set", "item", "what"),
            [
                (
                    how,
                    code(change.set_id or ""),
                    " → ".join(map(code, change.item_ids)),
                    change.what,
                )
                for how, change in listed[:N_SHOWN]
            ],
        )
        if len(listed) > N_SHOWN:
            lines += ["", f"{len(listed) - N_SHOWN} more are not shown."]
    lines += ["", "## Made by", ""]
    if changes.made_by:
        rows = [(name, code(was), code(now)) for name, was, now in changes.made_by]
        lines += table(("", code(first_id), code(second_id)), rows)
    else:
        lines += ["The same settings, prompts, models and corpus."]
    if changes.scores:
        lines += ["", "## Scores on the whole releases", ""]
        heads = ("model", "judge", "judge's prompt", code(first_id), code(second_id), "difference")
        lines += table(heads, [_score_line(*score) for score in changes.scores])
    return "\n".join(lines) + "\n"


def listed_changes(difference: ReleaseDifference) -> list[tuple[str, ItemChange]]:
    """List all items that differ, in display order, as ("removed", "added" or "changed", item)."""
    return [
        *(("removed", change) for change in difference.removed),
        *(("added", change) for change in difference.added),
        *(("changed", change) for change in difference.changed),
    ]


def why_nothing_common(difference: ReleaseDifference, first: Mapping[str, object]) -> str:
    """Say why there are no scores on common items.

    Args:
        difference: The difference of two releases.
        first: The card of one of them.
    """
    if first["kind"] != "benchmark":
        return "An instruction set has no scores."
    if not difference.common:
        return "No item is the same in both, so there is nothing to compare scores on."
    return (
        "No model was judged on both by the same judge under the same version of its prompt: give the "
        "other release to evaluate/answers (also_on) and run the job evaluate."
    )


def _common(
    difference: ReleaseDifference, first_id: str, second_id: str, common: Sequence[CommonScores]
) -> list[str]:
    if not common:
        return []
    lines = ["", "## Scores on the items that both have", ""]
    n = len(difference.common)
    lines.append(
        f"{n} item{'' if n == 1 else 's'} with the same questions, references, choices and images. "
        "Failed answers count as the lowest score."
    )
    rows = []
    for judged in common:
        if judged.scores:
            leading = judged.scores[0]
            rows.append(
                (
                    code(judged.model),
                    code(judged.judge),
                    code(judged.judge_version),
                    f"{leading.before:.1f}",
                    f"{leading.after:.1f}",
                    _difference(leading),
                    f"{leading.n_items} / {judged.repeated.n_turns}",
                    judged.repeated.in_words,
                )
            )
    heads = ("model", "judge", "judge's prompt", code(first_id), code(second_id), "difference")
    return [*lines, "", *table((*heads, "items / turns", "answers"), rows)]


def _difference(score: CommonScore) -> str:
    if score.ci_low is None or score.ci_high is None:
        return f"{score.difference:+.1f}"
    return f"{score.difference:+.1f} ({score.ci_low:+.1f} to {score.ci_high:+.1f})"


def _score_line(
    model: str, judge: str, version: str, old: Row | None, new: Row | None
) -> tuple[str, ...]:
    gain = ""
    if old and new and old["value"] is not None and new["value"] is not None:
        gain = f"{new['value'] - old['value']:+.1f}"
    return (code(model), code(judge), code(version), score(old), score(new), gain)


def score(row: Row | None) -> str:
    """Format a score with its interval. A score of a single dialogue has no interval."""
    if row is None or row["value"] is None:
        return "–"
    if row["ci_low"] is None or row["ci_high"] is None:
        return f"{row['value']:.1f}"
    return f"{row['value']:.1f} ({row['ci_low']:.1f} - {row['ci_high']:.1f})"
