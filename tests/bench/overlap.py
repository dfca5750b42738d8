"""How many planted leaks the comparison of releases finds, and how many of what it names are none.

Run by `make bench NAME=overlap` on real texts: paragraphs of Wikipedia (the real sample in WIT's
form), the
long descriptions of the Debian packages that are installed, one-line descriptions of 60,000 packages,
and what the offline server answers about the sample's pictures, in phrases that it has for all. Half of
each kind's sources are the benchmark's, half the instruction set's. For each change, texts of the
benchmark are changed so and put into the instruction set: leaks are to be found, and what differs in a
detail is not. Prints a table, and as the last line all figures as one JSON object.

Limits were chosen on every other source (`--half tuning`); what counts are the figures of the rest.
"""

import argparse
import csv
import gzip
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from PIL import Image

from methods.overlap import BLOCKING, Asked, Content, shared
from methods.same_text import COLOURS, said
from resources.files.home import REPO_ROOT
from resources.offline.careful_answers import careful_answer
from resources.offline.dialogue_texts import SEVERAL, SINGLE
from resources.offline.image_facts import Facts, analyse

DATA = REPO_ROOT.parent / "shared" / "data"
HALVES = ("tuning", "held-out")
STOCK = "What does a reader learn here?"
MOST_TEXTS = 1_500
"""Texts of a kind on each side."""
N_ASKED = 4
"""Questions about one picture, and about two."""
LEAST_WORDS = 8
"""A shorter text is the same as another one by chance."""

Row = dict[str, Any]


class Text(NamedTuple):
    """A question with its answer; those of one source are on one side."""

    kind: str
    source: str
    about: str
    question: str
    answer: str


# --- Texts ---------------------------------------------------------------------------------------


def wikipedia() -> Iterator[Text]:
    """Paragraphs and captions of the real sample."""
    csv.field_size_limit(sys.maxsize)
    with gzip.open(DATA / "wit_sample" / "wit_sample.tsv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for column in ("context_page_description", "caption_attribution_description"):
                yield Text("Wikipedia", row["page_url"], row["image_url"], STOCK, row[column] or "")


def packages() -> Iterator[Text]:
    """Long descriptions of the packages that are installed; those of one source belong together."""
    form = "${Package}\t${source:Package}\t${Description}\x1e"
    told = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True).stdout
    for record in told.split("\x1e"):
        if len(parts := record.split("\t", 2)) == 3:
            text = " ".join(line.strip(" .") for line in parts[2].splitlines())
            yield Text("Packages", parts[1], parts[0], STOCK, text)


def lines() -> Iterator[Text]:
    """One-line descriptions; those that begin alike belong together."""
    with gzip.open(DATA / "package_descriptions.txt.gz", "rt") as file:
        for line in file:
            yield Text("One line", " ".join(line.split()[:2]), line, STOCK, line.strip())


def offline() -> Iterator[Text]:
    """Answers about each picture, and about each with the next one on its side, to stock questions."""
    sides: dict[tuple[int, int], list[tuple[str, Facts]]] = defaultdict(list)
    for path in sorted((DATA / "wit_sample" / "images").iterdir()):
        with Image.open(path) as image:
            sides[place(path.name)].append((path.name, analyse(image)))
    for pictures in sides.values():
        for (name, facts), (_, other) in pairwise(pictures):
            for template in SINGLE[:N_ASKED]:
                question = template.format("<image-1>")
                answer = careful_answer(question, {1: facts}, "expert")
                yield Text("Offline", name, name, question, answer)
            for template in SEVERAL[:N_ASKED]:
                question = template.format("<image-1> and <image-2>")
                answer = careful_answer(question, {1: facts, 2: other}, "expert")
                yield Text("Offline", name, f"{name} and another", question, answer)


def place(source: str) -> tuple[int, int]:
    """The half that a source is of, and its side in it."""
    digest = hashlib.sha256(source.encode()).digest()
    return digest[0] % 2, digest[1] % 2


def chosen(half: str) -> dict[str, tuple[list[Text], list[Text]]]:
    """By kind, the texts of the benchmark and of the instruction set of one half of the sources."""
    found: dict[str, tuple[list[Text], list[Text]]] = defaultdict(lambda: ([], []))
    known = set()
    for text in chain(wikipedia(), packages(), lines(), offline()):
        of_half, of_side = place(text.source)
        side = found[text.kind][of_side]
        is_ours = of_half == HALVES.index(half) and text.answer not in known
        known.add(text.answer)
        if is_ours and len(side) < MOST_TEXTS and len(text.answer.split()) >= LEAST_WORDS:
            side.append(text)
    return found


# --- Changes -------------------------------------------------------------------------------------

_SENTENCES = re.compile(r"(?<=[.!?]) +")
_WORD = re.compile(r"[^\W\d_]+")
OTHERS = ("certain", "given", "actual", "usual", "former", "plain", "mere", "common")


def capitals(text: str) -> str:
    """In capitals, with other punctuation."""
    return re.sub(r"[,;:()–](?!\d)|\.(?= |$)", " —", text).upper()


