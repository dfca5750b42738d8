"""Dataset card (`README.md`) for the Hugging Face Hub: a YAML header, and text about the release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from methods.evaluation.candidates import MOCK_PROVIDERS
from methods.exports.rows import ExportedItem
from methods.licences.combination import SetLicence
from methods.markdown import cell, code, table
from methods.prompts.messages import IMAGE_HERE
from methods.release import held_out
from methods.release_card import (
    BROKEN,
    Card,
    benchmark_of,
    edition_in_words,
    edition_of,
    facts,
    reviewed_by,
)

HUB_LICENCES = frozenset(
    {
        *("apache-2.0", "mit", "unlicense", "wtfpl", "pddl", "odbl-1.0", "gfdl", "isc", "zlib"),
        *("cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
        *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0"),
        *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
        *("cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    }
)
"""Licence identifiers that the Hugging Face Hub knows; all others are `other` with a name."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
MOST_SHOWN = 600
"""Limit of one text of the example, in characters."""
UNKNOWN_LICENCE = "unknown"
MAKING = ("Written by", "Edited by", "Prompts", "Corpus", "tau", "Parent", "Made", "vlm-loom")
CHECKED = ("Checks of pairs", "Found by the checks")
LEFT_OUT = (
    *("Left out by the checks", "Left out as shared", BROKEN),
    "Items left out for a licence",
)


@dataclass(frozen=True)
class DatasetSplit:
    """One release as a split of one language: its files, number of rows, and size in bytes."""

    release_id: str
    config: str
    split: str
    path: str
    n_rows: int
    n_bytes: int
    language: str | None = None


@dataclass(frozen=True)
class DatasetCardInput:
    """The data of a dataset card; the first of the release `cards` provides the name."""

    cards: Sequence[Card]
    licence: SetLicence
    left_out: Mapping[str, int]
    agreement: Sequence[Mapping[str, Any]]
    files: Mapping[str, str]
    parts: Sequence[DatasetSplit] = ()
    features: Sequence[Mapping[str, Any]] = ()
    example: ExportedItem | None = None
    pictures: Sequence[str] = ()
    """Paths of the example's images."""
    loading: str = ""
    """Lines of Python that load the dataset."""
    stated: str = ""
    """The licence that the exporting person states for texts, and for images without a known one."""
    notes: Sequence[str] = field(default_factory=tuple)


def dataset_page(page: DatasetCardInput) -> str:
    """Render the card with its header."""
    header = yaml.safe_dump(_header(page), sort_keys=False, allow_unicode=True)
    return f"---\n{header}---\n\n{page_text(page)}"


def page_text(page: DatasetCardInput) -> str:
    """Render the card without its header. External texts are rendered as code."""
    return "\n".join(_lines(page)).rstrip("\n") + "\n"


def summary(card: Card) -> str:
    """Describe a release in two sentences."""
    kind = (
        f"A benchmark ({code(edition_in_words(card))})"
        if benchmark_of(card)
        else "An instruction set"
    )
    making = (
        "built from Wikipedia's pictures and texts"
        if card.get("origin", "built") == "built"
        else "imported from published files"
    )
    return (
        f"{kind} of {card['n_items']} items with "
        f"{card['n_turns']} turns about {card['n_images']} pictures, {making} by vlm-loom. "
        "A release is frozen: its id is a hash of its items, pictures, reviewers and review policy."
    )


def licence_in_words(licence: SetLicence, stated: str = "") -> str:
    """Say which licence the whole dataset has, and why.

    Args:
        licence: The licence of the whole.
        stated: The licences that the exporting person stated; empty for none.
    """
    if licence.licence and stated:
        return (
            f"The whole is under {licence.licence}. For its texts, and for pictures of which no "
            f"licence is known, {stated} was stated by whoever exported it (licences of "
            "release.exports in settings.yaml), and by no source; the licence of the whole follows "
            "from this and from the licences of the other pictures."
        )
    if licence.licence:
        return (
            f"The whole is under {licence.licence}, which follows from the licences of its parts."
        )
    if licence.n_unknown:
        return (
            f"No licence of the whole is known, as none is known of {licence.n_unknown} pictures "
            "(counted once for each item that shows them)."
        )
    return (
        "No licence of the whole is known, as it has no pictures and none is stated for its texts."
    )


