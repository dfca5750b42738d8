"""The main job as the specification: what it makes, what a second run costs, what a change costs."""

import csv
import hashlib
import shutil
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import dagster as dg
import duckdb
import pytest

from dagster_project.main_job import run_main_job
from dagster_project.run_tags import BUILD
from methods.errors import UserError
from methods.mmdu.judging import DIMENSIONS
from resources.embedding.embedder import Embedder
from resources.files.home import REPO_ROOT
from resources.warehouse import declared_columns
from tests.e2e.running import Run, command, instance_of, leaderboards

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

SAMPLE = REPO_ROOT / "resources" / "sample_corpus"


def rows(run: Run, text: str, **params: object) -> list[dict]:
    return run.warehouse.sql(text, params).to_pylist()


def jobs_of_the_newest_build(run: Run) -> list[str]:
    with instance_of(run.home) as instance:
        runs = instance.get_runs(dg.RunsFilter(tags={BUILD: "yes"}), limit=3)
    assert all(each.is_success for each in runs)
    return [each.job_name for each in reversed(runs)]


def test_a_demo_writes_the_samples_settings_unless_there_are_some(loom_home, monkeypatch):
    def only_build(wait: bool) -> NoReturn:
        raise UserError(f"Another build is at work, and this one waits: {wait}")

    monkeypatch.setattr("dagster_project.main_job.only_build", only_build)
    settings = loom_home / "settings.yaml"
    for content in ((SAMPLE / "settings.yaml").read_text(), "dialogue: {}\n"):
        with pytest.raises(UserError, match="waits: False"):
            run_main_job(Embedder(), sample_settings=True)
        assert settings.read_text() == content
        settings.write_text("dialogue: {}\n")


def test_it_ends_with_the_leaderboard_and_where_things_are(main_job: Run) -> None:
    lines = main_job.output.splitlines()
    ranked = [line.split()[0] for line in lines if line.startswith("offline-")]
    assert ranked[0] == "offline-careful"
    assert ranked[-1] == "offline-refuser"
    assert len(ranked) >= 4
    report = next(line for line in lines if line.startswith("Report:")).split(maxsplit=1)[1]
    assert "mock model server" in Path(report).read_text()
    assert any("vlm-loom ui" in line for line in lines)


def test_careful_beats_careless_with_intervals_apart_and_refusals_put_the_refuser_last(main_job):
    found = rows(main_job, "SELECT * FROM evaluate.leaderboard")
    assert {row["provider"] for row in found} == {"mock"}
    of_dialogues = [row for row in found if row["benchmark"] == "mmdu"]
    assert len(of_dialogues) == 5 * len(DIMENSIONS) * 2
    cells = {(row["metric"], row["model"]): row for row in of_dialogues}
    for metric in {row["metric"] for row in of_dialogues}:
        careful, careless = (cells[metric, f"offline-{name}"] for name in ("careful", "careless"))
        assert careful["ci_low"] > careless["ci_high"], metric
    overall = [row for row in of_dialogues if row["metric"] == "Overall Score/micro"]
    assert overall[-1]["model"] == "offline-refuser"
    assert overall[-1]["n_refused"] == overall[-1]["n_judged"] > 0
    assert all(row["n_refused"] == 0 for row in overall[:-1])
    turns = rows(main_job, "SELECT DISTINCT n_turns - n_images AS n FROM dialogue.dialogues")
    assert [row["n"] for row in turns] == [3], "by the settings"


