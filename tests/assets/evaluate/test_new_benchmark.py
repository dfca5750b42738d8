"""A benchmark that a test adds goes through definitions, evaluation and report; no code knows it."""

import shutil
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.common.isolation import incomplete_steps
from assets.evaluate import observations
from assets.release.published import write_imported
from dagster_project.definitions import build_defs
from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import Asking, AskingLimits
from methods.evaluation.items import Item, Turn
from methods.evaluation.metrics.mean import Mean
from methods.release import Edition
from resources.settings import prompts
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.evaluate.toy_benchmark import PROMPT, Toy
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    RANKING,
    REPORTS,
    Row,
    World,
    check,
    made,
    sentence,
    with_few_checks,
)
from tests.doubles import garbling_proxy

pytestmark = pytest.mark.slow

COLOURS = ("red", "green", "blue", "red", "green", "blue")
KEYS = ("A", "B", "C", "C", "A", "B")


@pytest.fixture(scope="module")
def toy(empty_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Six pictures in three groups, evaluated: `careful`, and one that always says A."""
    with_its_prompt = project_prompts(tmp_path_factory.mktemp("toy"))
    world = empty_world()
    use_benchmarks(world, toy=Toy())
    world.set_models(
        {"always-a": {"model": "offline-always-a"}},
        evaluate=["careful", "always-a", "baseline:reference"],
    )
    release(world)
    world.write_settings({"evaluate": {"answers": {"context_policy": "truncate"}}})
    # One answer that no rule reads.
    world.proxy.rewrite(
        lambda asked: asked.model == "offline-careful" and "Item 0" in asked.text, "Plainly red."
    )
    with pytest.MonkeyPatch.context() as patch:
        # The server behind the proxy is told the task of this prompt, too.
        patch.setitem(garbling_proxy._TASKS, PROMPT.splitlines()[3], "extract")
        patch.setattr(prompts, "PROMPTS_ROOT", with_its_prompt)
        run = world.run(ANY_ASSETS, assets=ASKING | RANKING | REPORTS)
        assert run.success and "evaluate/reports" in made(run)
        yield world


def use_benchmarks(world: World, **added: Toy) -> None:
    with world.environment():
        resources = {"embedder": world.embedder, "benchmarks": {**BENCHMARKS, **added}}
        world.definitions = with_few_checks(build_defs(resource_overrides=resources))


def project_prompts(folder: Path) -> Path:
    """The project's prompts and that of the benchmark, in the place of the project's alone."""
    for method in prompts.PROMPTS_ROOT.glob("*/prompts"):
        (folder / method.parent.name).mkdir()
        (folder / method.parent.name / "prompts").symlink_to(method)
    (folder / "toy" / "prompts").mkdir(parents=True)
    (folder / "toy" / "prompts" / "extract.md").write_text(PROMPT)
    return folder


def release(world: World, benchmark: str = "toy") -> None:
    items = []
    for number, (colour, key) in enumerate(zip(COLOURS, KEYS, strict=True)):
        image = world.root / f"{number}.png"
        Image.new("RGB", (64, 64), colour).save(image)
        others = [each for each in ("red", "green", "blue") if each != colour]
        choices = (*others[: "ABC".index(key)], colour, *others["ABC".index(key) :])
        question = f"Item {number}. <ImageHere>. Which colour is <image-1>?"
        turn = Turn(1, question, (1,), {"key": key})
        image_id = world.images.put(image.read_bytes()).image_id
        labels = {"n_choices": "3", "colour": colour}
        group = f"group-{number // 2}"
        items.append(Item(f"item-{number}", (turn,), (image_id,), choices, group, labels))
    with world.environment():
        edition = Edition(benchmark, "test", None, "imported")
        write_imported(world.warehouse, f"{benchmark}-test", edition, items, {"file": "toy.tsv"})


def test_what_no_rule_reads_is_read_by_a_model_and_named(toy: World) -> None:
    rows = toy.rows(
        "SELECT DISTINCT answer, extractor, extractor_call_key IS NULL AS by_rule "
        "FROM evaluate.provenance WHERE model = 'careful' AND extractor <> 'rule'"
    )
    assert rows == [{"answer": "Plainly red.", "extractor": "judge", "by_rule": False}]
    assert toy.rows("SELECT DISTINCT judge FROM evaluate.observations") == [{"judge": "rule"}]
    # Every observation that was scored is in the provenance.
    judged = toy.rows("SELECT count(*) AS n FROM evaluate.observations WHERE status = 'judged'")
    assert judged == [{"n": toy.warehouse.count("evaluate.provenance")}] == [{"n": 18 + 18 + 8}]


def test_ranks_slices_the_report_and_a_metric_of_groups_follow(toy: World) -> None:
    ranks = toy.rows("SELECT model, rank FROM evaluate.ranks WHERE metric = 'Circular'")
    assert {row["model"]: row["rank"] for row in ranks} == {
        "careful": 1,
        # What calibrates is not ranked.
        "baseline:reference": None,
        "always-a": 2,
    }
    labels = toy.rows("SELECT DISTINCT subset_label FROM evaluate.scores")
    assert "colour" in {row["subset_label"] for row in labels}
    (page,) = (toy.home / "reports").glob("toy-test*.html")
    assert "Circular" in page.read_text() and "always-a" in page.read_text()
    (row,) = toy.rows(
        "SELECT value, n_units FROM evaluate.scores WHERE metric = 'Alignment' "
        "AND model = 'always-a' AND form = 'floor' AND subset_label = ''"
    )
    # Groups (A B), (C C), (A B): right and wrong, wrong twice, right and wrong.
    assert (row["n_units"], row["value"]) == (3, pytest.approx(3 / (0.5 + 0 + 0.5)))


def test_without_the_benchmark_its_answers_stay_and_are_left_out(toy: World) -> None:
    n_answers = toy.warehouse.count("evaluate.answers")
    resources = {"warehouse": toy.warehouse, "benchmarks": BENCHMARKS}
    result = dg.materialize([observations], resources=resources)
    (event,) = result.get_asset_materialization_events()
    assert event.materialization.metadata["left out"].value.startswith(
        "There is no benchmark here for toy-test-"
    )
    assert toy.warehouse.count("evaluate.observations") == 0
    (reason,) = incomplete_steps(toy.warehouse)["evaluate.observations"]
    assert "There is no benchmark toy here: install its package" in reason
    assert toy.warehouse.count("evaluate.answers") == n_answers
    with_it = {**resources, "benchmarks": {"toy": Toy()}}
    assert dg.materialize([observations], resources=with_it).success


@dataclass(frozen=True, kw_only=True)
class Raising(Mean):
    """A metric that cannot be computed."""

    def units(self, observed, *, floor, by=("model",)):
        return observed.assign(value=1 // 0)


class Broken(Toy):
    """The same benchmark with a fault of its author's."""

    name = "broken"

    def __init__(self, where: str):
        self.where = where
        if where == "metric":
            self.metrics = (Raising(name="Circular", observation="right", lowest=0.0, highest=1.0),)

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, object, None]:
        if self.where == "ask" and item.item_id == "item-3":
            raise KeyError("no such label")
        return super().ask(item, limits)


