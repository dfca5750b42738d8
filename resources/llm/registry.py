"""The model registry: `models.yaml`, parsed and validated.

What belongs here: model entries, profiles, and the errors about them.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from methods.errors import UserError
from resources.home import REPO_ROOT


class RegistryError(UserError):
    """models.yaml, the chosen profile or a model's key is not usable; the message says what to do."""


class Price(BaseModel):
    """US dollars per million tokens; `batch` is the fraction of them that a batched request costs."""

    model_config = ConfigDict(extra="forbid")
    prompt: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    completion: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    batch: float = Field(default=0.5, ge=0, allow_inf_nan=False)


class ImageTokens(BaseModel):
    """Tokens that a provider counts for an image, and for each of its tiles of 512 pixels a side."""

    model_config = ConfigDict(extra="forbid")
    base: int = Field(85, ge=0)
    tile: int = Field(170, ge=0)


class ModelSpec(BaseModel):
    """One entry of `models`; `name` is what the rest of the system calls it."""

    model_config = ConfigDict(extra="forbid")
    name: str
    provider: Literal["offline", "openai"]
    model: str
    base_url: str | None = None
    base_url_env: str | None = None
    api_key_env: str | None = None
    max_images: int = Field(50, ge=1)
    max_side: int = Field(1024, ge=64)
    detail: Literal["auto", "low", "high"] = "auto"
    image_tokens: ImageTokens = ImageTokens.model_validate({})
    structured_output: bool = False
    mode: Literal["live", "batch"] = "live"
    price: Price = Price()
    concurrency: int = Field(16, ge=1)
    requests_per_minute: int | None = Field(None, ge=1)
    tokens_per_minute: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _batches_outlive_runs(self) -> "ModelSpec":
        if self.mode == "batch" and self.provider == "offline" and self.address() is None:
            raise ValueError(
                f"{self.name} cannot take batches: a run's own offline server ends with the run; "
                "give it the base_url of one started with 'make offline-server'"
            )
        return self

    def cost(self, prompt_tokens: int, completion_tokens: int, via: str = "live") -> float:
        """US dollars for one call, by itself or in a batch."""
        part = self.price.batch if via == "batch" else 1.0
        in_full = prompt_tokens * self.price.prompt + completion_tokens * self.price.completion
        return in_full * part / 1_000_000

    def address(self) -> str | None:
        """Base URL from the entry or its environment variable; None for the client's default."""
        return self.base_url or os.environ.get(self.base_url_env or "") or None

    def api_key(self) -> str:
        """The key from the environment. Raises RegistryError when the entry names one that is unset."""
        if self.api_key_env is None:
            return "not-needed"
        key = os.environ.get(self.api_key_env, "")
        if not key:
            raise RegistryError(
                f"{self.name} needs a key: set {self.api_key_env}, or choose the profile 'offline'."
            )
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            raise RegistryError(
                f"The key in {self.api_key_env} has characters that no key has, a line break perhaps: "
                "set it again."
            )
        return key


class Profile(BaseModel):
    """The models of each role: the writer builds, the judge scores, `evaluate` are compared."""

    model_config = ConfigDict(extra="forbid")
    writer: str
    judge: str
    evaluate: list[str]


class Registry(BaseModel):
    """All of models.yaml; a profile names only models that exist."""

    profiles: dict[str, Profile]
    models: dict[str, ModelSpec]

    def model(self, name: str) -> ModelSpec:
        """The entry called `name`. Raises RegistryError naming those there are."""
        if name not in self.models:
            raise RegistryError(
                f"There is no model '{name}' in models.yaml; it has {', '.join(sorted(self.models))}."
            )
        return self.models[name]

    def profile(self, name: str) -> Profile:
        """The profile called `name`, all its models known. Raises RegistryError."""
        if name not in self.profiles:
            raise RegistryError(
                f"There is no profile '{name}' in models.yaml; "
                f"it has {', '.join(sorted(self.profiles))}."
            )
        profile = self.profiles[name]
        for model in (profile.writer, profile.judge, *profile.evaluate):
            self.model(model)
        return profile

    def require_keys(self, profile: str) -> None:
        """Raises RegistryError unless every model of the profile has the key it needs."""
        chosen = self.profile(profile)
        for name in (chosen.writer, chosen.judge, *chosen.evaluate):
            self.model(name).api_key()


def registry_path() -> Path:
    """`models.yaml` at the root of the project, or the file `LOOM_MODELS` names."""
    return Path(os.environ.get("LOOM_MODELS") or REPO_ROOT / "models.yaml")


def active_profile() -> str:
    """The chosen profile's name (environment variable `LOOM_PROFILE`), `offline` by default."""
    return os.environ.get("LOOM_PROFILE") or "offline"


def load_registry(path: Path | None = None) -> Registry:
    """The registry in `path`. Raises RegistryError with one sentence that says what is wrong."""
    path = path or registry_path()
    try:
        raw = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        raise RegistryError(f"There is no {path}; restore it or unset LOOM_MODELS.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        raise RegistryError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(raw, Mapping) or not {"profiles", "models"} <= raw.keys():
        raise RegistryError(f"{path} must have the two sections 'profiles' and 'models'.")
    models = raw["models"]
    if isinstance(models, Mapping):
        models = {name: _named(name, entry) for name, entry in models.items()}
    try:
        return Registry.model_validate({"profiles": raw["profiles"], "models": models})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RegistryError(f"{path}: {place}: {first['msg']}.") from None


def _named(name: str, entry: object) -> object:
    """A model's entry with the names that it may leave out; anything else is left to validation."""
    if not isinstance(entry, Mapping | None):
        return entry
    return {"name": name, "model": name, **(entry or {})}