def test_provenance_has_one_row_a_judged_turn_and_every_thread_leads_somewhere(main_job):
    found = rows(main_job, "SELECT * FROM evaluate.provenance WHERE benchmark = 'mmdu'")
    judged = rows(main_job, "FROM evaluate.judgments WHERE benchmark = 'mmdu'")
    assert len(found) == len(judged) > 200
    calls = {call.key: call for call in main_job.ledger}
    pages = {row["page_url"] for row in rows(main_job, "SELECT page_url FROM ingest.pages")}
    for row in found:
        assert calls[row["answer_call_key"]].response == row["answer"]
        assert row["explanation"] in calls[row["judge_call_key"]].response
        assert calls[row["judge_call_key"]].prompt_version == row["judge_prompt_version"]
        assert row["reviewers"] == ["policy:none", "policy:none"]
        assert set(row["page_urls"]) <= pages
        for image_id in row["image_ids"]:
            stored = next((main_job.home / "images" / image_id[:2]).glob(f"{image_id}.*"))
            assert hashlib.sha256(stored.read_bytes()).hexdigest() == image_id
        # The words of question and reference came out of the calls that the release names.
        assert row["question_call_key"] in calls
        assert row["reference_call_key"] in calls


def test_multiple_choice_is_released_in_two_splits_and_evaluated(main_job: Run) -> None:
    found = rows(
        main_job,
        "SELECT r.split, r.language, r.n_items, r.release_id, l.value FROM release.releases AS r "
        "JOIN evaluate.leaderboard AS l ON l.release = r.release_id "
        "WHERE l.model = 'offline-careful' AND l.metric LIKE 'Circular/%' ORDER BY ALL",
    )
    # Six items, four of ten in dev; what is asked is what the careful model measures.
    assert [(row["split"], row["language"], row["n_items"], row["value"]) for row in found] == [
        ("dev", "en", 2, 100.0),
        ("dev", "zh", 2, 100.0),
        ("test", "en", 4, 100.0),
        ("test", "zh", 4, 100.0),
    ]
    for row in found:
        assert (main_job.home / "releases" / row["release_id"] / "mmbench-circular.tsv").is_file()
        assert (main_job.home / "reports" / f"{row['release_id']}.html").is_file()
        assert f"Leaderboard ({row['release_id']}, Circular/" in main_job.output


@pytest.mark.parametrize(
    ("name", "n_items", "metrics"),
    [
        ("mmiu", range(8, 13), ["Accuracy/macro by task"]),
        ("alignmmbench", range(10, 15), ["Rating/micro"]),
        (
            "convbench",
            range(3, 4),
            [f"{score}/micro" for score in ("R1", "R2", "S1", "S2", "S3", "S2^", "S3^", "S3~")],
        ),
    ],
)
def test_every_other_benchmark_is_released_and_evaluated(main_job, name, n_items, metrics):
    (card,) = rows(main_job, "FROM release.releases WHERE name = $name", name=name)
    assert card["n_items"] in n_items and card["provider"] == "mock"
    board = "SELECT model, metric, value FROM evaluate.leaderboard WHERE release = $release"
    cells = rows(main_job, board, release=card["release_id"])
    found = {(row["model"], row["metric"]): row["value"] for row in cells}
    for metric in metrics:
        assert found["offline-careful", metric] > found["offline-careless", metric], metric
    assert f"Leaderboard ({card['release_id']}, " in main_job.output


@pytest.mark.nightly
@pytest.mark.slow
def test_a_dry_run_after_the_job_has_nothing_left_to_ask_and_changes_nothing(main_job: Run) -> None:
    warehouse = (main_job.home / "warehouse.duckdb").read_bytes()
    n_calls = len(main_job.ledger)

    done = command(main_job.home, "dry-run")

    assert done.returncode == 0, done.stdout + done.stderr
    (totals,) = [line.split() for line in done.stdout.splitlines() if line.startswith("all ")]
    assert totals[1] == "0" and int(totals[2].replace(",", "")) >= n_calls
    assert (main_job.home / "warehouse.duckdb").read_bytes() == warehouse
    assert len(main_job.ledger) == n_calls