def _header(page: DatasetCardInput) -> dict[str, Any]:
    card = page.cards[0]
    languages = sorted({part.language for part in page.parts if part.language})
    n_rows = sum(part.n_rows for part in page.parts) or card["n_items"]
    tasks = ["visual-question-answering", "image-text-to-text"]
    if page.example and page.example.choices:
        tasks.append("multiple-choice")
    header: dict[str, Any] = _licence_fields(page.licence)
    if languages:
        header["language"] = languages
    header |= {
        "pretty_name": card["release_id"],
        "task_categories": tasks,
        "size_categories": [next((name for limit, name in SIZES if n_rows < limit), "1M<n<10M")],
        "tags": ["vlm-loom", "multi-image", benchmark_of(card) or card["kind"]],
        "annotations_creators": [
            "expert-generated" if card["review_policy"] != "none" else "machine-generated"
        ],
    }
    if page.parts:
        configs = dict.fromkeys(part.config for part in page.parts)
        header["configs"] = [
            {
                "config_name": config,
                "data_files": [
                    {"split": part.split, "path": part.path}
                    for part in page.parts
                    if part.config == config
                ],
            }
            for config in configs
        ]
        header["dataset_info"] = [_info(page, config) for config in configs]
    return header


def _info(page: DatasetCardInput, config: str) -> dict[str, Any]:
    parts = [part for part in page.parts if part.config == config]
    n_bytes = sum(part.n_bytes for part in parts)
    return {
        "config_name": config,
        "features": list(page.features),
        "splits": [
            {"name": part.split, "num_bytes": part.n_bytes, "num_examples": part.n_rows}
            for part in parts
        ],
        "download_size": n_bytes,
        "dataset_size": n_bytes,
    }


def _licence_fields(licence: SetLicence) -> dict[str, Any]:
    name = licence.licence
    if name is None:
        return {"license": UNKNOWN_LICENCE}
    if name.lower() in HUB_LICENCES:
        return {"license": name.lower()}
    return {"license": "other", "license_name": name.lower()}


def _lines(page: DatasetCardInput) -> Iterator[str]:
    card = page.cards[0]
    fact_values = dict(facts(card))
    built = card.get("origin", "built") == "built"
    yield f"# {card['release_id']}"
    yield ""
    yield summary(card)
    if len(page.cards) > 1:
        yield from ("", "This folder has more releases; what follows is of the first one.", "")
        yield from table(
            ("release", "config", "split", "rows"),
            [
                (code(part.release_id), code(part.config), code(part.split), str(part.n_rows))
                for part in page.parts
            ],
        )
    yield from _section("Construction")
    yield from table(
        ("", ""), [(name, code(fact_values[name])) for name in MAKING if name in fact_values]
    )
    yield from _section("Review")
    yield from _review(page)
    yield from _section("Quality")
    checks = [(name, code(fact_values[name])) for name in CHECKED if name in fact_values]
    yield from table(("", ""), checks) if checks else ["Its texts were not checked automatically."]
    yield from _section("What was left out")
    gone = [(name, code(fact_values[name])) for name in LEFT_OUT if name in fact_values]
    gone += [
        (f"Items left out of these files: {why}", str(n))
        for why, n in sorted(page.left_out.items())
    ]
    yield from table(("", ""), gone) if gone else ["Nothing is known to have been left out."]
    yield from _section("Known limits")
    yield from (f"- {limit}" for limit in limits(page))
    yield from _section("Licence and attribution")
    # An imported release may name anything as a licence, and the Hub shows Markdown and HTML.
    licence = page.licence._replace(licence=code(page.licence.licence or "") or None)
    yield licence_in_words(licence, page.stated)
    yield (
        "Each picture has a licence of its own: title, page, author, licence, and what was changed of "
        "each one are in `attribution.csv` and in each row."
    )
    if "Licences" in fact_values:
        yield ""
        yield from table(
            ("", ""), [(name, code(fact_values[name])) for name in ("Licences", "Terms")]
        )
    if page.example:
        yield from _section("Example")
        yield from _example(page.example, page.pictures)
    yield from _section("Files")
    yield from (f"- `{name}`: {what}" for name, what in page.files.items())
    if page.loading:
        yield from ("", "```python", *page.loading.splitlines(), "```")
    yield from _section("How to cite")
    yield from _citation(card, built)


