"""The command on releases, as a person types it, on a small home."""

import json
import re
import shutil
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.common.tables import rows_to_arrow
from assets.release import published
from dagster_project.cli import main as loom
from dagster_project.instance import open_instance
from resources.files import import_limits
from resources.images.store import ImageStore
from resources.publishing.release_folder import write_release
from resources.publishing.releases import rows_of_release
from resources.warehouse import Warehouse
from tests.dagster_project.conftest import Refused, Typed
from tests.homes.kept import FIRST, INSTRUCTION, SECOND

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def unchanged(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with releases, for commands that are refused."""
    return Path(shutil.copytree(small_home, tmp_path_factory.mktemp("unchanged") / "home"))


@pytest.fixture
def files(loom_home: Path, tmp_path: Path) -> Path:
    """A folder with published files and their picture, next to an empty home."""
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    (tmp_path / "a file.tsv").write_text(
        "index\tquestion\tanswer\timage_path\n1\t['<ImageHere>?', 'Why?']\t['A', 'B']\t['red.png']\n"
    )
    (tmp_path / "choice.tsv").write_text(
        "index\tquestion\tA\tB\tC\tanswer\timage_path\n7\tWhich?\tred\tblue\tgreen\tC\tred.png\n"
    )
    return tmp_path


def jobs() -> list[tuple[str, bool]]:
    """The runs that the UI lists, the oldest first, and whether each succeeded."""
    with open_instance() as instance:
        return [(run.job_name, run.is_success) for run in reversed(instance.get_runs())]


def current_releases(folder: Path) -> dict[str, str]:
    rows = Warehouse(folder / "warehouse.duckdb").read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def test_every_release_is_listed_with_those_in_force_marked(folder: Path, typed: Typed) -> None:
    heads, *lines = [line.split() for line in typed("release list").out.splitlines()]
    assert heads == ["release", "items", "turns", "tau", "review", "made", "parent"]
    marked = {line[1] for line in lines if line[0] == "*"}
    assert marked == set(current_releases(folder).values()) and SECOND in marked
    ids = [line[line[0] == "*"] for line in lines]
    assert ids.index(SECOND) < ids.index(FIRST), "the newest of a name is first"
    (first,) = [line for line in lines if line[0] == FIRST]
    assert first[3] != "?", "tau is known"


def test_a_release_is_shown_and_compared_by_its_name_and_by_how_its_id_begins(folder, typed):
    page = typed("release show", FIRST).out
    assert page.startswith(f"# Release {FIRST}\n") and "It is not current." in page
    page = typed("release show mmdu").out
    assert page.startswith(f"# Release {SECOND}\n") and "*:" not in page
    tables = Warehouse(folder / "warehouse.duckdb")
    ranks = tables.select("evaluate.ranks", release_id=SECOND).to_pylist()
    marked = [{**row, "mark": "1 of 2 items were asked."} for row in ranks]
    tables.replace(
        "evaluate.ranks", rows_to_arrow("evaluate.ranks", marked), {"release_id": SECOND}
    )
    page = typed("release show mmdu").out
    assert re.search(r" \| \d+\.\d( \(.*\))?\* \|\n", page)
    assert f"*: {ranks[0]['model']}: 1 of 2 items were asked." in page
    page = typed("release diff", FIRST[:-3], "mmdu").out
    assert page.startswith(f"From {FIRST} to {SECOND}\n")
    path = folder / "reports" / "diff" / FIRST / f"{SECOND}.html"
    assert page.endswith(f"Texts, pictures, settings and scores: {path}\n") and path.is_file()
    assert f"diff/{FIRST}/{SECOND}.html" in (folder / "reports" / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "mmdu-"], "mmdu- matches the beginning of several release ids: "),
        (["show", "x"], "There is no release x; there are "),
        (["diff"], "vlm-loom release diff: say RELEASE, too."),
        (["diff", "", SECOND], "No release given. Pass the ids or names of the releases"),
        (["diff", FIRST], f"{FIRST} has no parent to compare it with. Pass the other"),
        (["diff", "mmdu", "mmdu"], f"mmdu and mmdu are the same release, {SECOND}. Pass two "),
        (["export", "mmdu", "--as", "hugginface"], "There is no format 'hugginface'; the nearest"),
        (["export", "mmdu"], "No format given. Pass --as with one of "),
        (["verify", "x.huggingface"], "There is no folder x.huggingface."),
        (["unpin", "mmdu"], "mmdu is not pinned; no name is."),
        (["import", "x", "--images=nowhere"], "vlm-loom release import: --images: Path 'nowhere'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words, said, unchanged, monkeypatch, refused):
    monkeypatch.setenv("LOOM_WORKSPACE", str(unchanged))
    printed = refused("release", *words)
    assert printed.startswith(said)
    if "x; there are" in said:
        assert all(each in printed for each in (FIRST, SECOND, INSTRUCTION))
    assert not (unchanged / "reports" / "diff").exists()


def test_a_published_file_is_imported_by_a_run_that_the_ui_lists(
    files: Path, loom_home: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.chdir(files)
    given = ["release import", "a file.tsv", "--benchmark=mmdu"]
    said = typed(*given, "--split=dev", "--images=.").out.splitlines()[-1]
    release_id = current_releases(loom_home)["mmdu-dev"]
    assert said == f"Release {release_id} is imported and current: 1 items, 2 turns, 1 images."
    refused = typed(*given, "--images=red.png", code=2)
    assert "/red.png is not a folder of pictures" in refused.err
    # It is exported without approval, and sent with a licence that is stated.
    push = f"release push {release_id} me/set --dry-run"
    assert "licences: {mmdu-dev: <its licence>}" in typed(push, code=2).err
    exported = loom_home / "releases" / f"{release_id}.huggingface"
    shutil.rmtree(exported)
    stated = "release: {exports: {licences: {mmdu-dev: CC-BY-NC-4.0}}}\n"
    (loom_home / "settings.yaml").write_text(stated)
    typed(push)
    page = (exported / "README.md").read_text()
    assert page.startswith("---\nlicense: cc-by-nc-4.0\n")
    assert "CC-BY-NC-4.0 was stated by whoever exported it" in page
    # It is taken off the current releases, and made current again.
    said = f"{release_id} is not current any more"
    assert said in typed("release retire", release_id).out, "by its id"
    assert current_releases(loom_home) == {}
    again = typed("release retire mmdu-dev", code=2)
    assert again.err == "No release of mmdu-dev is current; no release is.\n"
    pinned = typed("release pin", release_id).out
    assert pinned.endswith(f"{release_id} is current and pinned for mmdu-dev.\n")
    assert current_releases(loom_home) == {"mmdu-dev": release_id}
    assert "mmdu-dev is not pinned any more." in typed("release unpin mmdu-dev").out
    assert [each for each in jobs() if "push" not in each[0]] == [
        ("import_release", True),
        ("import_release", False),
        ("retire_release", True),
        ("retire_release", False),
        ("pin_release", True),
        ("unpin_release", True),
    ]
    with open_instance() as instance:
        # What follows sees that there is another release.
        assert instance.get_latest_materialization_event(dg.AssetKey(["release", "releases"]))


def test_an_import_that_takes_too_long_is_ended_and_imports_nothing(
    files: Path, loom_home: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> None:
        monkeypatch.setattr(import_limits, "SECONDS", 0.0)
        monkeypatch.setattr(import_limits, "SECONDS_OF_BYTE", 0.0)
        while True:
            pass

    monkeypatch.setattr(published, "import_published", endless)
    monkeypatch.setattr(import_limits, "_EVERY", 0.05)
    given = ["release import", files / "choice.tsv", "--benchmark=mmbench"]
    said = typed(*given, code=2).err
    assert "choice.tsv was ended: it takes far more processor time than its " in said
    assert current_releases(loom_home) == {}


def test_a_release_is_exported_checked_and_may_be_sent(folder: Path, typed: Typed) -> None:
    assert "huggingface " in typed("release forms").out
    exported = folder / "releases" / f"{FIRST}.huggingface"
    said = typed("release export", FIRST, "--as=huggingface").out
    assert f"{FIRST} is in {exported}: " in said
    said = typed("release verify", exported.name).out
    assert said.startswith(f"{exported} is {FIRST} as huggingface")
    said = typed(f"release push {FIRST} me/set --dry-run").out
    assert said.endswith("may be sent to me/set; nothing was sent.\n")
    (exported / "attribution.csv").write_text("")
    refused = typed("release verify", exported, code=2).err
    assert refused.startswith(f"attribution.csv of {exported} has 0 bytes instead")


@pytest.mark.parametrize(
    ("exports", "said"),
    [
        (
            "licences: {mmdu-importd: CC-BY-NC-4.0}",
            "licences of release.exports names 'mmdu-importd', which is the name of no release; the "
            "nearest ",
        ),
        ("licences_left_out: {mdmu: [NC]}", "licences_left_out of release.exports names 'mdmu'"),
        ("licences: {mmdu: CC-BY-NC-4.O}", "'CC-BY-NC-4.O' is not an SPDX licence; the nearest "),
    ],
)
def test_a_typo_in_the_settings_of_licences_is_refused_with_what_is_known(
    exports: str, said: str, folder: Path, refused: Refused
) -> None:
    (folder / "settings.yaml").write_text(f"release: {{exports: {{{exports}}}}}\n")
    assert said in refused("release export mmdu --as llava")
    assert not list((folder / "releases").glob("*.*"))


def test_an_import_whose_answers_are_held_out_has_none_in_its_files_and_trains_nobody(
    files: Path, loom_home: Path, typed: Typed
) -> None:
    given = ["release import", files / "choice.tsv", "--benchmark=mmbench"]
    given += ["--split=test", "--language=en", "--held-out"]
    typed(*given)
    held_out = current_releases(loom_home)["mmbench-test-en"]
    typed("release export", held_out, "--as=inspect-ai")
    releases = loom_home / "releases"
    warehouse = Warehouse(loom_home / "warehouse.duckdb")
    (card,) = warehouse.read("release/all").to_pylist()
    rows = rows_of_release(warehouse, held_out)
    write_release(releases, card, rows, ImageStore(loom_home / "images"))
    assert json.loads((releases / held_out / "tables.json").read_text())["references"] == []
    assert "\tC\t" not in (releases / held_out / "mmbench.tsv").read_text()
    sample = releases / f"{held_out}.inspect-ai" / "data.jsonl"
    assert {json.loads(line)["target"] for line in sample.read_text().splitlines()} == {""}
    folder = str(releases / held_out)
    for words, said in (
        (["export", held_out, "--as", "llava"], "has its answers held out"),
        (["import", folder], "is a split whose answers stayed in the workspace"),
        (["import", folder, "--held-out"], "--held-out is for a benchmark's"),
    ):
        assert said in typed("release", *words, code=2).err
    typed(*given)
    assert current_releases(loom_home)["mmbench-test-en"] == held_out


READING = (
    *("release list", "release show x", "release verify x.llava", "release export x --as llava"),
    *("release push x me/set --dry-run", "release pin x", "result show"),
    *("result export x --as csv", "sql FROM", "calls", "run evaluate", "review serve"),
    *("home backup", "home clean", "home check-ledger", "model re-ask --unread"),
)


def test_a_command_that_reads_makes_no_home(tmp_path, monkeypatch, refused):
    home = tmp_path / "typo"
    said = f"There is no workspace at {home}: vlm-loom demo makes one there, --workspace or "
    for line in READING:
        monkeypatch.setenv("LOOM_WORKSPACE", "")
        assert refused(line, "--workspace", home) == f"{said}LOOM_WORKSPACE names another.\n", line
        assert not list(tmp_path.iterdir())


def test_settings_say_which_forms_are_made_always_and_damage_is_named_and_kept(
    folder: Path, typed: Typed, capsys
) -> None:
    (folder / "settings.yaml").write_text("release: {exports: {forms: [huggingface]}}\n")
    typed("run release")
    of_forms = {path.name for path in (folder / "releases").glob("*.*") if path.is_dir()}
    assert of_forms == {f"{each}.huggingface" for each in current_releases(folder).values()}
    warehouse = Warehouse(folder / "warehouse.duckdb")
    recorded = warehouse.select("release.exports", order="ALL").to_pylist()
    assert {row["path"].split("/")[0] for row in recorded} >= of_forms

    # A release whose licences contradict each other keeps no other one from being written.
    (folder / "settings.yaml").write_text(
        "release: {exports: {forms: [llava], licences: {mmdu: CC-BY-ND-4.0, mmdu-instruct: "
        "CC-BY-SA-4.0 AND CC-BY-NC-4.0}}}\n"
    )
    damaged = folder / "releases" / f"{SECOND}.huggingface" / "README.md"
    own = folder / "releases" / FIRST / "mmdu.tsv"
    for file in (damaged, own):
        file.write_bytes(file.read_bytes()[:100])
    capsys.readouterr()
    assert loom(["run", "release"]) != 0
    said = "".join(capsys.readouterr())
    release_id = current_releases(folder)["mmdu-instruct"]
    assert f"{release_id} has pictures under CC-BY" in said
    assert (folder / "releases" / f"{SECOND}.llava").is_dir()
    assert f"README.md of {damaged.parent} has 100 bytes instead of " in said
    assert f"{own} has other content than was written" in said
    assert damaged.stat().st_size == own.stat().st_size == 100
    kept = warehouse.select("release.exports", order="ALL").to_pylist()
    of_own = [[row for row in rows if row["release_id"] == FIRST] for rows in (recorded, kept)]
    assert of_own[0] and of_own[0] == of_own[1], "its hashes stay"
