"""Why something is refused: what the tests of all methods ask of an error."""

from collections.abc import Callable

import pytest

from methods.evaluation.published import PublishedError
from methods.mmiu.converting import UnusableSampleError
from methods.prompts.parsing import ParseError


def reason_of(read: Callable[..., object], *given: object) -> str:
    """The short code of the error that `read` raises, whose detail is a sentence."""
    with pytest.raises((ParseError, UnusableSampleError)) as caught:
        read(*given)
    assert caught.value.detail.endswith(".")
    return caught.value.reason


def clause_of(read: Callable[..., object], *given: object) -> str:
    """What is wrong with a published file."""
    with pytest.raises(PublishedError) as caught:
        read(*given)
    return str(caught.value)
