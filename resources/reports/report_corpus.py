"""The corpus page of the site: counts, clusters, image sets, drops, checks, review and costs."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypedDict

from methods.naming import decimal_text, number_of
from methods.release_statistics import CategoryCounts
from resources.images.store import ImageStore
from resources.reports import report_blocks as block
from resources.reports.page import render_page
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_examples import source_of
from resources.reports.report_input import Row, Rows
from resources.reports.report_shape import share_chart
from resources.reports.report_trust import MEASURES as JUDGE_MEASURES

MOST_PICTURES = 6
"""The page shows this many images of a set."""
MEASURES = {
    **JUDGE_MEASURES,
    "raw": "Raw agreement",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_nominal": "Krippendorff's alpha, nominal",
    "krippendorff_ordinal": "Krippendorff's alpha, ordinal",
}


class CorpusPageInput(TypedDict):
    """The data of the page: rows of tables and of the queries `sql/evaluate/corpus_*.sql`.

    `counts` is a single row.
    """

    counts: Row
    languages: Rows
    licences: Rows
    shards: Rows
    clusters: Rows
    sets: Rows
    set_sizes: Rows
    left_out: Rows
    checks: Rows
    review: Rows
    agreement: Rows
    effort: Rows
    costs: Rows


class CorpusImage(NamedTuple):
    """An image of the corpus with its caption; `source` is None if the image is not stored."""

    source: str | None
    title: str
    rights: str


class CorpusImageGroup(NamedTuple):
    """A titled group of images, such as an image set."""

    title: str
    pictures: list[CorpusImage]


def render_corpus(corpus: CorpusPageInput, image_store: ImageStore, generated: str) -> str:
    """Render the page. A missing image gets a placeholder.

    Args:
        corpus: The data of the page.
        image_store: The image store.
        generated: The time, ISO 8601.

    Raises:
        ImageDamaged: The file of an image is damaged.
    """
    counts = corpus["counts"]
    has_content = bool(counts["n_shards"] or counts["n_entries"])
    sections = [
        *(_of_corpus(corpus, image_store) if has_content else ()),
        _left_out(corpus["left_out"]) if has_content or corpus["left_out"] else None,
        _checks(corpus["checks"]),
        block.Section("review", "Review", "Review", list(_review(corpus))),
        _costs(corpus["costs"]),
    ]
    return render_page(
        "corpus.html",
        nav_name="corpus",
        counts=counts,
        there=has_content,
        megabytes=f"{counts['n_bytes'] / 1e6:,.1f}",
        sections=[section for section in sections if section and section.blocks],
        generated=generated,
    )


def _of_corpus(corpus: CorpusPageInput, image_store: ImageStore) -> Iterator[block.Section]:
    counts = corpus["counts"]
    counted = (
        ("Pages by language", "pages", corpus["languages"], "language", "n_pages"),
        ("Pictures by licence", "pictures", corpus["licences"], "licence", "n_images"),
    )
    drawings = []
    for name, noun, rows, label, n in counted:
        if of_values := tuple((row[label] or "not known", row[n]) for row in rows):
            chart = share_chart(CategoryCounts(name, noun, of_values))
            drawings.append(block.Drawing("bars", chart))
    shards = block.Table(
        "Shards",
        block.heads("Shard", "Rows", "Entries", "Rows left out", "Lines rejected"),
        [
            [
                Cell(row["wit_shard"], kind="who"),
                *(Cell(f"{row[n]:,}") for n in ("n_rows", "n_entries", "n_left_out", "n_rejected")),
            ]
            for row in corpus["shards"]
        ],
    )
    title = number_of(counts["n_shards"], "shard")
    if counts["n_shards"] > len(corpus["shards"]):
        title = f"The {len(corpus['shards'])} largest of {title}"
    yield block.Section(
        "numbers",
        "Languages and licences",
        "Languages, licences, shards",
        [block.Pane(drawings, "charts"), block.FoldedBlocks(block.bold(title), [shards])],
    )
    blocks: list[block.Block] = [block.note("corpus_map" if counts["has_map"] else "no_corpus_map")]
    if centres := [_centre(row, image_store) for row in corpus["clusters"]]:
        blocks += [
            block.Heading("The largest clusters"),
            block.Drawing("groups", [CorpusImageGroup("", centres)]),
        ]
    yield block.Section("clusters", "Clusters", "Clusters", blocks)
    yield block.Section("sets", "Image sets", "Image sets", list(_sets(corpus, image_store)))


def _picture(row: Row, image_store: ImageStore) -> CorpusImage:
    rights = ", ".join(filter(None, (row["licence"] or "licence unknown", row["artist"])))
    source = source_of(row["image_id"], image_store) if row["image_id"] else None
    return CorpusImage(source, row["title"] or "", rights)


def _centre(row: Row, image_store: ImageStore) -> CorpusImage:
    """Return the image at the centre of a cluster; its entry may no longer be in the corpus."""
    picture = _picture(row, image_store)
    entries = "1 entry" if row["size"] == 1 else f"{row['size']} entries"
    return picture._replace(title=f"{picture.title}: {entries}")


def _sets(corpus: CorpusPageInput, image_store: ImageStore) -> Iterator[block.Block]:
    """Yield a table of the number of image sets by size, and a sample of sets."""
    sizes = [row for row in corpus["set_sizes"] if row["wanted"] or row["made"]]
    if not sizes:
        return
    yield block.note("image_sets")
    kinds = list(dict.fromkeys(row["kind"] for row in sizes))
    by_size = {(row["kind"], row["n_images"]): row for row in sizes}
    numbers = sorted({row["n_images"] for row in sizes})
    yield block.Table(
        "Sizes of image sets",
        [
            Cell("Images", kind="l who"),
            *(Cell(str(n)) for n in numbers),
            Cell("All"),
        ],
        [
            [
                Cell(kind, kind="who"),
                *(_n_made_cell(by_size.get((kind, n))) for n in numbers),
                Cell(str(sum(row["made"] for row in sizes if row["kind"] == kind))),
            ]
            for kind in kinds
        ],
    )
    for kind in kinds:
        sets: dict[str, list[Row]] = {}
        for row in corpus["sets"]:
            if row["kind"] == kind:
                sets.setdefault(row["set_id"], []).append(row)
        if sets:
            yield block.Heading(f"{kind.capitalize()} sets")
            yield block.Drawing(
                "groups",
                [
                    CorpusImageGroup(
                        f"{number_of(len(rows), 'picture')}, set {set_id[:12]}",
                        [_picture(row, image_store) for row in rows[:MOST_PICTURES]],
                    )
                    for set_id, rows in sets.items()
                ],
            )


def _n_made_cell(row: Row | None) -> Cell:
    if row is None:
        return Cell("–", kind="n quiet")
    return Cell(str(row["made"]), [] if row["made"] == row["wanted"] else [f"of {row['wanted']}"])


def _left_out(rows: Rows) -> block.Section:
    blocks: list[block.Block] = [block.note("nothing_left_out", "lead")]
    if rows:
        heads = [*(Cell(name, kind="l") for name in ("Step", "Reason")), Cell("Left out")]
        blocks = [
            block.note("left_out"),
            block.Table(
                "What was left out",
                [*heads, Cell("Examples", kind="l")],
                [
                    [
                        Cell(row["step"], kind=""),
                        Cell(row["reason"].replace("_", " "), kind=""),
                        Cell(number_of(row["n"], row["noun"].replace("_", " ")), sort=row["n"]),
                        Cell("", list(map(_example, row["examples"])), "examples"),
                    ]
                    for row in rows
                ],
                "stacked left-out sorted",
                filter="Reasons with",
            ),
        ]
    return block.Section("left-out", "What was left out", "What was left out, and why", blocks)


def _example(row: Row) -> str:
    detail = f": {row['detail']}" if row["detail"] else ""
    return markup("<b>{reference}</b>{detail}", reference=row["reference"], detail=detail)


def _checks(rows: Rows) -> block.Section:
    """Make the table of checked pairs by finding and outcome (pass, review, drop)."""
    kinds = sorted({row["kind"] for row in rows})
    outcomes = ("pass", "review", "drop")
    n_of_reason = {(row["kind"], row["reason"], row["outcome"]): row["n"] for row in rows}
    lines = []
    for reason in sorted({row["reason"] for row in rows}):
        counts = [n_of_reason.get((kind, reason, of), 0) for kind in kinds for of in outcomes]
        name = reason.replace("_", " ") if reason else "all pairs"
        cells = [Cell(str(n), kind="n" if n else "n quiet") for n in counts]
        lines.append([Cell(name, kind="who"), *cells])
    heads = [Cell(of, [kind]) for kind in kinds for of in outcomes]
    table = block.Table("Quality checks", block.heads("Found", *heads), lines)
    blocks: list[block.Block] = [block.note("quality_checks"), table] if rows else []
    return block.Section("checks", "Quality checks", "Quality checks", blocks)


def _review(corpus: CorpusPageInput) -> Iterator[block.Block]:
    """Yield the table of review by kind, the agreement of people, and what each person did."""
    if not corpus["review"]:
        return
    names = ("n_approved", "n_rejected", "n_pending", "n_edited", "n_decided")
    heads = ("Approved", "Rejected", "Pending", "Edited", "Decided by people", "Policy")
    lines = [
        [
            Cell(row["kind"].replace("_", " "), kind="who"),
            *(Cell(f"{row[name]:,}", kind="n" if row[name] else "n quiet") for name in names),
            Cell(row["policy"], [f"{row['n_demanded']:,} demanded"]),
        ]
        for row in corpus["review"]
    ]
    yield block.note("review")
    yield block.Table("Review", block.heads("Kind", *heads), lines)
    people = [row for row in corpus["effort"] if row["n_decisions"]]
    if not people:
        yield block.note("nobody_decided")
        return
    if measured := [row for row in corpus["agreement"] if row["n_items"]]:
        texts = (Cell("Of", kind="l"), Cell("Measure", kind="l"))
        of_measures = block.heads("Kind", *texts, "Items", "Value")
        yield block.Heading("How far people agree", id="agreement")
        yield block.Table("Agreement of people", of_measures, list(map(_agreed, measured)))
    of_people = block.heads(
        "Person", Cell("Kind", kind="l"), "Round", "Decisions", "Skipped", "Seconds"
    )
    table = block.Table("What each person did", of_people, list(map(_person, people)))
    n_people = len({row["reviewer"] for row in people})
    who = "person" if n_people == 1 else "people"
    yield block.FoldedBlocks(block.bold(f"What {n_people} {who} did"), [table])


def _agreed(row: Row) -> list[Cell]:
    value = "–" if row["value"] is None else decimal_text(row["value"], 2)
    ends = (
        []
        if row["low"] is None
        else [" to ".join(decimal_text(row[end], 2) for end in ("low", "high"))]
    )
    return [
        Cell(row["kind"].replace("_", " "), kind="who"),
        Cell(row["dimension"].replace("_", " "), kind=""),
        Cell(MEASURES[row["measure"]], kind=""),
        Cell(str(row["n_items"])),
        Cell(value, ends or ([row["reason"]] if row["reason"] else [])),
    ]


def _person(row: Row) -> list[Cell]:
    seconds = "–" if row["median_seconds"] is None else f"{row['median_seconds']:.0f}"
    numbers = (row["round"], row["n_decisions"], row["n_skipped"], seconds)
    kind = row["kind"].replace("_", " ")
    return [
        Cell(row["reviewer"], kind="who"),
        Cell(kind, kind=""),
        *(Cell(str(n)) for n in numbers),
    ]


def _costs(rows: Rows) -> block.Section:
    """Make the table of costs by stage, in total and for each of the last days."""
    if not rows:
        return block.Section("costs", "Costs", "Costs", [block.note("no_calls", "lead")])
    days = sorted({row["last_day"] for row in rows if row["last_day"]}, reverse=True)
    by_stage: dict[str, list[Row]] = {}
    for row in rows:
        by_stage.setdefault(row["stage"], []).append(row)
    # If no call has a cost, days show numbers of calls.
    by_calls = not any(row["cost_usd"] for row in rows)
    lines = [
        *(_cost(stage, of, days, by_calls) for stage, of in by_stage.items()),
        _cost("all stages", rows, days, by_calls),
    ]
    heads = ("Calls", "Lost", "Tokens in", "Tokens out", "Seconds", "USD")
    of_day = "calls" if by_calls else "USD"
    table = block.Table(
        "Costs by stage and day",
        block.heads("Stage", *heads, *(Cell(day.isoformat(), [of_day]) for day in days)),
        lines,
        "costs",
        {len(lines) - 1: "truth"},
    )
    return block.Section("costs", "Costs", "Costs by stage and day", [block.note("costs"), table])


def _cost(name: str, rows: Sequence[Row], days: Sequence[Any], by_calls: bool) -> list[Cell]:
    def calls(rows: Sequence[Row]) -> int:
        return sum(row["n_answered"] + row["n_lost"] for row in rows)

    def usd(rows: Sequence[Row]) -> float:
        return float(sum(row["cost_usd"] for row in rows))

    numbers = (
        calls(rows),
        *(sum(row[n] for row in rows) for n in ("n_lost", "prompt_tokens", "completion_tokens")),
        round(sum(row["seconds"] for row in rows)),
    )
    by_day = ([row for row in rows if row["last_day"] == day] for day in days)
    return [
        Cell(name, kind="who"),
        *(Cell(f"{n:,}", kind="n" if n else "n quiet", sort=n) for n in numbers),
        Cell(f"{usd(rows):,.2f}", kind="n" if usd(rows) else "n quiet"),
        *(
            Cell(
                (f"{calls(day_costs):,}" if by_calls else f"{usd(day_costs):,.2f}")
                if day_costs
                else "–",
                kind="n quiet",
            )
            for day_costs in by_day
        ),
    ]
