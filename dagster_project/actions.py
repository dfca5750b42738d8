"""What a person does to a home's releases, results and models: each action is a subcommand of
`vlm-loom`, a job of the UI and an op, made of its entry in `ACTIONS`.

What belongs here: the entries, and what each does. Modules that take seconds to load are imported when
an action is done. Jobs are made in `action_jobs.py`, subcommands in `cli.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from methods.delimited import QUOTING_HELP, quoting_named

if TYPE_CHECKING:
    from methods.benchmarks import Benchmarks
    from resources.corpus.corpus import Corpus
    from resources.images.store import ImageStore
    from resources.llm.ledger import Ledger
    from resources.llm.registry import Profile
    from resources.review.store import ReviewStore
    from resources.warehouse import Warehouse

WITH = "Other releases in the same folder, by commas: splits and languages of one dataset."
DAYS = "30"
RELEASE = "An id, how an id begins, or a name: its release in force."


class Argument(NamedTuple):
    """What an action is told: a text, a release, a form of one, a path, or a flag.

    It may be left out where it is an option (`--name`, or what `option` says) or not required.
    """

    name: str
    help: str
    option: bool | str = False
    required: bool = True
    kind: Literal["text", "release", "form", "path", "flag", "quoting"] = "text"

    @property
    def may_lack(self) -> bool:
        """Whether it may be left out."""
        return bool(self.option) or not self.required


QUOTING = Argument("quoting", QUOTING_HELP, option=True, kind="quoting")


class Done(NamedTuple):
    """What came of an action: sentences, metadata of its op, the asset whose table has changed, the
    tables whose assets are to be made again, and the shard that is no partition any more."""

    told: str
    metadata: Mapping[str, Any] = {}
    changed: str | None = None
    outdated: Sequence[str] = ()
    removed_shard: str | None = None


@dataclass(frozen=True)
class Action:
    """An action: `vlm-loom GROUP COMMAND`, and the job `job`.

    `perform` takes the resources `uses` and the arguments by name, and raises UserError.
    """

    group: str
    command: str
    job: str
    does: str
    arguments: tuple[Argument, ...]
    uses: tuple[str, ...]
    perform: Callable[..., Done] = field(repr=False)
    example: str
    makes_home: bool = False
    """Whether it may be the first thing that is done to a home."""
    takes_long: bool = False
    """Whether `perform` also takes `say`, which is told in lines how far it is."""

    @property
    def op(self) -> str:
        """The name of its op."""
        return f"{self.group}_{self.command}".replace("-", "_")


# --- Releases --------------------------------------------------------------------------------------

RELEASES = "release/releases"


def _pin(warehouse: "Warehouse", release: str) -> Done:
    from assets.release.in_force import pin
    from resources.publishing.releases import release_meant

    release_id = release_meant(warehouse, release)
    name = pin(warehouse, release_id)
    return Done(f"{release_id} is in force and pinned for {name}.", changed=RELEASES)


def _unpin(name: str) -> Done:
    from assets.release.in_force import unpin

    unpin(name)
    return Done(
        f"{name} is not pinned any more. Its release in force stays until release/releases is "
        "materialized."
    )


def _retire(warehouse: "Warehouse", name: str) -> Done:
    from assets.release.in_force import retire

    release_id = retire(warehouse, name)
    return Done(
        f"No release of {name} is in force any more, and nothing is asked on one; answers and scores "
        f"stay. `vlm-loom release pin {release_id}` puts it in force again.",
        changed=RELEASES,
    )


def _clean(warehouse: "Warehouse", review_store: "ReviewStore", release: str) -> Done:
    from assets.evaluate.item_decisions import write_cleaned
    from resources.publishing.releases import cards_of

    release_id = write_cleaned(warehouse, review_store, release)
    (card,) = cards_of(warehouse, [release_id])
    told = f"Release {release_id} has {card['n_items']} items; both releases are in force."
    return _with_card(warehouse, release_id, told)


def _diff(
    warehouse: "Warehouse",
    image_store: "ImageStore",
    profile: "Profile",
    benchmarks: "Benchmarks",
    release: str,
    other: str,
) -> Done:
    import dagster as dg

    from assets.evaluate.release_diff import compared, meant, write_page
    from resources.files.home import home
    from resources.web.addresses import address

    comparison = compared(warehouse, benchmarks, *meant(warehouse, release, other))
    page = write_page(warehouse, image_store, profile, benchmarks, comparison)
    return Done(
        f"{comparison.markdown}\nThe same with texts and pictures: {home() / page}",
        {
            "page": dg.MetadataValue.url(address(page)),
            "added": len(comparison.found.added),
            "removed": len(comparison.found.removed),
            "changed": len(comparison.found.changed),
            "the same": comparison.found.n_same,
            "scores on common items": len(comparison.common),
            "difference": dg.MetadataValue.md(comparison.markdown),
        },
    )


def _import(
    warehouse: "Warehouse",
    image_store: "ImageStore",
    file: str,
    benchmark: str,
    images: str,
    name: str,
    split: str,
    language: str,
    held_out: bool,
    quoting: str,
    skip_broken: bool,
) -> Done:
    from assets.release.published import FOUND, LEFT_OUT, Wanted, import_published
    from methods.release_card import BROKEN, card_of, facts, settings_of
    from methods.release_card import RELEASES as OF_RELEASES
    from resources.files.home import releases_path
    from resources.importing.published_files import PublishedFileError
    from resources.importing.release_import import import_release
    from resources.publishing.releases import cards_of

    if not benchmark and Path(file).is_dir():
        if held_out:
            raise PublishedFileError(
                f"{file} is the folder of a release, which stays as it is: --held-out is for a "
                "benchmark's published file (--benchmark)."
            )
        release_id = import_release(Path(file), releases_path(), warehouse, image_store)
    else:
        pictures = Path(images) if images else None
        named, of_split, of_language = (text or None for text in (name, split, language))
        wanted = Wanted(
            *(benchmark, Path(file), pictures, named, of_split, of_language),
            held_out=held_out,
            quoting=quoting_named(quoting),
            skip_broken=skip_broken,
        )
        release_id = import_published(warehouse, image_store, wanted)
    (card,) = cards_of(warehouse, [release_id])
    state = "in force" if card["in_force"] else f"not in force: another of {card['name']} is pinned"
    settings = settings_of(card_of(card))
    left_out, found = (settings.get(f"{OF_RELEASES}.{name}") for name in (LEFT_OUT, FOUND))
    told = (
        f"Release {release_id} is imported and {state}: {card['n_items']} items, {card['n_turns']} "
        f"turns, {card['n_images']} images{_unreferenced(warehouse, release_id)}."
    )
    told += f" Left out: {left_out}." if left_out else ""
    told += "".join(f" {name}: {n}." for name, n in facts(card_of(card)) if name == BROKEN)
    told += f" Rules find in it, and change nothing: {found}." if found else ""
    return _with_card(warehouse, release_id, told)


def _export(
    warehouse: "Warehouse",
    image_store: "ImageStore",
    release: str,
    form: str,
    others: str,
    say: Callable[[str], None],
) -> Done:
    from assets.common.progress import UnitProgress
    from assets.release.exports import export

    progress = UnitProgress(lambda line, _: say(line), f"export as {form}", "items")
    done = export(warehouse, image_store, release, form, _names(others), progress.update)
    n_bytes = sum(file.n_bytes for file in done.files)
    return Done(
        f"{done.release_id} is in {done.folder}: {len(done.files)} files of {n_bytes} bytes.",
        {"folder": str(done.folder), "files": len(done.files), "bytes": n_bytes},
    )


def _names(text: str) -> list[str]:
    """The names in a text, by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _push(
    warehouse: "Warehouse",
    image_store: "ImageStore",
    release: str,
    repository: str,
    others: str,
    dry: bool,
    say: Callable[[str], None],
) -> Done:
    from assets.common.progress import UnitProgress
    from assets.release.exports import publishable
    from resources.exports.push import push, require_repository

    require_repository(repository)
    progress = UnitProgress(lambda line, _: say(line), "export as huggingface", "items")
    folder, checked = publishable(warehouse, image_store, release, _names(others), progress.update)
    what = f"{folder.name} ({checked.n_files} files of {checked.n_bytes} bytes)"
    if dry:
        return Done(f"{what} may be sent to {repository}; nothing was sent.")
    say(f"{what} is sent to {repository}")
    return Done(f"{what} is in {repository}: {push(folder, repository)}")


