"""Everything that people did, out and back, in each form."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dagster_project.cli import main as loom
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review.dump import COLUMNS, FORMS, DumpError, dumped, load, tables
from tests.resources.review.review_queue import item, queue, status, with_rules, work
from tests.review.http_people import signed_in
from tests.review.pages import make_site

PEOPLE = {"ann": "annotator", "bob": "annotator", "eve": "expert", "ada": "admin"}
FORMULA = '=HYPERLINK("http://x","y")\r\n\'+1, “字” <b>'


def home(path: Path) -> tuple[ReviewStore, Accounts]:
    store = with_rules(path, "default: {annotators: 1, expert: all}")
    store.update_queue(queue(4))
    accounts = Accounts(store.path)
    for name, role in PEOPLE.items():
        accounts.add(name, role)
    return store, accounts


@pytest.fixture
def worked(tmp_path: Path) -> ReviewStore:
    """Decisions of every verdict, one taken back, an item opened again, comments."""
    store, _ = home(tmp_path / "worked")
    edits = {**item(0)["content"], "rewrite": FORMULA}
    work(store, "ann", verdict_="edit", edits=edits, item_id="item-0", note=FORMULA, seconds=2.5)
    work(store, "eve", "expert", item_id="item-0", seconds=0.0)
    work(store, "ann", verdict_="reject", item_id="item-1")
    work(store, "ann", verdict_="skip", item_id="item-2")
    work(store, "bob", item_id="item-2")
    work(store, "bob", item_id="item-3")
    last = store.last_decision("bob")
    assert last is not None and last.event_id is not None
    store.take_back("item-3", last.event_id, "bob")
    store.reopen("item-0", "ada", 2, FORMULA)
    store.comment("item-0", "ann", FORMULA)
    store.comment("item-0", "eve", "To you.", "ann")
    return store


def without_ids(store: ReviewStore) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{k: v for k, v in row.items() if k not in ("comment_id",)} for row in rows]
        for name, rows in tables(store).items()
    }


@pytest.mark.parametrize("form", FORMS)
def test_it_is_read_back_whole(worked: ReviewStore, tmp_path: Path, form: str) -> None:
    file = tmp_path / "review.zip"
    file.write_bytes(dumped(worked, form))
    store, accounts = home(tmp_path / "other")

    assert load(file, store, accounts) == (6, 2, 0)

    assert without_ids(store) == without_ids(worked)
    assert [status(store, f"item-{n}") for n in range(4)] == [
        status(worked, f"item-{n}") for n in range(4)
    ]
    assert dumped(store, form) == file.read_bytes()
    # Again, and into the store it came from, it adds nothing.
    for each in (store, worked):
        assert load(file, each, accounts) == (0, 0, 8)


def test_who_has_another_name_now_is_not_brought_back_by_an_earlier_file(
    worked: ReviewStore, tmp_path: Path
) -> None:
    file = tmp_path / "before.zip"
    file.write_bytes(dumped(worked, "jsonl"))
    accounts = Accounts(worked.path)
    worked.reopen("item-2", "ada", 1, "Look again.")
    accounts.rename("bob", "robert")
    accounts.erase("ann")
    names = {each.reviewer for each in worked.decisions(revoked=True)}
    before = {n: status(worked, f"item-{n}") for n in range(4)}
    assert load(file, worked, accounts) == (0, 0, 8)
    assert {each.reviewer for each in worked.decisions(revoked=True)} == names
    assert {n: status(worked, f"item-{n}") for n in range(4)} == before
    assert "ann" not in names | {each.name for each in accounts.all()}


def test_a_text_as_long_as_the_app_takes_comes_back_from_csv(
    worked: ReviewStore, tmp_path: Path
) -> None:
    work(worked, "bob", item_id="item-3", note="n" * 200_000)
    file = tmp_path / "review.zip"
    file.write_bytes(dumped(worked, "csv"))
    limit = csv.field_size_limit(131_072)
    try:
        store, accounts = home(tmp_path / "other")
        assert load(file, store, accounts) == (7, 2, 0)
    finally:
        csv.field_size_limit(limit)


def test_the_tables_say_what_was_done(worked: ReviewStore) -> None:
    made = tables(worked)
    assert {name: len(rows) for name, rows in made.items()} == {
        "decisions": 6,
        "revisions": 1,
        "comments": 2,
        "effort": 2,
    }
    for name, rows in made.items():
        assert all(set(row) >= set(COLUMNS[name]) for row in rows)
    (revision,) = made["revisions"]
    assert (revision["part"], revision["before"], revision["after"]) == (
        "rewrite",
        "Rewrite 0.0",
        FORMULA,
    )
    assert [row["ended_for"] for row in made["decisions"] if row["ended_by"]] == [FORMULA, None]
    # What was taken back or opened again took effort that does not count.
    effort = {row["reviewer"]: row["n_decisions"] for row in made["effort"]}
    assert effort == {"ann": 2, "bob": 1}


def test_no_cell_of_a_spreadsheet_is_a_formula(worked: ReviewStore) -> None:
    with zipfile.ZipFile(io.BytesIO(dumped(worked, "csv"))) as archive:
        for name in archive.namelist():
            text = io.StringIO(archive.read(name).decode("utf-8-sig"), newline="")
            cells = [cell for row in csv.reader(text) for cell in row]
            assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        ("decisions", {"reviewer": "mallory"}, "There is no account 'mallory'"),
        ("decisions", {"verdict": "maybe"}, "decisions, row 1: verdict: "),
        ("decisions", {"round": 3}, "decisions, row 1: round: "),
        ("decisions", {"item_id": "none"}, "never in this queue"),
        ("decisions", {"edits": None}, "edits are given with the verdict edit"),
        ("decisions", {"edits": '{"rewrite": 5}'}, "row 1: edits: give the whole content"),
        ("decisions", {"content_hash": "old", "edits": '{"a": 5}'}, "keys of another kind"),
        ("decisions", {"ended_by": None}, "belong together"),
        ("decisions", {"more": 1}, "decisions, row 1: more: "),
        ("comments", {"text": ""}, "comments, row 1: text: "),
        ("comments", {"addressee": "mallory"}, "There is no account 'mallory'"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_stored(
    worked: ReviewStore, tmp_path: Path, table: str, change: dict[str, Any], fault: str
) -> None:
    store, accounts = home(tmp_path / "other")
    made = {
        name: [{column: row[column] for column in COLUMNS[name]} for row in rows]
        for name, rows in tables(worked).items()
    }
    made["decisions"][0] |= {"ended_at": "2026-01-01", "ended_by": "ada"}
    made[table][0] |= change
    file = tmp_path / "review.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, rows in made.items():
            archive.writestr(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))

    with pytest.raises(DumpError) as caught:
        load(file, store, accounts)

    assert fault in str(caught.value)
    assert (store.decisions(revoked=True), store.comments()) == ([], [])


@pytest.mark.parametrize("data", [b"", b"PK", b"nothing", None])
def test_another_file_is_no_dump(tmp_path: Path, data: bytes | None) -> None:
    store, accounts = home(tmp_path / "other")
    file = tmp_path / "review.zip"
    if data is None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("decisions.txt", "x")
    else:
        file.write_bytes(data)
    with pytest.raises(DumpError, match="give a file that vlm-loom review dump wrote"):
        load(file, store, accounts)


def test_the_commands_and_the_button(
    worked: ReviewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("LOOM_HOME", str(worked.path.parent))
    out = tmp_path / "out.zip"
    assert loom(["review", "dump", "--out", str(out), "--format", "jsonl"]) == 0
    assert loom(["review", "dump", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert loom(["review", "load", str(out)]) == 0
    assert "0 decisions and 0 comments added, 8 known already" in capsys.readouterr().out

    site = make_site(tmp_path / "site")
    anna, ada = signed_in(site, "anna"), signed_in(site, "ada")
    assert "/dump/csv" in ada.get("/").text and "/dump/" not in anna.get("/").text
    assert anna.get("/dump/csv").status_code == 403
    for form in FORMS:
        answer = ada.get(f"/dump/{form}")
        assert answer.content == dumped(site.store, form)
        assert answer.headers["content-type"] == "application/zip"
    assert ada.get("/dump/exe").status_code == 404
