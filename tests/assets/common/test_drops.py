"""What may be lost: the limit itself, and the one sentence beyond it."""

import errno

import dagster as dg
import pytest

from assets.common.drops import FAILED_CALLS, require_few_lost
from assets.common.isolation import Isolation
from methods.prompts.prompt_template import TemplateError
from resources.files.home import reports_path
from resources.llm.canary import ModelGivenUp, PromptGivenUp
from resources.llm.model_calls import BatchPending, WaitingForBatch
from resources.migrations import StoreError


@pytest.mark.parametrize(
    ("lost", "n_all", "max_share"),
    [
        # A fifth of five is one.
        ({"truncated": 1}, 5, 0.2),
        # 29 of a hundred are 0.29, though 0.29 * 100 is less than 29 for a computer.
        ({"truncated": 20, "missing": 9}, 100, 0.29),
        ({"truncated": 5}, 5, 1.0),
        ({}, 5, 0.0),
        ({}, 0, 0.2),
    ],
    ids=["a fifth", "29 of 100", "all, if all may be", "none", "none of none"],
)
def test_as_much_as_the_limit_may_be_lost(lost, n_all, max_share):
    require_few_lost("birds.owls", "images", lost, n_all, max_share)


def test_the_failure_says_of_what_how_much_why_and_what_may_be() -> None:
    with pytest.raises(dg.Failure) as raised:
        lost = {"missing": 1, "truncated": 3, "empty": 1}
        require_few_lost("birds.owls", "images", lost, 10, 0.2)
    assert raised.value.description == (
        "birds.owls keeps its earlier rows: 5 of 10 images were lost (3 truncated, 1 empty, "
        f"1 missing), and at most 20% may be. {FAILED_CALLS}"
    )
    shown = {name: entry.value for name, entry in raised.value.metadata.items()}
    assert (shown["lost"], shown["of"], shown["limit"]) == (5, 10, 0.2)
    rows = shown["reasons"].splitlines()[2:]
    assert rows == ["| truncated | 3 |", "| empty | 1 |", "| missing | 1 |"]
    # Another attempt would lose the same.
    assert not raised.value.allow_retries


@pytest.mark.parametrize(
    ("error", "kept", "kept_while_asking"),
    [
        # A benchmark's own fault, or its prompt's.
        (KeyError("no such label"), True, True),
        (TemplateError("The prompt toy/extract cannot be filled in."), True, True),
        (PromptGivenUp("It stopped asking judge with the prompt mmdu/judge."), True, True),
        # What ends the calls of all releases: a ledger, a key, a budget, a server.
        (StoreError("The ledger is damaged."), True, False),
        (ModelGivenUp("It stopped asking judge."), True, False),
        # What is no failure.
        (WaitingForBatch("It waits."), False, False),
        (BatchPending(), False, False),
        # What is so of all releases: it is said once.
        (OSError(errno.EROFS, "Read-only file system", str(reports_path())), False, False),
    ],
)
def test_what_one_release_may_keep_from_the_others(error, kept, kept_while_asking):
    for asking, is_kept in ((False, kept), (True, kept_while_asking)):
        isolation = Isolation("evaluate.scores")
        try:
            with isolation.release("one", asking=asking):
                raise error
        except type(error):
            assert not is_kept and isolation.lost == {}
        else:
            assert is_kept and list(isolation.lost) == ["one"]
        with isolation.release("another"):
            pass
        assert "another" not in isolation.lost
