"""Data of the site's sample browser: one release with its items, answers, judgments and scores.

If the references of a release are held out, the site has its questions and images only: answers of
models tell the references, next to the scores of a report.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from typing import Any

from assets.common.table_rows import rows_by
from assets.evaluate.observed import slices_of
from assets.evaluate.released import item_ids
from assets.evaluate.site_items import ANSWER_KEY, STATUSES, SiteItems
from assets.evaluate.site_requests import prompt_text
from assets.evaluate.site_scores import score_columns
from methods.batched import batched
from methods.benchmarks import Benchmarks
from methods.evaluation.candidates import is_model
from methods.evaluation.judging import RULE
from methods.evaluation.metrics import Metric
from methods.ids import content_id
from methods.release import held_out
from methods.release_card import card_of, edition_of
from methods.results.results_table import label_order
from resources.llm.ledger import Call, Ledger
from resources.site.pictures import ImagePaths, SiteImages
from resources.site.sample_browser import SampleBrowserContents, SampleBrowserItem
from resources.warehouse import Warehouse

Row = dict[str, Any]

FORM = "4"
"""Version of the files' format. Raise it if the same rows give different files: it is part of the
fingerprint, so that all pages are written again.
"""
ITEMS_AT_ONCE = 500
"""Items whose rows are read from the tables in one batch; limits memory."""
ITEMS_WITH_CALLS = 20
"""Items whose model calls are in memory at the same time; requests of long dialogues are large."""
_ITEM = ("item_id",)
_READ: dict[str, tuple[str, Sequence[str]]] = {
    "release.items": ("ordinal", ()),
    "release.turns": ("turn", _ITEM),
    "release.choices": ("position", _ITEM),
    "release.references": ("turn, kind", ("item_id", "turn")),
    "release.images": ("position", _ITEM),
    "evaluate.shown_answers": ("", _ITEM),
    "evaluate.extractions": ("", ANSWER_KEY),
    "evaluate.shown_failed": ("ALL", ANSWER_KEY),
    "evaluate.shown_judgments": ("judge, replicate, part", ANSWER_KEY),
    "evaluate.observations": ("metric, part", ANSWER_KEY),
}
"""Table -> its order, and the columns of the key that its rows are grouped by."""
_TELLING = (
    "release.references",
    "evaluate.shown_answers",
    "evaluate.extractions",
    "evaluate.shown_failed",
    "evaluate.shown_judgments",
    "evaluate.observations",
)
"""Tables that reveal references; they are not read if the references are held out. Among them are the
answers of models: a circular pass follows only a right one, baselines answer with references, and a
score of 100 tells that all answers are right.
"""
_WITH_PROMPTS = (
    "release.turns",
    "release.references",
    "evaluate.shown_answers",
    "evaluate.extractions",
    "evaluate.shown_judgments",
)
"""Tables whose texts a prompt asked for."""


class SiteData:
    """One release as the sample browser shows it. `release` is its row, `judges` are the profile's, in
    the order to show them, and `pictures` exports images to the site.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        benchmarks: Benchmarks,
        release: Mapping[str, Any],
        judges: Sequence[str],
        pictures: SiteImages,
        ledger: Ledger,
    ) -> None:
        self.release_id: str = release["release_id"]
        self.release = release
        self.answers_held_out = held_out(edition_of(card_of(release)))
        self._left_out = _TELLING if self.answers_held_out else ()
        self._warehouse, self._pictures, self._ledger = warehouse, pictures, ledger
        self._benchmark = benchmarks.get(release["benchmark"] or "")
        self._judges_of_profile = judges

    @cached_property
    def pictures(self) -> dict[str, ImagePaths]:
        """Export the stored images of the release and return their paths."""
        return self._pictures.put(self.image_ids)

    def fingerprint(self) -> str:
        """Return a hash of all data. Tables that are left out do not change it."""
        where = {"release_id": self.release_id}
        with self._warehouse.kept_open():
            rows = [
                self._warehouse.fingerprint(table, where)
                for table in _READ
                if table not in self._left_out
            ]
        metrics = [metric.name for metric in self._metrics]
        missing = sorted(set(self.image_ids) - set(self.pictures))
        return content_id(
            FORM, self._facts_of_release, rows, list(self._judges_of_profile), metrics, missing
        )[:12]

    def contents(self) -> SampleBrowserContents:
        """Return all data. The items are a generator that reads them in batches."""
        with self._warehouse.kept_open():
            facts, prompts, images = self._facts, self._prompts, self._images
        return SampleBrowserContents(facts, self._columns(), self._entries(), prompts, images)

    @property
    def _facts(self) -> Row:
        return {
            "release": self._facts_of_release,
            "answers_held_out": self.answers_held_out,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "models": [
                {
                    "name": name,
                    "is_model": is_model(name),
                    "label": name,
                    "settings": {},
                    **self._candidates.get(name, {}),
                }
                for name in self.models
            ],
            "judges": [
                {"judge": judge, "version": version, "title": self._title(judge, version)}
                for judge, version in self.judges
            ],
            "trials": self.trials,
            "metrics": [_metric(metric) for metric in self._metrics],
            "labels": [{"name": name, "values": values} for name, values in self._labels.items()],
            "statuses": STATUSES,
            "prompts": self._versions,
            "parts": self._parts,
        }

    @cached_property
    def models(self) -> list[str]:
        """Candidates with answers: models by rank, then baselines."""
        answered = self._distinct("evaluate.shown_answers", "model")
        place = {name: n for n, name in enumerate(self._in_order())}
        return sorted(answered, key=lambda name: (not is_model(name), place.get(name, 10**6), name))

    @cached_property
    def _candidates(self) -> dict[str, Row]:
        """The label and the settings of each candidate, by its name."""
        rows = self._warehouse.select("evaluate.candidates", release_id=self.release_id)
        return {
            row["model"]: {"label": row["label"], "settings": dict(row["settings"])}
            for row in rows.to_pylist()
        }

    @cached_property
    def judges(self) -> list[tuple[str, str]]:
        """Pairs of judge and version, in the order of the profile; empty if answers are held out."""
        if self.answers_held_out:
            return []
        versions = {
            (row["judge"], row["judge_version"])
            for table in ("evaluate.observations", "evaluate.shown_judgments")
            for row in self._warehouse.select(
                table, "judge", "judge_version", distinct=True, release_id=self.release_id
            ).to_pylist()
        }
        place = {name: n for n, name in enumerate(self._judges_of_profile)}
        return sorted(versions, key=lambda of: (place.get(of[0], len(place)), of))

    @cached_property
    def trials(self) -> list[str]:
        """Return the trials of the items."""
        return self._distinct("evaluate.shown_answers", "trial")

    @cached_property
    def _ids(self) -> list[str]:
        return item_ids(self._warehouse, self.release_id)

    @cached_property
    def image_ids(self) -> list[str]:
        return self._distinct("release.images", "image_id")

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        """Names of the items' labels, each with its sorted values."""
        values_of: dict[str, dict[str, None]] = {}
        for labels in self._labels_of_items:
            for name, value in labels.items():
                values_of.setdefault(name, {})[value] = None
        return {name: sorted(values, key=label_order) for name, values in sorted(values_of.items())}

    @cached_property
    def _labels_of_items(self) -> list[dict[str, str]]:
        rows = self._warehouse.select(
            "release.items", "labels", order="ordinal", release_id=self.release_id
        )
        return [dict(labels) for labels in rows["labels"].to_pylist()]

    @property
    def _facts_of_release(self) -> Row:
        names: tuple[str, ...] = ("release_id", "name", "kind", "benchmark", "language", "split")
        names += ("origin", "provider", "created_at", "n_items", "n_turns", "n_images")
        return {name: self.release[name] for name in names}

    @property
    def _metrics(self) -> list[Metric]:
        """Metrics of the benchmark, one for each name; none if answers are held out."""
        if self._benchmark is None or self.answers_held_out:
            return []
        metrics: dict[str, Metric] = {}
        for metric in self._benchmark.metrics:
            metrics.setdefault(metric.name, metric)
        return list(metrics.values())

    @cached_property
    def _parts(self) -> list[str]:
        """Names of the parts of a turn that are judged; "" is the whole turn."""
        return self._distinct("evaluate.shown_judgments", "part")

    @cached_property
    def _versions(self) -> list[str]:
        """Versions of the prompts behind all texts that are shown."""
        named: set[str] = set()
        for table in _WITH_PROMPTS:
            named.update(self._distinct(table, "prompt_version"))
        return sorted(named)

    @property
    def _prompts(self) -> dict[str, str]:
        """The text of each prompt version. Versions whose text is no longer known are left out."""
        texts = {version: prompt_text(version, self._benchmark) for version in self._versions}
        return {version: text for version, text in texts.items() if text is not None}

    @property
    def _images(self) -> list[Row]:
        """The thumbnail and title of each image, in the order of `image_ids`."""
        titles = {
            row["image_id"]: row["title"]
            for row in self._warehouse.select(
                "release.images", "image_id", "title", release_id=self.release_id
            ).to_pylist()
        }
        return [
            {
                "id": image_id,
                "thumb": shown.thumb if (shown := self.pictures.get(image_id)) else None,
                "title": titles[image_id],
            }
            for image_id in self.image_ids
        ]

    def _distinct(self, table: str, column: str) -> list[str]:
        """Return the values of a column, without NULL; none of a table that is left out."""
        if table in self._left_out:
            return []
        rows = self._warehouse.select(
            table, column, order=column, distinct=True, release_id=self.release_id
        )
        return [value for value in rows[column].to_pylist() if value is not None]

    def _in_order(self) -> list[str]:
        rows = self._warehouse.read(
            "evaluate/overall_of", {"release_id": self.release_id}
        ).to_pylist()
        return list(dict.fromkeys(row["model"] for row in rows))

    def _title(self, judge: str, version: str) -> str:
        n_versions = sum(name == judge for name, _ in self.judges)
        return f"{judge} {version}" if n_versions > 1 else judge

    def _columns(self) -> Iterator[tuple[Row, Sequence[Any]]]:
        """The columns that items can be filtered by, each with one value per item."""
        for place, (name, values) in enumerate(self._labels.items()):
            number = {value: n for n, value in enumerate(values)}
            labels_of_name = [labels.get(name) for labels in self._labels_of_items]
            yield (
                {"kind": "label", "label": place},
                [-1 if value is None else number[value] for value in labels_of_name],
            )
        rows = self._warehouse.read("evaluate/site_counts", {"release_id": self.release_id})
        for name in ("turns", "images", "question_length", "reference_length"):
            if name != "reference_length" or not self.answers_held_out:
                yield {"kind": "count", "name": name}, rows[name].to_pylist()
        rows = self._warehouse.select(
            "release.items", "item_id", "group_id", order="ordinal", release_id=self.release_id
        ).to_pylist()
        groups: dict[str, int] = {}
        yield (
            {"kind": "group"},
            [groups.setdefault(row["group_id"] or row["item_id"], len(groups)) for row in rows],
        )
        yield {"kind": "images"}, self._images_of_items()
        if self.models:
            yield from self._of_answers()
        yield from self._scores()

    def _images_of_items(self) -> list[list[int]]:
        """The images of each item, as indices into `image_ids`."""
        places = {image_id: place for place, image_id in enumerate(self.image_ids)}
        images: list[list[int]] = [[] for _ in self._ids]
        rows = self._warehouse.select(
            "release.images", "item_id", "image_id", distinct=True, release_id=self.release_id
        )
        for row in rows.to_pylist():
            images[self._place["items"][row["item_id"]]].append(places[row["image_id"]])
        return images

    def _of_answers(self) -> Iterator[tuple[Row, list[int]]]:
        rows = self._warehouse.read("evaluate/site_answer_counts", {"release_id": self.release_id})
        # A bit mask for each item: bit n is set if an answer ended with status n.
        statuses = {model: [0] * len(self._ids) for model in self.models}
        lengths = {model: [0] * len(self._ids) for model in self.models}
        for row in rows.to_pylist():
            place = row["ordinal"] - 1
            statuses[row["model"]][place] = sum(
                1 << STATUSES.index(status) for status in set(row["statuses"])
            )
            lengths[row["model"]][place] = row["n_characters"]
        for number, model in enumerate(self.models):
            yield {"kind": "status", "model": number}, statuses[model]
            yield {"kind": "length", "model": number}, lengths[model]

    def _scores(self) -> Iterator[tuple[Row, Sequence[float | None]]]:
        if not self._metrics or not self.judges or self._benchmark is None:
            return
        slices = slices_of(self._warehouse, self._benchmark, self.release_id, "mean")
        yield from score_columns(self._ids, self._metrics, self.models, self.judges, slices)

    def _entries(self) -> Iterator[SampleBrowserItem]:
        number, shown = 0, SiteItems(self._place, self.pictures)
        for ids in batched(self._ids, ITEMS_AT_ONCE):
            tables = self._read(ids)
            for items in batched(tables["release.items"], ITEMS_WITH_CALLS):
                calls = self._calls(items, tables)
                for item in items:
                    yield shown.entry(number, item, tables, calls)
                    number += 1

    def _calls(self, items: Sequence[Row], tables: Mapping[str, Any]) -> dict[str, Call]:
        """Read the model calls behind the answers to these items, by key."""
        keys = {
            answer["call_key"]
            for item in items
            for answer in tables["evaluate.shown_answers"].get((item["item_id"],), ())
            if answer["call_key"]
        }
        return {call.key: call for call in self._ledger.calls(sorted(keys))}

    def _read(self, ids: Sequence[str]) -> dict[str, Any]:
        """Read the rows of some items, by table: a list of items, and other rows grouped by key."""
        tables: dict[str, Any] = {}
        with self._warehouse.kept_open():
            for table, (order, key_columns) in _READ.items():
                rows: list[Row] = []
                if table not in self._left_out:
                    where: dict[str, Any] = {"release_id": self.release_id, "item_id": ids}
                    if table == "evaluate.observations":
                        where["judge"] = RULE
                    rows = self._warehouse.select(table, order=order, **where).to_pylist()
                tables[table] = rows_by(rows, *key_columns) if key_columns else rows
        return tables

    @cached_property
    def _place(self) -> dict[str, dict[Any, int]]:
        lists: dict[str, list[Any]] = {
            "items": self._ids,
            "models": self.models,
            "trials": self.trials,
            "judges": self.judges,
            "prompts": self._versions,
            "parts": self._parts,
        }
        return {name: {each: n for n, each in enumerate(of)} for name, of in lists.items()}


def _metric(metric: Metric) -> Row:
    low, high = sorted((metric.lowest, metric.highest))
    return {
        "name": metric.name,
        "aggregation": metric.aggregation,
        "low": low if isfinite(low) else None,
        "high": high if isfinite(high) else None,
        # For the values of single items: the number of an inverse metric has the opposite order.
        "higher_is_better": metric.higher_is_better != metric.inverse,
    }