def _unreferenced(warehouse: "Warehouse", release_id: str) -> str:
    """How many turns of a release have nothing to be judged by, in words."""
    where = {"release_id": release_id}
    references = warehouse.read("release/references_of", where).to_pylist()
    # A caption or focus points help a judge, and are nothing to be right by.
    judged = {
        (row["item_id"], row["turn"]) for row in references if row["kind"] in ("answer", "key")
    }
    turns = warehouse.read("release/turns_of", where).to_pylist()
    asked = {(row["item_id"], row["turn"]) for row in turns if row["given"] is None}
    missing = len(asked - judged)
    return f"; {missing} of {len(asked)} have no answer to be scored by" if missing else ""


def _with_card(warehouse: "Warehouse", release_id: str, told: str) -> Done:
    """What came of making a release: its id and its card are metadata."""
    import dagster as dg

    from dagster_project.release_texts import shown

    metadata = {"release": release_id, "card": dg.MetadataValue.md(shown(warehouse, release_id))}
    return Done(told, metadata, RELEASES)


# --- Results ---------------------------------------------------------------------------------------


def _import_predictions(
    warehouse: "Warehouse", release: str, file: str, model: str, quoting: str
) -> Done:
    from assets.evaluate.predictions import import_predictions

    imported = import_predictions(warehouse, release, Path(file), model, quoting_named(quoting))
    return Done(
        f"{imported.sentences()} Run the job evaluate next, which scores them.",
        {"items without a prediction": imported.n_lacking, **imported.found.counts},
        "evaluate/predictions",
    )


