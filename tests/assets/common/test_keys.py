"""A provider with a key: without it a step says what to set; with it, it is kept nowhere."""

from pathlib import Path

import dagster as dg
import pytest

from dagster_project.definitions import defs
from resources.warehouse import declared_columns
from tests.assets.conftest import MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    ANY_LOSS_IN_EVALUATION,
    ASKING,
    REPORTS,
    SCORING,
    Result,
    World,
    any_loss,
    copy_of,
    made,
)

pytestmark = pytest.mark.slow


def test_no_check_asks_a_model() -> None:
    for check in defs.asset_checks or []:
        assert "llm" not in check.required_resource_keys


KEY = "sk-test-4f1c2a9d7e8b6350-never-to-be-seen"
SUMMARIES = dg.AssetSelection.assets(["dialogue", "summaries"])
MODELS = {"gpt-4o": "offline-writer", "gpt-4o-mini": "offline-careful"}


def with_key(keyed: World) -> None:
    """The profile `openai` as models.yaml ships it: address and key come from the environment."""
    of_environment = {"base_url_env": "OPENAI_BASE_URL", "api_key_env": "OPENAI_API_KEY"}
    entry = {"provider": "openai", "price": {"prompt": 2.5, "completion": 10.0}, **of_environment}
    profile = {"writer": "gpt-4o", "judge": "gpt-4o", "evaluate": ["gpt-4o-mini"]}
    models = {name: {**entry, "model": model} for name, model in MODELS.items()}
    keyed.write_models({"profiles": {"openai": profile}, "models": models})
    keyed.settings = {
        "LOOM_PROFILE": "openai",
        "OPENAI_BASE_URL": keyed.proxy.base_url,
        "OPENAI_API_KEY": KEY,
    }


@pytest.fixture
def keyed(released: World, make_world: MakeWorld, tmp_path: Path) -> World:
    """A generated keyed that is asked everything again."""
    copy_of(released.root, tmp_path)
    # On disk, so that what Dagster keeps of a run can be searched.
    (tmp_path / "dagster").mkdir()
    quiet = {"telemetry": {"enabled": False}}
    instance = dg.DagsterInstance.local_temp(str(tmp_path / "dagster"), overrides=quiet)
    made_world = make_world(tmp_path, released.corpus, instance)
    with_key(made_world)
    made_world.forget_calls()
    return made_world


def everything_written(keyed: World, run: Result) -> dict[str, str]:
    """All that is left of a run: files, tables (DuckDB packs its texts), calls, events."""
    written = {
        str(path): path.read_bytes().decode("utf-8", "replace")
        for path in keyed.root.rglob("*")
        if path.is_file()
    }
    for table in declared_columns():
        written[table] = str(keyed.rows(f"SELECT * FROM {table}"))
    written["ledger"] = "\n".join(str(call) for call in keyed.ledger)
    logs = keyed.instance.all_logs(run.run_id)
    written[run.run_id] = "\n".join(str(entry.to_json()) for entry in logs)
    for event in run.get_asset_materialization_events():
        written[str(event.asset_key)] = str(event.materialization.metadata)
    return written


def test_the_same_assets_run_and_the_key_is_sent_and_kept_nowhere(keyed, capfd):
    secret = keyed.settings.pop("OPENAI_API_KEY")
    run = keyed.run(ANY_ASSETS, assets=SUMMARIES)
    assert not run.success and made(run) == set()
    assert "needs a key: set OPENAI_API_KEY" in str(
        [each.event_specific_data for each in run.all_events]
    )
    assert keyed.proxy.requests == []
    keyed.settings["OPENAI_API_KEY"] = secret

    # Providers quote keys in their errors, and errors are kept.
    quoting = f"Something about the key {KEY} is odd"
    (entry,) = keyed.rows("FROM ingest.entries ORDER BY entry_id LIMIT 1")
    title = f"<title>{entry['title']}</title>"
    keyed.proxy.refuse(lambda asked: asked.task == "summary" and title in asked.text, 400, quoting)
    keyed.proxy.refuse(
        lambda asked: asked.model == "offline-careful" and asked.turn == 6, 400, quoting
    )
    config = any_loss("dialogue__summaries") | ANY_LOSS_IN_EVALUATION
    run = keyed.run(ANY_ASSETS, config, assets=SUMMARIES | ASKING | SCORING | REPORTS)
    assert run.success

    assert {asked.authorization for asked in keyed.proxy.requests} == {f"Bearer {KEY}"}
    # A provider is sent the prompt; the task in its front matter is for the mock server alone.
    assert not any("metadata" in asked.body for asked in keyed.proxy.requests)
    for table in (
        "dialogue.summaries",
        "evaluate.answers",
        "evaluate.judgments",
        "evaluate.leaderboard",
    ):
        providers = keyed.rows(f"SELECT DISTINCT provider FROM {table}")
        assert providers == [{"provider": "openai"}], table
    cost = [call.cost_usd for call in keyed.ledger]
    assert min(cost) > 0

    for stage in ("dialogue", "evaluate"):
        details = keyed.rows(f"SELECT detail FROM {stage}.failed")
        quoted = [row["detail"] for row in details if "is odd" in row["detail"]]
        assert quoted and all("***" in detail for detail in quoted)
    written = everything_written(keyed, run)
    assert len(written) > 40
    assert [place for place, text in written.items() if KEY in text] == []
    printed = capfd.readouterr()
    assert KEY not in printed.out + printed.err
