"""Two calls side by side: what differs in their facts, their requests, their replies."""

from pathlib import Path

import pytest

from resources.web.addresses import CALLS
from tests.resources.calls_page.ledgers import ask, call, keep, page, request_of

pytestmark = pytest.mark.slow


def test_words_that_differ_are_marked_on_their_side(home: Path, port: int) -> None:
    one = call(1, "A red ground, and a tower.", request_of("What is seen here?"))
    two = call(2, "A blue ground, and a tower.", request_of("What is heard here?"))
    keep(home, one, two)
    _, source = ask(port, f"{CALLS}?a={one.key}&b={two.key}")
    for before, after in (("red", "blue"), ("seen", "heard")):
        assert f"<del>{before}</del>" in source
        assert f"<ins>{after}</ins>" in source
    assert source.count("<del>") == source.count("<ins>") == 2
    assert "system: the same in both" in source


def test_facts_and_parameters_that_differ_are_marked(home: Path, port: int) -> None:
    one = call(1, model="eyes-1")
    two = call(2, request={**request_of("x"), "params": {"temperature": 1.0}}, model="eyes-2")
    keep(home, one, two)
    text = page(port, f"{CALLS}?a={one.key}&b={two.key}")
    assert "model eyes-1 eyes-2" in text
    assert "temperature 0.5 1.0" in text
    assert "max_tokens 512 –" in text
    _, source = ask(port, f"{CALLS}?a={one.key}&b={two.key}")
    assert '<tr class="differ"><th scope="row">model' in source
    assert "<dt>stage</dt><dd>dialogue.answers</dd>" in source


def test_choosing_two_calls_keeps_the_filter_and_needs_no_script(home: Path, port: int) -> None:
    one, two = call(1), call(2)
    keep(home, one, two)
    _, first = ask(port, f"{CALLS}?stage=dialogue.answers")
    assert f"{CALLS}?stage=dialogue.answers&amp;a={one.key}" in first
    _, second = ask(port, f"{CALLS}?stage=dialogue.answers&a={one.key}")
    assert "Choose the call to compare with" in second
    assert f"&amp;a={one.key}&amp;b={two.key}" in second


@pytest.mark.parametrize(
    ("before", "after"),
    [("a b " * 50_000, "b a " * 50_000), ("word " * 1_000_000, "word" * 1_000_000)],
)
def test_texts_of_any_form_are_compared_as_far_as_that_is_quick(
    home: Path, port: int, before: str, after: str
) -> None:
    one, two = call(1, before), call(2, after)
    keep(home, one, two)
    answer, source = ask(port, f"{CALLS}?a={one.key}&b={two.key}")
    assert answer.status == 200
    assert "more characters are not compared here." in source


def test_many_long_messages_are_shown_uncompared_where_it_is_too_much(
    home: Path, port: int
) -> None:
    def asked(word: str) -> dict[str, object]:
        return {
            **request_of("x"),
            "messages": [{"role": "user", "parts": [f"{word} " * 3000]} for _ in range(20)],
        }

    one, two = call(1, request=asked("one")), call(2, request=asked("two"))
    keep(home, one, two)
    assert "Too much text to compare word by word" in page(port, f"{CALLS}?a={one.key}&b={two.key}")
