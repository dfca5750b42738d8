"""What the rules on texts find, and what they name without a fault, on texts of two writers.

Run by `make bench NAME=quality`. The texts are `tests/methods/quality/texts`: a half that the rules
were tuned on, and one that they were not. Prints a line a kind of fault and a kind of look-alike, the
checks that named a text without a fault, and as the last line all figures as one JSON object.
"""

import json

from tests.methods.quality import written


def main() -> None:
    """Print the tables and the figures."""
    print(written.table())
    alarms = {half: written.false_alarms(half) for half in written.HALVES}
    for half, by_check in alarms.items():
        named = ", ".join(f"{check} {n}" for check, n in by_check.items()) or "none"
        print(f"Texts without a fault that are named, {half.replace('_', ' ')}: {named}")
    made = {}
    for half in written.HALVES:
        told = written.figures(half)
        precision, recall = written.precision_and_recall(told)
        made[half] = {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "found": {each.kind: [each.named, each.n] for each in told if not each.sound},
            "named_without_fault": {each.kind: [each.named, each.n] for each in told if each.sound},
            "checks_named_without_fault": alarms[half],
        }
    print(json.dumps(made))


if __name__ == "__main__":
    main()
