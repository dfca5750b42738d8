"""Exports for evaluation tools: a TSV for VLMEvalKit, task folders for lmms-eval and inspect_ai."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from methods.batched import batched
from methods.benchmarks import BENCHMARKS
from methods.choice.lettered import LETTERS
from methods.choice.published import are_indexes
from methods.evaluation.asking import AskingLimits
from methods.evaluation.items import Item
from methods.evaluation.published_tables import encode_image, tsv_line
from methods.evaluation.sample_logs import METRIC
from methods.exports.conversations import ModelAnswerSlot, conversations
from methods.exports.letters import counted, letter_metric
from methods.exports.rows import ExportedItem
from methods.prompts.messages import IMAGE_HERE, Message, Text
from resources.exports.records import IMAGES, image_copier, write_page
from resources.exports.self_contained import self_contained
from resources.exports.source import ExportSource
from resources.settings.prompts import prompt

TEMPLATES = Path(__file__).parent / "templates"
_FUNCTIONS = ("doc_to_messages", "doc_to_visual", "doc_to_text", "doc_to_target", "process_results")
"""The functions of its `utils.py` that a task of lmms-eval uses."""
_SCORES = {
    METRIC: "score",
    f"{METRIC}_standard_error": "standard_error",
    f"{METRIC}_unread": "unread",
}
"""The metrics of a task of lmms-eval, and the functions of its `utils.py` that compute them."""
PARQUET = "data.parquet"
NOT_ASKED = "no picture to ask about"
READER = "letter_scores.py"
"""The file of a task that extracts letters from answers and scores them."""
SCORED = (
    "The score is {metric}, of 100, as on the leaderboard: letters are read by the strict rules of "
    "vlm-loom, and an item counts once, when all of its passes are right. Answers that no rule reads "
    "are left out and counted as unread; vlm-loom run evaluate asks the extractor about them."
)
NOT_SCORED = (
    "The task prints no score: {why}. Bring its log to vlm-loom with vlm-loom result "
    "import-predictions, and score it with vlm-loom run evaluate."
)
OWN_SERVER = (
    "For a server of your own: `inspect eval task.py --model openai-api/local/MODEL -M "
    "responses_api=false`, with LOCAL_BASE_URL and LOCAL_API_KEY in the environment."
)
AT_ONCE = 500
"""Conversations in one Parquet row group."""
MULTI_ROUND = (
    "Its turns are asked one after another over the model's own answers, which lmms-eval does with "
    "chat models that implement generate_until_multi_round, such as vllm_chat."
)
CONVERSATION = pa.schema(
    {
        **{name: pa.string() for name in ("id", "item_id", "trial")},
        "messages": pa.list_(
            pa.struct(
                {
                    "role": pa.string(),
                    "turn": pa.int32(),
                    "content": pa.list_(pa.struct({"text": pa.string(), "image": pa.string()})),
                }
            )
        ),
        "target": pa.string(),
        "choices": pa.list_(pa.string()),
        "counted": pa.struct({"passes": pa.int32(), "stratum": pa.string(), "group": pa.string()}),
    }
)
_COLUMNS = frozenset(("index", "item_id", "question", "answer", "image", *LETTERS))


def write_vlmevalkit(source: ExportSource, folder: Path) -> None:
    """Write one TSV with embedded images for VLMEvalKit.

    Single-turn questions have a number as index (the id if all ids are numbers, else the position), and
    their choices in columns. Dialogues have VLMEvalKit's columns of MMDU: lists of questions, answers
    and images.

    Args:
        source: The release.
        folder: The folder.
    """
    labels: set[str] = set()
    n_choices = n_turns = 0
    numbered = True
    for item in source.items():
        numbered = numbered and are_indexes([item.item_id])
        labels |= (item.labels or {}).keys()
        n_choices = max(n_choices, len(item.choices))
        n_turns = max(n_turns, len(item.turns))
    named = {label: f"label_{label}" if label in _COLUMNS else label for label in sorted(labels)}
    letters = LETTERS[:n_choices]
    file = f"{source.card['name']}.tsv"
    with (folder / file).open("w", newline="", encoding="utf-8") as lines:
        header = ["index", "item_id", *named.values(), "question", *letters, "answer", "image"]
        lines.write(tsv_line(header))
        for number, item in enumerate(source.items(), start=1):
            images = [encode_image(source.read(picture.image_id)) for picture in item.pictures]
            label_values = [(item.labels or {}).get(label, "") for label in named]
            if n_turns > 1:
                cells = [repr([turn.question for turn in item.turns])]
                answers = [_target(item, place) for place in range(len(item.turns))]
                cells += [*[""] * n_choices, repr(answers), repr(images)]
                lines.write(tsv_line([item.item_id, item.item_id, *label_values, *cells]))
            else:
                choices = [*item.choices, *[""] * (n_choices - len(item.choices))]
                question = item.turns[0].question.replace(IMAGE_HERE, "<image>")
                shown = images[0] if len(images) == 1 else repr(images)
                cells = [question, *choices, _target(item, 0), shown]
                index = item.item_id if numbered else number
                lines.write(tsv_line([index, item.item_id, *label_values, *cells]))
    write_page(source, folder, {file: "the items as VLMEvalKit reads them, pictures inside"})


def write_lmms_eval(source: ExportSource, folder: Path) -> None:
    """Write conversations with their images, and a task for lmms-eval.

    Args:
        source: The release.
        folder: The folder.
    """
    name = source.card["name"].replace("-", "_").replace(".", "_")
    several = is_scored = False
    with pq.ParquetWriter(folder / PARQUET, CONVERSATION, compression="zstd") as writer:
        for records in batched(_conversations(source, folder), AT_ONCE):
            several = several or any(len(_turns(record)) > 1 for record in records)
            is_scored = is_scored or any(record["counted"] for record in records)
            writer.write_table(pa.Table.from_pylist(list(records), schema=CONVERSATION))
    shutil.copyfile(TEMPLATES / "lmms_eval_utils.py", folder / "utils.py")
    task = yaml.safe_dump(
        {
            "task": name,
            "dataset_path": "parquet",
            "dataset_kwargs": {"data_files": {source.split: [PARQUET]}},
            "test_split": source.split,
            "output_type": "generate_until_multi_round" if several else "generate_until",
            "generation_kwargs": {"max_new_tokens": 2048, "temperature": 0, "do_sample": False},
            "metadata": [{"version": 3.0}],
        },
        sort_keys=False,
    )
    task += "".join(f"{function}: !function utils.{function}\n" for function in _FUNCTIONS)
    metrics = _SCORES if is_scored else {METRIC: "not_scored"}
    task += "metric_list:\n"
    for metric, function in metrics.items():
        task += f"- metric: {metric}\n  aggregation: !function utils.{function}\n"
        task += f"  higher_is_better: {str(metric == METRIC).lower()}\n"
    (folder / f"{name}.yaml").write_text(task)
    files = {
        f"{name}.yaml": f"the task: lmms-eval --include_path . --log_samples --tasks {name}",
        "utils.py": "the functions of the task",
        PARQUET: "what is asked: a conversation a row",
        f"{IMAGES}/": "its pictures",
        **(_reader(folder) if is_scored else {}),
    }
    notes = [MULTI_ROUND] if several else []
    write_page(source, folder, files, [*notes, _on_scores(source, is_scored)])


def write_inspect(source: ExportSource, folder: Path) -> None:
    """Write conversations with their images, and a task for inspect_ai.

    Args:
        source: The release.
        folder: The folder.
    """
    is_scored = False
    with (folder / "data.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        for record in _conversations(source, folder):
            is_scored = is_scored or record["counted"] is not None
            lines.write(json.dumps(record) + "\n")
    shutil.copyfile(TEMPLATES / "inspect_task.py", folder / "task.py")
    files = {
        "task.py": "the task: inspect eval task.py --model PROVIDER/MODEL",
        "data.jsonl": "what is asked: a conversation a line",
        f"{IMAGES}/": "its pictures",
        **(_reader(folder) if is_scored else {}),
    }
    write_page(source, folder, files, [OWN_SERVER, _on_scores(source, is_scored)])


def _reader(folder: Path) -> dict[str, str]:
    """Write the script that extracts and scores letters. Returns its name with a description."""
    text = self_contained("resources.exports.letter_scores", ("read_letter", "summary"))
    (folder / READER).write_text(text, encoding="utf-8")
    return {READER: "how letters are read and scored, generated from vlm-loom's own rules"}


def _on_scores(source: ExportSource, is_scored: bool) -> str:
    """Explain in one text which score the task prints, or why it prints none."""
    benchmark = BENCHMARKS.get(source.edition.benchmark or "")
    metric = letter_metric(benchmark)
    if metric and is_scored:
        return SCORED.format(metric=f"{metric.name}/{metric.aggregation}")
    if benchmark is None:
        why = "no benchmark says how the release is scored"
    elif metric:
        why = "the answers are held out"
    elif benchmark.judge_prompts:
        why = f"the judge of {benchmark.name} is a model that vlm-loom asks"
    else:
        why = f"{benchmark.name} has a rule of its own, which runs in vlm-loom"
    return NOT_SCORED.format(why=why)


def _conversations(source: ExportSource, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the conversations of each item in each variant (`trial`) of the benchmark, as records."""
    copied = image_copier(source, folder)
    benchmark = BENCHMARKS.get(source.edition.benchmark or "")
    limits = AskingLimits(prompt=prompt)
    metric = letter_metric(benchmark)
    for exported in source.items():
        item = Item(
            exported.item_id,
            exported.turns,
            tuple(picture.image_id for picture in exported.pictures),
            exported.choices,
            exported.group_id,
            exported.labels or {},
            source.edition.language,
        )
        item_conversations = list(conversations(item, benchmark, limits))
        if not item_conversations:
            source.leave_out(exported, NOT_ASKED)
        for number, conversation in enumerate(item_conversations, start=1):
            name = f"#{number} {conversation.trial}" if len(item_conversations) > 1 else ""
            count = counted(metric, item, conversation.trial) if metric else None
            yield {
                "id": f"{item.item_id}{name}",
                "item_id": item.item_id,
                "trial": conversation.trial,
                "messages": [_message(each, copied) for each in conversation.messages],
                "target": conversation.target,
                "choices": list(conversation.choices),
                "counted": count._asdict() if count else None,
                "labels": dict(item.labels),
            }


def _message(message: Message | ModelAnswerSlot, copied: Callable[[str], str]) -> dict[str, Any]:
    if isinstance(message, ModelAnswerSlot):
        return {"role": "assistant", "turn": message.turn, "content": []}
    return {
        "role": message.role,
        "turn": None,
        "content": [
            {"text": part.text, "image": None}
            if isinstance(part, Text)
            else {"text": None, "image": copied(part.image_id)}
            for part in message.parts
        ],
    }


def _turns(record: Mapping[str, Any]) -> list[int]:
    return [each["turn"] for each in record["messages"] if each["turn"] is not None]


def _target(item: ExportedItem, place: int) -> str:
    references = item.turns[place].references
    return references.get("key") or references.get("answer") or ""
