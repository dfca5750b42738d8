"""Label Studio without a server: labelling configs, tasks, annotations, and files of both."""

import base64
import io
import json
from xml.etree.ElementTree import fromstring

import pytest
from PIL import Image

from dagster_project.cli import main as loom
from extras.label_studio.annotations import records_of
from extras.label_studio.config import labelling_config
from extras.label_studio.tasks import PICTURE_SIDE, task_of
from methods.review import KINDS, REASONS
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review import commands
from review.import_export import import_records
from tests.extras.label_studio.label_studio_results import NOON, annotated, filled_in
from tests.review.items_of_every_kind import EDITS, HOSTILE, item_of


@pytest.fixture
def images(tmp_path):
    return ImageStore(tmp_path / "images")


@pytest.fixture
def store(tmp_path):
    return ReviewStore(tmp_path / "review.sqlite")


def pulled(item, store, task, reviewer="ann", round=1):
    return import_records([item], store, records_of([task]), reviewer, round)


class TestForms:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_name_of_a_form_is_in_the_task(self, kind, images):
        data = task_of(item_of(kind), 1, images)["data"]
        view = fromstring(labelling_config(kind))
        names = {
            value.removeprefix("$").split("[")[0]
            for tag in view.iter()
            for value in tag.attrib.values()
            if value.startswith("$")
        }
        assert names <= data.keys()
        assert {"title", "pictures", "help", "read", "write"} <= names
        # A score is empty until a person gives it; a text is there to be edited.
        write = view.find("Repeater[@on='$write']")
        shown = [(tag.tag, tag.get("value")) for tag in write.iter()][2:]
        text = ("TextArea", "$write[{{idx}}].text")
        assert shown == [("Number", None) if kind == "score" else text]

    def test_a_form_offers_the_reasons_and_no_verdict_that_cannot_be(self):
        def values(kind, name):
            choices = fromstring(labelling_config(kind)).find(f"Choices[@name='{name}']")
            return [choice.get("value") for choice in choices]

        assert values("dialogue", "reason") == list(REASONS)
        assert values("dialogue", "verdict") == ["accept", "edit", "reject"]
        assert values("score", "verdict") == ["edit", "reject"]


