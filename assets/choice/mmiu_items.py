"""Multi-image multiple-choice questions, generated from samples (MMIU, 3.2 and A.4)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import dagster as dg
from pydantic import Field, field_validator

from assets.cluster import image_sets, left_out_of_benchmarks, require_whole_sets, splits
from assets.cluster.splits import NO_BENCHMARK_SETS
from assets.common.drops import in_words, reasons, require_few_lost
from assets.common.generation import (
    GenerationRequest,
    GenerationResult,
    GenerationSettings,
    Row,
    ask_and_read,
    failed_row,
)
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.ingest import entries
from methods.mmiu.building import FinishedItem, SampleQuestion, finish_items, make_unanswerable
from methods.mmiu.converting import (
    SCHEMA,
    Form,
    UnusableSampleError,
    choose_samples,
    distractors_data,
    form_of,
    question_of,
    read_distractors,
    sample_id,
    wrong_choices,
)
from methods.mmiu.derived import DERIVED, derived
from methods.mmiu.derived.drawing import SampledEntry
from methods.mmiu.metadata import Sample
from methods.prompts.reply_language import LANGUAGE_OF_PROMPTS
from methods.validation import require_known, require_once
from resources.images.store import DerivedImages, ImageStore
from resources.llm.gateway import Gateway
from resources.llm.usage import Usage
from resources.metadata_files import read_samples
from resources.settings.prompts import prompt
from resources.warehouse import TableWrite, Warehouse

NOTHING = "No question is asked for: no metadata is given, and n_derived or tasks says none."
LOST = "Correct these samples of the metadata, or the model that words questions, and run again."
TABLE, PICTURES, LOSSES = "choice.mmiu_items", "choice.mmiu_images", "choice.failed"


class MmiuSettings(GenerationSettings):
    """Settings of MMIU questions: numbers, tasks and metadata files."""

    n_derived: int = Field(
        12, ge=0, description="Samples that are made of entries; tasks take turns."
    )
    tasks: list[str] = Field(
        list(DERIVED), description="Tasks that samples are made of entries for."
    )
    metadata: str = Field(
        "",
        description="File (.json, .jsonl) or folder with MMIU's metadata, to make more questions.",
    )
    max_per_task: int = Field(
        200, gt=0, description="Answerable questions of a task; others are left out by seed."
    )
    unanswerable_per_task: int = Field(
        40, ge=0, description="Unanswerable questions of each task that has a strategy for them."
    )
    seed: int = Field(0, description="Seed of every choice, and of the order of choices.")

    @field_validator("tasks")
    @classmethod
    def _are_derived(cls, tasks: list[str]) -> list[str]:
        require_known("task", tasks, DERIVED)
        require_once("task", tasks)
        return tasks


class SampleSource(NamedTuple):
    """The source of a sample: `set_id` is an image set or a metadata file; `name` is for lists of
    failures. `language` is that of the entry; texts of metadata files count as English.
    """

    set_id: str
    name: str
    language: str = LANGUAGE_OF_PROMPTS


class SampleCollection(NamedTuple):
    """Samples and their sources; `failed` are rows of failures, `pictures` rows of images that are not
    from a Wikipedia page, and `elsewhere` ids of images that can be borrowed for other questions.
    """

    samples: dict[Sample, SampleSource]
    failed: list[Row]
    pictures: list[Row]
    elsewhere: list[str]


@table_asset(
    TABLE,
    side_tables=[PICTURES, LOSSES],
    kinds={"openai", "image"},
    deps=[image_sets, entries, splits],
)
def mmiu_items(
    context: dg.AssetExecutionContext,
    config: MmiuSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Multi-image questions generated from samples. Wrong choices follow by rule, or a model writes
    them if no rule applies. Some questions are unanswerable.

    Samples are derived from entries, or are read from metadata files.
    """
    gathered = _gathered(config, warehouse, image_store)
    samples = choose_samples(gathered.samples, config.max_per_task, config.seed)
    questions, by_model, lost = _by_rule(samples, gathered, config.seed)
    written = _by_model(context, llm, by_model, gathered)
    questions += [SampleQuestion(row["sample"], "text", row["question"]) for row in written.rows]
    failed = [*lost, *written.failed]
    if not samples and not gathered.failed:
        context.log.warning(NOTHING)
    elif not questions:
        why = in_words(Counter(row["reason"] for row in [*gathered.failed, *failed])) or "no sample"
        raise dg.Failure(
            f"{TABLE} keeps its earlier rows: no question could be made ({why}). {LOST}",
            allow_retries=False,
        )
    require_few_lost(
        TABLE,
        "samples",
        Counter(row["reason"] for row in failed),
        len(samples),
        config.max_failed_share,
        written.usage,
        LOST,
    )
    changed, unchanged = _unanswerable(questions, gathered, config)
    questions += changed
    failed += [*gathered.failed, *unchanged]
    # Earlier items keep the letter of their right choice if more items are added.
    earlier_items = warehouse.select(
        "choice.mmiu_items", "item_id", "answer", order="item_id"
    ).to_pylist()
    keys = {row["item_id"]: row["answer"] for row in earlier_items}
    calls = {sample_id(row["sample"]): row for row in written.rows}
    rows = [
        _row(
            item, gathered.samples[item.sample.sample], calls.get(sample_id(item.sample.sample), {})
        )
        for item in finish_items(questions, keys, config.seed)
    ]
    n_left_out = len(gathered.samples) - len(samples)
    return _write(
        warehouse, rows, gathered.pictures, failed, written.usage, image_store, n_left_out
    )


