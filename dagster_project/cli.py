"""The command line `vlm-loom`: all commands of the project."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagster_project.action_commands import command_of
from dagster_project.actions import ACTIONS
from resources.command_line import (
    AS_JSON,
    CORPUS,
    FILE,
    LISTEN,
    PORT,
    PROFILE,
    ChoiceWithSuggestion,
    Command,
    CommandGroup,
    ReadingCommand,
    WorkspaceCommand,
    WorkspaceCommandGroup,
    run,
)
from resources.settings.extras import extras
from review.commands import review

if TYPE_CHECKING:
    from resources.warehouse import Warehouse

JOBS = (
    *("build", "ingest", "cluster", "dialogue", "rewrite", "choice", "quality"),
    *("review", "release", "evaluate", "ledger", "checks"),
)
"""Jobs of `vlm-loom run`. The job `ingest` runs once for each shard."""
NAME = "vlm-loom"
LIMIT = click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Items of each release that evaluate asks about, a sample by ability; without it, all.",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status: 0 done, 1 done in part, 2 not done."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return run(vlm_loom, NAME, argv)


@click.group(NAME, cls=CommandGroup)
@click.version_option(package_name=NAME)
def vlm_loom() -> None:
    """Build vision-language benchmarks, evaluate models on them, and trace each score to its source."""


# --- The whole -------------------------------------------------------------------------------------


@vlm_loom.command(
    params=[CORPUS, PROFILE],
    example="vlm-loom build --corpus wit --profile openai",
    workspace="optional",
)
@click.option("--all", "everything", is_flag=True, help="Also run what is up to date.")
def build(everything: bool) -> int:
    """Build the corpus into releases, evaluate the profile's models, and show leaderboards.

    All shards are ingested; later steps only run if they are out of date."""
    return _main_job(everything)


@vlm_loom.command(example="vlm-loom demo", workspace="optional")
def demo() -> int:
    """Build the sample corpus with mock models; settings in the environment are ignored.

    A workspace without settings.yaml gets one for dialogues that are smaller than MMDU's."""
    from dagster_project.resources import SAMPLE_CORPUS
    from resources.llm.registry import active_profile, load_registry

    os.environ["LOOM_CORPUS"] = str(SAMPLE_CORPUS)
    for variable in ("LOOM_MODELS", "LOOM_PROFILE"):
        os.environ.pop(variable, None)
    load_registry().require_mock(active_profile())
    return _main_job(everything=False, sample_settings=True)


@vlm_loom.command(
    "run",
    params=[CORPUS, PROFILE],
    example="vlm-loom run evaluate --profile openai",
    workspace="optional",
)
@click.option(
    "--partition",
    "shards",
    metavar="SHARD",
    multiple=True,
    help="Ingest this shard, or those of a range FIRST...LAST (repeat it for several).",
)
@LIMIT
@click.argument("job", type=ChoiceWithSuggestion(JOBS))
def run_one(job: str, shards: tuple[str, ...], limit: int | None) -> int:
    """Run one job on the workspace with all of its assets: a stage, build, or checks.

    The job ingest ingests every shard of the corpus, or those of --partition; build does so first."""
    from dagster_project.run import run_alone, run_build, run_ingest
    from resources.stores_of_home import require_home

    if shards and job != "ingest":
        raise click.UsageError(f"{job} has no shards: leave out --partition, or run ingest.")
    if limit and job != "evaluate":
        raise click.UsageError(
            f"{job} asks nothing about releases: leave out --limit, or run evaluate."
        )

    if job == "ingest":
        return run_ingest(shards)
    if job == "build":
        return run_build()
    if job == "evaluate":
        # Releases to evaluate on exist only in an existing workspace.
        require_home()

    return run_alone(job, limit)


@vlm_loom.command(
    "dry-run",
    params=[CORPUS, PROFILE],
    example="vlm-loom dry-run evaluate --limit 20 --profile openai",
    workspace="optional",
)
@LIMIT
@click.argument("job", type=ChoiceWithSuggestion(("build", "evaluate")), default="build")
def dry_run(job: str, limit: int | None) -> int:
    """Estimate the calls and the cost of `build` or `run evaluate`, without calling a model.

    A profile without a writer only evaluates.
    """
    from dagster_project.dry_run import dry_run

    return dry_run(job, limit)


