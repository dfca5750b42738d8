"""A release described in Croissant 1.1: `mlcroissant` finds nothing wrong, and loads its records."""

import io
import json
import sys
from typing import Any

import mlcroissant
import pytest
from absl import logging as absl_logging
from PIL import Image

from methods.evaluation.items import Item
from methods.exports.croissant import CONFORMS_TO
from methods.exports.rows import table_row
from resources.exports.folder import write_folder
from resources.exports.formats import form_named

pytestmark = pytest.mark.slow

# absl, which it imports, would close the stream that pytest captures into when Dagster sets up logging.
absl_logging.get_absl_handler().python_handler.setStream(sys.__stderr__)


def text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("which", ["dialogues", "hostile", "questions"])
def test_its_records_are_the_rows_and_pixels(which, released, store, tmp_path, request):
    items: list[Item] = request.getfixturevalue(which)
    source = released(items)
    write_folder(tmp_path / "out", form_named("huggingface", 500), source)
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors and not dataset.metadata.ctx.issues.warnings
    rows = [table_row(item) for batch in source.batches() for item in batch]
    for item, row, record in zip(items, rows, dataset.records("items"), strict=True):
        for name in ("item_id", "group_id", "revision", "n_reviewers"):
            assert text(record[f"items/{name}"]) == row[name]
        for name in ("labels", "image_sources", "turns"):
            found = [
                {key.rpartition("/")[2]: text(value) for key, value in each.items()}
                for each in record[f"items/{name}"]
            ]
            wanted = row[name]
            for each in found:
                if "image_positions" in each:
                    each["image_positions"] = list(each["image_positions"])
            assert found == wanted
        shown = record["items/images"] or []
        for picture, image_id in zip(shown, item.image_ids, strict=True):
            with Image.open(io.BytesIO(store.read(image_id))) as own:
                assert picture.convert("RGB").tobytes() == own.convert("RGB").tobytes()


def test_it_has_the_fields_for_responsible_use(released, dialogues, tmp_path):
    source = released(dialogues, card={"writers": ["gpt-4o"]})
    write_folder(tmp_path / "out", form_named("huggingface", 500), source)
    described = json.loads((tmp_path / "out" / "croissant.json").read_text())
    assert described["conformsTo"] == list(CONFORMS_TO)
    assert described["license"] == "https://creativecommons.org/licenses/by-sa/4.0/"
    metadata = mlcroissant.Dataset(jsonld=described).metadata
    assert metadata.machine_annotation_tools == ["gpt-4o"]
    assert metadata.data_use_cases == ["evaluating vision-language models"]
    for of in ("data_collection", "data_limitations", "data_biases", "data_annotation_protocol"):
        assert getattr(metadata, of)
