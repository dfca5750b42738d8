"""Each picture is looked at once and each pair compared once, whoever asks, also after a kill."""

import importlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest

from assets.common import picture_copies
from assets.common.picture_copies import ImageCopyFinder, copies_of
from assets.common.ray_jobs import RowWork
from methods.ingest.picture_candidates import CopyCandidate
from methods.ingest.picture_match import UPRIGHT
from resources.images import picture_comparison
from resources.images.store import ImageStore, open_images
from resources.warehouse import Warehouse
from tests.methods.ingest.pictures_drawn import COPIES, file_of, texture

pytestmark = pytest.mark.slow


class Home:
    """Four pictures, the last one a copy of the first, and all pairs of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.warehouse = Warehouse(folder / "warehouse.duckdb")
        self.store = ImageStore(folder / "images")
        files = [*(file_of(texture(seed)) for seed in range(3)), COPIES["marked"](texture(0))]
        self.ids = [self.store.put(data).image_id for data in files]
        self.copy = tuple(sorted((self.ids[0], self.ids[3])))
        self.proposed = list(combinations(sorted(self.ids), 2))
        self.compared: list[int] = []
        self.killed_at = 99
        compare = picture_comparison.compare

        def counted(comparisons, thumbnails):
            if len(self.compared) == self.killed_at:
                raise KeyboardInterrupt
            self.compared.append(len(comparisons))
            return compare(comparisons, thumbnails)

        for module in (picture_copies, picture_comparison):
            monkeypatch.setattr(module, "compare", counted)

    def copies(self) -> list[tuple[str, str]]:
        self.compared.clear()
        pictures = ImageCopyFinder(self.warehouse, self.store)
        return pictures.copies(pictures.coded(self.ids), self.proposed)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def test_a_kill_loses_a_portion(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_copies, "PAIRS_AT_ONCE", 2)
    monkeypatch.setattr(picture_copies, "PICTURES_AT_ONCE", 3)
    home.killed_at = 2
    with pytest.raises(KeyboardInterrupt):
        home.copies()
    assert home.warehouse.count("cluster.picture_thumbnails") == 4
    assert home.warehouse.count("cluster.picture_pairs") == 4
    home.killed_at = 99
    assert home.copies() == [home.copy] and sum(home.compared) == 2
    assert home.copies() == [home.copy] and sum(home.compared) == 0


def test_what_one_stage_compared_no_other_compares(home: Home) -> None:
    assert home.copies() == [home.copy]
    home.compared.clear()
    home.store = ImageStore(home.store.root.with_name("elsewhere"))
    found = copies_of(home.warehouse, home.store, home.ids[:2], home.ids[2:])
    assert found == {home.ids[0]: [home.ids[3]]} and sum(home.compared) == 0
    # An image that is on both sides is found as itself.
    found = copies_of(home.warehouse, home.store, home.ids[:2], home.ids[1:])
    assert found == {home.ids[0]: [home.ids[3]], home.ids[1]: [home.ids[1]]}


class Workers:
    """In the place of a cluster: what workers do, in blocks, in this process."""

    def run(self, work: RowWork, rows: pa.Table, store: Callable[[pa.Table], None]) -> None:
        module, _, name = work.make.partition(":")
        on_rows = getattr(importlib.import_module(module), name)(**work.arguments)
        for start in range(0, rows.num_rows, work.n_rows):
            store(on_rows(rows.slice(start, work.n_rows)))


def test_workers_look_and_compare_as_is_done_here(home, loom_home, monkeypatch):
    home.copies()
    monkeypatch.setattr(picture_copies, "PAIRS_AT_ONCE", 2)
    monkeypatch.setattr(picture_copies, "PAIRS_PER_BLOCK", 2)
    monkeypatch.setattr(picture_copies, "PAIRS_PER_JOB", 4)
    store = open_images()
    assert home.ids == [store.put(home.store.read(one)).image_id for one in home.ids]
    on_workers = Warehouse(loom_home / "warehouse.duckdb")
    pictures = ImageCopyFinder(on_workers, store, Workers())

    assert pictures.copies(pictures.coded(home.ids), home.proposed) == [home.copy]

    for table in ("cluster.picture_thumbnails", "cluster.picture_pairs"):
        query = f"FROM {table} ORDER BY ALL"
        rows = on_workers.sql(query).to_pylist()
        assert rows and rows == home.warehouse.sql(query).to_pylist()
    # Nothing was left to do here, so only the workers looked: six pairs, in blocks of two.
    assert home.compared[-6:] == [2, 2, 2, 0, 0, 0]


def test_another_version_of_the_methods_compares_anew(home, monkeypatch):
    home.copies()
    monkeypatch.setattr(picture_copies, "VERSION", picture_copies.VERSION + 1)
    assert home.copies() == [home.copy] and sum(home.compared) == len(home.proposed)
    assert home.warehouse.count("cluster.picture_pairs") == len(home.proposed)
    assert home.warehouse.count("cluster.picture_thumbnails") == len(home.ids)
    for table in ("cluster.picture_thumbnails", "cluster.picture_pairs"):
        versions = home.warehouse.select(table, "version", distinct=True)["version"].to_pylist()
        assert versions == [picture_copies.VERSION], table


@pytest.mark.parametrize("kind", ["mirrored", "turned by 90 degrees", "cropped 10 %"])
def test_a_copy_is_found_by_all_whoever_asks_first_and_whatever_else_is_looked_at(kind, home):
    """A pair is compared in a way that depends on its two images alone."""
    original, copy = home.ids[1], home.store.put(COPIES[kind](texture(1))).image_id
    pair = (min(original, copy), max(original, copy))
    for n, first in enumerate(("the pair alone", "another list")):
        warehouse = Warehouse(home.store.root.with_name(f"{n}.duckdb"))
        pictures = ImageCopyFinder(warehouse, home.store)
        stages = [
            lambda pictures=pictures: pictures.copies(pictures.coded(pair), [pair]) == [pair],
            lambda warehouse=warehouse: (
                copies_of(warehouse, home.store, [copy], home.ids) == {copy: [original]}
            ),
        ]
        assert all(stage() for stage in (stages if not n else stages[::-1])), first


def test_a_pair_that_is_not_the_same_in_one_way_is_compared_in_another(home, monkeypatch):
    copy = home.store.put(COPIES["mirrored"](texture(1))).image_id
    pair = (min(home.ids[1], copy), max(home.ids[1], copy))
    pictures = ImageCopyFinder(home.warehouse, home.store)
    coded = pictures.coded(pair)
    with monkeypatch.context() as upright:
        ways = [CopyCandidate(0, 1, *UPRIGHT)]
        upright.setattr(picture_copies, "nearest_ways", lambda *_: ways)
        assert pictures.copies(coded, [pair]) == []
    assert pictures.copies(coded, [pair]) == [pair]
    assert home.warehouse.count("cluster.picture_pairs") == 2
