"""An exported task, run by inspect_ai itself: it asks what was exported, scores it as the leaderboard
does, and its log comes back.

Run by `make test-peers`, with inspect_ai in an environment of its own (PEERS).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from methods.release import Edition
from resources.exports.folder import write_folder
from resources.exports.formats import FORMS
from resources.images.store import ImageStore
from tests.resources.exports.asked_items import (
    EDITIONS,
    MORE,
    asked_items,
    assert_every_turn_and_pass,
)
from tests.resources.exports.conftest import HOSTILE
from tests.resources.exports.recorder import recorder
from tests.resources.exports.replies import asked, on_the_leaderboard, questions, request_of

PEERS = Path(os.environ.get("PEERS", ".venv-peers")).resolve()


def run(folder: Path, url: str, tmp_path: Path) -> tuple[Path, dict[str, float]]:
    """The log of a run, and the scores that it prints."""
    command = [PEERS / "bin" / "inspect", "eval", "task.py", "--log-dir", tmp_path]
    model = ["--model", "openai-api/loom/recorder"]
    told = {"LOOM_API_KEY": "none", "LOOM_BASE_URL": url, "INSPECT_DISPLAY": "none"}
    subprocess.run([*command, *model], cwd=folder, check=True, env={**os.environ, **told})
    (log,) = tmp_path.glob("*.eval")
    dump = [PEERS / "bin" / "inspect", "log", "dump", "--header-only", log]
    header = json.loads(subprocess.run(dump, check=True, capture_output=True).stdout)
    return log, {
        name: metric["value"]
        for score in header["results"]["scores"]
        for name, metric in score["metrics"].items()
    }


@pytest.mark.parametrize("benchmark", EDITIONS)
def test_inspect_ai_asks_every_turn_and_pass_and_its_log_is_predictions(
    benchmark: str, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = asked_items([*HOSTILE, *MORE], image_ids)[benchmark]
    folder = tmp_path / "out"
    write_folder(folder, FORMS["inspect-ai"], released(items, edition=EDITIONS[benchmark]))
    with recorder() as (url, requests):
        log, scores = run(folder, url, tmp_path)
    assert bool(scores) == (benchmark == "mmbench"), "no number where a model judges"
    assert_every_turn_and_pass(benchmark, items, requests, log, store)


@pytest.mark.parametrize(("benchmark", "n"), [("mmbench", 50), ("mmiu", 200)])
def test_inspect_ai_prints_the_score_of_the_leaderboard_on_200_replies(
    benchmark: str, n: int, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = questions(image_ids, n)
    folder = tmp_path / "out"
    source = released(items, edition=Edition(benchmark, "dev", "en"))
    write_folder(folder, FORMS["inspect-ai"], source)
    replies = {request_of(each, store): text for each, text in asked(benchmark, items)}
    with recorder(lambda messages: replies[tuple(messages)]) as (url, requests):
        _, scores = run(folder, url, tmp_path)
    assert len(requests) == len(replies) == 200
    assert scores["score"] == pytest.approx(on_the_leaderboard(benchmark, items))
    assert 0 < scores["standard_error"] < 10 and scores["unread"] > 0
