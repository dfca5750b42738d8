"""Add a model to the text of models.yaml; all other characters stay as they are."""

import json
from typing import Any

import yaml

from methods.yaml_text import from_yaml
from resources.llm.model_spec import RegistryError


def entry_text(name: str, entry: dict[str, Any], indent: int = 2, newline: str = "\n") -> str:
    """The lines of an entry.

    Args:
        name: The entry's key.
        entry: Its fields.
        indent: Spaces before the key.
        newline: The end of each line.

    Returns:
        Lines, the last one with its end.
    """
    lines = [f"{_flow(name)}:", *(f"  {field}: {_line(value)}" for field, value in entry.items())]
    return "".join(f"{' ' * indent}{line}{newline}" for line in lines)


def with_model(text: str, name: str, entry: dict[str, Any] | None, profile: str | None) -> str:
    """The text of models.yaml with one more model, or with a model in one more profile.

    Args:
        text: The text of a valid models.yaml.
        name: The key of the new entry, which is put behind all others.
        entry: Its fields; None if the file has the model already.
        profile: A profile that also gets the model in its `evaluate`, unless it is there already; None
            for no profile.

    Returns:
        The text; nothing of the old one is changed or moved.

    Raises:
        RegistryError: The file has a form that this cannot extend, such as an `evaluate` that is an
            alias of another one.
    """
    old = from_yaml(text)
    expected = dict(old)
    if entry is not None:
        expected["models"] = {**old["models"], name: entry}
    if profile is not None and name in old["profiles"][profile]["evaluate"]:
        profile = None
    if profile is not None:
        extended_profile = dict(old["profiles"][profile])
        extended_profile["evaluate"] = [*extended_profile["evaluate"], name]
        expected["profiles"] = {**old["profiles"], profile: extended_profile}
    try:
        root = yaml.compose(text)
        additions = []
        if entry is not None:
            additions.append(_in_mapping(text, _value(root, "models"), name, entry))
        if profile is not None:
            evaluate = _value(_value(_value(root, "profiles"), profile), "evaluate")
            additions.append(_in_sequence(text, evaluate, name))
        extended = text
        for place, addition in sorted(additions, reverse=True):
            extended = extended[:place] + addition + extended[place:]
        right = from_yaml(extended) == expected
    except (LookupError, yaml.YAMLError):
        right = False
    if not right:
        raise RegistryError(
            "The form of models.yaml is too unusual to be extended, so nothing was written. "
            f"{by_hand(name, entry, profile)}"
        )
    return extended


def by_hand(name: str, entry: dict[str, Any] | None, profile: str | None) -> str:
    """Describe the change of models.yaml that a person has to make.

    Args:
        name: The name of the entry.
        entry: The entry to add; None if it exists.
        profile: The profile to add the model to; None for no profile.

    Returns:
        A sentence with the YAML.
    """
    evaluated = f"`evaluate` of the profile {profile}"
    if entry is None:
        return f"Add {name} to {evaluated} yourself."
    also = f", and its name to {evaluated}" if profile else ""
    return f"Add these lines to `models` yourself{also}:\n{entry_text(name, entry)}"


def _line(value: object) -> str:
    """A value on one line, as it stands behind a key."""
    if isinstance(value, dict | list):
        return _flow(value)
    whole = yaml.safe_dump(value, width=float("inf"), allow_unicode=True)
    text = whole.removesuffix("...\n").rstrip("\n")
    return json.dumps(value) if "\n" in text else text


def _flow(value: object) -> str:
    """A value on one line, as it stands inside brackets."""
    whole = yaml.safe_dump(
        [value], default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False
    )
    text = whole.strip()[1:-1]
    # YAML writes a line break inside a text as one. As JSON it is escaped.
    return json.dumps(value) if "\n" in text else text


def _value(node: yaml.Node | None, key: str) -> yaml.Node:
    """The node of a key in a mapping. Raises LookupError if the key is missing."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                return value
    raise LookupError(key)


def _in_mapping(text: str, node: yaml.Node, name: str, entry: dict[str, Any]) -> tuple[int, str]:
    """Where to put an entry behind the others of a mapping, and what to put there."""
    if not isinstance(node, yaml.MappingNode):
        raise LookupError(name)
    if node.flow_style:
        return _in_flow(node, f"{_flow(name)}: {_flow(entry)}")
    indent = node.value[0][0].start_mark.column
    return _on_new_lines(text, node, entry_text(name, entry, indent, _newline(text)))


def _in_sequence(text: str, node: yaml.Node, name: str) -> tuple[int, str]:
    """Where to put a name behind the others of a sequence, and what to put there."""
    if not isinstance(node, yaml.SequenceNode):
        raise LookupError(name)
    if node.flow_style:
        return _in_flow(node, _flow(name))
    indent = " " * node.start_mark.column
    return _on_new_lines(text, node, f"{indent}- {_flow(name)}{_newline(text)}")


def _in_flow(node: yaml.CollectionNode, addition: str) -> tuple[int, str]:
    if not node.value:
        return node.start_mark.index + 1, addition
    return _end(node.value[-1]), f", {addition}"


def _on_new_lines(text: str, node: yaml.Node, lines: str) -> tuple[int, str]:
    line_end = text.find("\n", _end(node))
    return (len(text), _newline(text) + lines) if line_end < 0 else (line_end + 1, lines)


def _end(node: Any) -> int:
    """The index behind the last character of a node. YAML ends a block where the next thing begins."""
    if isinstance(node, tuple):
        return _end(node[1])
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    end: int = node.end_mark.index
    return end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
