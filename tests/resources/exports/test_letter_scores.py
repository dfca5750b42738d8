"""The reader in exported tasks is generated from the project's, and scores are the leaderboard's."""

import json
import math
import subprocess
import sys
from typing import Any

import pytest

from methods.benchmarks import BENCHMARKS
from methods.choice.strict import read_letter
from methods.exports.letters import counted, letter_metric
from resources.exports.letter_scores import summary
from resources.exports.self_contained import CannotStandAloneError, self_contained
from tests.methods.choice.answer_texts import CHOICES, TABLE
from tests.resources.exports.replies import asked, on_the_leaderboard, questions

ITEMS = {"mmbench": questions(["x"]), "mmiu": questions(["x"], 200)}
ALONE = """
import json, runpy, sys
read_letter = runpy.run_path(sys.argv[1])["read_letter"]
assert not {"methods", "resources"} & {name.partition(".")[0] for name in sys.modules}
print(json.dumps([read_letter(*each) for each in json.load(sys.stdin)]))
"""


def test_the_generated_reader_alone_reads_every_reply_as_the_project_does(tmp_path):
    file = tmp_path / "letter_scores.py"
    file.write_text(self_contained("resources.exports.letter_scores", ("read_letter", "summary")))
    replies = [(text, each.choices) for each, text in asked("mmbench", ITEMS["mmbench"])]
    replies += [(answer, CHOICES[choices]) for choices, answer, *_ in TABLE]
    # -I: nothing of the project can be imported.
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, file],
        input=json.dumps(replies),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [tuple(each) for each in json.loads(done.stdout)] == [
        read_letter(*each) for each in replies
    ]


@pytest.mark.parametrize("benchmark", ITEMS)
def test_a_task_s_score_is_that_of_the_leaderboard(benchmark):
    items = {item.item_id: item for item in ITEMS[benchmark]}
    metric = letter_metric(BENCHMARKS[benchmark])
    assert metric is not None
    passes = []
    for each, text in asked(benchmark, ITEMS[benchmark]):
        letter = read_letter(text, each.choices).letter
        count = counted(metric, items[each.item_id], each.trial)
        assert count is not None
        right = None if letter is None else letter == each.target
        passes.append({**count._asdict(), "item": each.item_id, "right": right})
    ours = on_the_leaderboard(benchmark, ITEMS[benchmark])
    assert 20 < ours < 95
    assert summary(passes)["score"] == pytest.approx(ours)


def one(item: str, right: bool | None, passes: int = 1, stratum: str = "", group: str = "") -> Any:
    return {
        **{"item": item, "right": right, "passes": passes, "stratum": stratum},
        "group": group or item,
    }


@pytest.mark.parametrize(
    ("passes", "score", "unread"),
    [
        ([one("a", True, 2), one("a", True, 2)], 100.0, 0),
        ([one("a", True, 2), one("a", False, 2)], 0.0, 0),
        # Whether an item with an unread pass is right is not known; one that lost a pass is wrong.
        ([one("a", True, 2), one("a", None, 2), one("b", False)], 0.0, 1),
        ([one("a", False, 2), one("a", None, 2), one("b", True)], 50.0, 1),
        ([one("a", True, 2), one("b", True)], 50.0, 0),
        ([one("a", True, 2), one("b", True, 2), one("b", None, 2)], 0.0, 1),
        ([one("a", True), one("b", False, 0)], 100.0, 0),
        (
            [one(name, name != "d", stratum="xxxy"[place]) for place, name in enumerate("abcd")],
            50.0,
            0,
        ),
    ],
)
def test_an_item_counts_once_and_strata_count_alike(passes, score, unread):
    found = summary(passes)
    assert (found["score"], found["unread"]) == (score, unread)


def test_the_standard_error_is_of_groups():
    apart = summary([one(str(number), number % 2 == 0) for number in range(100)])
    assert apart["standard_error"] == pytest.approx(100 * math.sqrt(0.25 / 100))
    twins = [one(str(number), number % 4 < 2, group=str(number // 2)) for number in range(100)]
    assert summary(twins)["standard_error"] == pytest.approx(100 * math.sqrt(0.25 / 50))
    assert math.isnan(summary([])["score"]) and math.isnan(summary([])["standard_error"])


def test_a_module_that_needs_a_package_cannot_stand_alone():
    with pytest.raises(CannotStandAloneError, match=r"all_right\.py needs numpy|needs numpy"):
        self_contained("methods.evaluation.metrics.all_right", ("AllRight",))
