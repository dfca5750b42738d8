"""An exported task, run by inspect_ai itself: it asks what was exported, and its log comes back.

Run by `make test-peers`, with inspect_ai in an environment of its own (PEERS).
"""

import os
import subprocess
from pathlib import Path

import pytest

from methods.evaluation.predictions import place_of
from resources.exports.folder import write_folder
from resources.exports.forms import FORMS
from resources.images.store import ImageStore
from resources.reports.prediction_file import read_rows
from tests.resources.exports.asked_items import EDITIONS, MORE, asked_items, asked_of, placed
from tests.resources.exports.conftest import HOSTILE
from tests.resources.exports.recorder import answer, expected, recorder

PEERS = Path(os.environ.get("PEERS", ".venv-peers")).resolve()


@pytest.mark.parametrize("benchmark", EDITIONS)
def test_inspect_ai_asks_every_turn_and_pass_and_its_log_is_predictions(
    benchmark: str, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = asked_items([*HOSTILE, *MORE], image_ids)[benchmark]
    folder = tmp_path / "out"
    write_folder(folder, FORMS["inspect-ai"], released(items, edition=EDITIONS[benchmark]))
    with recorder() as (url, requests):
        command = [PEERS / "bin" / "inspect", "eval", "task.py", "--log-dir", tmp_path]
        model = ["--model", "openai-api/loom/recorder"]
        told = {"LOOM_API_KEY": "none", "LOOM_BASE_URL": url, "INSPECT_DISPLAY": "none"}
        subprocess.run([*command, *model], cwd=folder, check=True, env={**os.environ, **told})
    asked = asked_of(benchmark, items)
    due = [request for each in asked for request in expected(each, store)]
    assert sorted(requests) == sorted(due), "every text and every pixel, in its place"
    (log,) = tmp_path.glob("*.eval")
    by_id = {item.item_id: item for item in items}
    assert placed(benchmark, items, read_rows(log)) == {
        place_of(by_id[each.item_id], each.trial, turn): answer(len(request))
        for each in asked
        for turn, request in zip(each.turns, expected(each, store), strict=True)
    }
