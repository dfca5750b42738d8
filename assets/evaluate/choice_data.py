"""What the report of a release of multiple choice has beside the others: letters and passes.

What belongs here: reading how often each item was asked and what was read from its first pass. The
numbers are `methods/choice/letter_shares.py` and `passes.py`, what a page shows of them is
`resources/reports/report_answers.py`.
"""

from collections.abc import Sequence

from methods.choice.letter_shares import keys_of, letter_shares, letters_offered
from methods.choice.lettered import key_of
from methods.choice.passes import Asked, pass_counts, passes_by_item
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.contestants import model_of
from methods.evaluation.items import Item
from resources.reports.report_input import Choice
from resources.warehouse import Warehouse

SEED = 0
"""Of the resampling: the same answers give the same page."""


def choice_data(
    warehouse: Warehouse, benchmark: Benchmark | None, items: Sequence[Item], release_id: str
) -> Choice | None:
    """The letters that each model named and the passes that it was asked, None for a release whose
    items have no choices or that nobody answered. Baselines are left out: nobody asked them.
    """
    if not any(item.choices for item in items):
        return None
    readings: dict[str, dict[str, str | None]] = {}
    asked: dict[str, dict[str, Asked]] = {}
    for row in warehouse.read("evaluate/first_readings_of", {"release_id": release_id}).to_pylist():
        model, item_id = row["model"], row["item_id"]
        if model_of(model) is not None:
            readings.setdefault(model, {})[item_id] = row["reading"]
            asked.setdefault(model, {})[item_id] = Asked(row["n_asked"], row["lost"])
    if not readings:
        return None
    n_passes = passes_by_item(items, benchmark.metrics if benchmark else ())
    several = any(n > 1 for n in n_passes.values())
    return {
        "letters": letters_offered(items),
        "keys": keys_of(items),
        "n_held_out": sum(key_of(item) is None for item in items),
        "shares": letter_shares(items, readings, seed=SEED),
        "passes": pass_counts(n_passes, asked) if several else {},
    }
