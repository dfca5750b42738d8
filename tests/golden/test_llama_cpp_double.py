"""The double of llama.cpp's server refuses in the words of the real one, from the shared samples."""

import json
import re
from pathlib import Path

import pytest

from tests.doubles.providers.open_models import LlamaCpp
from tests.doubles.providers.provider import Asked, Refused

SAMPLES = Path("../shared/data/real_replies/llama_server_replies.txt")


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not here")
@pytest.mark.parametrize(
    ("case", "asked"),
    [("image", Asked("What?", [(9, 9)], {})), ("too long", Asked("x" * 99_999, [], {}))],
)
def test_the_double_refuses_as_the_real_server_does(case: str, asked: Asked) -> None:
    found = re.search(rf"^{case} +(\d+) .*?(\{{.*)$", SAMPLES.read_text(), re.MULTILINE)
    assert found
    real = json.loads(found[2])["error"]

    with pytest.raises(Refused) as refused:
        LlamaCpp("m", projector=False).check(asked)

    body = refused.value.body
    assert isinstance(body, dict)
    said = body["error"]
    assert (refused.value.status, said["type"]) == (int(found[1]), real["type"])
    assert re.sub(r"\d+", "N", said["message"]) == re.sub(r"\d+", "N", real["message"])