def _section(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _review(page: DatasetCardInput) -> Iterator[str]:
    card = page.cards[0]
    policy = reviewed_by(card)
    what = {
        "none": "No review by people was demanded.",
        "all": "Every item was to be approved by people.",
    }
    yield what.get(policy, f"A part of the items was to be approved by people: {policy}.")
    yield "Each row has the number of people who approved its item (`n_reviewers`)."
    if page.agreement:
        yield ""
        yield from table(
            ("what was decided", "measure", "items", "value", "95 % interval"),
            [
                (
                    code(f"{row['kind']}, {row['dimension']}"),
                    code(row["measure"]),
                    str(row["n_items"]),
                    f"{row['value']:z.2f}",
                    f"{row['low']:z.2f} to {row['high']:z.2f}",
                )
                for row in page.agreement
            ],
        )
    else:
        yield "No agreement between people was measured."


def limits(page: DatasetCardInput) -> Iterator[str]:
    """Yield the limitations of the data, one sentence each."""
    card = page.cards[0]
    built = card.get("origin", "built") == "built"
    if built:
        yield "Questions and answers were written by models; what nobody reviewed may be wrong."
        yield (
            "Pictures and texts are those of Wikipedia's pages, with the topics and errors that "
            "these have."
        )
    else:
        yield "What its authors did to make it is not known here: see their own documentation."
    if held_out(edition_of(card)):
        yield "The answers of this split are held out: no file here has them."
    if card["review_policy"] != "all":
        yield "Not every item was reviewed."
    if card["provider"] in MOCK_PROVIDERS:
        yield (
            "Its texts were made by the mock model server: they are of no use but to try the form."
        )
    yield from page.notes


def _example(item: ExportedItem, pictures: Sequence[str]) -> Iterator[str]:
    yield " ".join(f"![picture {number}]({path})" for number, path in enumerate(pictures, start=1))
    for turn in item.turns[:2]:
        yield from ("", f"> **User:** {_quoted(turn.question)}")
        answer = turn.given or turn.references.get("answer") or turn.references.get("key")
        if answer:
            yield from (">", f"> **Assistant:** {_quoted(answer)}")
    if len(item.turns) > 2:
        yield from ("", f"(and {len(item.turns) - 2} more turns)")


def _quoted(text: str) -> str:
    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]} …"
    return code(short.replace(IMAGE_HERE, "[picture]"))


def _citation(card: Card, built: bool) -> Iterator[str]:
    if not built:
        yield "Cite the authors of the benchmark, and name the release that the figures are of:"
        yield ""
    # In the fence, only a line of backticks would be Markdown.
    made_with = cell(f"made with vlm-loom {card.get('project_version') or ''}")
    yield from (
        "```bibtex",
        f"@misc{{{card['release_id']},",
        f"  title = {{{{{card['release_id']}}}}},",
        f"  year = {{{card['created_at'][:4]}}},",
        f"  note = {{Release {card['release_id']}, {made_with}}}",
        "}",
        "```",
    )
