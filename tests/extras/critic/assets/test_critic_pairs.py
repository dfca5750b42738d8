"""The asset `evaluate/critic_pairs`, its check, its files, their command, and judges trained on it."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.judge_quality import judge_quality
from dagster_project.cli import main as loom
from extras.critic.assets.critic_export import export_critic
from extras.critic.assets.critic_pairs import critic_pairs
from extras.critic.definitions import critic_check
from methods.benchmarks import BENCHMARKS
from methods.errors import UserError
from methods.evaluation.rating import RATING
from tests.assets.filled import put
from tests.assets.review.desk import Desk

pytestmark = pytest.mark.slow

Row = dict[str, Any]

BENCHMARK = {"benchmark": "alignmmbench", "release_id": "r"}
MODELS = ("some-vlm", "other-vlm")
N_GROUPS = 10
CATEGORY = "Perception & Understanding"


def question(group: int) -> str:
    """A question that is near to no other."""
    return " ".join(chr(ord("a") + group) * 3 + word for word in ("what", "where", "who"))


@pytest.fixture
def evaluated(desk: Desk) -> Desk:
    """Ten questions in two wordings, answered by two models and judged by two judges; nobody scored."""
    questions = [(group, wording) for group in range(N_GROUPS) for wording in (0, 1)]
    items = [{**BENCHMARK, "turn": 1, "item_id": f"{each[0]}-{each[1]}"} for each in questions]
    answers = [
        {**item, "trial": "plain", "model": model, "answer": f"{model[0]} {item['item_id']}"}
        for item in items
        for model in MODELS
    ]
    judged = {"judge_version": "v", "part": "answer", "replicate": 0, "metric": RATING}
    put(
        desk.warehouse,
        {
            "release.releases": [
                {**BENCHMARK, "name": "alignmmbench", "kind": "benchmark", "origin": "built"}
                | {"review_policy": "none"}
            ],
            "release.items": [
                {**item, "group_id": f"{group}", "ordinal": 2 * group + wording + 1}
                | {"labels": [("category", CATEGORY), ("task", "Meme")]}
                for item, (group, wording) in zip(items, questions, strict=True)
            ],
            "release.turns": [
                {**item, "question": f"{question(group)} {item['item_id']}?"}
                for item, (group, _) in zip(items, questions, strict=True)
            ],
            "release.references": [
                {**item, "kind": "answer", "reference": "It is so."} for item in items
            ],
            "evaluate.answers": [each | {"status": "answered"} for each in answers],
            "evaluate.observations": [
                {**each, **judged, "judge": judge, "status": "judged", "value": value}
                for each in answers
                for judge, value in (("large", 5.0), ("critic", 6.0))
            ],
        },
    )
    return desk


def score(desk: Desk, *, groups: range, reason: str | None = "Because.") -> None:
    """Both raters' scores of every answer to these groups, in the place of all others."""
    desk.fill(
        "evaluate.human_scores",
        [
            {"release_id": "r", "item_id": f"{group}-{wording}", "model": model, "turn": 1}
            | {"dimension": RATING, "rater": rater, "score": given, "content_hash": "file"}
            | {"reason": reason}
            for group in groups
            for wording in (0, 1)
            for model in MODELS
            for rater, given in (("ann", 7.0), ("bob", 8.0))
        ],
    )


def materialize(desk: Desk, **config: Row) -> dg.ExecuteInProcessResult:
    """The pairs with their check; judge quality, which takes seconds, where it has a config."""
    return dg.materialize(
        [critic_pairs, critic_check, *([judge_quality] if "judge_quality" in config else [])],
        resources={
            "warehouse": desk.warehouse,
            "review_store": desk.store,
            "benchmarks": BENCHMARKS,
        },
        run_config={"ops": {f"evaluate__{name}": {"config": of} for name, of in config.items()}},
    )


def pairs(desk: Desk) -> list[Row]:
    return desk.rows("FROM evaluate.critic_pairs ORDER BY split, ordinal")


