"""Croissant 1.1 metadata of a dataset (JSON-LD), with the fields of the responsible AI extension."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from methods.exports.dataset_card import DatasetCardInput, licence_in_words, limits, summary
from methods.licences.reading import address_of
from methods.release_card import reviewed_by

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
SHARDS, RECORDS = "shards", "items"
_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "image": "sc:ImageObject"}
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{
        name: f"cr:{name}"
        for name in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract"),
            *("field", "fileProperty", "fileObject", "fileSet", "format", "includes", "isArray"),
            *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator"),
            *("source", "subField", "transform"),
        )
    },
}


class CroissantFile(NamedTuple):
    """A data file: its path in the folder, its hash and its size."""

    path: str
    sha256: str
    n_bytes: int


def croissant(
    page: DatasetCardInput, shards: Sequence[CroissantFile], features: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe a dataset in Croissant, with the RAI fields.

    Args:
        page: The cards and the licence of the dataset.
        shards: The data files.
        features: The columns of the data files.
    """
    card = page.cards[0]
    licence = page.licence.licence
    return {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": card["release_id"],
        "description": summary(card),
        "license": address_of(licence) or licence or "unknown",
        "url": f"urn:vlm-loom:{card['release_id']}",
        "version": "1.0.0",
        "datePublished": card["created_at"][:10],
        "citeAs": f"@misc{{{card['release_id']}, title={{{{{card['release_id']}}}}}}}",
        "creator": {"@type": "sc:Organization", "name": "vlm-loom"},
        **_responsible(page),
        "distribution": [*map(_file, shards), _file_set(page)],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": RECORDS,
                "name": RECORDS,
                "key": {"@id": f"{RECORDS}/item_id"},
                "field": list(_fields(features)),
            }
        ],
    }


def _responsible(page: DatasetCardInput) -> dict[str, Any]:
    """The RAI fields on which a release has information."""
    card = page.cards[0]
    built = card.get("origin", "built") == "built"
    fields: dict[str, Any] = {
        "dataUseCases": [
            "evaluating vision-language models"
            if card["kind"] == "benchmark"
            else "training vision-language models"
        ],
        "dataLimitations": list(limits(page)),
        "dataAnnotationProtocol": [f"Review by people: {reviewed_by(card)}."],
        "dataAnnotationAnalysis": [
            f"{row['kind']}, {row['dimension']}: {row['measure']} {row['value']:.2f} "
            f"({row['low']:.2f} to {row['high']:.2f}) on {row['n_items']} items"
            for row in page.agreement
        ],
        "annotationsPerItem": "The column n_reviewers has the number of each item.",
        "dataReleaseMaintenancePlan": "A release is frozen: what changes is another release.",
        "personalSensitiveInformation": [
            f"Pictures may show people. {licence_in_words(page.licence, page.stated)}"
        ],
    }
    if built:
        fields |= {
            "dataCollection": "Pictures with the texts of their Wikipedia pages, clustered into sets; "
            "dialogues about each set were written by models.",
            "dataCollectionType": ["Web scraping", "Machine generation"],
            "dataCollectionRawData": "The dataset WIT, or shards of the same form.",
            "dataBiases": [
                "Topics and languages are as frequent as in the pages that were drawn from."
            ],
            "machineAnnotationTools": list(card.get("writers") or []),
            "dataAnnotationPlatform": ["the review app of vlm-loom"],
        }
    return {f"rai:{name}": value for name, value in fields.items() if value}


def _file(shard: CroissantFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": shard.path,
        "name": shard.path,
        "contentUrl": shard.path,
        "contentSize": f"{shard.n_bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": shard.sha256,
    }


def _file_set(page: DatasetCardInput) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": SHARDS,
        "name": SHARDS,
        "description": "The rows, in shards.",
        "encodingFormat": "application/x-parquet",
        "includes": [f"*{part.path}" for part in page.parts],
    }


def _fields(features: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, kind in features.items():
        field = {"@type": "cr:Field", "@id": f"{RECORDS}/{name}", "name": name}
        inside = kind[0] if isinstance(kind, list) else kind
        if isinstance(inside, Mapping):
            yield {
                **field,
                "repeated": True,
                "subField": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{RECORDS}/{name}/{below}",
                        "name": below,
                        "dataType": _TYPES[
                            field_type[0] if isinstance(field_type, list) else field_type
                        ],
                        "source": _source(name, below),
                    }
                    for below, field_type in inside.items()
                ],
            }
        else:
            path = "bytes" if inside == "image" else None
            yield {
                **field,
                "dataType": _TYPES[inside],
                **({"repeated": True} if isinstance(kind, list) else {}),
                "source": _source(name, path),
            }


def _source(column: str, path: str | None) -> dict[str, Any]:
    source: dict[str, Any] = {"fileSet": {"@id": SHARDS}, "extract": {"column": column}}
    return {**source, "transform": {"jsonPath": path}} if path else source
