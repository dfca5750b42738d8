"""An exported task, run by inspect_ai itself: it asks what was exported, and its log comes back.

Run by `make test-peers`, with inspect_ai in an environment of its own (PEERS).
"""

import json
import os
import subprocess
from pathlib import Path

from methods.evaluation.items import Item, Turn
from resources.exports.folder import write_folder
from resources.exports.forms import FORMS
from resources.offline.process import OfflineServer
from tests.resources.exports.test_evaluation import found

PEERS = Path(os.environ.get("PEERS", ".venv-peers")).resolve()
READ_BACK = """
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
assert log.status == "success", log.error
print(json.dumps([
    [part.type if part.type == "image" else part.text for part in sample.input[0].content]
    for sample in log.samples
]))
"""


def test_inspect_ai_asks_every_item_and_its_log_is_predictions(
    released, questions: list[Item], image_ids: list[str], tmp_path: Path
) -> None:
    placed = Item(
        "placed",
        (Turn(1, "Is <ImageHere> like <ImageHere>?", (2, 1), {"key": "A"}),),
        tuple(image_ids[:2]),
        ("yes", "no"),
    )
    items = [*questions, placed]
    folder = tmp_path / "out"
    write_folder(folder, FORMS["inspect-ai"], released(items))
    with OfflineServer() as server:
        command = [PEERS / "bin" / "inspect", "eval", "task.py", "--log-dir", tmp_path]
        model = ["--model", "openai-api/loom/offline-careful"]
        told = {"LOOM_API_KEY": "none", "LOOM_BASE_URL": server.base_url, "INSPECT_DISPLAY": "none"}
        subprocess.run([*command, *model], cwd=folder, check=True, env={**os.environ, **told})
    (log,) = tmp_path.glob("*.eval")
    done = subprocess.run(
        [PEERS / "bin" / "python", "-c", READ_BACK, log], check=True, capture_output=True, text=True
    )
    asked = json.loads(done.stdout)
    assert asked[3] == ["Is ", "image", " like ", "image", "?", asked[3][-1]]
    assert asked[0][:2] == ["image", "image"] and "B. that" in asked[0][-1]
    said = found(items, log)
    assert said.keys() == {item.item_id for item in items}
    assert all(text.strip() for text in said.values())
