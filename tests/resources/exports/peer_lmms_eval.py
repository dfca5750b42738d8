"""An exported task, run by lmms-eval itself: it asks what was exported, scores it as the leaderboard
does, and its log comes back.

Run by `make test-peers`, with lmms-eval in a folder of its own beside inspect_ai (PEERS). Several
rounds are asked by the loop of its model vllm_chat, whose requests go to a server in place of vLLM.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from methods.release import Edition
from resources.exports.folder import write_folder
from resources.exports.formats import form_named
from resources.images.store import ImageStore
from tests.resources.exports.asked_items import (
    EDITIONS,
    MORE,
    asked_items,
    assert_every_turn_and_pass,
)
from tests.resources.exports.conftest import HOSTILE
from tests.resources.exports.peer_inspect import PEERS
from tests.resources.exports.recorder import recorder
from tests.resources.exports.replies import asked, on_the_leaderboard, questions, request_of

RUN = """
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


def run(url: str, tmp_path: Path) -> tuple[Path, dict[str, float | str], str]:
    """The log of samples of a run, its scores, and what it prints."""
    model = f"model_version=recorder,base_url={url},api_key=none"
    command = [sys.executable, "-c", RUN, PEERS / "lmms-eval", "--model", "openai"]
    command += ["--model_args", model, "--tasks", "asked", "--log_samples"]
    command += ["--include_path", tmp_path / "out", "--output_path", tmp_path / "logs"]
    told = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, check=True, env=told, stdout=subprocess.PIPE, text=True
    )
    (log,) = (tmp_path / "logs").rglob("*_samples_asked.jsonl")
    (results,) = (tmp_path / "logs").rglob("*_results.json")
    scores = json.loads(results.read_text())["results"]["asked"]
    return (
        log,
        {
            name.removesuffix(",none"): value
            for name, value in scores.items()
            if name.startswith("vlm_loom") and value != "N/A" and "_stderr" not in name
        },
        done.stdout,
    )


@pytest.mark.parametrize("benchmark", EDITIONS)
def test_lmms_eval_asks_every_turn_and_pass_and_its_log_is_predictions(
    benchmark: str, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = asked_items([*HOSTILE, *MORE], image_ids)[benchmark]
    source = released(items, name="asked", edition=EDITIONS[benchmark])
    write_folder(tmp_path / "out", form_named("lmms-eval", 500), source)
    with recorder() as (url, requests):
        log, scores, printed = run(url, tmp_path)
    if benchmark != "mmbench":
        assert scores == {"vlm_loom": "not scored here: see README.md of the task"}
        assert scores["vlm_loom"] in printed
    assert_every_turn_and_pass(benchmark, items, requests, log, store)


@pytest.mark.parametrize(("benchmark", "n"), [("mmbench", 50), ("mmiu", 200)])
def test_lmms_eval_prints_the_score_of_the_leaderboard_on_200_replies(
    benchmark: str, n: int, released, image_ids: list[str], store: ImageStore, tmp_path: Path
) -> None:
    items = questions(image_ids, n)
    source = released(items, name="asked", edition=Edition(benchmark, "dev", "en"))
    write_folder(tmp_path / "out", form_named("lmms-eval", 500), source)
    replies = {request_of(each, store): text for each, text in asked(benchmark, items)}
    with recorder(lambda messages: replies[tuple(messages)]) as (url, requests):
        _, scores, printed = run(url, tmp_path)
    ours = on_the_leaderboard(benchmark, items)
    assert set(map(tuple, requests)) == set(replies) and len(replies) == 200
    assert scores["vlm_loom"] == pytest.approx(ours) and f"{ours:.4f}" in printed
    assert 0 < scores["vlm_loom_standard_error"] < 10 and scores["vlm_loom_unread"] > 0