def reordered(text: str) -> str | None:
    """Its sentences from the last to the first."""
    parts = _SENTENCES.split(text)
    return " ".join(reversed(parts)) if len(parts) > 2 else None


def reworded(every: int) -> Callable[[str], str | None]:
    """One of so many words is another one; details stay."""

    def change(text: str) -> str | None:
        words = text.split(" ")
        for place in range(every // 2, len(words), every):
            free = [
                at
                for at in range(place, min(place + every, len(words)))
                if words[at].isalpha() and words[at].islower() and not said(words[at]).details
            ]
            if free:
                words[free[0]] = OTHERS[place // every % len(OTHERS)]
        changed = " ".join(words)
        return changed if changed != text else None

    return change


def within(text: str) -> str:
    """Inside a longer text."""
    return f"Let me have a closer look at this. {text} I hope that this answers what was asked."


def number(text: str) -> str | None:
    """The first number is another one."""
    found = re.search(r"(?<![\w-])\d+", text)
    return found and f"{text[: found.start()]}{int(found[0]) + 7}{text[found.end() :]}"


def colour(text: str) -> str | None:
    """The first colour is another one."""
    for found in _WORD.finditer(text):
        if found[0] in COLOURS:
            other = "green" if found[0] != "green" else "brown"
            return f"{text[: found.start()]}{other}{text[found.end() :]}"
    return None


def name(text: str) -> str | None:
    """One name is another one wherever it stands."""
    found = re.search(r"(?<=[a-z] )[A-Z][a-z]{3,}\b", text)
    return found and re.sub(rf"\b{found[0]}\b", "Oldcastle", text)


def images(text: str) -> str | None:
    """Two images have changed places."""
    if not {"<image-1>", "<image-2>"} <= {*re.findall(r"<image-\d+>", text)}:
        return None
    return (
        text.replace("<image-1>", "\0").replace("<image-2>", "<image-1>").replace("\0", "<image-2>")
    )


LEAKS: dict[str, Callable[[str], str | None]] = {
    "verbatim": lambda text: text,
    "in capitals, other punctuation": capitals,
    "sentences in another order": reordered,
    "one word in ten is another": reworded(10),
    "one word in seven is another": reworded(7),
    "within a longer text": within,
}
NO_LEAKS: dict[str, Callable[[str], str | None]] = {
    "another number": number,
    "another colour": colour,
    "another name": name,
    "images exchanged": images,
}


# --- Figures -------------------------------------------------------------------------------------


def content(release_id: str, texts: Sequence[Text], *, imported: bool = False) -> Content:
    """A release of an item for each text."""
    asked = [
        Asked(str(number), 1, text.about, said(text.question), (said(text.answer),))
        for number, text in enumerate(texts)
    ]
    return Content(release_id, asked=asked, imported=imported)


def named(benchmark: Sequence[Text], instruction: Sequence[Text]) -> set[tuple[int, int]]:
    """Places of texts of both that are called the same."""
    releases = content("bench", benchmark, imported=True), content("instruct", instruction)
    found = shared([releases[0]], [releases[1]])
    return {(int(each.item), int(each.of)) for each in found if each.kind in BLOCKING}


def measured(kind: str, change: str, sides: tuple[list[Text], list[Text]]) -> Row | None:
    """What is found of one change, and what is named besides; None if no text can be changed so."""
    benchmark, instruction = sides
    planted, places = [], []
    for place, text in enumerate(benchmark):
        changed = {**LEAKS, **NO_LEAKS}[change](text.answer)
        if changed:
            places.append((place, len(instruction) + len(planted)))
            planted.append(text._replace(about=f"planted {text.about}", answer=changed))
    if not planted:
        return None
    found = named(benchmark, [*instruction, *planted])
    n_planted = len({*places} & found)
    return {
        "kind": kind,
        "change": change,
        "leak": change in LEAKS,
        "planted": len(planted),
        "named": n_planted,
        "others named": len(found) - n_planted,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="held-out")
    parser.add_argument("--show", action="store_true", help="what is named of texts as they are")
    arguments = parser.parse_args(argv)
    began = time.process_time()
    rows: list[Row] = []
    for kind, (benchmark, instruction) in chosen(arguments.half).items():
        found = sorted(named(benchmark, instruction))
        if arguments.show:
            for one, other in found:
                print(f"{benchmark[one].answer}\n  = {instruction[other].answer}")
        rows.append(
            {
                **{"kind": kind, "change": "as they are", "leak": False},
                **{"planted": len(instruction), "named": len(found), "others named": 0},
            }
        )
        made = (measured(kind, each, (benchmark, instruction)) for each in (*LEAKS, *NO_LEAKS))
        rows += [row for row in made if row]
    print("| texts | change | texts changed so | named |\n| --- | --- | --- | --- |")
    for row in rows:
        share = 100 * row["named"] / row["planted"]
        print(f"| {row['kind']} | {row['change']} | {row['planted']:,} | {share:.1f} % |")
    seconds = round(time.process_time() - began, 1)
    print(json.dumps({"half": arguments.half, "rows": rows, "cpu_seconds": seconds}))


if __name__ == "__main__":
    main()
