"""One entry of `models.yaml`: the model's name, its server, its request settings and its prices."""

import logging
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from methods.errors import UserError
from methods.evaluation.candidates import FORMER_MOCK
from methods.ids import canonical_json
from resources.llm.server_address import OPENAI, ServerAddress, read_address

MOCK_ENDPOINT = "offline"
"""The endpoint of all mock model servers. The keys of requests depend on it, so it keeps this name."""
_LOG = logging.getLogger(__name__)
LONGEST_COMPLETION = 4096
"""The longest answer in tokens if a request sets no limit."""
MOST = 1_000_000_000
"""The largest value of settings that count tokens, requests a minute or bytes."""
_NO_ROUTE = (
    *("accept", "accept-language", "content-type", "user-agent"),
    *("http-referer", "referer", "x-title", "x-openrouter-title"),
)
"""Headers that do not select a model, in contrast to other headers of a gateway
(`ModelSpec.routes`)."""
_SECRET_NAME = re.compile("auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
"""Names of headers whose value is a secret, even if the value is written in models.yaml."""
OWN_FIELDS = {
    "max_tokens": "token_limit",
    "max_completion_tokens": "token_limit",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "reasoning_effort": "reasoning",
    "response_format": "structured_output",
}
"""Fields of a request that must be set with their own setting, not in `extra_body`."""
TIMEOUTS_TO_GIVE_UP = 1.5
"""The default `give_up_seconds` is at least this many times `timeouts.whole`."""
_REASONING_NAME = re.compile("think|reason", re.IGNORECASE)
DESCRIPTIVE = {
    "access",
    "parameters",
    "backbone",
    "main_language",
    "trained_on",
    "reference_rank",
}
"""Fields of an entry that describe the model to readers: the columns of `evaluate.models`."""
OPENAI_VARIABLE = "OPENAI_BASE_URL"
"""The environment variable that the client library reads if an entry has no address."""
NEVER_EXTRA = ("model", "messages", "stream", "n")
"""Fields that `extra_body` cannot set: the project reads each reply as one complete answer."""


class RegistryError(UserError):
    """models.yaml, the chosen profile or a model's key is not usable; the message says what to do."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Price(_Section):
    """US dollars per million tokens. A request in a batch costs `batch` times the price."""

    prompt: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    completion: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    batch: float = Field(default=0.5, ge=0, allow_inf_nan=False)


class ImageTokens(_Section):
    """Tokens of an image: `base`, plus `tile` for each of its tiles of 512 x 512 pixels."""

    base: int = Field(85, ge=0, le=MOST)
    tile: int = Field(170, ge=0, le=MOST)


class TokenLimit(_Section):
    """The limit of an answer: the name of the request field, and tokens in place of the stage's."""

    name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tokens: int | None = Field(None, ge=1, le=MOST)


class Timeouts(_Section):
    """Timeouts in seconds: to connect, to the first byte and between bytes, and for a whole attempt."""

    connect: float = Field(20.0, gt=0, allow_inf_nan=False)
    first_byte: float = Field(180.0, gt=0, allow_inf_nan=False)
    whole: float = Field(180.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _whole_answers_begin_late(self) -> "Timeouts":
        # A reply that is not streamed begins when the answer is complete.
        if "first_byte" not in self.model_fields_set:
            self.first_byte = max(self.first_byte, self.whole)
        return self


class RetryWait(_Section):
    """Seconds between attempts: random from 0 to `first`, which doubles each time, up to `most`."""

    first: float = Field(0.5, ge=0, allow_inf_nan=False)
    most: float = Field(30.0, ge=0, allow_inf_nan=False)


@cache
def _warn_of_former_provider() -> None:
    """Log the former name of the provider, once in a process: every step reads models.yaml."""
    _LOG.warning(
        "models.yaml: the provider offline is now called mock. Write provider: mock; the next version "
        "does not read the former name."
    )


class FromEnvironment(_Section):
    """A value, usually a secret, that is read from an environment variable."""

    env: str


class ModelSpec(_Section):
    """One entry of `models`; the rest of the project refers to it by `name`.

    `models.yaml` and docs/reference/model-fields.md say what each field means.
    """

    name: str
    provider: Literal["mock", "openai"]
    model: str
    identity: str | None = Field(None, min_length=1)
    family: str | None = Field(None, min_length=1)
    access: Literal["open", "proprietary"] | None = None
    parameters: float | None = Field(None, gt=0, allow_inf_nan=False)
    backbone: str | None = Field(None, min_length=1)
    main_language: str | None = Field(None, min_length=1)
    trained_on: list[str] = []
    reference_rank: int | None = Field(None, ge=1, le=MOST)
    base_url: str | None = Field(None, min_length=1)
    base_url_env: str | None = None
    api_key_env: str | None = None
    extra_headers: dict[str, str | FromEnvironment] = {}
    token_limit: TokenLimit = TokenLimit.model_validate({})
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | Literal["none"] | None = None
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    stop: str | list[str] | None = None
    reasoning: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    extra_body: dict[str, Any] = {}
    context_tokens: int | None = Field(None, ge=1, le=MOST)
    max_images: int = Field(50, ge=0, le=10_000)
    many_images: Literal["fail", "grid", "sample"] = "fail"
    max_side: int = Field(1024, ge=64, le=100_000)
    detail: Literal["auto", "low", "high"] = "auto"
    image_tokens: ImageTokens | None = None
    structured_output: bool | None = None
    mode: Literal["live", "batch"] = "live"
    price: Price = Price()
    concurrency: int = Field(16, ge=1, le=10_000)
    requests_per_minute: int | None = Field(None, ge=1, le=MOST)
    tokens_per_minute: int | None = Field(None, ge=1, le=MOST)
    timeouts: Timeouts = Timeouts.model_validate({})
    attempts: int = Field(6, ge=1, le=1_000)
    retry_wait: RetryWait = RetryWait.model_validate({})
    give_up_seconds: float = Field(300.0, gt=0, allow_inf_nan=False)
    max_request_bytes: int = Field(100_000_000, ge=1, le=MOST)
    max_reply_bytes: int = Field(16_000_000, ge=1, le=MOST)

    @field_validator("provider", mode="before")
    @classmethod
    def _current_provider(cls, value: Any) -> Any:
        if value != FORMER_MOCK:
            return value
        _warn_of_former_provider()
        return "mock"

    @model_validator(mode="after")
    def _mock_server_takes_no_batches(self) -> "ModelSpec":
        if self.mode == "batch" and self.provider == "mock" and self.address() is None:
            raise ValueError(
                f"{self.name} cannot take batches: the mock server has no batch API; set its mode "
                "to live, or name a provider that has one"
            )
        return self

    @model_validator(mode="after")
    def _no_server_is_given_up_within_a_timeout(self) -> "ModelSpec":
        whole = self.timeouts.whole
        if "give_up_seconds" not in self.model_fields_set:
            self.give_up_seconds = max(self.give_up_seconds, TIMEOUTS_TO_GIVE_UP * whole)
        elif self.give_up_seconds <= whole:
            raise ValueError(
                f"give_up_seconds of {self.name} ({self.give_up_seconds:g}) must be more than "
                f"timeouts.whole ({whole:g}), or an answer that takes longer than give_up_seconds is "
                "lost: raise give_up_seconds, or lower timeouts.whole"
            )
        return self

    @model_validator(mode="after")
    def _identity_has_no_credentials(self) -> "ModelSpec":
        if self.identity and "://" in self.identity and read_address(self.identity).secrets:
            raise ValueError(f"identity of {self.name} has credentials in it: leave them out")
        return self

    @model_validator(mode="after")
    def _extra_body_is_extra(self) -> "ModelSpec":
        for field in self.extra_body:
            if field in NEVER_EXTRA:
                raise ValueError(f"extra_body of {self.name} cannot have '{field}': leave it out")
            if field in OWN_FIELDS:
                raise ValueError(
                    f"extra_body of {self.name} has '{field}': set {OWN_FIELDS[field]} instead"
                )
        canonical_json(self.extra_body)  # Raises ValueError for what JSON cannot hold.
        return self

    @property
    def about(self) -> dict[str, Any]:
        """The fields that describe the model to readers, and do not change any request."""
        return self.model_dump(include=DESCRIPTIVE)

    @property
    def image_counts(self) -> ImageTokens:
        """The token counts of an image: those of the entry, or else those of GPT-4o."""
        return self.image_tokens or ImageTokens.model_validate({})

    def counts_images(self) -> bool:
        """Tell whether the token count of an image is known: from the entry, or
        because the server is OpenAI's.

        The counts of other servers may be twenty times smaller than those of GPT-4o.
        """
        if self.image_tokens is not None or self.provider == "mock":
            return True
        server = self.server()
        return server is not None and (urlsplit(server.public).hostname or "").endswith(
            (".openai.com", ".openai.azure.com")
        )

    def cost(self, prompt_tokens: int, completion_tokens: int, via: str = "live") -> float:
        """Compute the cost of one call in US dollars.

        Args:
            prompt_tokens: Tokens of the prompt.
            completion_tokens: Tokens of the reply.
            via: `live` or `batch`.
        """
        part = self.price.batch if via == "batch" else 1.0
        in_full = prompt_tokens * self.price.prompt + completion_tokens * self.price.completion
        return in_full * part / 1_000_000

    def params(self, stage_params: Mapping[str, Any]) -> dict[str, Any]:
        """Merge a stage's sampling parameters with those of the entry, which take precedence.

        A temperature of `none` is not sent.
        """
        sent = dict(stage_params)
        limit = self.token_limit.tokens or sent.pop("max_tokens", None)
        sent.pop("max_tokens", None)
        if limit is not None:
            sent[self.token_limit.name] = limit
        if self.temperature == "none":
            sent.pop("temperature", None)
        own = {
            "temperature": None if self.temperature == "none" else self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "stop": self.stop,
            "reasoning_effort": self.reasoning,
        }
        return {
            **sent,
            **{name: value for name, value in own.items() if value is not None},
            **self.extra_body,
        }

    def settings(self, stage_params: Mapping[str, Any]) -> dict[str, str]:
        """List the request settings, which distinguish two entries of the same model.

        Args:
            stage_params: The sampling parameters that the stage asks for.

        Returns:
            All settings as text. `default` is left to the server, `none` is not sent.
        """
        sent = self.params(stage_params)
        return {
            "temperature": _in_words(sent.get("temperature"), "default"),
            "top_p": _in_words(self.top_p, "default"),
            "seed": _in_words(self.seed, "none"),
            "stop": _in_words(self.stop, "none"),
            "reasoning": _in_words(self.reasoning, "default"),
            "max_tokens": _in_words(sent.get(self.token_limit.name), "default"),
            "extra_body": _in_words(self.extra_body or None, "none"),
            "max_images": str(self.max_images),
            "many_images": self.many_images,
            "max_side": str(self.max_side),
            "detail": self.detail,
            "server": self.endpoint(),
            "model": self.model,
        }

    def sends_schema(self) -> bool:
        """Tell whether requests are sent with the JSON schema of their reply.

        `structured_output` decides if it is set. Otherwise live requests have the schema, and are sent
        again without it if the server refuses it. Models that reason get no schema, because some
        servers apply it to the reasoning, too.
        """
        if self.structured_output is not None:
            return self.structured_output
        can_be_sent_again = self.provider == "openai" and self.mode == "live"
        return can_be_sent_again and not self.asks_for_reasoning()

    def asks_for_reasoning(self) -> bool:
        """Tell whether a setting of the entry turns on reasoning."""
        if self.reasoning is not None:
            return self.reasoning != "none"
        return _turns_reasoning_on(self.extra_body)

    def longest_answer(self, stage_params: Mapping[str, Any]) -> int:
        """Return the most tokens of an answer to a request with these parameters."""
        limit: int = self.token_limit.tokens or stage_params.get("max_tokens", LONGEST_COMPLETION)
        return limit

    def address(self) -> str | None:
        """Return the base URL of the entry or of its environment variable.

        None for the mock model server of a run and for OpenAI's own address.
        """
        return self.base_url or os.environ.get(self.base_url_env or "") or None

    def server(self) -> ServerAddress | None:
        """Parse the server's address; None for the mock server that a run starts.

        Raises RegistryError, whose message names the setting, not the address.
        """
        address = self.address()
        if address is None and self.provider == "mock":
            return None
        if address is None and self.base_url_env not in (None, OPENAI_VARIABLE):
            raise RegistryError(
                f"{self.name} has its address in {self.base_url_env}, which is unset: set it."
            )
        # The client library reads OPENAI_BASE_URL, too, for entries that name no address.
        address = address or os.environ.get(OPENAI_VARIABLE) or OPENAI
        try:
            return read_address(address)
        except ValueError as error:
            setting = "base_url" if self.base_url else self.base_url_env or OPENAI_VARIABLE
            raise RegistryError(
                f"The address of {self.name} ({setting}) cannot be used: {error}."
            ) from None

    def endpoint(self) -> str:
        """Return the identity of the server: `identity`, or else the address without credentials,
        followed by the routing headers.

        It is part of a request's key, so stored answers of one server are never returned for another.
        All mock model servers have the same endpoint, because they answer by the same rules.
        """
        if self.identity:
            return self.identity
        server = None if self.provider == "mock" else self.server()
        if server is None:
            return MOCK_ENDPOINT
        return f"{server.shown} ({self.routes()})" if self.routes() else server.shown

    @property
    def provider_in_keys(self) -> str:
        """The name of the provider in request keys. The mock model server keeps its name of version
        0.2.

        Keys are hashes: with a new name, stored answers would be requested again.
        """
        return FORMER_MOCK if self.provider == "mock" else self.provider

    def answerer(self) -> str:
        """Identify the model by its endpoint and the server's name of it, without the entry's name."""
        return f"{self.endpoint()} {self.model}"

    def headers(self) -> dict[str, str]:
        """Return the additional headers with secrets. Raises RegistryError if a secret is unset."""
        return {
            name: value if isinstance(value, str) else self._secret(value.env)
            for name, value in self.extra_headers.items()
        }

    def routes(self) -> str:
        """Return the headers by which a gateway may select the model, without secret
        ones; empty if `identity` is set.
        """
        named = sorted(
            f"{name.lower()}: {value}"
            for name, value in self.extra_headers.items()
            if isinstance(value, str)
            and name.lower() not in _NO_ROUTE
            and not _SECRET_NAME.search(name)
        )
        return "" if self.identity else ", ".join(named)

    def secrets(self) -> tuple[str, ...]:
        """List the values of a request that must not be displayed: keys, secret headers and
        credentials.

        A header is secret if its value comes from the environment or its name indicates a secret.
        """
        secrets = [os.environ.get(self.api_key_env or "", "")]
        for name, header in self.extra_headers.items():
            if not isinstance(header, str):
                header = os.environ.get(header.env, "")
            elif not _SECRET_NAME.search(name):
                continue
            # For `Bearer KEY`, the key is a secret, too: a server may send back only the key.
            secrets += [header, *header.split()[1:]]
        server = self.server()
        return (*filter(None, secrets), *(server.secrets if server else ()))

    def api_key(self) -> str:
        """Read the API key from the environment. Raises RegistryError if its variable is unset."""
        return "not-needed" if self.api_key_env is None else self._secret(self.api_key_env)

    def _secret(self, env: str) -> str:
        key = os.environ.get(env, "")
        if not key:
            raise RegistryError(
                f"{self.name} needs a key: set {env}, or choose the profile 'offline'."
            )
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            raise RegistryError(
                f"The key in {env} has characters that no key has, a line break perhaps: set it again."
            )
        return key


def _in_words(value: Any, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, int | float):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    return value if isinstance(value, str) else canonical_json(value)


def _turns_reasoning_on(value: object, named: bool = False) -> bool:
    """Tell whether a field named like `think` or `reason` has a value that turns reasoning on."""
    if isinstance(value, dict):
        return any(
            _turns_reasoning_on(inside, named or bool(_REASONING_NAME.search(name)))
            for name, inside in value.items()
        )
    off = isinstance(value, str) and value.lower() in ("none", "disabled", "off", "false")
    return named and bool(value) and not off