def with_a_changed_row(run: Run, folder: Path) -> dict:
    """Copy the sample corpus to `folder` and change the text of one entry that is in an image set.

    The workspace is then one that was made from the copy: it refuses another file of the same name.
    """
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    entry = rows(
        run,
        "SELECT e.* FROM ingest.entries AS e JOIN cluster.image_sets USING (entry_id) "
        "WHERE e.wit_shard = 'sample-a' ORDER BY e.entry_id LIMIT 1",
    )[0]
    shard = folder / "shards" / "sample-a.tsv"
    with shard.open(newline="") as file:
        table = list(csv.reader(file, delimiter="\t"))
    changed = next(row for row in table if row[1] == entry["page_url"])
    changed[-2] = "It was repainted lately, in a colour nobody had asked for. " + changed[-2]
    with shard.open("w", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(table)
    with duckdb.connect(run.home / "warehouse.duckdb") as warehouse:
        moved = "UPDATE ingest.shards SET address = ? WHERE wit_shard = 'sample-a'"
        warehouse.execute(moved, [str(shard)])
    return entry


@pytest.mark.nightly
@pytest.mark.slow
def test_after_one_row_changes_what_depends_on_it_is_made_as_by_a_run_of_everything(
    copied: Run, tmp_path: Path
) -> None:
    entry = with_a_changed_row(copied, tmp_path / "corpus")
    corpus = ("--corpus", str(tmp_path / "corpus"))
    known = {call.key for call in copied.ledger}
    dialogues = "SELECT dialogue_id, set_id FROM dialogue.dialogues"
    before = {row["dialogue_id"] for row in rows(copied, dialogues)}
    sets = "SELECT set_id FROM cluster.image_sets WHERE entry_id = $entry"
    touched = [row["set_id"] for row in rows(copied, sets, entry=entry["entry_id"])]
    lost = {row["dialogue_id"] for row in rows(copied, dialogues) if row["set_id"] in touched}
    changed = command(copied.home, "build", *corpus)
    assert changed.returncode == 0, changed.stdout[-2000:]
    assert "stage dialogue\n" in changed.stdout and "evaluate/reports" in changed.stdout

    # Two shards, and the rest.
    assert jobs_of_the_newest_build(copied) == ["ingest", "ingest", "build"]
    after = {row["dialogue_id"] for row in rows(copied, dialogues)}
    assert before - after == lost
    assert len(after - before) == len(lost)
    new = [call for call in copied.ledger if call.key not in known]
    assert [call.stage for call in new].count("dialogue.summaries") == 1
    assert 0 < len(new) < len(known) / 10
    # In samples another answer takes the place of one that is gone, and a letter is read from words.
    sampled = ("evaluate.second_readings", "evaluate.judge_bias_tests")
    for call in new:
        if call.stage in sampled or call.request["prompt_version"].startswith("choice/extract@"):
            continue
        parts = [part for message in call.request["messages"] for part in message["parts"]]
        shown = {part["image"] for part in parts if isinstance(part, dict)}
        text = "".join(part for part in parts if isinstance(part, str))
        assert entry["image_id"] in shown or entry["title"] in text

    of_outdated, calls = content(copied), len(copied.ledger)
    everything = command(copied.home, "build", "--all", *corpus)
    assert everything.returncode == 0 and "up to date" not in everything.stdout
    assert content(copied) == of_outdated
    assert len(copied.ledger) == calls

    unchanged = command(copied.home, "build", *corpus)
    assert unchanged.returncode == 0, unchanged.stdout[-2000:]
    for stage in ("cluster", "dialogue", "rewrite", "choice", "quality", "evaluate", "ledger"):
        assert f"stage {stage} is up to date" in unchanged.stdout
    assert leaderboards(unchanged.stdout) == leaderboards(everything.stdout)


def content(run: Run) -> dict[str, list[dict]]:
    """Every row of every table, but for times and the pages that say when they were made."""
    return {
        table: [
            {
                name: value
                for name, value in row.items()
                if name != "sha256" and not isinstance(value, datetime)
            }
            for row in rows(run, f"FROM {table} ORDER BY ALL")
        ]
        for table in declared_columns()
    }