@vlm_loom.command(params=[PROFILE], example="vlm-loom site")
def site() -> int:
    """Write the static site of the workspace: leaderboards, every item, every answer; asks no model.

    It opens from its folder, and from any web host that the folder is copied to."""
    from dagster_project.run import run_alone

    return run_alone("site")


@vlm_loom.command(params=[CORPUS, PROFILE], example="vlm-loom ui --port 3001", workspace="optional")
@click.option("--port", type=PORT, default=3000, envvar="PORT", show_default=True)
def ui(port: int) -> int:
    """Serve the Dagster UI and its daemon on loopback, until you stop it."""
    from dagster_project.ui import serve

    return serve(port)


@vlm_loom.command(
    "exec",
    example="vlm-loom exec dagster run list --limit 5",
    workspace="optional",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def execute(command: tuple[str, ...]) -> int:
    """Run a Dagster command on the workspace, with its DAGSTER_HOME and up-to-date stores."""
    from dagster_project.ui import execute

    return execute(command)


@vlm_loom.command(example="vlm-loom calls --port 8096")
@click.option("--port", type=PORT, default=8095, envvar="PORT", show_default=True)
def calls(port: int) -> int:
    """Browse the model calls: requests, responses and costs."""
    from dagster_project.ui import serve_calls

    return serve_calls(port)


@vlm_loom.command(example='vlm-loom sql "SELECT count(*) FROM ingest.entries"')
@click.option("--as-of", metavar="SNAPSHOT|TIME", help="Read a lake as it was then (UTC).")
@click.option(
    "--format",
    "form",
    type=ChoiceWithSuggestion(("table", "csv", "json")),
    default="table",
    show_default=True,
    help="csv and json write the result of one query, for other programs.",
)
@click.argument("query", required=False)
def sql(query: str | None, as_of: str | None, form: str) -> int:
    """Query a copy of the tables, also during runs; without a query, opens a prompt."""
    from dagster_project.sql import answer

    return answer(query, as_of, form)


@vlm_loom.command(example='eval "$(vlm-loom completion bash)"', workspace="unused")
@click.argument("shell", type=ChoiceWithSuggestion(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script of your shell; evaluate it in the shell's profile."""
    from click.shell_completion import get_completion_class

    of_shell = get_completion_class(shell)
    assert of_shell is not None
    print(of_shell(vlm_loom, {}, NAME, "_VLM_LOOM_COMPLETE").source())


vlm_loom.add_command(review)


# --- Groups, and the actions in them ---------------------------------------------------------------


@vlm_loom.group(cls=WorkspaceCommandGroup)
def release() -> None:
    """List, show, compare, pin, import and export releases."""


@vlm_loom.group(cls=WorkspaceCommandGroup)
def result() -> None:
    """Show, export and import scores and predictions: leaderboards, files for papers, maps of tasks."""


@vlm_loom.group()
def model() -> None:
    """Add, check and ask models, and repeat their calls."""


@vlm_loom.group()
def workspace() -> None:
    """Manage the workspace: back up, restore, check the ledger, clean, move."""


for _action in ACTIONS:
    _group = vlm_loom.commands[_action.COMMAND.split()[0]]
    assert isinstance(_group, click.Group)
    _group.add_command(command_of(_action))


# --- Releases and results --------------------------------------------------------------------------


@release.command("list", cls=ReadingCommand, params=[AS_JSON], example="vlm-loom release list")
def list_releases(as_json: bool) -> None:
    """List all releases; * marks the current ones."""
    from dagster_project.release_texts import release_lines, rows_of

    warehouse = _warehouse()
    _show(rows_of(warehouse)) if as_json else print(release_lines(warehouse), end="")


@release.command("show", cls=ReadingCommand, example="vlm-loom release show mmdu")
@click.argument("release")
def show_release(release: str) -> None:
    """Show the card of a release and its scores."""
    from dagster_project.release_texts import release_page

    print(release_page(_warehouse(), release), end="")


@release.command("forms", cls=Command, example="vlm-loom release forms", workspace="unused")
def list_forms() -> None:
    """List the formats that a release can be exported in."""
    from resources.exports.formats import FORMS

    width = max(map(len, FORMS))
    for form in FORMS.values():
        print(f"{form.name:<{width}}  {form.purpose}")


@release.command(
    "verify",
    cls=Command,
    example="vlm-loom release verify mmdu-2d8ad9af1a.huggingface",
    workspace="optional",
)
@click.argument("folder", type=FILE)
def verify_folder(folder: Path) -> None:
    """Check every file of an exported folder, given by its path or its name, against its manifest."""
    from resources.exports.folder import checked_files, verification_message
    from resources.files.home import releases_path
    from resources.stores_of_home import require_home

    if not folder.exists() and folder.name == str(folder):
        require_home()
        of_home = releases_path() / folder
        folder = of_home if of_home.exists() else folder
    print(verification_message(folder, checked_files(folder)))


@result.command(
    "show",
    cls=ReadingCommand,
    params=[AS_JSON, PROFILE],
    example="vlm-loom result show mmdu --json",
)
@click.argument("release", default="")
def show_leaderboards(release: str, as_json: bool) -> None:
    """Show the leaderboards of a release or of every current one, and what is missing and why."""
    from dagster_project.results import leaderboard_rows, show_reports, show_results
    from resources.llm.registry import active_profile, load_registry

    if as_json:
        _show(leaderboard_rows(release))
    else:
        show_results(load_registry().profile(active_profile()).judges, release)
        show_reports()


@result.command("export", cls=ReadingCommand, example="vlm-loom result export mmdu --as latex")
@click.argument("release")
@click.option(
    "--as",
    "kind",
    default="",
    help="Required: csv, parquet, json, openvlm, latex, markdown, svg, png, pdf or submission.",
)
@click.option(
    "--to",
    type=FILE,
    help="The folder to write to (default: reports/results/<release> of the workspace).",
)
def export_results(release: str, kind: str, to: Path | None) -> None:
    """Write the scores of a release as files: leaderboard, every two models, slices, and methods.

    With --as submission: the answers of each model, as the benchmark's own evaluation takes them."""
    from dagster_project.results import export_results

    print(export_results(release, kind, to))


@result.command("power", cls=ReadingCommand, example="vlm-loom result power mmdu --difference 1.5")
@click.argument("release")
@click.option(
    "--difference", type=float, required=True, help="The difference of two models, in points."
)
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of pairs that are compared; Holm's adjustment covers all of them.",
)
def show_power(release: str, difference: float, comparisons: int) -> None:
    """Estimate how many dialogues or items are needed to show a difference of two models."""
    from dagster_project.results import power_of

    print(power_of(release, difference, comparisons))


@vlm_loom.command(
    "dialogue-shape",
    params=[CORPUS, PROFILE],
    example="vlm-loom dialogue-shape --profile openai --out shape.md",
    workspace="optional",
)
@click.option(
    "--settings",
    type=click.Path(exists=True, path_type=Path),
    help="A file like settings.yaml (default: the default settings).",
)
@click.option("--out", type=FILE, help="The file to write (default: print the page).")
def dialogue_shape(settings: Path | None, out: Path | None) -> None:
    """Estimate numbers of turns, lengths and cost of dialogues, without calling a model."""
    from dagster_project.dialogue_shape import show_shape

    show_shape(settings, out)


# --- Models ----------------------------------------------------------------------------------------


@model.command(
    "ask",
    cls=WorkspaceCommand,
    example='vlm-loom model ask gpt-4o "What is this?" --image owl.jpg',
    workspace="optional",
)
@click.argument("name")
@click.argument("question")
@click.option("--image", "images", type=FILE, multiple=True, help="A file; may be repeated.")
def ask(name: str, question: str, images: Sequence[Path]) -> int:
    """Ask a model one question, at the usual price."""
    from dagster_project.models import ask

    return ask(name, question, images)


@model.command(
    "check", cls=WorkspaceCommand, example="vlm-loom model check gpt-4o", workspace="optional"
)
@click.argument("name")
def check(name: str) -> int:
    """Check what a model can do and which settings it needs, at the usual price of calls."""
    from dagster_project.models import check_model

    return check_model(name)


@model.command(
    "add",
    cls=WorkspaceCommand,
    example="vlm-loom model add http://127.0.0.1:8080 --profile offline",
    workspace="optional",
)
@click.argument("url")
@click.option("--model", "served", help="The model, if the server has several.")
@click.option("--name", help="The name of the entry (default: made from the model's name).")
@click.option("--profile", help="A profile of models.yaml that evaluates the model from now on.")
@click.option("--api-key-env", help="The environment variable with the key of the server.")
def add(
    url: str, served: str | None, name: str | None, profile: str | None, api_key_env: str | None
) -> int:
    """Add the model of a server to models.yaml, after a check."""
    from dagster_project.model_add import add_model

    return add_model(url, served, name, profile, api_key_env)


@model.command(
    "mock-server",
    params=[LISTEN],
    example="vlm-loom model mock-server --port 8099",
    workspace="unused",
)
@click.option("--port", type=PORT, default=8099, envvar="PORT", show_default=True)
def mock_server(listen: str, port: int) -> int:
    """Serve the mock models, in place of a paid API, until you stop it.

    Their entries in models.yaml have `provider: mock` and this server's `base_url`: only such entries
    send the task that a mock model answers by.
    """
    where = ["--listen", listen, "--port", str(port)]
    # This process becomes the server: signals reach it.
    os.execv(sys.executable, [sys.executable, "-m", "resources.mock_server", *where])


# --- The workspace --------------------------------------------------------------------------------


@workspace.command(example="vlm-loom workspace backup --to /mnt/backup")
@click.option(
    "--to", type=FILE, help="A new folder (default: backups/<time> next to the workspace)."
)
def backup(to: Path | None) -> int:
    """Back up the workspace, also while it is in use."""
    from dagster_project.home import back_up_home

    message, is_complete = back_up_home(to)
    print(message)
    return 0 if is_complete else 1


@workspace.command(
    example="vlm-loom workspace restore backups/20261124-120000", workspace="optional"
)
@click.argument("source", type=FILE)
@click.option("--overwrite", is_flag=True, help="Move an existing workspace out of the way.")
def restore(source: Path, overwrite: bool) -> None:
    """Restore the workspace from a backup."""
    from dagster_project.home import restore_home

    print(restore_home(source, overwrite))


@workspace.command(example="vlm-loom workspace move", workspace="optional")
@click.option("--back", is_flag=True, help="Move them back into the workspace.")
def move(back: bool) -> None:
    """Move the workspace to the stores of LOOM_STORES, LOOM_WAREHOUSE and LOOM_FILES."""
    from resources.stores_of_home import require_home
    from resources.upkeep.moving import move

    if not back:
        require_home()
    move(back=back, say=print)


@workspace.command("check-ledger", example="vlm-loom workspace check-ledger")
def check_ledger() -> None:
    """Check every page and row of the ledger."""
    from dagster_project.home import check_ledger

    print(check_ledger())


@workspace.command("clean", example="vlm-loom workspace clean")
@click.option("--all", "everything", is_flag=True, help="Remove the whole workspace.")
def clean_home(everything: bool) -> None:
    """Remove reports, downloads and caches, which can be made again."""
    from dagster_project.home import clean_home

    print(clean_home(everything))


def _main_job(everything: bool, sample_settings: bool = False) -> int:
    from resources.embedding.process import text_embedder

    embedder = text_embedder()
    if not _warehouse().is_there():
        # The embedder loads in the background, during imports and ingestion.
        embedder.load_ahead()
    from dagster_project.main_job import run_main_job

    return run_main_job(embedder, everything, sample_settings)


def _warehouse() -> "Warehouse":
    from resources.warehouse.configured import warehouse_of_home

    return warehouse_of_home()


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    from methods.ids import canonical_json

    print(canonical_json(rows))


for _extra in extras():
    if _extra.commands:
        for _group_name, _commands in import_module(_extra.commands).COMMANDS.items():
            _group = vlm_loom.commands[_group_name]
            assert isinstance(_group, click.Group)
            for _command in _commands:
                _group.add_command(_command)


if __name__ == "__main__":
    sys.exit(main())