def _gathered(
    settings: MmiuSettings, warehouse: Warehouse, image_store: ImageStore
) -> SampleCollection:
    """Collect samples from metadata files and entries.

    Raises MetadataFileError, and dg.Failure if samples of entries are wanted and there are none.
    """
    gathered = SampleCollection({}, [], [], [])
    if settings.metadata:
        for brought in read_samples(Path(settings.metadata).expanduser(), image_store):
            origin = SampleSource(brought.name, f"{brought.name}, sample {brought.number}")
            gathered.samples.setdefault(brought.sample, origin)
            images = _images_of(brought.sample)
            gathered.elsewhere.extend(images)
            gathered.pictures.extend(
                {
                    "image_id": image,
                    "made_from": [],
                    "change": None,
                    "source": brought.sample.source,
                }
                for image in images
            )
    if settings.n_derived:
        require_whole_sets(warehouse)
        subjects = _subjects(warehouse)
        pictures = DerivedImages(image_store)
        for derivation in derived(
            subjects, settings.tasks, settings.n_derived, pictures, settings.seed
        ):
            origin = SampleSource(
                derivation.subject.set_id,
                f"entry {derivation.subject.entry_id}, {derivation.task}",
                derivation.subject.language,
            )
            if derivation.sample:
                gathered.samples.setdefault(derivation.sample, origin)
            elif derivation.loss:
                gathered.failed.append(_lost(origin, derivation.loss))
        gathered.elsewhere.extend(subject.image_id for subject in subjects)
        gathered.pictures.extend(
            {**picture._asdict(), "source": None} for picture in pictures.created.values()
        )
    return gathered


def _subjects(warehouse: Warehouse) -> list[SampledEntry]:
    rows = warehouse.read("choice/mmiu_subjects").to_pylist()
    if not rows:
        raise dg.Failure(NO_BENCHMARK_SETS, allow_retries=False)
    return [SampledEntry(**{**row, "categories": tuple(row["categories"])}) for row in rows]


def _images_of(sample: Sample) -> list[str]:
    candidates = (sample.output, *sample.wrong, *sample.also_right) if sample.of_images else ()
    return list(dict.fromkeys((*sample.images, *candidates)))


def _by_rule(
    samples: Sequence[Sample], gathered: SampleCollection, seed: int
) -> tuple[list[SampleQuestion], list[Sample], list[Row]]:
    """Return questions with wrong choices by rule, samples for a model, and rows of failures."""
    pools: dict[str, list[str]] = {}
    for sample in gathered.samples:
        pools.setdefault(sample.task.name, []).append(sample.output)
    questions, by_model, lost = [], [], []
    for sample in samples:
        pool = sorted(set(pools[sample.task.name]))
        form: Form = form_of(sample, pool)
        if form == "text" and not sample.wrong:
            by_model.append(sample)
            continue
        try:
            wrong = wrong_choices(sample, form, pool, seed)
        except UnusableSampleError as loss:
            lost.append(_lost(gathered.samples[sample], loss))
            continue
        questions.append(SampleQuestion(sample, form, question_of(sample, wrong)))
    return questions, by_model, lost


