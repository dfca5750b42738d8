"""A release is read in batches; its folder is written once, checked by its list, the same each time."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from methods.evaluation.items import Item, Turn
from methods.release import Edition
from resources.exports import source as source_module
from resources.exports.folder import checked_files, verification_message, write_folder
from resources.exports.formats import FORMS, form_named
from resources.exports.push import require_publishable, require_repository
from resources.exports.source import ExportError, ExportSource
from tests.assets.filled import put
from tests.resources.folder_content import everything

pytestmark = pytest.mark.slow

# --- The release in batches ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_batches_together_are_the_release(size, released, dialogues, monkeypatch):
    monkeypatch.setattr(source_module, "BATCH", size)
    items = [
        *dialogues,
        *(Item(f"b{n}", (Turn(1, "?", (), {"answer": str(n)}),)) for n in range(5)),
    ]
    told: list[tuple[int, int]] = []
    source: ExportSource = released(items, progress=lambda *done: told.append(done))
    batches = list(source.batches())
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    found = [item for batch in batches for item in batch]
    assert [(item.item_id, item.turns, item.choices) for item in found] == [
        (item.item_id, item.turns, item.choices) for item in items
    ]
    assert [[picture.image_id for picture in item.pictures] for item in found] == [
        list(item.image_ids) for item in items
    ]
    assert told[-1] == (7, 7)
    assert (source.totals.items, source.totals.turns) == (7, 8)
    assert source.totals.pictures == {*dialogues[0].image_ids}


def test_another_release_of_the_same_home_is_not_read(released, dialogues, questions):
    """The other release has the same items, each with other texts and fewer pictures."""
    items = [*dialogues, *questions]
    first = released(items)
    batches = list(first.batches())
    turns = (Turn(1, "Changed?", (), {"answer": "Changed.", "key": "A"}),)
    others = [Item(item.item_id, turns, item.image_ids[1:], ("not this",)) for item in items]
    released(others, name="other")
    assert list(first.batches()) == batches, "it is read again"
    assert sum(map(len, batches)) == 5


def test_the_agreement_is_that_of_all_reviewers_on_the_kinds_of_the_release(
    released, dialogues, warehouse_of_releases
):
    source = released(dialogues[1:], name="agreed")
    released(dialogues[:1], name="other")
    measured = {"raters": "all", "measure": "raw", "value": 0.5}
    unmeasured = {"measure": "cohen_kappa", "value": None, "reason": "Too few."}
    rows = [
        {**measured, "kind": "dialogue"},
        {**measured, "kind": "dialogue", "raters": "ann|bob", "value": 0.25},
        {**measured, "kind": "dialogue", **unmeasured},
        {**measured, "kind": "rewrite"},
    ]
    approved = {"status": "approved", "policy": "all", "content": "{}"}
    kinds = {"dialogue/1": "rewrite", "d2": "dialogue"}
    put(
        warehouse_of_releases,
        {
            "review.agreement": rows,
            "review.approved": [
                {**approved, "item_id": item_id, "kind": kind} for item_id, kind in kinds.items()
            ],
        },
    )
    found = source.agreement()
    put(warehouse_of_releases, {"review.agreement": [], "review.approved": []})
    assert [(row["kind"], row["measure"], row["value"]) for row in found] == [
        ("dialogue", "raw", 0.5)
    ]


# --- The folder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_form_written_again_has_the_same_bytes(form, released, dialogues, questions, tmp_path):
    items = questions if form in ("lmms-eval", "inspect-ai") else dialogues
    for name in ("one", "two"):
        write_folder(tmp_path / name, form_named(form, 500), released(items))
    assert everything(tmp_path / "one") == everything(tmp_path / "two")
    checked = checked_files(tmp_path / "one")
    assert checked.n_files == len(everything(tmp_path / "one")) - 1 and not checked.others
    assert {"README.md", "attribution.csv", "manifest.json"} <= everything(tmp_path / "one").keys()


def test_one_that_is_there_stays_and_is_what_is_listed(released, dialogues, tmp_path):
    source = released(dialogues, stated="CC-BY-SA-4.0", left_out=["ND"])
    target = tmp_path / "out"
    files = write_folder(target, FORMS["huggingface"], source)
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    assert write_folder(target, FORMS["huggingface"], source) == files
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before
    assert {file.path for file in files} == {
        f"out/{name}" for name in everything(target) if name != "manifest.json"
    }
    manifest = json.loads((target / "manifest.json").read_text())
    assert {name: manifest[name] for name in manifest if name != "files"} == {
        **{"release_id": source.release_id, "form": "huggingface", "with": []},
        **{"licences_left_out": ["ND"], "stated_licence": "CC-BY-SA-4.0"},
    }
    (target / ".gitattributes").write_text("")
    checked = checked_files(target)
    assert checked.others == [".gitattributes"]
    assert verification_message(target, checked).endswith("; not of it: .gitattributes.")


@pytest.mark.parametrize("change", ["content", "shorter", "missing"])
def test_a_file_that_is_not_as_written_is_named(change, exported, dialogues):
    target = exported(dialogues)
    shard = next(target.rglob("*.parquet"))
    data = shard.read_bytes()
    shard.unlink()
    if change != "missing":
        shard.write_bytes(data[:-1] + (b"" if change == "shorter" else b"?"))
    with pytest.raises(ExportError, match=r"^data/default/test-00000-of-00001\.parquet of .*: get"):
        checked_files(target)
    with pytest.raises(ExportError, match="parquet of .*: rename the folder, to have it written"):
        exported(dialogues)


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_what_stands_in_the_place_of_a_folder_is_left_there(what, exported, dialogues, tmp_path):
    target = tmp_path / "out"
    mine = target if what == "a file" else target / "mine.txt"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(ExportError, match=r"has no manifest\.json: rename the folder"):
        exported(dialogues)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"files": {"../x": {"sha256": "", "n_bytes": 0}}}']
)
def test_a_list_that_is_none_is_refused(text, tmp_path):
    with pytest.raises(ExportError, match=r"has no manifest\.json"):
        checked_files(tmp_path)
    with pytest.raises(ExportError, match=r"^There is no folder /.*/nowhere\.$"):
        checked_files(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ExportError, match=r"manifest\.json (is damaged|names files outside)"):
        checked_files(tmp_path)


def test_a_list_that_is_a_pipe_or_a_device_is_refused(tmp_path):
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(tmp_path / "manifest.json")
        with pytest.raises(ExportError, match="manifest.json cannot be read"):
            checked_files(tmp_path)
        (tmp_path / "manifest.json").unlink()


def test_nothing_is_left_of_an_export_that_failed(released, dialogues, store, tmp_path):
    source = released(dialogues)
    shutil.rmtree(store.root)
    with pytest.raises(Exception, match="no image"):
        write_folder(tmp_path / "releases" / "out", FORMS["huggingface"], source)
    assert not list((tmp_path / "releases").iterdir())


def test_licences_that_contradict_each_other_stop_an_export_and_a_setting_leaves_rows_out(
    released, dialogues, image_ids, tmp_path
):
    licences = {image_ids[0]: "CC-BY-NC-2.0"}
    with pytest.raises(ExportError) as raised:
        released(dialogues, licences=licences)
    said = str(raised.value)
    assert "CC-BY-SA-4.0" in said and "CC-BY-NC-2.0" in said
    assert "licences_left_out: {mmdu: [NC]} under release.exports" in said
    source = released(dialogues, licences=licences, left_out=["NC"])
    write_folder(tmp_path / "out", FORMS["huggingface"], source)
    assert (source.totals.items, dict(source.totals.left_out)) == (1, {"NC": 1})
    page = (tmp_path / "out" / "README.md").read_text()
    assert "| Items left out of these files: NC | 1 |" in page
    with pytest.raises(ExportError, match=r"made otherwise \(.*licences_left_out: \['NC'\]"):
        write_folder(tmp_path / "out", FORMS["huggingface"], released(dialogues))


def test_what_is_said_to_leave_out_has_what_is_left_out_already(released, questions, image_ids):
    red, green, blue, _ = image_ids
    shown = [replace(questions[0], image_ids=(one, one)) for one in (red, red, green, blue)]
    items = [replace(item, item_id=str(number)) for number, item in enumerate(shown)]
    licences = {red: "CC-BY-SA-4.0", green: "CC-BY-NC-2.0", blue: "CC-BY-ND-4.0"}
    said = r"set licences_left_out: \{mmdu: \[NC, ND\]\} under release\.exports(?!.*No item)"
    with pytest.raises(ExportError, match=said):
        released(items, licences=licences, left_out=["NC"])
    # Both pictures of the only item contradict each other: without either one no item is left.
    both = [replace(questions[0], image_ids=(red, blue))]
    with pytest.raises(ExportError, match=r"\[ND\]\} under .* No item would be left\.$"):
        released(both, licences=licences)
    # Of releases that go out together, each one is named.
    one = released(items[:2], licences=licences)
    other = released([items[2]], name="other", edition=Edition("mmdu", "dev"), licences=licences)
    with pytest.raises(ExportError, match=r"\{mmdu: \[NC\], other: \[NC\]\} .* settings"):
        one.stand_beside([other])


def test_what_is_sent_has_a_known_licence_and_no_answer_that_is_held_out(
    released, dialogues, questions, image_ids, tmp_path
):
    def folder(name: str, source) -> Path:
        write_folder(tmp_path / name, FORMS["huggingface"], source)
        return tmp_path / name

    unknown = {image_ids[0]: None}
    source = released(dialogues, licences=unknown)
    assert source.licence.n_unknown == 1
    with pytest.raises(ExportError, match=r"of the whole is known: set licences: \{mmdu"):
        require_publishable(source, folder("unknown", source))
    stated = released(dialogues, licences=unknown, stated="CC-BY-4.0")
    assert require_publishable(stated, folder("stated", stated)).n_files

    held_out = released(questions, edition=Edition("mmbench", "test", "en"))
    assert require_publishable(held_out, folder("held out", held_out)).n_files
    # As if the folder of an imported split, which is not held out, stood there.
    imported = released(questions, edition=Edition("mmbench", "test", "en", "imported"))
    open_split = folder("open", imported)
    with pytest.raises(ExportError, match="has answers, but the answers of this split are held"):
        require_publishable(held_out, open_split)


@pytest.mark.parametrize("name", ["set", "a b/c", "", "me/..", "me/you/set"])
def test_a_name_that_no_dataset_can_have_is_refused_before_anything_is_sent(name):
    require_repository("me/set-1.0")
    with pytest.raises(ExportError, match="^The name of a dataset on the hub must be OWNER/NAME"):
        require_repository(name)
