"""`vlm-loom dialogue-shape`: statistics of dialogues under given settings, compared with MMDU's, and an
estimate of their cost.

No provider is called: the mock server writes the texts, and costs are estimated as by `vlm-loom
dry-run`.
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from assets.common.partitions import wit_shards
from assets.common.settings import SECTIONS
from dagster_project.definitions import build_defs
from dagster_project.dry_run import workspace_at
from dagster_project.job_runs import run_job
from dagster_project.resources import corpus_folder
from methods.errors import UserError
from methods.image_sets.spec import Kind
from methods.markdown import code, table
from methods.mmdu.table_1 import FIGURES, PAPER, PAPER_DIALOGUES, DialogueStatistics, figures_of
from resources.files import home
from resources.files.atomic import write_atomically
from resources.images.store import ImageStore, open_images
from resources.llm.dry_run import DryGateway, Forecast
from resources.llm.estimate import picture_tokens, text_tokens
from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry, active_profile, load_registry
from resources.mock_server.process import MockServerProcess
from resources.settings.asset_settings import read_sections
from resources.settings.prompts import check_own_prompts
from resources.warehouse import Warehouse
from resources.warehouse.configured import warehouse_of_home

DIALOGUE = [
    dg.AssetKey(["dialogue", name]) for name in ("summaries", "questions", "answers", "dialogues")
]
Forecasts = Mapping[tuple[str, str], Forecast]


class DryRunStepError(UserError):
    """A step of the dry run failed; the step's message is in the output above."""


@dataclass(frozen=True)
class DialogueKindResult:
    """Statistics and cost forecasts of one kind of dialogues, benchmark or instruction."""

    dialogues: Sequence[DialogueStatistics]
    forecasts: Forecasts


def show_shape(settings: Path | None, out: Path | None) -> None:
    """Print the statistics and the cost estimate of dialogues, or write them to a file.

    Args:
        settings: A file like settings.yaml; None for the defaults, which are the paper's shape.
        out: The file; None to print.

    Raises:
        UserError: A setting, prompt or model is wrong.
    """
    check_own_prompts()
    registry, profile = load_registry(), active_profile()
    page = _page(registry, profile, settings, _built(registry, profile, settings))
    if out:
        write_atomically(out, page.encode())
        print(f"Page: {out}")
    else:
        print(page)


def _built(
    registry: Registry, profile: str, settings: Path | None
) -> dict[Kind, DialogueKindResult]:
    """Generate both kinds of dialogues on the corpus, each in a separate dry run."""
    record = home.corpus_record_path()
    with (
        tempfile.TemporaryDirectory(prefix="vlm-loom-shape-") as name,
        workspace_at(Path(name)),
        dg.DagsterInstance.ephemeral() as instance,
    ):
        if settings:
            read_sections(SECTIONS, settings)
            shutil.copy(settings, home.settings_path())
        if record.exists():
            shutil.copy(record, home.corpus_record_path())
        shards = corpus_folder().shards()
        instance.add_dynamic_partitions(str(wit_shards.name), shards)
        for shard in shards:
            _run("ingest", instance, partition=shard)
        _run("cluster", instance)
        warehouse = warehouse_of_home()
        sets = {
            kind: warehouse.select("cluster.image_sets", order="set_id, position", kind=kind)
            for kind in PAPER_DIALOGUES
        }
        built: dict[Kind, DialogueKindResult] = {}
        for kind, of_kind in sets.items():
            warehouse.replace("cluster.image_sets", of_kind)
            built[kind] = _of_kind(registry, profile, instance, warehouse)
        return built


def _of_kind(
    registry: Registry, profile: str, instance: dg.DagsterInstance, warehouse: Warehouse
) -> DialogueKindResult:
    """Generate dialogues for the current image sets; return their statistics and the cost forecasts."""
    images = open_images()
    gateway = DryGateway(
        registry, profile, Ledger(home.ledger_path()), images, launcher=MockServerProcess()
    )
    try:
        _run("dialogue", instance, gateway, assets=DIALOGUE)
    finally:
        gateway.close()
    spec = registry.model(gateway.profile.model_for("answer"))
    dialogues = [
        DialogueStatistics(
            len(row["image_ids"]),
            [turn["question"] for turn in row["turns"]],
            [turn["answer"] for turn in row["turns"]],
            row["n_several"],
            row["n_some"],
            row["n_following"],
            _tokens(row["turns"], row["image_ids"], images, spec),
        )
        for row in warehouse.read("dialogue/shape").to_pylist()
    ]
    return DialogueKindResult(dialogues, gateway.forecasts)