def _by_model(
    context: dg.AssetExecutionContext,
    llm: Gateway,
    samples: Sequence[Sample],
    gathered: SampleCollection,
) -> GenerationResult:
    """Ask the profile's writer for wrong choices, and return the questions."""
    asks = [
        GenerationRequest(
            subject=sample,
            set_id=gathered.samples[sample].set_id,
            name=gathered.samples[sample].name,
            images=sample.images,
            data=distractors_data(sample),
            language=gathered.samples[sample].language,
        )
        for sample in samples
    ]

    def read(sample: Sample, reply: str) -> list[Row]:
        wrong = read_distractors(sample, reply)
        return [{"sample": sample, "question": question_of(sample, wrong)}]

    return ask_and_read(
        context, llm, TABLE, prompt("mmiu/write_distractors"), asks, read, lambda _: SCHEMA
    )


def _unanswerable(
    questions: Sequence[SampleQuestion], gathered: SampleCollection, settings: MmiuSettings
) -> tuple[list[SampleQuestion], list[Row]]:
    """Return unanswerable questions, and failures: questions that no strategy fits."""
    changed, lost = [], []
    most = settings.unanswerable_per_task
    for outcome in make_unanswerable(questions, gathered.elsewhere, most, settings.seed):
        if isinstance(outcome, SampleQuestion):
            changed.append(outcome)
        else:
            question, loss = outcome
            lost.append(_lost(gathered.samples[question.sample], loss))
    return changed, lost


def _row(item: FinishedItem, origin: SampleSource, written: Row) -> Row:
    """Return the row of an item. `written` is the reply with its wrong choices, empty if a rule made
    them.
    """
    sample_question = item.sample
    return {
        "set_id": origin.set_id,
        "item_id": item.item_id,
        "group_id": item.group_id,
        "task": sample_question.question.task,
        "source": sample_question.sample.source,
        "image_ids": list(item.image_ids),
        "context": sample_question.question.context,
        "question": sample_question.question.question,
        "choices": list(item.choices),
        "answer": item.answer,
        "form": sample_question.form,
        "strategy": sample_question.strategy,
        **{key: written.get(key) for key in ("call_key", "prompt_version", "provider")},
    }


def _lost(origin: SampleSource, loss: UnusableSampleError) -> Row:
    where = {"set_id": origin.set_id, "call_key": None}
    return failed_row(TABLE, where, origin.name, loss.reason, loss.detail)


def _write(
    warehouse: Warehouse,
    rows: Sequence[Row],
    pictures: Sequence[Row],
    failed: Sequence[Row],
    usage: Usage,
    image_store: ImageStore,
    n_left_out: int,
) -> dg.MaterializeResult:
    """Replace items, their images and failures in one transaction, and report."""
    shown = {image_id for row in rows for image_id in row["image_ids"]}
    noted = {row["image_id"]: row for row in pictures if row["image_id"] in shown}
    items = rows_to_arrow(TABLE, rows)
    warehouse.replace_all(
        [
            TableWrite(TABLE, items, {}),
            TableWrite(PICTURES, rows_to_arrow(PICTURES, list(noted.values())), {}),
            TableWrite(LOSSES, rows_to_arrow(LOSSES, failed), {"stage": TABLE.split(".")[-1]}),
        ]
    )
    tasks = Counter(row["task"] for row in rows)
    counts = {
        **({} if rows else {"warning": NOTHING}),
        "unanswerable": sum(row["strategy"] is not None for row in rows),
        "wrong choices by a model": sum(row["call_key"] is not None for row in rows),
        **left_out_of_benchmarks(warehouse),
        "left out over max_per_task": n_left_out,
        "failed": len(failed),
        **reasons(Counter(row["reason"] for row in failed)),
        **{f"items of {task}": tasks[task] for task in sorted(tasks)},
    }
    return report(items, counts, usage=usage, images=image_store)
