"""HTML reports: one page for each release, an index of all, and a page about the corpus."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.corpus_page import write_corpus
from assets.evaluate.error_attribution import error_attribution
from assets.evaluate.extraction_quality import extraction_quality
from assets.evaluate.item_decisions import item_decisions
from assets.evaluate.judge_bias_tests import judge_bias_tests
from assets.evaluate.judge_quality import judge_quality
from assets.evaluate.language_gaps import language_gaps
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.model_groups import model_groups
from assets.evaluate.pair_ratings import pair_ratings
from assets.evaluate.prompt_sensitivity import prompt_sensitivity
from assets.evaluate.provenance import provenance
from assets.evaluate.report_data import board_data, report_data
from assets.evaluate.smallest_subsets import smallest_subsets
from assets.ingest import pages
from methods.benchmarks import Benchmarks
from resources.files.home import relative_to_home, reports_path
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.llm.registry import Profile, load_registry
from resources.publishing.result_files import read_calls
from resources.reports.benchmark_report import render_report, write_report
from resources.reports.diff_page import diff_pages
from resources.reports.report_index import ReleaseLine, line_of, render_index
from resources.warehouse import Warehouse
from resources.web.addresses import address

INDEX = "index.html"


@table_asset(
    "evaluate.reports",
    kinds={"html"},
    deps=[
        leaderboard,
        model_groups,
        provenance,
        extraction_quality,
        item_decisions,
        smallest_subsets,
        language_gaps,
        error_attribution,
        pair_ratings,
        prompt_sensitivity,
        judge_quality,
        judge_bias_tests,
        pages,
    ],
)
def reports(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    profile: dg.ResourceParam[Profile],
    benchmarks: dg.ResourceParam[Benchmarks],
    ledger: dg.ResourceParam[Ledger],
) -> dg.MaterializeResult:
    """HTML reports: one page per current or evaluated release, an index, and a page on the corpus.

    A page has leaderboards with ranks, charts, comparisons and slices by judge, item analyses, the
    contents of the release, failures, and examples with images. The page of an instruction set has no
    leaderboard.
    """
    isolation = Isolation("evaluate.reports")
    families = load_registry().families
    rows, lines = [], []
    for release in warehouse.read("evaluate/reported_releases").to_pylist():
        with isolation.release(release["release_id"]):
            # About twenty queries, for which the file is opened once.
            with warehouse.kept_open():
                calls = read_calls(warehouse, ledger, release["release_id"])
                data = report_data(warehouse, benchmarks, release, profile, families, calls)
            path = reports_path() / f"{release['release_id']}.html"
            line = line_of(data, path.name)
            rows.append(
                {
                    "release_id": release["release_id"],
                    "path": relative_to_home(path),
                    "sha256": write_report(path, render_report(data, image_store)),
                    "n_models": line.n_models,
                }
            )
            lines.append(line)
    table = write_rows(warehouse, {"evaluate.reports": rows})
    # If only the corpus or the costs change, `ledger.costs` writes this page without the reports.
    corpus = write_corpus(warehouse, image_store)
    links = {
        "index": relative_to_home(write_index(lines)),
        "corpus": relative_to_home(corpus),
        **{row["release_id"]: row["path"] for row in rows},
    }
    return isolation.finish(
        warehouse,
        report(table, {name: dg.MetadataValue.url(address(path)) for name, path in links.items()}),
    )


def index_lines(
    warehouse: Warehouse, benchmarks: Benchmarks, profile: Profile
) -> list[ReleaseLine]:
    """Make the lines of the index, one for each release with a report.

    Args:
        warehouse: The tables.
        benchmarks: The benchmarks.
        profile: The profile of models.yaml.

    Returns:
        The lines.
    """
    families = load_registry().families
    lines = []
    for release in warehouse.read("evaluate/reported_releases").to_pylist():
        page = f"{release['release_id']}.html"
        if (reports_path() / page).is_file():
            data = board_data(warehouse, benchmarks, release, profile, families)
            lines.append(line_of(data, page))
    return lines


def write_index(lines: Sequence[ReleaseLine]) -> Path:
    """Write the index of reports and of existing comparisons of releases."""
    index = reports_path() / INDEX
    generated = datetime.now(UTC).isoformat(timespec="seconds")
    write_report(index, render_index(lines, generated, diff_pages()))
    return index
