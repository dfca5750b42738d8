"""The sample browser: what its data have of an item, and what they keep to themselves."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.inference import answer_version
from assets.evaluate.site import site
from assets.evaluate.site_items import STATUSES
from assets.evaluate.site_requests import MOST_CHARACTERS, prompt_text
from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import with_policy
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.llm.registry import Profile
from resources.reports.benchmark_report import render_report
from resources.settings.prompts import prompt
from resources.stores_of_home import bring_home_up_to_date
from resources.warehouse import Warehouse
from tests.assets.evaluate.test_multiple_choice import COLOURS, picture
from tests.assets.evaluate.test_report_data import VERSION, data_of, evaluated, released
from tests.assets.filled import put
from tests.resources.llm.entries import call
from tests.resources.reports.report_rows import Page
from tests.resources.site.reading import pieces_of

pytestmark = pytest.mark.slow

RELEASE = "mmdu-1"
PROFILE = Profile.model_validate(
    {"writer": "w", "judges": ["judge-1", "judge-2"], "evaluate": ["good"]}
)
SECRET = "It is red."
"""Every reference."""


class Home:
    """A home with a benchmark of one dialogue, of two turns, and an instruction set."""

    def __init__(self, home: Path) -> None:
        self.warehouse = Warehouse(home / "warehouse.duckdb")
        self.store = ImageStore(home / "images")
        self.ledger = Ledger(home / "ledger.sqlite")
        self.items = home / "reports" / "items"
        self.image_id = self.store.put(picture(COLOURS[0])).image_id

    def write(self, table: str, rows: list[Any], where: dict[str, Any] | None = None) -> None:
        put(self.warehouse, {table: rows}, where)

    def rows(self, table: str, **where: str) -> list[Any]:
        return self.warehouse.select(table, **where).to_pylist()  # type: ignore[arg-type]

    def change(self, table: str, release_id: str = RELEASE, **values: object) -> None:
        rows = [{**row, **values} for row in self.rows(table, release_id=release_id)]
        self.write(table, rows, {"release_id": release_id})

    def made(self) -> dg.ExecuteInProcessResult:
        given = {
            "warehouse": self.warehouse,
            "image_store": self.store,
            "profile": PROFILE,
            "benchmarks": BENCHMARKS,
            "ledger": self.ledger,
        }
        run = dg.materialize([site], resources=given)
        assert run.success
        return run

    def folder(self, release_id: str = RELEASE) -> Path:
        (folder,) = (self.items / release_id).iterdir()
        return folder

    def pieces(self, release_id: str = RELEASE) -> dict[str, Any]:
        return pieces_of(self.folder(release_id))


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of two releases, to be copied."""
    folder = tmp_path_factory.mktemp("filled") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(folder))
        bring_home_up_to_date()
    tables = released(RELEASE, "benchmark")
    for table, rows in released("instruct-1", "instruction").items():
        tables[table] += rows
    put(Warehouse(folder / "warehouse.duckdb"), {**tables, **evaluated(RELEASE)})
    return folder


@pytest.fixture
def home(loom_home: Path, filled_home: Path) -> Iterator[Home]:
    shutil.copytree(filled_home, loom_home)
    home = Home(loom_home)
    yield home
    home.ledger.close()


def test_an_item_has_its_turns_answers_and_judgments(home: Home) -> None:
    home.change("release.images", image_id=home.image_id)
    home.made()
    pieces = home.pieces()
    about, (item,) = pieces["release"], pieces["items/0"]
    assert about["ids"] == ["i"] and about["pieces"] == [0]
    assert [model["name"] for model in about["models"]] == ["good"]
    first, second = item["turns"]
    assert (first["question"], first["images"]) == ("Which <ImageHere>?", [1])
    assert [each["text"] for each in second["references"]] == [SECRET]
    shown = item["images"][0]
    stored = home.store.read(home.image_id)
    assert (home.items / "pictures" / shown["picture"]).read_bytes() == stored
    assert (home.items / "thumbs" / shown["thumb"]).is_file()
    assert pieces["heads/0"] == [["Which ?", shown["thumb"]]]
    answers = {answer["turn"]: answer for answer in item["answers"]}
    assert answers[1]["text"] == "Answer 1." and "reasoning" not in answers[1]
    # The judgment of an answer that was replaced is not there.
    judgments = answers[1]["judgments"]
    assert sorted((about["judges"][of["judge"]]["judge"], of["score"]) for of in judgments) == [
        ("judge-1", 7),
        ("judge-2", 7),
    ]
    assert about["prompts"][judgments[0]["prompt"]] == VERSION
    # Words of answers have an index of their own.
    words = pieces["answer_words/0"]
    assert "answer" in words and not {"which", "likes"} & words.keys()
    assert {"answer", "which", "likes"} <= pieces["words/0"].keys()