class TestTasks:
    def test_pictures_travel_inside_at_a_bounded_size(self, images):
        data = io.BytesIO()
        Image.new("RGB", (3000, 1500), "red").save(data, "PNG")
        image_id = images.put(data.getvalue()).image_id
        data = task_of(item_of("reference", image_ids=(image_id,)), 1, images)["data"]
        (shown,) = data["pictures"]
        assert shown["label"] == "Image 1"
        kind, data = shown["url"].split(";base64,")
        assert kind == "data:image/jpeg"
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            assert picture.size == (PICTURE_SIDE, PICTURE_SIDE // 2)

    def test_what_helps_is_shown_and_who_scores_sees_no_scores_and_the_bounds(self, images):
        item = item_of("rewrite") | {"context": {"page_urls": ["u1", "u2"]}}
        data = task_of(item, 1, images)["data"]
        assert data["help"] == [{"label": "page urls", "text": "u1\nu2"}]
        assert [part["name"] for part in data["read"]] == ["original"]
        data = task_of(item_of("score"), 1, images)["data"]
        assert [(each["label"], each["text"]) for each in data["write"]] == [
            ("scores Creativity (1 to 10)", ""),
            ("scores Richness (1 to 10)", ""),
        ]


class TestAnnotations:
    @pytest.mark.parametrize("kind", KINDS)
    def test_an_edit_of_every_kind(self, kind, images, store):
        item = item_of(kind)
        task = annotated(item, images, {"verdict": "edit"} | EDITS[kind][0])
        assert pulled(item, store, task).problems == []
        (decision,) = store.decisions()
        assert decision.edits == item["content"] | EDITS[kind][1]
        assert (decision.decided_at, decision.seconds) == (NOON, 3.25)

    def test_what_the_form_sends_along_is_no_edit(self, images, store):
        for text in HOSTILE:
            item = item_of("dialogue", text)
            assert pulled(item, store, annotated(item, images, {"verdict": "accept"})).added == 1

    @pytest.mark.parametrize(
        ("kind", "form", "said"),
        [
            ("multiple_choice", {"question": ""}, "edits, question: this text is empty"),
            ("score", {"scores.Creativity": "7"}, "edits, scores Richness: no score is given"),
        ],
    )
    def test_a_form_that_cannot_be_taken_is_reported_by_field(
        self, kind, form, said, images, store
    ):
        item = item_of(kind)
        (problem,) = pulled(
            item, store, annotated(item, images, {"verdict": "edit", **form})
        ).problems
        assert problem.startswith(f"task 7, annotation 70: {said}")

    @pytest.mark.parametrize("number", [7.4, 6.99999999, True])
    def test_a_score_is_a_whole_number(self, number, images, store):
        item = item_of("score")
        task = annotated(item, images, {"verdict": "edit"} | EDITS["score"][0])
        results = task["annotations"][0]["result"]
        score = next(each for each in results if each["from_name"] == "score_0")
        score["value"]["number"] = number
        (problem,) = pulled(item, store, task).problems
        assert problem.endswith("edits, scores Creativity: this is a whole number from 1 to 10.")
        score["value"]["number"] = 7.0
        assert pulled(item, store, task).added == 1

    def test_annotations_that_are_no_objects_are_counted(self, images, store):
        item = item_of("rewrite")
        task = annotated(item, images, {"verdict": "accept"})
        task["annotations"] += ["x", None]
        result = pulled(item, store, task)
        assert result.added == 1
        assert (
            result.problems == ["task 7: an annotation is not an object: export it as 'JSON'."] * 2
        )

    def test_a_long_id_is_not_repeated_for_each_annotation(self):
        task = {"id": "x" * 1000, "annotations": [{"id": "y" * 1000}] * 2}
        places = [record.place for record in records_of([task])]
        assert places == [f"task {'x' * 40}, annotation {'y' * 40}"] * 2

    def test_a_skip_counts_unless_the_task_was_done_after_all(self, images, store):
        item = item_of("rewrite")
        assert pulled(item, store, annotated(item, images, None)).added == 1
        later = pulled(item, store, annotated(item, images, None, {"verdict": "accept"}))
        assert (later.added, later.problems) == (1, [])
        assert [event.verdict for event in store.decisions()] == ["skip", "accept"]

    def test_a_task_whose_texts_were_changed_on_the_server_is_not_taken(self, images, store):
        item = item_of("rewrite")
        task = annotated(item, images, {"verdict": "accept"})
        task["data"]["read"][0]["text"] = "Another question."
        assert "original was changed" in pulled(item, store, task).problems[0]

    @pytest.mark.parametrize(
        "harm",
        [
            lambda task: task["data"].clear(),
            lambda task: task["data"].update(kind="song"),
            lambda task: task["annotations"][0].update(result=[{"type": "rectangle"}]),
            lambda task: task["annotations"][0]["result"][0]["value"].update(choices=[1]),
            lambda task: task["annotations"][0].pop("updated_at"),
        ],
    )
    def test_what_is_not_ours_is_reported_by_task(self, harm, images, store):
        item = item_of("rewrite")
        task = annotated(item, images, {"verdict": "accept"})
        harm(task)
        assert pulled(item, store, task).problems == [
            "task 7, annotation 70: not a task that was exported for review."
        ]


class TestFiles:
    """For a server that cannot be reached: tasks and form go out, its export comes back."""

    @pytest.fixture(autouse=True)
    def home(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
        queue = [item_of("rewrite"), item_of("category")]
        monkeypatch.setattr(commands, "read_queue", lambda: queue)
        Accounts(tmp_path / "review.sqlite").add("ann", "annotator")

    def run(self, *words):
        return loom(["review", *words, "--format", "label-studio", "--round", "1"])

    def test_out_and_back(self, tmp_path, capsys):
        out = tmp_path / "out" / "tasks.json"
        assert self.run("export", "--out", str(out), "--kind", "rewrite") == 0
        assert "1 of 1 items need a decision in round 1" in capsys.readouterr().out
        assert out.with_suffix(".xml").read_text() == labelling_config("rewrite")
        (task,) = json.loads(out.read_text())
        form = {"verdict": "edit", "rewrite": "What is it?"}
        result = filled_in(task["data"], form)
        task |= {"id": 1, "annotations": [{"id": 2, "updated_at": NOON, "result": result}]}
        back = tmp_path / "back.json"
        back.write_text(json.dumps([task]))
        assert self.run("import", str(back), "--reviewer", "ann") == 0
        (decision,) = ReviewStore(tmp_path / "review.sqlite").decisions()
        assert decision.edits["rewrite"] == "What is it?"

    def test_annotations_that_are_no_list_are_said_in_a_line_without_control_characters(
        self, tmp_path, capsys
    ):
        task = {"id": "\x1b]0;owned\x07\r\n1 decisions added", "data": {}, "annotations": {}}
        (tmp_path / "back.json").write_text(json.dumps([task]))
        assert self.run("import", str(tmp_path / "back.json"), "--reviewer", "ann") == 1
        err = capsys.readouterr().err
        assert "task \\u001b]0;owned\\u0007\\u000d 1 decisions added: annotations is not a l" in err
        assert "export it as 'JSON'." in err
        assert "\x1b" not in err and "\r" not in err
