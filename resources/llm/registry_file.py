"""Add a model to the text of models.yaml; all other characters stay as they are."""

import json
from typing import Any

import yaml

from methods.yaml_text import from_yaml
from resources.llm.model_spec import RegistryError


def entry_text(name: str, entry: dict[str, Any], indent: int = 2, newline: str = "\n") -> str:
    """Format an entry as lines of YAML.

    Args:
        name: The entry's key.
        entry: Its fields.
        indent: Spaces before the key.
        newline: The line end.

    Returns:
        The lines, each with a line end.
    """
    lines = [f"{_flow(name)}:", *(f"  {field}: {_line(value)}" for field, value in entry.items())]
    return "".join(f"{' ' * indent}{line}{newline}" for line in lines)


def with_model(text: str, name: str, entry: dict[str, Any] | None, profile: str | None) -> str:
    """Add a model to the text of models.yaml, or to the `evaluate` list of a profile.

    Args:
        text: The text of a valid models.yaml.
        name: The key of the new entry, which is added after all others.
        entry: Its fields; None if the file has the model already.
        profile: A profile that also gets the model in its `evaluate`, unless it is there already; None
            for no profile.

    Returns:
        The extended text. The existing text is not changed or reordered.

    Raises:
        RegistryError: The file uses YAML that cannot be extended, such as an `evaluate` that
            is an alias of another list.
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
    """Describe the change of models.yaml that a person has to make, with its YAML.

    Args:
        name: The name of the entry.
        entry: The entry to add; None if it exists.
        profile: The profile to add the model to; None for no profile.
    """
    evaluated = f"`evaluate` of the profile {profile}"
    if entry is None:
        return f"Add {name} to {evaluated} yourself."
    also = f", and its name to {evaluated}" if profile else ""
    return f"Add these lines to `models` yourself{also}:\n{entry_text(name, entry)}"


def _line(value: object) -> str:
    """Format a value on one line, as it follows a key."""
    if isinstance(value, dict | list):
        return _flow(value)
    whole = yaml.safe_dump(value, width=float("inf"), allow_unicode=True)
    text = whole.removesuffix("...\n").rstrip("\n")
    return json.dumps(value) if "\n" in text else text


def _flow(value: object) -> str:
    """Format a value on one line in YAML's flow style, as it appears inside brackets."""
    whole = yaml.safe_dump(
        [value], default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False
    )
    text = whole.strip()[1:-1]
    # YAML would write a line break inside a text as a line break; JSON escapes it.
    return json.dumps(value) if "\n" in text else text


def _value(node: yaml.Node | None, key: str) -> yaml.Node:
    """Find the node of a key in a mapping. Raises LookupError if the key is missing."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                return value
    raise LookupError(key)


def _in_mapping(text: str, node: yaml.Node, name: str, entry: dict[str, Any]) -> tuple[int, str]:
    """Return the position and the text to insert for a new entry at the end of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        raise LookupError(name)
    if node.flow_style:
        return _in_flow(node, f"{_flow(name)}: {_flow(entry)}")
    indent = node.value[0][0].start_mark.column
    return _on_new_lines(text, node, entry_text(name, entry, indent, _newline(text)))


def _in_sequence(text: str, node: yaml.Node, name: str) -> tuple[int, str]:
    """Return the position and the text to insert for a new name at the end of a sequence."""
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
    """Return the index after a node's last character. A block's end mark is at the next token."""
    if isinstance(node, tuple):
        return _end(node[1])
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    end: int = node.end_mark.index
    return end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
