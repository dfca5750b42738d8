"""A dry run tells what the main job would ask and cost, and asks and writes nothing."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.running import command

DRY_RUN = "dagster_project.dry_run"
REGISTRY = """
profiles: {p: {writer: w, judge: j, evaluate: [a, b]}}
models:
  w: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1", price: {prompt: 1, completion: 10}}
  j: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1", mode: batch, price: {prompt: 2, completion: 4}}
  a: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1"}
  b: {provider: openai, api_key_env: NOBODY_HAS_IT, base_url: "http://127.0.0.1:9/v1"}
"""  # noqa: E501


def rows(output: str) -> dict[tuple[str, str], list[float]]:
    """(stage, model) -> calls, reused, prompt tokens, answer tokens, likely and highest cost."""
    found = {}
    for line in output.splitlines():
        match = re.fullmatch(r"([a-z]+\.[a-z]+|all) +([a-z]*) +((?:[\d.,]+ *){6})", line)
        if match:
            numbers = [float(number.replace(",", "")) for number in match[3].split()]
            found[match[1], match[2]] = numbers
    return found


@pytest.fixture(scope="module")
def fresh(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A dry run on a home that is not there, for models whose servers and keys are not there."""
    home = tmp_path_factory.mktemp("dry") / "home"
    models = home.parent / "models.yaml"
    models.write_text(REGISTRY)
    return home, command(DRY_RUN, home, LOOM_MODELS=str(models), LOOM_PROFILE="p")


def test_it_needs_no_key_asks_nobody_and_leaves_nothing_behind(fresh) -> None:
    home, done = fresh
    assert done.returncode == 0, done.stdout + done.stderr
    assert not home.exists()


def test_it_tells_calls_tokens_and_dollars_by_stage_and_model(fresh) -> None:
    told = rows(fresh[1].stdout)

    assert list(told) == [
        ("dialogue.summaries", "w"),
        ("dialogue.questions", "w"),
        ("dialogue.answers", "w"),
        ("rewrite.rewrites", "w"),
        ("evaluate.answers", "a"),
        ("evaluate.judgments", "j"),
        ("evaluate.answers", "b"),
        ("all", ""),
    ]
    for calls, _, prompt, answer, likely, at_most in told.values():
        assert calls > 0 and prompt > 0 and likely <= at_most
        # Nothing was ever answered here, so an answer counts as 500 tokens.
        assert answer == 500 * calls
    calls, _, prompt, answer, likely, _ = told["dialogue.answers", "w"]
    assert likely == pytest.approx((prompt * 1 + answer * 10) / 1e6, abs=5e-5)
    calls, _, prompt, answer, likely, _ = told["evaluate.judgments", "j"]
    assert likely == pytest.approx((prompt * 2 + answer * 4) / 2e6, abs=5e-5), "half in batches"
    # Both models' turns are judged: two different answers to each.
    assert calls == told["evaluate.answers", "a"][0] + told["evaluate.answers", "b"][0]
    parts = [row for (stage, _), row in told.items() if stage != "all"]
    assert told["all", ""][:4] == [sum(column) for column in zip(*parts, strict=True)][:4]


def test_a_wrong_setting_is_one_sentence(tmp_path: Path) -> None:
    done = command(DRY_RUN, tmp_path / "home", LOOM_PROFILE="nope")

    assert done.returncode == 2
    assert done.stderr == "There is no profile 'nope' in models.yaml; it has offline, openai.\n"
    assert list(tmp_path.iterdir()) == []
