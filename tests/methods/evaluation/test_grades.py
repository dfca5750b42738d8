"""The one table of grades, by hand: what each benchmark reads of a judge's reply, what is refused.

Beside it is what released scorers make of the same value. VLMEvalKit's MMDU evaluates the dictionary,
takes int() of a score and cuts it off at 0 and 10; what int() refuses is a score of nothing. MMDU's
own code adds the value as it is. The table stands in docs/guides/judges.md.
"""

import ast
import json
import re
from pathlib import Path

import pytest

from methods.convbench.comparing import read_grade as convbench_grade
from methods.evaluation.rating import read_rating
from methods.mmdu.judging import DIMENSIONS, OVERALL, parse_grades
from methods.prompts.parsing import ParseError

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "judges.md"
NOT_WHOLE, OFF_SCALE = "not_an_integer", "out_of_range"
TABLE = [
    # value in the reply, what is read, VLMEvalKit on MMDU
    ("8", 8, "8"),
    ("8.0", 8, "8"),
    ('"8"', 8, "8"),
    ('"8.0"', 8, "nothing"),
    ("8.5", NOT_WHOLE, "8"),
    ('"8.5"', NOT_WHOLE, "nothing"),
    ('"8/10"', NOT_WHOLE, "nothing"),
    ('"eight"', NOT_WHOLE, "nothing"),
    ('""', NOT_WHOLE, "nothing"),
    ("true", NOT_WHOLE, "1"),
    ("null", NOT_WHOLE, "nothing"),
    ("[8]", NOT_WHOLE, "nothing"),
    ("11", OFF_SCALE, "10"),
    ("0", OFF_SCALE, "0"),
    ("-1", OFF_SCALE, "0"),
    ("95", OFF_SCALE, "10"),
]


def in_mmdu(value: str) -> float:
    whole = {**dict.fromkeys(DIMENSIONS, 5), OVERALL: "@"}
    return parse_grades("Right. " + json.dumps(whole).replace('"@"', value)).scores[OVERALL]


def in_alignmmbench(value: str) -> float:
    return read_rating(f'{{"Reason": "r", "Rating": {value}}}').score


def in_convbench(value: str) -> float:
    return convbench_grade(f'{{"Reason": "r", "Rating": {value}}}', "S1").score


@pytest.mark.parametrize("read", [in_mmdu, in_alignmmbench, in_convbench])
@pytest.mark.parametrize(("value", "wanted", "_"), TABLE)
def test_every_benchmark_reads_or_refuses_a_value_alike(read, value, wanted, _) -> None:
    if isinstance(wanted, int):
        assert read(value) == wanted
    else:
        with pytest.raises(ParseError) as caught:
            read(value)
        assert caught.value.reason == wanted


def test_the_guide_has_the_table() -> None:
    rows = re.findall(r"^\| `([^|]+)` \| ([^|]+?) \| ([^|]+?) \|$", GUIDE.read_text(), re.MULTILINE)
    said = {NOT_WHOLE: "refused: not a whole number", OFF_SCALE: "refused: off the scale"}
    wanted = {(value, said.get(str(read), str(read)), released) for value, read, released in TABLE}
    assert wanted <= {(value, read, released) for value, read, released in rows}


def vlmevalkit(value: str) -> str:
    """Its rule for a score of MMDU, on what Python's own literals are."""
    parsed = {"true": True, "null": None}.get(value)
    parsed = ast.literal_eval(value) if parsed is None and value != "null" else parsed
    try:
        return str(min(10, max(0, int(parsed))))
    except (TypeError, ValueError):
        return "nothing"


@pytest.mark.parametrize(("value", "_", "released"), TABLE)
def test_what_vlmevalkit_makes_of_it(value, _, released) -> None:
    assert vlmevalkit(value) == released
