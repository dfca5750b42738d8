"""The command on releases, as a person types it, on a small home."""

import json
import shutil
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from dagster_project.cli import main as loom
from resources.warehouse import Warehouse
from tests.homes.kept import FIRST, INSTRUCTION, SECOND

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(shutil.copytree(small_home, tmp_path / "home"))
    monkeypatch.setenv("LOOM_WORKSPACE", str(folder))
    monkeypatch.setenv("DAGSTER_HOME", str(folder / "dagster"))
    return folder


def current_releases(folder: Path) -> dict[str, str]:
    rows = Warehouse(folder / "warehouse.duckdb").read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def test_every_release_is_listed_with_those_in_force_marked(folder: Path, capsys) -> None:
    assert loom(["release", "list"]) == 0
    heads, *lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert heads == ["release", "items", "turns", "tau", "review", "made", "parent"]
    marked = {line[1] for line in lines if line[0] == "*"}
    assert marked == set(current_releases(folder).values()) and SECOND in marked
    (first,) = [line for line in lines if line[0] == FIRST]
    assert first[3] != "?", "tau is known"


def test_one_is_shown_and_two_are_compared(folder: Path, capsys) -> None:
    assert loom(["release", "show", FIRST]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# Release {FIRST}\n") and "It is not current." in page
    assert loom(["release", "diff", FIRST, SECOND]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# From {FIRST} to {SECOND}\n")
    path = folder / "reports" / "diff" / FIRST / f"{SECOND}.html"
    assert page.endswith(f"The same with texts and pictures: {path}\n") and path.is_file()
    assert f"diff/{FIRST}/{SECOND}.html" in (folder / "reports" / "index.html").read_text()


def test_a_release_is_meant_by_its_name_and_by_how_its_id_begins(folder: Path, capsys) -> None:
    assert loom(["release", "show", "mmdu"]) == 0
    assert capsys.readouterr().out.startswith(f"# Release {SECOND}\n")
    assert loom(["release", "diff", FIRST[:-3], "mmdu"]) == 0
    assert capsys.readouterr().out.startswith(f"# From {FIRST} to {SECOND}\n")
    assert loom(["release", "show", "mmdu-"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mmdu- matches the beginning of several release ids: ") and FIRST in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "vlm-loom release diff: say RELEASE, too.\n"),
        (["", SECOND], "No release given. Pass the ids or names of the releases to compare.\n"),
        ([FIRST], f"{FIRST} has no parent to compare it with. Pass the other release, too.\n"),
    ],
)
def test_a_comparison_without_two_releases_says_what_to_do(
    arguments: list[str], said: str, folder: Path, capsys
) -> None:
    assert loom(["release", "diff", *arguments]) == 2
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("arguments", [["mmdu", "mmdu"], ["mmdu", SECOND]])
def test_a_release_is_not_compared_with_itself(arguments: list[str], folder: Path, capsys) -> None:
    assert loom(["release", "diff", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{' and '.join(arguments)} are the same release, {SECOND}. Pass two ")
    assert said.count("\n") == 1 and not (folder / "reports" / "diff").exists()


@pytest.mark.parametrize("arguments", [["show", "x"], ["diff", FIRST, "x"], ["pin", "x"]])
def test_what_there_is_not_is_refused_with_what_there_is(
    arguments: list[str], folder: Path, capsys
) -> None:
    assert loom(["release", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("There is no release x; there are ") and said.count("\n") == 1
    assert all(each in said for each in (FIRST, SECOND, INSTRUCTION))


def test_a_release_is_pinned_and_unpinned_by_runs_that_the_ui_lists(folder: Path, capsys) -> None:
    before = current_releases(folder)
    assert loom(["release", "pin", FIRST]) == 0
    assert capsys.readouterr().out.endswith(f"{FIRST} is current and pinned for mmdu.\n")
    assert current_releases(folder) == {**before, "mmdu": FIRST} != before
    assert f"mmdu: {FIRST}" in (folder / "settings.yaml").read_text()

    assert loom(["release", "unpin", "mmdu"]) == 0
    assert "mmdu is not pinned any more." in capsys.readouterr().out
    assert current_releases(folder)["mmdu"] == FIRST
    assert loom(["release", "unpin", "mmdu"]) == 2
    assert capsys.readouterr().err == "mmdu is not pinned; no name is.\n"

    from dagster_project.instance import open_instance

    with open_instance() as instance:
        runs = [(run.job_name, run.is_success) for run in instance.get_runs()]
        assert runs == [("unpin_release", False), ("unpin_release", True), ("pin_release", True)]


def test_a_published_file_is_imported_by_a_run_that_the_ui_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home" / "dagster"))
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    (tmp_path / "a file.tsv").write_text(
        "index\tquestion\tanswer\timage_path\n1\t['<ImageHere>?', 'Why?']\t['A', 'B']\t['red.png']\n"
    )
    monkeypatch.chdir(tmp_path)
    given = ["release", "import", "a file.tsv", "--benchmark=mmdu"]

    assert loom([*given, "--split=dev", "--images=."]) == 0

    said = capsys.readouterr().out.splitlines()[-1]
    release_id = current_releases(tmp_path / "home")["mmdu-dev"]
    assert said == (f"Release {release_id} is imported and current: 1 items, 2 turns, 1 images.")
    assert loom(["release", "import"]) == 2
    assert capsys.readouterr().err == "vlm-loom release import: say FILE, too.\n"
    assert loom([*given, "--images=nowhere"]) == 2
    said = "vlm-loom release import: --images: Path 'nowhere' does not exist.\n"
    assert capsys.readouterr().err == said
    assert loom([*given, "--images=red.png"]) == 2
    assert capsys.readouterr().err.endswith(
        "/red.png is not a folder of pictures: give one with --images.\n"
    )
    # It is taken off the current releases, and made current again.
    assert loom(["release", "retire", "mmdu-dev"]) == 0
    assert "mmdu-dev has no current release any more" in capsys.readouterr().out
    assert current_releases(tmp_path / "home") == {}
    assert loom(["release", "retire", "mmdu-dev"]) == 2
    assert capsys.readouterr().err == "No release of mmdu-dev is current; no release is.\n"
    assert loom(["release", "pin", release_id]) == 0
    assert current_releases(tmp_path / "home") == {"mmdu-dev": release_id}

    from dagster_project.instance import open_instance

    with open_instance() as instance:
        runs = [(run.job_name, run.is_success) for run in instance.get_runs()]
        assert runs == [
            ("pin_release", True),
            ("retire_release", False),
            ("retire_release", True),
            ("import_release", False),
            ("import_release", True),
        ]
        # What follows sees that there is another release.
        assert instance.get_latest_materialization_event(dg.AssetKey(["release", "releases"]))


def test_what_an_import_leaves_out_is_said_and_stands_on_the_card(
    folder: Path, tmp_path: Path, capsys
) -> None:
    turns = ",".join(f"The_{of}_turn_instruction" for of in ("first", "second", "third"))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "items.csv").write_text(
        f"ID,image_id,{turns},note\n1,a.png,What?,Why?,Sing.,x\n"
    )
    (tmp_path / "t" / "references.csv").write_text("ID,turn,reference\n1,1,R\n7,1,S\n")

    given = ["release", "import", str(tmp_path / "t"), "--benchmark=convbench"]
    assert loom(given) == 0
    left_out = (
        "of 'items' the column 'note'; 1 ID of 'references' without an item; pictures of 1 of 1 items "
        f"are not in {tmp_path / 't'}"
    )
    assert capsys.readouterr().out.splitlines()[-1].endswith(f" Left out: {left_out}.")
    assert loom(["release", "show", "convbench-imported"]) == 0
    assert "pictures of 1 of 1 items" in capsys.readouterr().out


def test_a_release_is_exported_checked_and_may_be_sent(folder: Path, capsys) -> None:
    assert loom(["release", "export", FIRST, "--as", "huggingface"]) == 0
    exported = folder / "releases" / f"{FIRST}.huggingface"
    assert f"{FIRST} is in {exported}: " in capsys.readouterr().out
    assert loom(["release", "verify", str(exported)]) == 0
    assert "as it was written" in capsys.readouterr().out
    assert loom(["release", "verify", exported.name]) == 0
    assert capsys.readouterr().out.startswith(f"{exported} is {FIRST} as huggingface")
    assert loom(["release", "verify", "x.huggingface"]) == 2
    assert capsys.readouterr().err == "There is no folder x.huggingface.\n"
    assert loom(["release", "push", FIRST, "me/set", "--dry-run"]) == 0
    assert capsys.readouterr().out.endswith("may be sent to me/set; nothing was sent.\n")
    (exported / "attribution.csv").write_text("")
    assert loom(["release", "verify", str(exported)]) == 2
    assert capsys.readouterr().err.startswith(f"attribution.csv of {exported} has 0 bytes instead")


def test_an_imported_release_is_exported_without_approval_and_sent_with_a_stated_licence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("LOOM_WORKSPACE", str(home))
    monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    (tmp_path / "mmdu.tsv").write_text(
        "index\tquestion\tanswer\timage_path\n1\t['<ImageHere>?', 'Why?']\t['A', 'B']\t['red.png']\n"
    )
    given = ["--benchmark=mmdu", f"--images={tmp_path}"]
    assert loom(["release", "import", str(tmp_path / "mmdu.tsv"), *given]) == 0
    release_id = current_releases(home)["mmdu-imported"]
    assert loom(["release", "export", release_id, "--as", "llava"]) == 0
    assert (home / "releases" / f"{release_id}.llava" / "data.json").is_file()
    capsys.readouterr()
    assert loom(["release", "push", release_id, "me/set", "--dry-run"]) == 2
    assert "licences: {mmdu-imported: <its licence>}" in capsys.readouterr().err
    shutil.rmtree(home / "releases" / f"{release_id}.huggingface")
    (home / "settings.yaml").write_text(
        "release: {exports: {licences: {mmdu-imported: CC-BY-NC-4.0}}}\n"
    )
    assert loom(["release", "push", release_id, "me/set", "--dry-run"]) == 0
    page = (home / "releases" / f"{release_id}.huggingface" / "README.md").read_text()
    assert page.startswith("---\nlicense: cc-by-nc-4.0\n")
    assert "CC-BY-NC-4.0 was stated by whoever exported it" in page


@pytest.mark.parametrize(
    ("exports", "said"),
    [
        (
            "licences: {mmdu-importd: CC-BY-NC-4.0}",
            "licences of release.exports names 'mmdu-importd', which is the name of no release; the "
            "nearest ",
        ),
        ("licences_left_out: {mdmu: [NC]}", "licences_left_out of release.exports names 'mdmu'"),
        (
            "licences: {mmdu: CC-BY-NC-4.O}",
            "'CC-BY-NC-4.O' is not an SPDX licence; the nearest ",
        ),
    ],
)
def test_a_typo_in_the_settings_of_licences_is_refused_with_what_is_known(
    exports: str, said: str, folder: Path, capsys
) -> None:
    (folder / "settings.yaml").write_text(f"release: {{exports: {{{exports}}}}}\n")
    assert loom(["release", "export", "mmdu", "--as", "llava"]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert not list((folder / "releases").glob("*.*"))


def test_an_import_whose_answers_are_held_out_is_scored_here_and_sent_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("LOOM_WORKSPACE", str(home))
    monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    (tmp_path / "q.tsv").write_text(
        "index\tquestion\tA\tB\tC\tanswer\timage_path\n7\tWhich?\tred\tblue\tgreen\tC\tred.png\n"
    )
    given = ["release", "import", str(tmp_path / "q.tsv"), "--benchmark=mmbench"]
    given += ["--split=test", "--language=en"]
    assert loom([*given, "--name=open"]) == 0
    assert loom([*given, "--held-out"]) == 0
    as_it_came, held_out = current_releases(home)["open"], current_releases(home)["mmbench-test-en"]
    (home / "settings.yaml").write_text(
        "release: {exports: {licences: {open: MIT, mmbench-test-en: MIT}, forms: [vlmevalkit]}}\n"
    )
    kept = Warehouse(home / "warehouse.duckdb").select("release.references", "release_id")
    assert sorted(kept["release_id"].to_pylist()) == sorted([as_it_came, held_out])
    assert loom(["run", "release"]) == 0
    for form in ("huggingface", "inspect-ai", "webdataset"):
        for release_id in (as_it_came, held_out):
            assert loom(["release", "export", release_id, "--as", form]) == 0
    tables = {
        release_id: json.loads((home / "releases" / release_id / "tables.json").read_text())
        for release_id in (as_it_came, held_out)
    }
    assert [row["reference"] for row in tables[as_it_came]["references"]] == ["C"]
    assert tables[held_out]["references"] == []
    assert "\tC\t" not in (home / "releases" / held_out / "mmbench.tsv").read_text()
    sample = home / "releases" / f"{held_out}.inspect-ai" / "data.jsonl"
    assert {json.loads(line)["target"] for line in sample.read_text().splitlines()} == {""}
    page = (home / "releases" / f"{held_out}.huggingface" / "README.md").read_text()
    assert "The answers of this split are held out" in page
    assert loom(["release", "push", held_out, "me/set", "--dry-run"]) == 0
    # Nobody is trained on it, its folder is not a release elsewhere, and it stays what it is.
    capsys.readouterr()
    assert loom(["release", "export", held_out, "--as", "llava"]) == 2
    assert "has its answers held out" in capsys.readouterr().err
    assert loom(["release", "import", str(home / "releases" / held_out)]) == 2
    assert "is a split whose answers stayed in the workspace" in capsys.readouterr().err
    assert loom(["release", "import", str(home / "releases" / as_it_came), "--held-out"]) == 2
    assert "--held-out is for a benchmark's published file" in capsys.readouterr().err
    assert loom([*given, "--held-out"]) == 0
    assert current_releases(home)["mmbench-test-en"] == held_out


READING = (
    ["release", "list"],
    ["release", "show", "x"],
    ["release", "verify", "x.llava"],
    ["release", "export", "x", "--as", "llava"],
    ["release", "push", "x", "me/set", "--dry-run"],
    ["release", "pin", "x"],
    ["result", "show"],
    ["result", "export", "x", "--as", "csv"],
    ["sql", "SELECT 1"],
    ["calls"],
    ["run", "evaluate"],
    ["review", "serve"],
    ["home", "backup"],
    ["home", "clean"],
    ["home", "check-ledger"],
    ["model", "re-ask", "--unread"],
)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_that_reads_makes_no_home(words: list[str], tmp_path: Path, capsys) -> None:
    home = tmp_path / "typo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", "")
        assert loom([*words, "--workspace", str(home)]) == 2
    assert capsys.readouterr() == (
        "",
        f"There is no workspace at {home}: vlm-loom demo makes one there, --workspace or "
        "LOOM_WORKSPACE names "
        "another.\n",
    )
    assert not list(tmp_path.iterdir())


def test_forms_are_listed_and_another_one_is_refused_without_a_run(folder: Path, capsys) -> None:
    assert loom(["release", "forms"]) == 0
    assert "huggingface " in capsys.readouterr().out
    assert loom(["release", "export", "mmdu", "--as", "hugginface"]) == 2
    assert capsys.readouterr() == (
        "",
        "There is no format 'hugginface'; the nearest is huggingface.\n",
    )
    assert loom(["release", "export", "mmdu"]) == 2
    assert capsys.readouterr().err.startswith("No format given. Pass --as with one of ")


def test_settings_say_which_forms_are_made_always(folder: Path, capsys) -> None:
    (folder / "settings.yaml").write_text(
        "release: {exports: {forms: [huggingface, vlmevalkit]}}\n"
    )
    assert loom(["run", "release"]) == 0
    of_forms = {path.name for path in (folder / "releases").glob("*.*") if path.is_dir()}
    assert of_forms == {
        f"{release}.{form}"
        for release in current_releases(folder).values()
        for form in ("huggingface", "vlmevalkit")
    }
    rows = Warehouse(folder / "warehouse.duckdb").select("release.exports", "path").to_pylist()
    assert {row["path"].split("/")[0] for row in rows} >= of_forms
    # Another release's licences keep no other one from being written.
    (folder / "settings.yaml").write_text(
        "release: {exports: {forms: [llava], licences: {mmdu: CC-BY-ND-4.0, mmdu-instruct: "
        "CC-BY-SA-4.0 AND CC-BY-NC-4.0}}}\n"
    )
    capsys.readouterr()
    assert loom(["run", "release"]) != 0
    said = capsys.readouterr()
    release_id = current_releases(folder)["mmdu-instruct"]
    assert f"{release_id} has pictures under CC-BY" in said.out + said.err
    assert (folder / "releases" / f"{SECOND}.llava").is_dir()


def test_damaged_files_of_releases_are_named_and_their_hashes_stay(folder: Path, capsys) -> None:
    assert loom(["run", "release"]) == 0
    assert loom(["release", "export", SECOND, "--as", "llava"]) == 0
    warehouse = Warehouse(folder / "warehouse.duckdb")
    recorded = warehouse.select("release.exports", order="ALL")
    damaged = [
        folder / "releases" / INSTRUCTION / "card.json",
        folder / "releases" / SECOND / "mmdu.tsv",
        folder / "releases" / f"{SECOND}.llava" / "README.md",
    ]
    for file in damaged:
        file.write_bytes(file.read_bytes()[:100])

    assert loom(["run", "release"]) == 1
    said = "".join(capsys.readouterr())

    assert all(f"{file} has other content than was written" in said for file in damaged[:2])
    assert warehouse.select("release.exports", order="ALL") == recorded
    assert all(file.stat().st_size == 100 for file in damaged)

    damaged[0].unlink()
    damaged[1].unlink()
    assert loom(["run", "release"]) == 1
    assert f"README.md of {damaged[2].parent} has 100 bytes instead of " in "".join(
        capsys.readouterr()
    )
    assert warehouse.select("release.exports", order="ALL") == recorded

    damaged[2].parent.rename(folder / "put aside")
    assert loom(["run", "release"]) == 0
    assert warehouse.select("release.exports", order="ALL") == recorded
    assert all(file.stat().st_size > 100 for file in damaged[:2])


def test_results_are_written_as_files_for_a_paper(folder: Path, tmp_path: Path, capsys) -> None:
    assert loom(["result", "export", "mmdu", "--as", "latex", "--to", str(tmp_path / "out")]) == 0
    assert f"Results on {SECOND} are in {tmp_path / 'out'}: " in capsys.readouterr().out
    text = (tmp_path / "out" / "leaderboard.tex").read_text()
    # An earlier version made these scores, and did not say of how many clusters.
    assert "careful & 85.0 & {[}83.3, 86.7] & -- & 85.0" in text and "up to 2 clusters" in text
    assert "Intervals are of 95 %" in (tmp_path / "out" / "methods.txt").read_text()
    assert loom(["result", "export", INSTRUCTION, "--as", "latex"]) == 2
    assert capsys.readouterr().err.startswith(f"{INSTRUCTION} is an instruction set: models are ")
    assert loom(["result", "export", "mmdu", "--as", "xls"]) == 2
    assert capsys.readouterr().err.startswith("Results are not written as 'xls'; ")