def circular(world: World) -> list[Row]:
    return world.rows(
        "SELECT * FROM evaluate.scores WHERE benchmark = 'toy' AND metric = 'Circular' ORDER BY ALL"
    )


@pytest.mark.parametrize(
    ("where", "said", "steps"),
    [
        ("ask", "KeyError", ["answers"]),
        ("metric", "ZeroDivisionError", ["comparisons", "scores"]),
    ],
)
def test_a_benchmark_that_raises_loses_its_own_results_only(
    toy: World, copied: CopyWorld, tmp_path: Path, where: str, said: str, steps: list[str]
) -> None:
    world = copied(toy, tmp_path)
    shutil.copy(toy.root / "models.yaml", tmp_path)
    release(world, "broken")

    use_benchmarks(world, toy=Toy(), broken=Broken(where))
    result = world.run(ANY_ASSETS, assets=ASKING | RANKING | REPORTS)

    assert not result.success
    assert sentence(result).startswith("broken-test-") and said in sentence(result)
    assert " in tests/assets/evaluate/test_new_benchmark.py, line " in sentence(result)
    lost = world.rows("SELECT DISTINCT step FROM evaluate.not_made ORDER BY step")
    assert [row["step"] for row in lost] == [f"evaluate.{step}" for step in steps]
    assert [check(result, f"evaluate/{step}", "made").passed for step in steps] == [False] * len(
        steps
    )
    # The other benchmark has all that it had.
    assert "evaluate/reports" in made(result)
    assert circular(world) == circular(toy)
    pages = {
        page.name.split("-")[0]: page.read_text()
        for page in (world.home / "reports").glob("*-test*")
    }
    assert said in pages["broken"] and said not in pages["toy"]


def test_a_policy_that_it_does_not_permit_is_not_used_and_the_asset_says_so(toy: World) -> None:
    (version,) = {row["v"] for row in toy.rows("SELECT prompt_version AS v FROM evaluate.answers")}
    assert version == "circular@1"
    told = toy.told("evaluate/answers")["context policy"]
    assert told == "toy: fail, it does not permit truncate"
