"""Probes of simulated judges: false alarms, power, and what is said of them (`make bench NAME=probes`).

Forty judges, half without a bias and half with a planted one, are probed on releases of different
numbers of dialogues, as the asset does it: how many answers are asked, which, with which texts, and the
verdicts. Arguments: how many times each judge is probed (50).
"""

import json
import sys
from collections import Counter

from methods.evaluation.probes import FOUND, LENGTH, NONE, OBEDIENCE, POSITION
from tests.methods.evaluation.simulated_judges import (
    BIASED,
    JUDGES,
    UNBIASED,
    asked,
    false_alarms,
    shown_at_once,
)

RELEASES = (10, 30, 110)
"""Numbers of dialogues."""
NAMES = (LENGTH, OBEDIENCE, POSITION)


def main(times: int) -> None:
    """Print the tables and the figures."""
    alarms: dict[int, list[float]] = {}
    cleared: dict[int, list[float]] = {}
    print(f"{'judge':48} {'dialogues':>9} {'answers':>7} {'false':>6}", end="")
    print(*(f"{name:>10}" for name in NAMES), *(f"{'none: ' + name:>16}" for name in NAMES))
    for judge in JUDGES:
        for n_clusters in RELEASES:
            found: Counter[str] = Counter()
            none: Counter[str] = Counter()
            false = n_asked = 0
            for rows in shown_at_once([asked(judge, n_clusters, seed) for seed in range(times)]):
                n_asked += rows[0]["n"]
                false += bool(false_alarms(judge, rows))
                found.update(row["probe"] for row in rows if row["verdict"] == FOUND)
                none.update(row["probe"] for row in rows if row["verdict"] == NONE)
            if judge in UNBIASED:
                alarms.setdefault(n_clusters, []).append(false / times)
                cleared.setdefault(n_clusters, []).append(none.total() / times / len(NAMES))
            print(
                f"{judge.name:48} {n_clusters:9} {n_asked / times:7.0f} {false / times:6.3f}",
                end="",
            )
            shares = [found[name] / times for name in NAMES], [none[name] / times for name in NAMES]
            print(
                *(f"{share:10.2f}" for share in shares[0]),
                *(f"{share:16.2f}" for share in shares[1]),
            )
            sys.stdout.flush()
    figures = {
        "times": times,
        "judges": {"without a bias": len(UNBIASED), "with one": len(BIASED)},
        "false alarms": {n: round(sum(of) / len(of), 4) for n, of in alarms.items()},
        "most false alarms of a judge": {n: round(max(of), 3) for n, of in alarms.items()},
        "probes cleared": {n: round(sum(of) / len(of), 3) for n, of in cleared.items()},
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