def test_two_entries_of_one_model_are_told_apart_on_its_page_and_in_its_report(home: Home) -> None:
    asked = {"good": "0", "warm": "0.7"}
    settings = {name: {"model": "it", "temperature": of} for name, of in asked.items()}
    settings["baseline:empty"] = {}
    for table in ("evaluate.answers", "evaluate.scores"):
        rows = [
            {**row, "model": model, "settings": [*of.items()]}
            for row in home.rows(table, release_id=RELEASE)
            for model, of in settings.items()
        ]
        home.write(table, rows, {"release_id": RELEASE})
    home.made()
    models = {model["name"]: model for model in home.pieces()["release"]["models"]}
    assert {name: model["settings"] for name, model in models.items()} == settings
    labels = {"good": "good (T=0)", "warm": "warm (T=0.7)", "baseline:empty": "baseline:empty"}
    assert {name: model["label"] for name, model in models.items()} == labels
    report = Page(render_report(data_of(home.warehouse, RELEASE), home.store)).text
    assert all(report.count(label) > 2 for label in labels.values())
    # In full below the leaderboard.
    assert "How each model was asked" in report and "temperature" in report


def columns_of(pieces: dict[str, Any], name: str) -> dict[tuple[str, Any], list[Any]]:
    """Values of each column by its kind and this field of it."""
    columns = pieces["release"]["columns"]
    return {(of["kind"], of.get(name)): pieces[f"columns/{of['file']}"] for of in columns}


def test_columns_have_a_value_for_each_item(home: Home) -> None:
    home.change("release.items", labels=[("topic", "boats")])
    home.made()
    pieces = home.pieces()
    columns = columns_of(pieces, "name")
    assert pieces["release"]["labels"] == [{"name": "topic", "values": ["boats"]}]
    assert columns["label", None] == [0]
    assert columns["count", "turns"] == [2] and columns["count", "images"] == [2]
    assert columns["count", "question_length"] == [len("Which <ImageHere>?And <ImageHere>?")]
    assert columns["count", "reference_length"] == [2 * len(SECRET)]
    assert columns["status", None] == [1 << STATUSES.index("answered")]
    assert columns["length", None] == [len("Answer 1.Answer 2.")]


def test_the_score_of_an_item_is_the_mean_of_its_units_and_judges_may_differ(home: Home) -> None:
    of = {"benchmark": "mmdu", "release_id": RELEASE, "model": "good", "item_id": "i"}
    of |= {"judge_version": VERSION, "replicate": 0, "trial": "plain", "part": "turn"}
    of |= {"metric": "Overall Score", "status": "judged"}
    rows = [
        {**of, "judge": judge, "turn": turn, "value": value, "answer_call_key": f"a{turn}"}
        for judge, values in (("judge-1", (8.0, 5.0)), ("judge-2", (4.0, 4.0)))
        for turn, value in enumerate(values, start=1)
    ]
    home.write("evaluate.observations", rows)
    home.made()
    pieces = home.pieces()
    metrics = [each["name"] for each in pieces["release"]["metrics"]]
    pieces["release"]["columns"] = [
        each
        for each in pieces["release"]["columns"]
        if each.get("metric") == metrics.index("Overall Score")
    ]
    values = columns_of(pieces, "judge")
    # A grade of 1 to 10 is shown as 10 to 100.
    assert values == {
        ("score", 0): [65],
        ("score", 1): [40],
        ("disagreement", None): [25],
        # Both are means over two turns, and judges are further apart in the first one.
        ("units", 0): [2],
        ("units", 1): [2],
        ("disagreement_turn", None): [1],
    }


def test_an_answer_has_its_request_as_it_was_sent_its_tokens_and_its_seconds(home: Home) -> None:
    history = [{"role": "user", "parts": [{"image": "a" * 64}, "Which?"]}]
    later = [*history, {"role": "user", "parts": ["W" * (MOST_CHARACTERS + 1)]}]
    params = {"temperature": 0.7}
    home.ledger.add(
        [
            call(1, key=key, request={"model": "qwen", "params": params, "messages": messages})
            for key, messages in (("a1", history), ("a2", later))
        ]
    )
    home.made()
    (item,), (requests,) = home.pieces()["items/0"], home.pieces()["requests/0"]
    assert [(each["tokens"], each["seconds"]) for each in item["answers"]] == [
        ([1001, 10], 1.5)
    ] * 2
    assert requests["settings"] == [{"model": "qwen", "params": params}]
    # What both requests begin with stands once.
    assert requests["calls"] == {"a1": [0, [0]], "a2": [0, [0, 1]]}
    first, (_, (cut,)) = requests["messages"]
    assert first == ["user", [{"image": "a" * 64}, "Which?"]]
    assert cut == f"{'W' * MOST_CHARACTERS} … (1 more characters)"


