"""YAML that a person or another program wrote."""

from typing import Any

import yaml


class TooDeep(yaml.YAMLError):
    """Values stand inside each other more often than the parser can follow."""


def from_yaml(text: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> Any:
    """The value of a YAML text.

    Args:
        text: The text of one document.
        loader: The loader, which makes plain values only.

    Raises:
        yaml.YAMLError: It is no YAML, or too deep.
    """
    try:
        return yaml.load(text, loader)
    except RecursionError:
        raise TooDeep("lists or keys stand inside each other too often") from None
