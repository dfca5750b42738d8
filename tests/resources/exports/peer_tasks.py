"""An exported task, run by inspect_ai and by lmms-eval themselves: it asks what was exported, scores it
as the leaderboard does, and its log comes back.

Run by `make test-peers`, with inspect_ai in an environment of its own (PEERS) and lmms-eval in a folder
beside it. Several rounds are asked by the loop of lmms-eval's model vllm_chat, whose requests go to a
server in place of vLLM.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from methods.release import Edition
from resources.exports.folder import write_folder
from resources.exports.formats import form_named
from resources.images.store import ImageStore
from tests.resources.exports.conftest import HOSTILE
from tests.resources.exports.replies import (
    EDITIONS,
    MORE,
    asked,
    asked_items,
    assert_every_turn_and_pass,
    on_the_leaderboard,
    questions,
    recorder,
    request_of,
)

PEERS = Path(os.environ.get("PEERS", ".venv-peers")).resolve()

LMMS_EVAL = """
import runpy, sys
# What the project has goes before what the folder has of the same.
sys.path.append(sys.argv.pop(1))
from lmms_eval import evaluator
from lmms_eval.models.chat.openai import OpenAICompatible
from lmms_eval.models.chat.vllm import VLLM
from lmms_eval.protocol import ChatMessages


def once(self, messages, params):
    asked = self.client.chat.completions.create(
        model=self.model_version, messages=messages, max_tokens=64
    )
    return asked.choices[0].message.content


OpenAICompatible.generate_until_multi_round = VLLM.generate_until_multi_round
OpenAICompatible._resolve_sampling_params = lambda self, settings: settings
OpenAICompatible._to_openai_messages = lambda self, raw: ChatMessages(
    messages=raw
).to_openai_messages()
OpenAICompatible._chat_once = once
# It changes a module that the project's filelock does not have, for locks that are taken twice.
evaluator._enable_reentrant_filelocks = lambda: None
runpy.run_module("lmms_eval", run_name="__main__")
"""


class Evaluation(NamedTuple):
    """A run: its log, the scores by their names, and what was printed."""

    log: Path
    scores: dict[str, float | str]
    printed: str


def inspect_ai(url: str, tmp_path: Path) -> Evaluation:
    command = [PEERS / "bin" / "inspect", "eval", "task.py", "--log-dir", tmp_path]
    model = ["--model", "openai-api/loom/recorder"]
    told = {"LOOM_API_KEY": "none", "LOOM_BASE_URL": url, "INSPECT_DISPLAY": "none"}
    folder = tmp_path / "out"
    subprocess.run([*command, *model], cwd=folder, check=True, env={**os.environ, **told})
    (log,) = tmp_path.glob("*.eval")
    dump = [PEERS / "bin" / "inspect", "log", "dump", "--header-only", log]
    header = json.loads(subprocess.run(dump, check=True, capture_output=True).stdout)
    scores = {
        name: metric["value"]
        for score in header["results"]["scores"]
        for name, metric in score["metrics"].items()
    }
    return Evaluation(log, scores, "")


def lmms_eval(url: str, tmp_path: Path) -> Evaluation:
    model = f"model_version=recorder,base_url={url},api_key=none"
    command = [sys.executable, "-c", LMMS_EVAL, PEERS / "lmms-eval", "--model", "openai"]
    command += ["--model_args", model, "--tasks", "asked", "--log_samples"]
    command += ["--include_path", tmp_path / "out", "--output_path", tmp_path / "logs"]
    told = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, check=True, env=told, stdout=subprocess.PIPE, text=True
    )
    (log,) = (tmp_path / "logs").rglob("*_samples_asked.jsonl")
    (results,) = (tmp_path / "logs").rglob("*_results.json")
    scores = {
        name.removesuffix(",none").removeprefix("vlm_loom").lstrip("_") or "score": value
        for name, value in json.loads(results.read_text())["results"]["asked"].items()
        if name.startswith("vlm_loom") and value != "N/A" and "_stderr" not in name
    }
    return Evaluation(log, scores, done.stdout)


TOOLS: dict[str, Callable[[str, Path], Evaluation]] = {
    "inspect-ai": inspect_ai,
    "lmms-eval": lmms_eval,
}
UNSCORED = {"inspect-ai": {}, "lmms-eval": {"score": "not scored here: see README.md of the task"}}
"""What stands for the score where a model judges."""


@pytest.mark.parametrize("benchmark", EDITIONS)
@pytest.mark.parametrize("form", TOOLS)
def test_a_tool_asks_every_turn_and_pass_and_its_log_is_predictions(
    form: str, benchmark: str, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = asked_items([*HOSTILE, *MORE], image_ids)[benchmark]
    source = released(items, name="asked", edition=EDITIONS[benchmark])
    write_folder(tmp_path / "out", form_named(form, 500), source)
    with recorder() as (url, requests):
        log, scores, printed = TOOLS[form](url, tmp_path)
    assert (scores == UNSCORED[form]) == (benchmark != "mmbench")
    assert benchmark == "mmbench" or str(scores.get("score", "")) in printed
    assert_every_turn_and_pass(benchmark, items, requests, log, store)


@pytest.mark.parametrize(("benchmark", "n"), [("mmbench", 50), ("mmiu", 200)])
@pytest.mark.parametrize("form", TOOLS)
def test_a_tool_prints_the_score_of_the_leaderboard_on_200_replies(
    form: str,
    benchmark: str,
    n: int,
    released,
    image_ids: list[str],
    store: ImageStore,
    tmp_path: Path,
) -> None:
    items = questions(image_ids, n)
    source = released(items, name="asked", edition=Edition(benchmark, "dev", "en"))
    write_folder(tmp_path / "out", form_named(form, 500), source)
    replies = {request_of(each, store): text for each, text in asked(benchmark, items)}
    with recorder(lambda messages: replies[tuple(messages)]) as (url, requests):
        _, scores, printed = TOOLS[form](url, tmp_path)
    ours = on_the_leaderboard(benchmark, items)
    assert set(map(tuple, requests)) == set(replies) and len(replies) == 200
    assert scores["score"] == pytest.approx(ours)
    if form == "inspect-ai":
        assert len(requests) == 200
    else:
        assert f"{ours:.4f}" in printed
    assert 0 < scores["standard_error"] < 10 and scores["unread"] > 0
