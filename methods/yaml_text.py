"""Safe loading of YAML from users and other programs, with limits on size, aliases and integers."""

from typing import Any

import yaml

from methods.web_address import cut_address

MOST_CHARACTERS = 5_000_000
"""The most characters of a text."""
MOST_REPEATED = 100_000
"""The most values that aliases repeat. Without a limit, ten lines can expand to 10^10 values (a YAML
bomb)."""
MOST_OF_INTEGER = 200
"""The most characters of an integer in any base. Python can convert such an integer to a float and to
decimal digits."""
_INTEGER = "tag:yaml.org,2002:int"


class RefusedYaml(yaml.YAMLError):
    """The text is not YAML, exceeds a limit or is ambiguous. The message is a clause with the place."""


class _BoundedLoader(yaml.SafeLoader):
    """A safe loader that also requires unique keys and limits the values that aliases repeat."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._sizes: dict[int, int] = {}
        """The number of values in each finished node, by the node's id."""
        self._repeated = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if is_alias:
            self._count_repeated(node)
        elif isinstance(node, yaml.MappingNode):
            _require_unique_keys(node)
            pairs = [part for pair in node.value for part in pair]
            self._sizes[id(node)] = 1 + sum(self._sizes[id(part)] for part in pairs)
        elif isinstance(node, yaml.SequenceNode):
            self._sizes[id(node)] = 1 + sum(self._sizes[id(part)] for part in node.value)
        else:
            _require_short_integer(node)
            self._sizes[id(node)] = 1
        return node

    def _count_repeated(self, node: yaml.Node | None) -> None:
        # A node without a size is not finished, so it contains the alias.
        size = self._sizes.get(id(node))
        if size is None:
            raise RefusedYaml("an alias (*name) refers to a value that contains it")
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            raise RefusedYaml(
                f"its aliases (*name) repeat more than {MOST_REPEATED:,} values: write fewer aliases"
            )


def _require_unique_keys(node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if (first := lines.get((key.tag, key.value))) is not None:
            raise RefusedYaml(
                f"the key {cut_address(key.value)[:80]} is there twice, in line {first} and in "
                f"line {line}: keep one"
            )
        lines[key.tag, key.value] = line


def _require_short_integer(node: yaml.Node | None) -> None:
    if node is not None and node.tag == _INTEGER and len(node.value) > MOST_OF_INTEGER:
        line = node.start_mark.line + 1
        raise RefusedYaml(
            f"the integer in line {line} cannot be read: it has more than {MOST_OF_INTEGER} characters"
        )


def from_yaml(text: str) -> Any:
    """Load a YAML text with plain values only.

    Args:
        text: The text of one document.

    Returns:
        The value.

    Raises:
        yaml.YAMLError: The text is not YAML, has a key twice, is too long or nested too deeply, has too
            long an integer, or repeats too many values by aliases. The message quotes no line.
    """
    if len(text) > MOST_CHARACTERS:
        raise RefusedYaml(f"it has more than {MOST_CHARACTERS:,} characters")
    try:
        return yaml.load(text, _BoundedLoader)
    except yaml.MarkedYAMLError as error:
        # The error's own text quotes a part of the line, which may have a password.
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise RefusedYaml(f"{line}{error.problem}") from None
    except RecursionError:
        raise RefusedYaml("lists or keys stand inside each other too often") from None
    except ValueError as error:
        # For example a date that does not exist, or a number without digits.
        raise RefusedYaml(f"a value cannot be read: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError):
        raise RefusedYaml("a value cannot be read as the type that its tag (!!) names") from None
