"""A site of one made release, written as the asset writes it: 60 items, four candidates, two judges.

Item n (0 to 59) has the scores below by the first judge; the second gives 80, 60, 20 and 10.

    strong   90 where n is even, else 40
    weak     90 where n is a multiple of 10, none where n is 3, else 60
    HOSTILE  20
    baseline 10

By a metric of errors, of which fewer are better, strong has 1 and weak has 4 in each item. Items 1 and
3 have two turns; weak failed in the second turn of item 3. Items n, n + 20 and n + 40 share an image.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from resources.site.sample_browser import (
    SampleBrowserContents,
    SampleBrowserItem,
    write_data,
    write_page,
    write_program,
)

Row = dict[str, Any]

N, RELEASE = 60, "made-0123456789"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;\u202eback</style>"
LONG = "W" * 3000
MODELS = ("strong", "weak", HOSTILE, "baseline:empty")
LABELS = {"weak": "weak (T=0.7)"}
SETTINGS = {"strong": {"temperature": "0"}, "weak": {"temperature": "0.7", "server": HOSTILE}}
N_IMAGES = 20
SECOND = (80, 60, 20, 10)
STATUSES = ("answered", "given", "refused", "truncated", "reasoning_only", "empty", "failed")
STATUSES += ("not_asked",)
CATEGORIES = ("chart", "map", "photo")
PROMPT, GONE = "made/judge@1", "made/old@0"
PROMPT_TEXT = "Judge the answer.\n{{answer}}"
KEY = "ab" * 32
HAN, HEBREW = "图中的苹果是红色的吗？", "האם התפוח אדום?"


def score(n: int, model: int) -> int | None:
    if model == 0:
        return 40 if n % 2 else 90
    if model == 1:
        return None if n == 3 else 60 if n % 10 else 90
    return SECOND[model]


def status(n: int, model: int) -> str:
    return {(3, 1): "failed", (4, 1): "refused"}.get((n, model), "answered")


def ends(n: int, model: int) -> int:
    """How its answers ended, a bit each: after a failure the next turn was not asked."""
    own = status(n, model)
    all_of_them = [own, "not_asked"] if own == "failed" else [own]
    return sum(1 << STATUSES.index(each) for each in all_of_them)


def answer(n: int, model: int) -> str | None:
    if status(n, model) == "failed":
        return None
    name = MODELS[model]
    return f"{name} says of <image-1>: fruit{n}. " + (LONG if (n, model) == (7, 1) else "")


def _judgment(n: int, model: int, judge: int) -> Row:
    given = SECOND[model] if judge else score(n, model)
    why = f"Because of reason{n}." if n != 7 else f"Because {HOSTILE}"
    row = {"judge": judge, "score": given, "why": why, "prompt": judge}
    return {**row, "scores": {"Accuracy": 7, f"Rich & {HOSTILE[:8]}": 5.5}, "call": KEY}


def _answer(n: int, model: int) -> Row:
    row: Row = {"model": model, "trial": 0, "turn": 1, "prompt": 0, "call": KEY}
    row["status"] = STATUSES.index(status(n, model))
    row |= {"tokens": [1200 + n, 34], "seconds": 2.5}
    if (said := answer(n, model)) is None:
        loss = {"asked": "weak", "reason": "timeout", "detail": HOSTILE}
        return {**row, "turn": 2, "lost": [loss]}
    row |= {"text": said, "judgments": [_judgment(n, model, judge) for judge in (0, 1)]}
    return row | ({"reasoning": f"Thinking of pear{n}."} if model == 0 else {})


def question(n: int) -> str:
    of = {5: HAN, 7: f"{HOSTILE} {LONG}", 8: HEBREW}.get(n, f"What is apple{n} like?")
    return f"<ImageHere> {of}"


def _item(n: int) -> Row:
    image = {"id": f"{n:064x}", "thumb": "aa/one.jpg", "picture": "aa/one.png", "attribution": None}
    image |= {"page": "https://example.org/wiki/Apple", "title": f"Apple {n}"}
    image |= {
        "artist": "A. Painter",
        "licence": "CC BY 4.0",
        "licence_url": "https://example.org/by",
    }
    if n == 2:
        image |= {"thumb": None, "picture": None}
    if n == 6:
        image |= {"thumb": "aa/gone.jpg", "picture": "aa/gone.png"}
    if n == 7:
        image |= {"page": "javascript:alert(3)", "title": HOSTILE, "licence": HOSTILE}
    reference = {"kind": "answer", "text": f"It is round{n}.", "call": KEY, "prompt": PROMPT}
    turn = {"turn": 1, "question": question(n), "images": [1], "given": None, "call": KEY}
    turns = [{**turn, "prompt": GONE, "references": [reference]}]
    if n in (1, 3):
        given = "Since it grew so." if n == 1 else ""
        second = {"turn": 2, "question": "And why?", "images": [], "given": given}
        turns.append({**second, "call": None, "prompt": None, "references": []})
    language = "zh" if n == 5 else "en"
    return {
        **{"number": n, "id": f"item-{n:02}", "set": None, "group": None, "revision": 1},
        "labels": {"category": CATEGORIES[n % 3], "language": language, "page": f"Page {n}"},
        **{"reviewers": ["anna", "policy:none"], "images": [image], "turns": turns},
        "choices": ["red", "green"] if n == 9 else [],
        "answers": [_answer(n, model) for model in range(len(MODELS))],
    }


def _columns() -> Iterator[tuple[Row, list[Any]]]:
    yield {"kind": "label", "label": 0}, [n % 3 for n in range(N)]
    yield {"kind": "label", "label": 1}, [int(n == 5) for n in range(N)]
    yield {"kind": "label", "label": 2}, list(range(N))
    yield {"kind": "count", "name": "turns"}, [1 + (n in (1, 3)) for n in range(N)]
    yield {"kind": "group"}, list(range(N))
    yield {"kind": "images"}, [[n % N_IMAGES] for n in range(N)]
    for model in range(len(MODELS)):
        first = [score(n, model) for n in range(N)]
        of: Row = {"model": model}
        statuses = [ends(n, model) for n in range(N)]
        yield {"kind": "status", **of}, statuses
        yield {"kind": "length", **of}, [len(answer(n, model) or "") for n in range(N)]
        yield {"kind": "score", "metric": 0, "judge": 0, **of}, first
        yield {"kind": "units", "metric": 0, "judge": 0, **of}, [1 + (n == 1) for n in range(N)]
        yield {"kind": "score", "metric": 0, "judge": 1, **of}, [SECOND[model]] * N
        apart = [None if each is None else abs(each - SECOND[model]) for each in first]
        yield {"kind": "disagreement", "metric": 0, **of}, apart
        turns = [None if not each else 1 + (n == 1) for n, each in enumerate(apart)]
        yield {"kind": "disagreement_turn", "metric": 0, **of}, turns
    for model, errors in ((0, 1), (1, 4)):
        yield {"kind": "score", "metric": 1, "judge": 0, "model": model}, [errors] * N


def _facts() -> Row:
    release = {"release_id": RELEASE, "name": "made", "kind": "benchmark", "benchmark": "mmdu"}
    release |= {"language": None, "split": None, "origin": "built", "provider": "made"}
    release |= {
        "created_at": "2026-01-01T00:00:00+00:00",
        "n_items": N,
        "n_turns": N,
        "n_images": 1,
    }
    scale, errors = {"low": 10, "high": 100}, {"low": 0, "high": None}
    labels = {"category": list(CATEGORIES), "language": ["en", "zh"]}
    labels["page"] = [f"Page {n}" for n in range(N)]
    return {
        **{"release": release, "answers_held_out": False, "made": "2026-01-02T00:00:00+00:00"},
        "models": [
            {"name": name, "label": LABELS.get(name, name), "is_model": ":" not in name}
            | {"settings": SETTINGS.get(name, {})}
            for name in MODELS
        ],
        "judges": [
            {"judge": judge, "version": PROMPT, "title": judge} for judge in ("judge-1", "judge-2")
        ],
        "trials": ["plain"],
        "metrics": [
            {"name": "Overall", "aggregation": "micro", **scale, "higher_is_better": True},
            {"name": "Errors", "aggregation": "macro", **errors, "higher_is_better": False},
        ],
        "labels": [{"name": name, "values": values} for name, values in labels.items()],
        **{"statuses": list(STATUSES), "prompts": [PROMPT, GONE], "parts": ["turn"]},
    }


def _entry(n: int) -> SampleBrowserItem:
    item = _item(n)
    answers = [text for model in range(len(MODELS)) if (text := answer(n, model))]
    head = [question(n).replace("<ImageHere> ", "")[:120], item["images"][0]["thumb"]]
    reasons = [f"reason{n}", f"round{n}", *item["labels"].values()]
    sent = [question(n), {"image": item["images"][0]["id"]}]
    requests = {
        "messages": [["system", ["Answer briefly."]], ["user", sent]],
        "settings": [{"model": "qwen", "params": {"temperature": 0.7}}],
        "calls": {KEY: [0, [0, 1]]},
    }
    return SampleBrowserItem(item, head, [question(n), *answers, *reasons], answers, requests)


def make_site(home: Path) -> None:
    """Write the release's page, data and pictures below a home's reports."""
    thumb = {"thumb": "aa/one.jpg"}
    images = [{"id": f"{n:064x}", **thumb, "title": f"Apple {n}"} for n in range(N_IMAGES)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(home))
        contents = SampleBrowserContents(
            _facts(), _columns(), map(_entry, range(N)), {PROMPT: PROMPT_TEXT}, images
        )
        write_data(RELEASE, "fp", contents)
        write_page(contents.facts["release"], "fp")
        write_program()
    items = home / "reports" / "items"
    for path in (items / "thumbs/aa/one.jpg", items / "pictures/aa/one.png"):
        path.parent.mkdir(parents=True)
        Image.new("RGB", (320, 200), "orange").save(path)


class Visit:
    """A page of the site in a browser of its own; faults and requests to elsewhere fail the test."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 820}} | options)
        self.context.set_default_timeout(30_000)
        self.address, self.asked = address, list[str]()
        self.faults: list[str] = []
        self.page = self.open()

    def open(self, part: str = "") -> Page:
        """A new page of it, when it has begun; `part` is what is behind the '#'."""
        page = self.context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))
        page.goto(self.address + (f"#{part}" if part else ""))
        page.wait_for_selector("body[data-ready]")
        return page

    def close(self) -> None:
        """Close it, and hold it to what it did."""
        self.context.close()
        assert self.faults == []
        own = (self.address.rpartition("/")[0], "data:", "blob:")
        assert [url for url in self.asked if not url.startswith(own)] == []