def test_pairs_follow_from_scores_of_a_file_and_are_exported_unless_the_splits_overlap(
    evaluated: Desk, tmp_path: Path
) -> None:
    # The same scores make the same pairs, and pairs stay on their split when scores are added.
    score(evaluated, groups=range(5))
    materialize(evaluated)
    before = {row["item_id"]: row["split"] for row in pairs(evaluated)}
    score(evaluated, groups=range(N_GROUPS))
    result = materialize(evaluated)
    found = pairs(evaluated)
    after = {row["item_id"]: row["split"] for row in found}
    assert after.items() >= before.items() and len(after) == 20 > len(before)
    assert [row["split"] for row in found] == ["test"] * 4 + ["train"] * 36
    assert [row["ordinal"] for row in found] == [*range(1, 5), *range(1, 37)]
    assert len({row["group_id"] for row in found if row["split"] == "test"}) == 1
    first = found[0]
    assert json.loads(first["reply"]) == {"Reason": "Because.", "Rating": 7}
    assert (first["score"], first["chosen"], first["raters"]) == (7, "ann", ["ann", "bob"])
    assert (first["origin"], first["source"]) == ("external", "file")
    assert first["prompt_version"].startswith("alignmmbench/judge_en@")
    assert first["judge_version"].endswith(" rated@4")
    texts = " ".join(row[name] for row in found for name in ("system", "prompt", "reply"))
    assert not any(model in texts for model in MODELS), "who answered is hidden"
    (check,) = result.get_asset_check_evaluations()
    assert check.passed

    # Files have every pair in order, and the card their hashes.
    folder, card = export_critic(evaluated.warehouse, "r", tmp_path / "first")
    for split in ("train", "test"):
        lines = [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]
        of_split = [row for row in found if row["split"] == split]
        assert [line["pair_id"] for line in lines] == [row["pair_id"] for row in of_split]
        assert lines[0]["messages"][-1]["content"] == of_split[0]["reply"]
    assert card["n_pairs"] == {"test": 4, "train": 36}
    assert card["by_category"] == {CATEGORY: {"train": 36, "test": 4}}
    assert json.loads((folder / "card.json").read_text()).keys() == card.keys()
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    materialize(evaluated)
    assert pairs(evaluated) == found
    again, _ = export_critic(evaluated.warehouse, "r", tmp_path / "first")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == written

    # A contaminated table fails its check and is not exported.
    found[0] = {**found[0], "group_id": found[-1]["group_id"]}
    evaluated.fill("evaluate.critic_pairs", found)
    checked = critic_check.node_def.compute_fn.decorated_fn(  # type: ignore[attr-defined]
        evaluated.warehouse
    )
    assert not checked.passed and checked.metadata["group"].value == 1
    with pytest.raises(UserError, match="share the group 'alignmmbench"):
        export_critic(evaluated.warehouse, "r", tmp_path / "second")
    assert not (tmp_path / "second" / "r").exists()


def test_answers_of_an_external_model_are_only_for_testing(evaluated: Desk, capsys) -> None:
    score(evaluated, groups=range(N_GROUPS))
    materialize(evaluated, critic_pairs={"external_models": ["other-vlm"]})
    models = {(row["split"], row["model"]) for row in pairs(evaluated)}
    assert models == {("external", "other-vlm"), ("test", "some-vlm"), ("train", "some-vlm")}
    assert loom(["result", "export-critic", "r"]) == 0
    folder = evaluated.warehouse.path.parent / "critic" / "r"
    assert capsys.readouterr().out == (
        f"18 pairs to train on and 2 to test on in {folder}; left out: none.\n"
    )
    card = json.loads((folder / "card.json").read_text())
    assert card["n_pairs"] == {"external": 20, "test": 2, "train": 18}
    assert len((folder / "external.jsonl").read_text().splitlines()) == 20
    assert loom(["result", "export-critic", "other"]) == 2
    assert "There is no release other" in capsys.readouterr().err


def test_scores_from_review_have_their_reason_in_the_note(evaluated: Desk) -> None:
    contents = [
        {"image_ids": [], "question": f"{question(group)} {group}-0?", "reference": "It is so."}
        | {"answer": f"s {group}-0", "dimensions": [RATING], "lowest": 1, "highest": 10}
        | {"scores": {RATING: None}}
        for group in (0, 1, 2)
    ]
    evaluated.queue("score", contents)
    evaluated.decide(
        "ann",
        [
            {"verdict": "edit", "edits": content | {"scores": {RATING: 9}}, "note": note}
            for content, note in zip(contents, ("Good.", "Fine.", None), strict=True)
        ],
    )
    materialize(evaluated)
    found = {row["item_id"]: row for row in pairs(evaluated)}
    assert {key: json.loads(row["reply"])["Reason"] for key, row in found.items()} == {
        "0-0": "Good.",
        "1-0": "Fine.",
    }
    assert {(row["origin"], row["model"], row["score"]) for row in found.values()} == {
        ("internal", "some-vlm", 9)
    }
    (left_out,) = evaluated.rows("FROM evaluate.critic_left_out")
    assert (left_out["item_id"], left_out["reason"]) == ("2-0", "no_reason")


def test_agreement_of_a_critic_is_that_in_the_test_split(evaluated: Desk) -> None:
    """Both judges are off by a constant; the critic's figures have the answers of the test split."""
    score(evaluated, groups=range(N_GROUPS))
    materialize(evaluated, judge_quality={"n_resamples": 100, "critics": ["critic"]})
    figures = {
        (row["judge"], row["subset_label"], row["subset_value"]): (row["n"], row["value"])
        for row in evaluated.rows(
            "FROM evaluate.judge_quality WHERE other LIKE 'people%' AND unit = 'answer' "
            "AND measure = 'mae' AND subset_label IN ('', 'critic')"
        )
    }
    # People's mean is 7.5: 2.5 above the large judge, 1.5 above the critic.
    panel = pytest.approx(2.0)
    assert figures == {
        ("large", "", ""): (40, pytest.approx(2.5)),
        ("large", "critic", "test"): (4, pytest.approx(2.5)),
        ("large", "critic", "train"): (36, pytest.approx(2.5)),
        ("critic", "", ""): (4, pytest.approx(1.5)),
        ("critic", "critic", "test"): (4, pytest.approx(1.5)),
        ("panel", "", ""): (4, panel),
        ("panel", "critic", "test"): (4, panel),
    }