def _remove_predictions(warehouse: "Warehouse", release: str, model: str) -> Done:
    from assets.evaluate.predictions import remove_predictions

    release_id = remove_predictions(warehouse, release, model)
    return Done(
        f"{model} has no predictions on {release_id} any more. Run the job evaluate next: scores and "
        "reports are made without them.",
        changed="evaluate/predictions",
    )


def _import_scores(warehouse: "Warehouse", release: str, file: str, quoting: str) -> Done:
    from assets.evaluate.human_scores import import_scores

    imported = import_scores(warehouse, release, Path(file), quoting_named(quoting))
    counts = {str(reason): n for reason, n in imported.found.counts.items()}
    return Done(
        f"{imported.sentences()} Run the job evaluate next, which compares judges with them.",
        {"scores": len(imported.found.scores), **counts},
        "evaluate/human_scores",
    )


# --- The home --------------------------------------------------------------------------------------


def _merge_files(warehouse: "Warehouse", days: str, say: Callable[[str], None]) -> Done:
    from methods.errors import UserError
    from resources.warehouse.lake import Lake
    from resources.warehouse.lake_upkeep import keep_up

    if not isinstance(warehouse, Lake):
        raise UserError(
            "The tables are a file, which has no snapshots: this is for a lake (LOOM_WAREHOUSE)."
        )
    if not (days or DAYS).isdecimal():
        raise UserError(f"{days} is no number of days: say for example --days {DAYS}.")
    done = keep_up(warehouse, int(days or DAYS), say)
    return Done(done.sentence(), done._asdict())


def _remove_shard(warehouse: "Warehouse", corpus: "Corpus", shard: str) -> Done:
    from assets.ingest.removal import remove_shard

    n_entries = remove_shard(warehouse, corpus, shard)
    return Done(
        f"The rows of the shard {shard} are removed, {n_entries} entries among them. Run the job build "
        "next (vlm-loom run build): what follows is made without them.",
        {"entries": n_entries},
        removed_shard=shard,
    )


# --- Models ----------------------------------------------------------------------------------------


def _ask_anew(ledger: "Ledger", model: str, stage: str, prompt: str, unread: bool) -> Done:
    from resources.llm.registry import load_registry
    from resources.llm.renewals import ask_anew

    meant = (text or None for text in (model, stage, prompt))
    asked = ask_anew(ledger, load_registry(), *meant, unread=unread)
    return Done(asked.message, {"assets": asked.stages}, outdated=asked.stages)


