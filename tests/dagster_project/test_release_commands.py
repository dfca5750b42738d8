"""The command on releases, as a person types it, on a small home."""

import os
import shutil
import subprocess
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from dagster_project import releases
from resources.home import REPO_ROOT
from resources.warehouse import Warehouse
from tests.homes.kept import FIRST, INSTRUCTION, SECOND


@pytest.fixture
def folder(small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(shutil.copytree(small_home, tmp_path / "home"))
    monkeypatch.setenv("LOOM_HOME", str(folder))
    monkeypatch.setenv("DAGSTER_HOME", str(folder / "dagster"))
    return folder


def in_force(folder: Path) -> dict[str, str]:
    rows = Warehouse(folder / "warehouse.duckdb").read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def test_every_release_is_listed_with_those_in_force_marked(folder: Path, capsys) -> None:
    assert releases.main(["list"]) == 0
    heads, *lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert heads == ["release", "items", "turns", "tau", "review", "made", "parent"]
    marked = {line[1] for line in lines if line[0] == "*"}
    assert marked == set(in_force(folder).values()) and SECOND in marked
    (first,) = [line for line in lines if line[0] == FIRST]
    assert first[3] != "?", "tau is known"


def test_one_is_shown_and_two_are_compared(folder: Path, capsys) -> None:
    assert releases.main(["show", FIRST]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# Release {FIRST}\n") and "It is not in force." in page
    assert releases.main(["diff", FIRST, SECOND]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# From {FIRST} to {SECOND}\n")
    path = folder / "reports" / "diff" / FIRST / f"{SECOND}.html"
    assert page.endswith(f"The same with texts and pictures: {path}\n") and path.is_file()
    assert f"diff/{FIRST}/{SECOND}.html" in (folder / "reports" / "index.html").read_text()


def test_a_release_is_meant_by_its_name_and_by_how_its_id_begins(folder: Path, capsys) -> None:
    assert releases.main(["show", "mmdu"]) == 0
    assert capsys.readouterr().out.startswith(f"# Release {SECOND}\n")
    assert releases.main(["diff", FIRST[:-3], "mmdu"]) == 0
    assert capsys.readouterr().out.startswith(f"# From {FIRST} to {SECOND}\n")
    assert releases.main(["show", "mmdu-"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mmdu- is the beginning of several releases: ") and FIRST in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Say which releases to compare: A=<release> B=<release>, ids or names.\n"),
        (["", SECOND], "Say which releases to compare: A=<release> B=<release>, ids or names.\n"),
        ([FIRST], f"{FIRST} has no parent to compare it with: say B=<release>, too.\n"),
    ],
)
def test_a_comparison_without_two_releases_says_what_to_do(
    arguments: list[str], said: str, folder: Path, capsys
) -> None:
    assert releases.main(["diff", *arguments]) == 2
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("arguments", [["mmdu", "mmdu"], ["mmdu", SECOND]])
def test_a_release_is_not_compared_with_itself(arguments: list[str], folder: Path, capsys) -> None:
    assert releases.main(["diff", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{' and '.join(arguments)} are the same release, {SECOND}: say two ")
    assert said.count("\n") == 1 and not (folder / "reports" / "diff").exists()


@pytest.mark.parametrize("arguments", [["show", "x"], ["diff", FIRST, "x"], ["pin", "x"]])
def test_what_there_is_not_is_refused_with_what_there_is(
    arguments: list[str], folder: Path, capsys
) -> None:
    assert releases.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("There is no release x; there are ") and said.count("\n") == 1
    assert all(each in said for each in (FIRST, SECOND, INSTRUCTION))


def test_what_is_called_like_what_there_is_gets_the_nearest_alone(folder: Path, capsys) -> None:
    assert releases.main(["show", f"{FIRST[:-1]}x"]) == 2
    assert FIRST in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        releases.main(["shw", FIRST])
    said = "dagster_project.releases: there is no command 'shw'; the nearest is show.\n"
    assert capsys.readouterr() == ("", said)


def test_a_home_without_releases_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "new"))
    assert releases.main(["list"]) == 0
    assert capsys.readouterr().out == "There is no release yet.\n"
    assert releases.main(["show", "x"]) == 2
    assert capsys.readouterr().err == "There is no release x; there are none yet.\n"


def test_a_release_is_pinned_and_unpinned_by_runs_that_the_ui_lists(folder: Path, capsys) -> None:
    before = in_force(folder)
    assert releases.main(["pin", FIRST]) == 0
    assert capsys.readouterr().out.endswith(f"{FIRST} is in force and pinned for mmdu.\n")
    assert in_force(folder) == {**before, "mmdu": FIRST} != before
    assert f"mmdu: {FIRST}" in (folder / "settings.yaml").read_text()

    assert releases.main(["unpin", "mmdu"]) == 0
    assert "mmdu is not pinned any more." in capsys.readouterr().out
    assert in_force(folder)["mmdu"] == FIRST
    assert releases.main(["unpin", "mmdu"]) == 2
    assert capsys.readouterr().err == "mmdu is not pinned; no name is.\n"

    from dagster_project.instance import open_instance

    with open_instance() as instance:
        runs = [(run.job_name, run.is_success) for run in instance.get_runs()]
        assert runs == [("unpin_release", False), ("unpin_release", True), ("pin_release", True)]


def test_what_was_built_here_is_not_retired(folder: Path, capsys) -> None:
    before = in_force(folder)
    assert releases.main(["retire", "mmdu"]) == 2
    said = capsys.readouterr()
    assert "only an imported one can be retired" in said.err and said.err.count("\n") == 1
    assert "can be retired" not in said.out, "it is said once"
    assert in_force(folder) == before


def test_a_published_file_is_imported_by_a_run_that_the_ui_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home" / "dagster"))
    Image.new("RGB", (20, 10), "red").save(tmp_path / "red.png")
    (tmp_path / "a file.tsv").write_text(
        "index\tquestion\tanswer\timage_path\n1\t['<ImageHere>?', 'Why?']\t['A', 'B']\t['red.png']\n"
    )
    monkeypatch.chdir(tmp_path)
    given = ["import", "--benchmark=mmdu", "--file=a file.tsv"]

    assert releases.main([*given, "--split=dev", "--images=."]) == 0

    said = capsys.readouterr().out.splitlines()[-1]
    release_id = in_force(tmp_path / "home")["mmdu-dev"]
    assert said == (f"Release {release_id} is imported and in force: 1 items, 2 turns, 1 images.")
    assert releases.main(["import"]) == 2
    assert capsys.readouterr().err == "There is nothing to import: say BENCHMARK=name FILE=path.\n"
    assert releases.main([*given, "--images=nowhere"]) == 2
    assert capsys.readouterr().err.endswith(
        "/nowhere is no folder of pictures: say IMAGES=folder.\n"
    )
    # It is taken out of force, and put in force again.
    assert releases.main(["retire", "mmdu-dev"]) == 0
    assert "No release of mmdu-dev is in force any more" in capsys.readouterr().out
    assert in_force(tmp_path / "home") == {}
    assert releases.main(["retire", "mmdu-dev"]) == 2
    assert capsys.readouterr().err == "No release of mmdu-dev is in force; no release is.\n"
    assert releases.main(["pin", release_id]) == 0
    assert in_force(tmp_path / "home") == {"mmdu-dev": release_id}

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

    given = ["import", "--benchmark=convbench", f"--file={tmp_path / 't'}"]
    assert releases.main(given) == 0
    left_out = (
        "of 'items' the column 'note'; 1 ID of 'references' without an item; pictures of 1 of 1 items "
        f"are not in {tmp_path / 't'}"
    )
    assert capsys.readouterr().out.splitlines()[-1].endswith(f" Left out: {left_out}.")
    assert releases.main(["show", "convbench-imported"]) == 0
    assert "pictures of 1 of 1 items" in capsys.readouterr().out


def test_make_gives_the_command_its_words() -> None:
    shown = subprocess.run(
        ["make", "-n", "releases", "CMD=diff a b"], capture_output=True, text=True, cwd=REPO_ROOT
    ).stdout
    assert "-m dagster_project.releases diff a b" in shown
    plain = subprocess.run(
        ["make", "-n", "releases"], capture_output=True, text=True, cwd=REPO_ROOT
    )
    assert "-m dagster_project.releases list" in plain.stdout


def test_make_gives_a_comparison_its_releases_and_nothing_of_the_shells() -> None:
    def shown(*given: str) -> str:
        command = ["make", "-n", "diff", *given]
        own = {**os.environ, "A": "of-the-shell"}
        out = subprocess.run(command, capture_output=True, text=True, cwd=REPO_ROOT, env=own).stdout
        return out.splitlines()[-1]

    assert shown("A=a", "B=b").endswith('dagster_project.releases diff "$A" "$B"')
    assert shown("A=a").endswith('dagster_project.releases diff "$A" ""')
    assert shown().endswith('dagster_project.releases diff "" ""')


def test_make_tells_a_published_file_from_a_folder() -> None:
    def shown(*given: str) -> str:
        # A shell's own NAME and LANGUAGE are no names of releases.
        own = {**os.environ, "NAME": "box", "LANGUAGE": "en_US:en"}
        command = ["make", "-n", "import-release", *given]
        out = subprocess.run(command, capture_output=True, text=True, cwd=REPO_ROOT, env=own).stdout
        return " ".join(out.splitlines()[-1].split())

    assert shown("BENCHMARK=mmdu", "FILE=/a b/x.json").endswith(
        'releases import --benchmark="$BENCHMARK" --file="$FILE"'
    )
    given = ["BENCHMARK=mmdu", "FILE=x", "IMAGES=y", "NAME=n", "SPLIT=dev", "LANGUAGE=en"]
    assert shown(*given).endswith(
        '--images="$IMAGES" --name="$NAME" --split="$SPLIT" --language="$LANGUAGE"'
    )
    assert shown("FROM=/a b").endswith('dagster_project.home import-release --from="$FROM"')
