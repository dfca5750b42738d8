"""Who is marked as the judge, the writer, or one of their family."""

import pytest

from methods.evaluation.related import relations_to_judges

FAMILIES = {"gpt-4o": "gpt", "gpt-4o-mini": "gpt", "qwen": "qwen"}


@pytest.mark.parametrize(
    ("model", "judges", "writers", "remarks"),
    [
        ("gpt-4o", ["gpt-4o"], [], ("is the judge",)),
        ("gpt-4o", ["gpt-4o", "claude"], ["gpt-4o"], ("is a judge", "is the writer")),
        ("gpt-4o-mini", ["gpt-4o"], ["gpt-4o"], ("judge's family", "writer's family")),
        ("gpt-4o-mini", ["qwen"], ["gpt-4o"], ("writer's family",)),
        ("qwen", ["gpt-4o"], ["gpt-4o"], ()),
        # Two models without a family are not of one.
        ("claude", ["llama"], ["llama"], ()),
        ("llama", ["rule"], [], ()),
    ],
)
def test_a_contestant_is_marked_by_itself_or_by_its_family(model, judges, writers, remarks):
    assert relations_to_judges(model, judges, writers, FAMILIES) == remarks