ACTIONS = (
    Action(
        "release",
        "pin",
        "pin_release",
        "Put a release in force, whatever is frozen later; evaluate what is in force next.",
        (Argument("release", RELEASE, kind="release"),),
        ("warehouse",),
        _pin,
        "vlm-loom release pin mmdu-1198c7be75",
    ),
    Action(
        "release",
        "unpin",
        "unpin_release",
        "Let newer releases of a name come into force again.",
        (Argument("name", "A name of releases, such as mmdu."),),
        (),
        _unpin,
        "vlm-loom release unpin mmdu",
    ),
    Action(
        "release",
        "retire",
        "retire_release",
        "Take the imported release of a name out of force: nothing is asked on it any more.",
        (Argument("name", "A name of imported releases, such as mmbench-dev-en."),),
        ("warehouse",),
        _retire,
        "vlm-loom release retire mmbench-dev-en",
    ),
    Action(
        "release",
        "clean",
        "clean_release",
        "Make of an imported release one without the items that people rejected.",
        (Argument("release", RELEASE, kind="release"),),
        ("warehouse", "review_store"),
        _clean,
        "vlm-loom release clean mmbench-dev-en",
    ),
    Action(
        "release",
        "diff",
        "compare_releases",
        "Make a page of what differs between two releases: items, settings, and the scores on what "
        "both have.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument(
                "other",
                "The other release; without it, the release's parent.",
                required=False,
                kind="release",
            ),
        ),
        ("warehouse", "image_store", "profile", "benchmarks"),
        _diff,
        "vlm-loom release diff mmdu-1198c7be75 mmdu",
    ),
    Action(
        "release",
        "import",
        "import_release",
        "Read a benchmark's published file, or the folder of a release, as a release.",
        (
            Argument("file", "The file of a benchmark, or the folder of a release.", kind="path"),
            Argument("benchmark", "Of which benchmark the file is, such as mmdu.", option=True),
            Argument(
                "images",
                "Folder of the pictures that the file names; the file's own without.",
                option=True,
                kind="path",
            ),
            Argument(
                "name",
                "Of the release; made of benchmark, split and language without.",
                option=True,
            ),
            Argument("split", "Such as dev.", option=True),
            Argument("language", "Such as en.", option=True),
            Argument(
                "held_out",
                "Its answers stay in this home: they score here, and are in no file and no push.",
                option="held-out",
                kind="flag",
            ),
            QUOTING,
            Argument(
                "skip_broken",
                "Leave out items with an image that is missing or broken; the card counts them.",
                option="skip-broken",
                kind="flag",
            ),
        ),
        ("warehouse", "image_store"),
        _import,
        "vlm-loom release import MMBench_DEV_EN.tsv --benchmark mmbench --split dev --language en",
        makes_home=True,
    ),
    Action(
        "release",
        "export",
        "export_release",
        "Write a release in a form of another tool; vlm-loom release forms lists them.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument("form", "In which form, such as huggingface.", option="as", kind="form"),
            Argument("others", WITH, option="with"),
        ),
        ("warehouse", "image_store"),
        _export,
        "vlm-loom release export mmdu --as huggingface",
        takes_long=True,
    ),
    Action(
        "release",
        "push",
        "push_release",
        "Send a release to the Hugging Face hub, as a dataset; a new repository is private.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument("repository", "OWNER/NAME of the dataset on the hub."),
            Argument("others", WITH, option="with"),
            Argument("dry", "Check everything, and send nothing.", option="dry-run", kind="flag"),
        ),
        ("warehouse", "image_store"),
        _push,
        "vlm-loom release push mmdu me/my-benchmark --dry-run",
        takes_long=True,
    ),
    Action(
        "result",
        "import-predictions",
        "import_predictions",
        "Read predictions that a model made elsewhere; evaluate scores them.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument("file", ".xlsx, .tsv, .csv, .jsonl, .json or .eval.", kind="path"),
            Argument("model", "Who made the predictions."),
            QUOTING,
        ),
        ("warehouse",),
        _import_predictions,
        "vlm-loom result import-predictions mmbench-dev-en preds.xlsx my-model",
    ),
    Action(
        "result",
        "remove-predictions",
        "remove_predictions",
        "Remove imported predictions with their answers.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument("model", "Who made the predictions."),
        ),
        ("warehouse",),
        _remove_predictions,
        "vlm-loom result remove-predictions mmbench-dev-en my-model",
    ),
    Action(
        "result",
        "import-scores",
        "import_scores",
        "Read scores of answers that people gave elsewhere; evaluate compares judges with them.",
        (
            Argument("release", RELEASE, kind="release"),
            Argument("file", ".csv, .tsv, .jsonl, .json or .xlsx.", kind="path"),
            QUOTING,
        ),
        ("warehouse",),
        _import_scores,
        "vlm-loom result import-scores alignmmbench-imported scores.csv",
    ),
    Action(
        "home",
        "remove-shard",
        "remove_shard",
        "Remove the rows of a shard that the corpus has no more; releases that have them stay.",
        (Argument("shard", "Its name, as the check ingested of ingest/shards says it."),),
        ("warehouse", "corpus"),
        _remove_shard,
        "vlm-loom home remove-shard wit-2019",
    ),
    Action(
        "home",
        "merge-files",
        "merge_files",
        "Merge a lake's small files, end its old snapshots and remove files of neither; snapshots that "
        "a release was frozen in stay.",
        (Argument("days", f"Keep younger snapshots; {DAYS} without.", option=True),),
        ("warehouse",),
        _merge_files,
        "vlm-loom home merge-files --days 30",
        takes_long=True,
    ),
    Action(
        "model",
        "ask-anew",
        "ask_anew",
        "Ask a model, a stage or a prompt anew when its assets are materialized next; the earlier "
        "answers stay in the ledger.",
        (
            Argument("model", "An entry of models.yaml.", option=True),
            Argument("stage", "An asset that asks models, such as evaluate/answers.", option=True),
            Argument("prompt", "A prompt, or one version of it: mmdu/judge@4bf65a46.", option=True),
            Argument("unread", "Only what could not be read.", option=True, kind="flag"),
        ),
        ("ledger",),
        _ask_anew,
        "vlm-loom model ask-anew --model judge --stage evaluate/judgments --unread",
    ),
)
"""Every action, in the order of the help."""
