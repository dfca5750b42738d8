"""An exported task, run by lmms-eval itself: it asks what was exported, and its log comes back.

Run by `make test-peers`, with lmms-eval in a folder of its own beside inspect_ai (PEERS).
"""

import os
import subprocess
import sys
from pathlib import Path

from methods.evaluation.items import Item
from methods.release import Edition
from resources.exports.folder import write_folder
from resources.exports.forms import form_named
from resources.offline.process import OfflineServer
from tests.resources.exports.peer_inspect import PEERS
from tests.resources.exports.test_evaluation import found

RUN = """
import runpy, sys
# What the project has goes before what the folder has of the same.
sys.path.append(sys.argv.pop(1))
runpy.run_module("lmms_eval", run_name="__main__")
"""


def test_lmms_eval_asks_every_item_and_its_log_is_predictions(
    released, questions: list[Item], tmp_path: Path
) -> None:
    source = released(questions, name="mmbench-dev", edition=Edition("mmbench", "dev", "en"))
    write_folder(tmp_path / "out", form_named("lmms-eval", 500), source)
    with OfflineServer() as server:
        model = f"model_version=offline-careful,base_url={server.base_url},api_key=none"
        command = [sys.executable, "-c", RUN, PEERS / "lmms-eval", "--model", "openai"]
        command += ["--model_args", model, "--tasks", "mmbench_dev", "--log_samples"]
        command += ["--include_path", tmp_path / "out", "--output_path", tmp_path / "logs"]
        subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    (log,) = (tmp_path / "logs").rglob("*_samples_mmbench_dev.jsonl")
    said = found(questions, log)
    assert said.keys() == {item.item_id for item in questions}
    assert all(text.strip() for text in said.values())
