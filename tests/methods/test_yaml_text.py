"""YAML of others: plain values, and no parser that ends in a trace."""

import pytest
import yaml

from methods.yaml_text import MOST_CHARACTERS, from_yaml

TWICE = "key a is there twice, in line 1 and in line 3"
UNREADABLE = [
    *("a: 2024-13-45", "a: !!timestamp x", "a: !!bool x", "a: !!int ''", "a: !!int x"),
    *(f"a: {'1' * 5_000}", f"a: 0x{'f' * 6_000}", "a: 1" + ":11" * 100_000),
    *("a: !!float 1" + ":11" * 1_000, "a: !!int {}", "a: !!timestamp []"),
]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: " + "[" * 20_000, "too often"),
        ("a: " + "{b: " * 20_000, "too often"),
        ("- " * 20_000, "too often"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("a: &a [*a]", "contains it"),
        ("a: &a {b: [*a]}", "contains it"),
        ("a: 1\nb: 2\na: 3", TWICE),
        ("x: {a: 1,\n b: 2,\n a: 1}", TWICE),
        *((text, "cannot be read|expected a scalar") for text in UNREADABLE),
        ("#" * (MOST_CHARACTERS + 1), "characters"),
    ],
)
def test_what_is_no_plain_yaml_is_refused(text: str, why: str) -> None:
    with pytest.raises(yaml.YAMLError, match=why):
        from_yaml(text)


def bomb(levels: int, width: int = 10) -> str:
    """Each level repeats the one before `width` times."""
    lines = [f"a0: &a0 [{'x, ' * width}]"]
    lines += [f"a{n}: &a{n} [{f'*a{n - 1}, ' * width}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_and_merged_mappings_repeat_a_bounded_number_of_values():
    assert len(from_yaml(bomb(3))["a2"]) == 10
    with pytest.raises(yaml.YAMLError, match="repeat more than 100,000 values"):
        from_yaml(bomb(10))
    # Merged mappings count as repeated.
    fields = ", ".join(f"k{n}: 1" for n in range(1_000))
    with pytest.raises(yaml.YAMLError, match="repeat more than"):
        from_yaml(f"a: &a {{{fields}}}\nb: {{<<: [{'*a, ' * 100}]}}")
    # A key beside a merged one is not twice.
    assert from_yaml("a: &a {x: 1}\nb: {<<: *a, x: 2}\n1: 1\n'1': 2")["b"] == {"x": 2}