def test_a_reference_that_was_put_in_place_of_an_answer_is_not_shown_twice(home: Home) -> None:
    first, second = home.rows("evaluate.answers", release_id=RELEASE)
    rows = [{**first, "status": "given", "answer": SECRET}, {**second, "status": "given"}]
    home.write("evaluate.answers", rows, {"release_id": RELEASE})
    home.made()
    (item,) = home.pieces()["items/0"]
    assert [answer["turn"] for answer in item["answers"]] == [second["turn"]]


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_the_version_of_an_answer_has_a_text(name: str) -> None:
    benchmark = BENCHMARKS.get(name)
    assert benchmark is not None
    text = prompt_text(with_policy(answer_version(benchmark), "truncate"), benchmark)
    assert text is not None and text.startswith(f"{name} asks: ")
    for task in benchmark.question_prompts:
        assert prompt(task).text in text
    assert prompt_text("dialogue@0", benchmark) is None


def test_what_tells_an_answer_that_is_held_out_is_in_no_file(home: Home) -> None:
    home.change("release.releases", split="test")
    home.change("evaluate.judgments", explanation=f"The reference says: {SECRET}")
    told = {"messages": [{"role": "assistant", "parts": [SECRET]}]}
    home.ledger.add([call(1, key="a2", request=told)])
    home.made()
    (folder,) = (home.items / RELEASE).iterdir()
    texts = [path.read_text() for path in home.items.rglob("*") if path.suffix in (".js", ".html")]
    of_release = [path.read_text() for path in folder.rglob("*.js")]
    assert not any(SECRET in text or '"red"' in text for text in of_release)
    assert not any("Answer 1." in text for text in of_release)
    # The instruction set beside it has the same references, and keeps them.
    assert any(SECRET in text for text in texts)
    about = home.pieces()["release"]
    assert about["answers_held_out"] is True and about["judges"] == [] and about["metrics"] == []
    assert not {"score", "disagreement"} & {each["kind"] for each in about["columns"]}


def test_what_did_not_change_is_not_written_again_and_what_did_is_in_a_folder_of_its_own(home):
    home.made()
    before, other = home.folder(), home.folder("instruct-1")
    written = {path: path.stat().st_mtime_ns for path in other.rglob("*.js")}
    home.change("evaluate.answers", answer="Another answer.")
    home.made()
    assert home.folder() != before
    assert {path: path.stat().st_mtime_ns for path in other.rglob("*.js")} == written
    page = (home.items / f"{RELEASE}.html").read_text()
    assert f"{RELEASE}/{home.folder().name}" in page
    (row,) = home.rows("evaluate.site", release_id=RELEASE)
    assert row["fingerprint"] == home.folder().name


def test_a_picture_that_is_not_stored_is_missing_until_it_is(home: Home) -> None:
    home.made()
    (item,) = home.pieces()["items/0"]
    assert [(each["thumb"], each["picture"]) for each in item["images"]] == [(None, None)] * 2
    (row,) = home.rows("evaluate.site", release_id=RELEASE)
    assert (row["n_pictures"], row["n_missing"]) == (0, 2)
    home.store.path(home.image_id).unlink()
    home.change("release.images", image_id=home.image_id)
    home.made()
    home.store.put(picture(COLOURS[0]))
    home.made()
    (item,) = home.pieces()["items/0"]
    assert item["images"][0]["picture"].endswith(".png")


def test_what_is_of_no_release_any_more_goes(home: Home) -> None:
    home.change("release.images", image_id=home.image_id)
    home.made()
    assert list(home.items.glob("thumbs/*/*.jpg"))
    tables = ("release.current", "release.releases", "evaluate.scores", "evaluate.reports")
    for table in tables:
        home.write(table, [], {"release_id": RELEASE})
    home.made()
    assert not (home.items / RELEASE).exists() and not (home.items / f"{RELEASE}.html").exists()
    assert not list(home.items.glob("thumbs/*/*")) and not list(home.items.glob("pictures/*/*"))
    assert home.folder("instruct-1").is_dir()


def test_the_page_of_a_release_that_cannot_be_made_stays(home, monkeypatch):
    home.change("release.images", image_id=home.image_id)
    home.made()
    before = home.folder()
    home.change("evaluate.answers", status="answered", answer="Another.")

    def fails(*_: object) -> None:
        raise OSError("no more")

    monkeypatch.setattr("resources.site.sample_browser.write_piece", fails)
    home.made()
    assert home.folder() == before and list(home.items.glob("thumbs/*/*.jpg"))
    assert home.rows("evaluate.not_made")[0]["release_id"] == RELEASE


def test_data_that_lost_a_part_are_written_again(home: Home) -> None:
    broken = "columns/1.js"
    home.change("release.images", image_id=home.image_id)
    home.made()
    before = home.pieces()
    (home.folder() / broken).write_bytes(b"")
    for file in (*home.items.glob("thumbs/*/*"), *home.items.glob("files/*/*")):
        file.unlink()
        file.write_bytes(b"")
    home.made()
    assert home.pieces().keys() == before.keys()
    assert home.pieces()["items/0"] == before["items/0"]
    assert all(path.stat().st_size for path in home.items.glob("*/??/*.*"))
    (home.folder() / broken).unlink()
    home.made()
    assert home.pieces()["items/0"] == before["items/0"]
