"""The model registry: `models.yaml`, parsed and validated."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from methods.evaluation.candidates import (
    ABLATIONS,
    APART,
    BASELINES,
    FILE,
    is_file,
    is_model,
    model_of,
)
from methods.evaluation.judging import PANEL, PEOPLE, RULE
from methods.naming import nearest
from methods.validation import first_fault
from methods.yaml_text import from_yaml
from resources.files.bounded import read_file
from resources.files.home import REPO_ROOT
from resources.llm.model_spec import ModelSpec, RegistryError

Role = Literal["writer", "summary", "question", "answer", "rewrite", "check"]
"""Building steps for which a profile may name a separate model; `writer` does all others."""
STEPS: tuple[Role, ...] = ("summary", "question", "answer", "rewrite", "check")
"""Roles that default to the writer."""
RESERVED = {RULE, PANEL, PEOPLE}
"""Names that tables use in place of a judge that is not a model; no model may have such a name."""


class Profile(BaseModel):
    """The models of each role: the writer builds, each judge scores, the models of `evaluate` are
    compared.

    Building steps can have their own models (`summary`, `question`, `answer`, `rewrite`, `check`), as
    MMDU uses different models for summaries and questions (B.1); the default is the writer. A profile
    that only evaluates needs no writer. `evaluate` may include baselines and ablations
    (`methods/evaluation/candidates.py`). The extractor reads answers that no rule can read; the default
    is the first judge. A profile with one judge can set `judge` instead of `judges`.
    """

    model_config = ConfigDict(extra="forbid")
    writer: str | None = None
    summary: str | None = None
    question: str | None = None
    answer: str | None = None
    rewrite: str | None = None
    check: str | None = None
    judges: list[str] = Field(min_length=1)
    extractor: str
    evaluate: list[str]

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        full = dict(value)
        if "judge" in full and "judges" in full:
            raise ValueError("judge and judges are both given: give one of them")
        if "judge" in full:
            full["judges"] = [full.pop("judge")]
        judges = full.get("judges")
        if isinstance(judges, list) and judges:
            full.setdefault("extractor", judges[0])
        if "writer" in full:
            full = {**dict.fromkeys(STEPS, full["writer"]), **full}
        return full

    @model_validator(mode="after")
    def _named_once(self) -> "Profile":
        for role, names in (("judges", self.judges), ("evaluate", self.evaluate)):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"{role} names {twice[0]} twice")
        return self

    def model_for(self, role: Role) -> str:
        """Return the model of a building role. Raises RegistryError if the profile names none."""
        name: str | None = getattr(self, role)
        if name is None:
            raise RegistryError(
                f"The profile names no model to build with, as {role} or as writer: name a writer in "
                "it, or take another profile (LOOM_PROFILE)."
            )
        return name

    @property
    def models(self) -> list[str]:
        """All models of the profile, each once."""
        candidates = [model for name in self.evaluate if (model := model_of(name)) is not None]
        builders = (getattr(self, role) for role in get_args(Role))
        return list(
            dict.fromkeys([*filter(None, builders), *self.judges, self.extractor, *candidates])
        )


class Registry(BaseModel):
    """The contents of models.yaml. `file` is the name of its file."""

    file: str = "models.yaml"
    profiles: dict[str, Profile]
    models: dict[str, ModelSpec]

    @model_validator(mode="after")
    def _names_of_models(self) -> "Registry":
        if reserved := [name for name in self.models if not is_model(name) or is_file(name)]:
            raise ValueError(
                f"{reserved[0]} is not a name for a model: those that begin with "
                f"{', '.join([*APART, f'{FILE}:'])} are of candidates beside the models"
            )
        if reserved := sorted(RESERVED & self.models.keys()):
            raise ValueError(
                f"{reserved[0]} is not a name for a model: {', '.join(sorted(RESERVED))} stand in the "
                "place of judges"
            )
        return self

    def model(self, name: str) -> ModelSpec:
        """Return the entry of a model. Raises RegistryError, which suggests the nearest name."""
        if name not in self.models:
            raise RegistryError(
                f"There is no model '{name}' in {self.file}; {nearest(name, self.models)}."
            )
        return self.models[name]

    @property
    def families(self) -> dict[str, str]:
        """The family of each model that has one."""
        return {name: spec.family for name, spec in self.models.items() if spec.family is not None}

    def profile(self, name: str) -> Profile:
        """Return a profile after checking that all its models exist. Raises RegistryError."""
        if name not in self.profiles:
            raise RegistryError(
                f"There is no profile '{name}' in {self.file}; {nearest(name, self.profiles)}. "
                "Name a profile of this file (--profile or LOOM_PROFILE)."
            )
        profile = self.profiles[name]
        for candidate in profile.evaluate:
            # A name without a known prefix is taken as the name of a model.
            if is_file(candidate):
                raise RegistryError(
                    f"The profile {name} in {self.file} names '{candidate}': imported predictions "
                    "take part without being named, so leave it out."
                )
            model_name = model_of(candidate)
            if ":" in candidate and model_name == candidate and model_name not in self.models:
                there_are = [*self.models, *(f"{kind}:<model>" for kind in ABLATIONS), *BASELINES]
                raise RegistryError(
                    f"There is no candidate '{candidate}' for the profile {name} in {self.file}; "
                    f"{nearest(candidate, there_are)}."
                )
        for model in profile.models:
            if model not in self.models:
                raise RegistryError(
                    f"There is no model '{model}' in {self.file}, which its profile {name} names; "
                    f"{nearest(model, self.models)}. Add it, or take its name out of the profile."
                )
        return profile

    def require_keys(self, profile: str) -> None:
        """Raise RegistryError unless every model of the profile has the key and address it needs."""
        for name in self.profile(profile).models:
            spec = self.model(name)
            spec.api_key()
            spec.headers()
            spec.server()

    def require_mock(self, profile: str) -> None:
        """Raise RegistryError unless all models of the profile are mock models."""
        names = [
            name for name in self.profile(profile).models if self.model(name).provider != "mock"
        ]
        if names:
            raise RegistryError(
                f"The demo asks mock models only, but the profile {profile} in {self.file} names "
                f"{', '.join(names)}: run vlm-loom build --profile {profile} to ask them, too, or take "
                "them out of the profile."
            )


def registry_path() -> Path:
    """Return the path of `models.yaml`: at the root of the project, or from `LOOM_MODELS`."""
    return Path(os.environ.get("LOOM_MODELS") or REPO_ROOT / "models.yaml")


def active_profile() -> str:
    """Return the name of the chosen profile (variable `LOOM_PROFILE`), `offline` by default."""
    return os.environ.get("LOOM_PROFILE") or "offline"


def load_registry(path: Path | None = None) -> Registry:
    """Load a registry.

    Args:
        path: The file; None for the configured one.

    Raises:
        RegistryError: The file is not valid; the message names the problem.
    """
    path = path or registry_path()
    try:
        return registry_of(read_file(path).decode(), path)
    except FileNotFoundError:
        raise RegistryError(f"There is no {path}; restore it or unset LOOM_MODELS.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path} cannot be read: {error}.") from None


# Cached: the definitions of assets load the registry about twenty times.
@lru_cache(maxsize=1)
def registry_of(text: str, path: Path) -> Registry:
    """Parse and validate the text of a models.yaml.

    Args:
        text: The text of a models.yaml.
        path: The path of the file, for messages.

    Raises:
        RegistryError: The text is not a valid models.yaml.
    """
    try:
        raw = from_yaml(text)
    except yaml.YAMLError as error:
        raise RegistryError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(raw, Mapping) or not {"profiles", "models"} <= raw.keys():
        raise RegistryError(f"{path} must have the two sections 'profiles' and 'models'.")
    models = raw["models"]
    if isinstance(models, Mapping):
        models = {name: _named(name, entry) for name, entry in models.items()}
    try:
        return Registry.model_validate(
            {"file": path.name, "profiles": raw["profiles"], "models": models}
        )
    except ValidationError as error:
        place, fault = first_fault(error, Registry)
        # An error about the names of all models has no place in the file.
        raise RegistryError(": ".join(filter(None, (str(path), place, f"{fault}.")))) from None


def _named(name: str, entry: object) -> object:
    """Complete a model's entry with its default names; invalid entries are left to validation."""
    if not isinstance(entry, Mapping | None):
        return entry
    return {"name": name, "model": name, **(entry or {})}
