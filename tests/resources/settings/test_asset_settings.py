"""`settings.yaml`: what it gives each asset, and one sentence for what in it cannot be used."""

import json
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from pydantic import Field, model_validator

from methods.yaml_text import from_yaml
from resources.settings.asset_settings import (
    FORMER_TABLES,
    SCHEMA_NAME,
    Settings,
    SettingsError,
    json_schema,
    read_sections,
    write_sections,
)


class Owls(Settings):
    """Settings of an asset that nobody has."""

    RUN_ONLY: ClassVar = frozenset({"once"})

    tau: float = Field(0.75, ge=-1, le=1, description="Lowest cosine.")
    method: Literal["exact", "approximate"] = "exact"
    least: int = 1
    most: int | None = None
    once: bool = False

    @model_validator(mode="after")
    def _have_room(self) -> "Owls":
        if self.most is not None and self.most < self.least:
            raise ValueError("The most is less than the least.")
        return self


class Kites(Settings):
    """Those of another one."""

    names: list[str] = []


SECTIONS = {"birds.owls": Owls, "birds.kites": Kites}


@pytest.fixture
def file(loom_home: Path) -> Path:
    """Where the settings of an empty home belong."""
    loom_home.mkdir()
    return loom_home / "settings.yaml"


def said(file: Path) -> str:
    """The sentence that reading the file ends with, without the file's name before it."""
    with pytest.raises(SettingsError) as refused:
        read_sections(SECTIONS)
    name, colon, rest = str(refused.value).partition(": ")
    assert (name, colon) == (str(file), ": ")
    assert rest.endswith(".") and "\n" not in rest
    return rest


@pytest.mark.parametrize(
    "text",
    ["", "# Only a comment.\n", "{}\n", "birds: {owls: {}}\n", "birds:\n  owls:\n  # tau: 0.6\n"],
)
def test_each_asset_gets_what_stands_under_its_stage_and_name(file, text):
    file.write_text(text)
    assert read_sections(SECTIONS) == {"birds.owls": {}, "birds.kites": {}}
    file.write_text("birds:\n  owls: {tau: 0.6}\n  kites:\n    names: [red, black]\n")
    values = {"birds.owls": {"tau": 0.6}, "birds.kites": {"names": ["red", "black"]}}
    assert read_sections(SECTIONS) == values


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("owls: {tau: 7}", "birds.owls.tau is 7, but should be less than or equal to 1"),
        ("owls: {tau: high}", "birds.owls.tau is 'high', but should be a valid number"),
        ("owls: {tau: true}", "birds.owls.tau is True, but it is not a yes-or-no setting"),
        ("owls: {most: no}", "birds.owls.most is False, but it is not a yes-or-no setting"),
        ("owls: {method: quick}", "birds.owls.method is 'quick', but should be 'exact' or 'approx"),
        ("kites: {names: [red, 7]}", "birds.kites.names.1 is 7, but should be a valid string"),
        (
            "owls: {least: 3, most: 2}",
            "birds.owls is {'least': 3, 'most': 2}, but the most is less",
        ),
        ("owls: {once: true}", "birds.owls.once is for one run: give it in the Launchpad"),
        ("owls: 0.6", "birds.owls is not a mapping of settings"),
        ("owls: {tua: 0.6}", "there is no setting birds.owls.tua; the nearest is tau."),
        (
            "eagles: {tau: 0.6}",
            "there are no settings of birds.eagles; the nearest are birds.owls,",
        ),
    ],
)
def test_one_sentence_names_file_setting_value_and_limit_or_the_nearest(file, text, sentence):
    file.write_text(f"birds: {{{text}}}")
    assert said(file).startswith(sentence)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"- birds", ": it is not a mapping of stages."),
        (b"birds: owls", ": birds is not a mapping of assets."),
        (b"birds: {owls: {tau: 0.6", " is not YAML: "),
        (b"\xff\xfe\x00", " cannot be read: "),
    ],
    ids=["a list", "a text", "no YAML", "no text"],
)
def test_a_file_of_another_form_or_none_is_one_sentence(file, content, problem):
    file.write_bytes(content)
    with pytest.raises(SettingsError) as refused:
        read_sections(SECTIONS)
    assert str(refused.value).startswith(f"{file}{problem}")
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_a_file_that_is_not_yaml_is_parsed_once_for_all_assets(file, monkeypatch):
    parsed = []
    monkeypatch.setattr(
        "resources.settings.asset_settings.from_yaml",
        lambda text: parsed.append(text) or from_yaml(text),
    )
    file.write_text("birds: {owls: [[[")
    for _ in range(2):
        with pytest.raises(SettingsError, match="is not YAML"):
            read_sections(SECTIONS)
    assert len(parsed) == 1


def test_what_is_written_is_what_is_read_and_nothing_else_is_written(file):
    with pytest.raises(SettingsError, match="birds.owls.tau is 7, but should be"):
        write_sections(SECTIONS, {"birds.owls": {"tau": 7}})
    assert not file.exists()
    values = {"birds.owls": {"tau": 0.6, "most": None}, "birds.kites": {"names": ["rødt"]}}
    file.parent.rmdir()
    assert write_sections(SECTIONS, values) == file
    assert read_sections(SECTIONS) == values
    assert "rødt" in file.read_text(), "as a person writes it"


def test_a_former_name_of_a_table_is_read_with_a_warning_and_is_not_written(
    file, monkeypatch, caplog
):
    monkeypatch.setitem(FORMER_TABLES, "birds.strixes", "birds.owls")
    file.write_text("birds:\n  strixes: {tau: 0.6}\n")

    values = read_sections(SECTIONS)

    assert values["birds.owls"] == {"tau": 0.6}
    assert "birds.strixes is now birds.owls" in caplog.text
    write_sections(SECTIONS, values)
    assert "owls" in file.read_text() and "strixes" not in file.read_text()
    file.write_text("birds:\n  strixes: {tau: 0.6}\n  owls: {tau: 0.7}\n")
    with pytest.raises(SettingsError, match="keep one of the two"):
        read_sections(SECTIONS)


def test_the_schema_beside_the_file_says_what_there_is_and_what_it_may_be(file):
    write_sections(SECTIONS, {})
    assert f"$schema={SCHEMA_NAME}" in file.read_text().splitlines()[0]
    assert json.loads((file.parent / SCHEMA_NAME).read_text()) == json_schema(SECTIONS)
    birds = json_schema(SECTIONS)["properties"]["birds"]
    assert set(birds["properties"]) == {"owls", "kites"}
    owls = birds["properties"]["owls"]
    assert (owls["properties"]["tau"]["minimum"], owls["properties"]["tau"]["maximum"]) == (-1, 1)
    assert owls["properties"]["tau"]["description"] == "Lowest cosine."
    # Nothing else may stand there.
    closed = [json_schema(SECTIONS), birds, owls]
    assert [each["additionalProperties"] for each in closed] == [False] * 3
