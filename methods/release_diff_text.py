"""How two releases differ, as a page of Markdown: what a terminal and the metadata of a run show."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from methods.evaluation.common_items import CommonScore
from methods.markdown import code, table
from methods.release_card import Card
from methods.release_diff import ItemChange, ReleaseDifference, Row

N_SHOWN = 50
"""Items that a page lists; the counts are of all."""


class RepeatedResults(NamedTuple):
    """Turns of the common items that a model and a judge have observed on both releases.

    Of `n_turns`, `n_answers` have the same answer on both, by the same call, and `n_judgments` the same
    answer and the same calls of the judge.
    """

    n_turns: int
    n_answers: int
    n_judgments: int

    @property
    def is_all(self) -> bool:
        """Whether all turns rest on the same answers and judgments, so that nothing can differ."""
        return 0 < self.n_turns == self.n_judgments

    @property
    def in_words(self) -> str:
        """How much of it is the very same."""
        if self.is_all:
            return "all the same calls"
        return f"{self.n_answers} of {self.n_turns} answers the same"


class CommonScores(NamedTuple):
    """One model before one version of one judge, on the common items; the metric that ranks first."""

    model: str
    judge: str
    judge_version: str
    scores: Sequence[CommonScore]
    repeated: RepeatedResults


def difference_markdown(
    first: Card, second: Card, found: ReleaseDifference, common: Sequence[CommonScores] = ()
) -> str:
    """The difference as a page."""
    one, other = first["release_id"], second["release_id"]
    lines = [f"# From {one} to {other}", ""]
    counts = [
        ("items", str(first["n_items"]), str(second["n_items"])),
        ("turns", str(first["n_turns"]), str(second["n_turns"])),
        ("images", str(first["n_images"]), str(second["n_images"])),
    ]
    lines += table(("", code(one), code(other)), counts)
    lines += [
        "",
        f"Items: {len(found.added)} added, {len(found.removed)} removed, "
        f"{len(found.changed)} changed, {found.n_same} the same.",
        f"Turns: {found.turns['added']} added, {found.turns['removed']} removed; "
        f"{found.turns['questions']} questions and {found.turns['references']} references changed.",
    ]
    if found.kinds:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in found.kinds.items())
        lines.append(f"What changed, by number of items: {kinds}.")
    lines += _common(found, one, other, common)
    listed = listed_changes(found)
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
    if found.made_by:
        rows = [(name, code(was), code(now)) for name, was, now in found.made_by]
        lines += table(("", code(one), code(other)), rows)
    else:
        lines += ["The same settings, prompts, models and corpus."]
    if found.scores:
        lines += ["", "## Scores on the whole releases", ""]
        heads = ("model", "judge", "judge's prompt", code(one), code(other), "difference")
        lines += table(heads, [_score_line(*score) for score in found.scores])
    return "\n".join(lines) + "\n"


def listed_changes(found: ReleaseDifference) -> list[tuple[str, ItemChange]]:
    """(how, item) of all items that differ, in the order that a page lists them."""
    return [
        *(("removed", change) for change in found.removed),
        *(("added", change) for change in found.added),
        *(("changed", change) for change in found.changed),
    ]


def why_nothing_common(found: ReleaseDifference, first: Mapping[str, object]) -> str:
    """Why there are no scores on common items."""
    if first["kind"] != "benchmark":
        return "An instruction set has no scores."
    if not found.common:
        return "No item is the same in both, so there is nothing to compare scores on."
    return (
        "No model was judged on both by the same judge under the same version of its prompt: give the "
        "other release to evaluate/answers (also_on) and run the job evaluate."
    )


def _common(
    found: ReleaseDifference, one: str, other: str, common: Sequence[CommonScores]
) -> list[str]:
    if not common:
        return []
    lines = ["", "## Scores on the items that both have", ""]
    n = len(found.common)
    lines.append(
        f"{n} item{'' if n == 1 else 's'} with the same questions, references, choices and images. "
        "What a model failed counts as the lowest value."
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
    heads = ("model", "judge", "judge's prompt", code(one), code(other), "difference")
    return [*lines, "", *table((*heads, "items / turns", "answers"), rows)]


def _difference(of: CommonScore) -> str:
    if of.ci_low is None or of.ci_high is None:
        return f"{of.difference:+.1f}"
    return f"{of.difference:+.1f} ({of.ci_low:+.1f} to {of.ci_high:+.1f})"


def _score_line(
    model: str, judge: str, version: str, was: Row | None, now: Row | None
) -> tuple[str, ...]:
    gain = ""
    if was and now and was["value"] is not None and now["value"] is not None:
        gain = f"{now['value'] - was['value']:+.1f}"
    return (code(model), code(judge), code(version), score(was), score(now), gain)


def score(row: Row | None) -> str:
    """A score with its interval, if it has one: a single dialogue gives none."""
    if row is None or row["value"] is None:
        return "–"
    if row["ci_low"] is None or row["ci_high"] is None:
        return f"{row['value']:.1f}"
    return f"{row['value']:.1f} ({row['ci_low']:.1f} - {row['ci_high']:.1f})"