def _run(
    job: str,
    instance: dg.DagsterInstance,
    gateway: DryGateway | None = None,
    partition: str | None = None,
    assets: Sequence[dg.AssetKey] | None = None,
) -> None:
    definitions = build_defs(resource_overrides={"llm": gateway} if gateway else {})
    done = run_job(definitions.resolve_job_def(job), instance, partition=partition, assets=assets)
    if not done.success:
        raise DryRunStepError(f"The run of {job} failed: see above for what is wrong.")


def _tokens(
    turns: Sequence[Mapping[str, str]],
    image_ids: Sequence[str],
    images: ImageStore,
    spec: ModelSpec,
) -> int:
    texts = sum(text_tokens(turn[name]) for turn in turns for name in ("question", "answer"))
    sizes = [images.sent_size(image_id, spec.max_side) for image_id in image_ids]
    return texts + sum(picture_tokens(spec, *size) for size in sizes)


# --- The page ------------------------------------------------------------------------------------


def _page(
    registry: Registry,
    profile: str,
    settings: Path | None,
    results: Mapping[Kind, DialogueKindResult],
) -> str:
    corpus = corpus_folder().path.name
    made_with = code(settings.name) if settings else "the default settings"
    lines = [
        "# Shape and cost of dialogues",
        "",
        f"Made by `vlm-loom dialogue-shape --profile {profile}` on the corpus {code(corpus)} with "
        f"{made_with}. The mock writer wrote the texts, so the lengths of texts say nothing about a "
        "real model, and its questions do not refer to earlier ones. The numbers of turns and the "
        "kinds of questions hold for every build with these settings and image sets of these sizes.",
    ]
    for kind, of_kind in results.items():
        figures = figures_of(of_kind.dialogues)
        lines += [
            "",
            f"## {kind.capitalize()}: {len(of_kind.dialogues)} dialogues and MMDU's Table 1 and "
            "Figure 4",
            "",
            *table(
                ("", "paper", "here"),
                [(name, PAPER[kind].get(name, "–"), figures[name]) for name in FIGURES],
            ),
        ]
    lines += [
        "",
        "## Cost",
        "",
        "Calls and tokens of a dialogue here, times the number of dialogues in the paper. *Likely* "
        "counts the requested length of an answer, *at most* the longest possible reply. Repairs, "
        "review and evaluation are not included. Batches use the batch price of `models.yaml`.",
    ]
    for kind, of_kind in results.items():
        lines += ["", *_costs(registry, kind, of_kind)]
    return "\n".join(lines) + "\n"


def _costs(registry: Registry, kind: Kind, result: DialogueKindResult) -> list[str]:
    times = PAPER_DIALOGUES[kind] / len(result.dialogues)
    rows: list[list[float]] = []
    names: list[tuple[str, str]] = []
    for (stage, model), forecast in result.forecasts.items():
        usage, spec = forecast.usage, registry.model(model)
        tokens = usage.prompt_tokens, usage.completion_tokens
        names.append((stage, model))
        rows.append(
            [
                usage.calls * times,
                *(count * times for count in tokens),
                spec.cost(*tokens) * times,
                spec.cost(*tokens, "batch") * times,
                forecast.at_most_usd * times,
            ]
        )
    total = [sum(column) for column in zip(*rows, strict=True)]
    heads = ("stage", "model", "calls", "prompt tokens", "answer tokens")
    return [
        f"### {PAPER_DIALOGUES[kind]:,} dialogues ({kind})",
        "",
        *table(
            (*heads, "likely $", "in batches $", "at most $"),
            [
                (*name, *(f"{value:,.0f}" for value in row[:3]), *(f"{v:,.2f}" for v in row[3:]))
                for name, row in zip([*names, ("all", "")], [*rows, total], strict=True)
            ],
        ),
    ]
