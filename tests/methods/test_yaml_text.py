"""YAML of others: plain values, and no parser that ends in a trace."""

import pytest
import yaml

from methods.yaml_text import from_yaml


@pytest.mark.parametrize("text", ["a: " + "[" * 20_000, "a: " + "{b: " * 20_000, "- " * 20_000])
def test_what_is_too_deep_is_no_yaml(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="too often"):
        from_yaml(text)


def test_tags_of_python_make_nothing() -> None:
    with pytest.raises(yaml.YAMLError):
        from_yaml("a: !!python/object/apply:os.getcwd []")
