"""Records of `wikimedia/wit_base`: one image with the pages that show it, as parallel lists.

What belongs here: converting such a record to WIT rows. What does not: reading the files
(`resources/corpus/wit_base.py`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from methods.ingest.wit import COLUMNS, Rejection, WitRow, excerpt, typed_row

COLUMNS_READ = (
    "image_url",
    "mime_type",
    "original_height",
    "original_width",
    "caption_attribution_description",
    "wit_features",
)
"""The columns that rows are made of; the others have the image, its embedding and a metadata URL."""

_OF_IMAGE = COLUMNS_READ[:-1]
_JOINT = "[SEP]"


def rows_of_record(
    record: Mapping[str, Any], numbers: Iterator[int]
) -> Iterator[WitRow | Rejection]:
    """One row or rejection for each page of the record, each with the next of `numbers`.

    `wit_features` is a mapping from WIT's columns to lists of equal length, or a list of mappings. If
    the lists differ in length, their values cannot be matched, and the record is one rejection
    (`unequal_lists`).
    """
    features = record.get("wit_features")
    if isinstance(features, Mapping):
        lengths = {len(values) for values in features.values() if values is not None}
        if len(lengths) > 1:
            detail = f"The lists of wit_features have {sorted(lengths)} values."
            yield _refused(record, numbers, "unequal_lists", detail)
            return
        features = [
            {name: values[place] for name, values in features.items() if values is not None}
            for place in range(max(lengths, default=0))
        ]
    if not features:
        detail = "The record names no page that shows the image."
        yield _refused(record, numbers, "no_page", detail)
        return
    image = {name: record.get(name) for name in _OF_IMAGE}
    for page in (page or {} for page in features):
        values = {**{name: page.get(name) for name in COLUMNS if name not in image}, **image}
        values["caption_reference_description"] = _reference(page)
        yield typed_row(next(numbers), values)


def _refused(
    record: Mapping[str, Any], numbers: Iterator[int], reason: str, detail: str
) -> Rejection:
    shown = excerpt(str(record.get("image_url")).encode())
    return Rejection(next(numbers), reason, detail, shown)


def _reference(page: Mapping[str, Any]) -> str | None:
    """The reference caption; some records have it only joined to the page's title."""
    alone = page.get("caption_reference_description") or ""
    _, joint, together = (page.get("caption_title_and_reference_description") or "").partition(
        _JOINT
    )
    return alone if alone.strip() or not joint else together.strip()
