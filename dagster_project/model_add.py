"""`vlm-loom model add`: list a server's models, check one, and add it to models.yaml."""

import os
import re
from typing import Any

from dagster_project.model_check import ModelCheckResult, most_images
from dagster_project.model_measures import room_for_prompt
from dagster_project.models import gateway_for, measured_fields, print_findings
from methods.errors import UserError, printable
from methods.json_text import is_unicode
from methods.naming import listed
from resources.files.atomic import write_atomically
from resources.llm.discovery import ModelServer, ServedModel, discover
from resources.llm.model_spec import MOST
from resources.llm.registry import Registry, load_registry, registry_of, registry_path
from resources.llm.registry_file import by_hand, entry_text, with_model

_NAME = re.compile(r"\w[\w.+@-]*")
_MOST_CHARACTERS = 200
"""Longest model name that is accepted, chosen by hand: a longer one is not from a model server."""
_SHOWN_MODELS = 100
"""Models of a server that a message lists."""
ON_ONE_MACHINE = ("llama.cpp", "LM Studio", "Ollama")
"""Servers that usually run on a single machine, where an answer takes long."""
LONG_ANSWERS = {"timeouts": {"whole": 600}}
"""Field of the entry for such servers: the timeout of a whole answer in seconds."""


def add_model(
    url: str, served: str | None, name: str | None, profile: str | None, api_key_env: str | None
) -> int:
    """Add a server's model to models.yaml, or add a model that is already there to a profile.

    Args:
        url: The address of the server.
        served: The model on the server; None if the server has a single model.
        name: The name of the entry; None for a name derived from the model's.
        profile: A profile that evaluates the model from now on; None for no profile.
        api_key_env: The environment variable with the server's key; None for a server without a key.

    Returns:
        0 if the file was written, 1 if the model did not answer and nothing was written.

    Raises:
        UserError: The server does not answer, models.yaml has the name already or cannot be written,
            or the profile is unknown.
    """
    registry = load_registry()
    if profile is not None and profile not in registry.profiles:
        registry.profile(profile)  # Raises an error with the names of all profiles.
    if name is not None:
        _require_name(name)
    server = discover(url, _key(api_key_env))
    model = _chosen(server, served)
    if len(model.model) > _MOST_CHARACTERS:
        raise UserError(
            f"{server.base_url} serves a model whose name has {len(model.model):,} characters "
            f"({printable(model.model[:40])} ...): give it one of up to {_MOST_CHARACTERS} there."
        )
    if not is_unicode(model.model):
        raise UserError(
            f"{server.base_url} serves a model whose name has half a character (a lone surrogate): "
            f"{printable(model.model)}. Give it another name there."
        )
    if (model.context or 0) > MOST:
        raise UserError(
            f"{server.base_url} says that {printable(model.model)} takes {model.context} tokens, and "
            f"an entry of models.yaml takes at most {MOST:,}: correct the context length there."
        )
    name = name or name_of(model.model)
    if name in registry.models:
        return _into_profile(registry, name, model, server, profile)
    entry = first_entry(server, model)
    if api_key_env is not None:
        entry["api_key_env"] = api_key_env
    print(printable(f"{server.software or 'A server'} at {server.base_url} serves {model.model}."))
    # Checked before the model is called, so that an unusable name or file costs no calls.
    extended = registry_of(_extended(name, entry, None), registry_path())
    if not os.access(registry_path(), os.W_OK):
        raise UserError(f"{registry_path()} cannot be written: make it a file that you may write.")
    with gateway_for(extended, name) as gateway:
        findings = print_findings(gateway, extended.model(name))
        entry |= measured_fields(findings)
        if _fails(findings, "images") and not _fails(findings, "one image"):
            n_images = most_images(gateway, extended.model(name))
            entry |= {"max_images": n_images, "many_images": "grid"}
    if findings[0].works is not True:
        print(f"Nothing was written to {registry_path()}, as the model does not answer.")
        if api_key_env is None and "wants a key" in findings[0].message:
            print("Run the command again with --api-key-env and the variable that has the key.")
        return 1
    takes_images = not _fails(findings, "one image")
    _write(name, entry, profile if takes_images else None)
    print(printable(f"\nWritten to {registry_path()}, under models:\n\n{entry_text(name, entry)}"))
    if not takes_images:
        print(
            "It takes no image, so no profile evaluates it: requests with images would fail. For a "
            "model that takes images, start the server with its vision part, and add it under another "
            "name (--name)."
        )
    elif profile is None:
        first = next(iter(registry.profiles))
        print(
            f"To have it evaluated, run the command again with --profile, such as --profile {first}."
        )
    else:
        _say_evaluated(profile)
    return 0


def first_entry(server: ModelServer, served: ServedModel) -> dict[str, Any]:
    """Make the models.yaml entry of a model from the information of its server."""
    entry: dict[str, Any] = {
        "provider": "openai",
        "model": served.model,
        "base_url": server.base_url,
        **(LONG_ANSWERS if server.software in ON_ONE_MACHINE else {}),
    }
    if served.slots:
        entry["concurrency"] = served.slots
    if served.context:
        entry["context_tokens"] = room_for_prompt(served.context)
    return entry


def name_of(model: str) -> str:
    """Derive an entry's name: the model's name without folders, file extension and odd characters."""
    stem = re.split(r"[/\\]", model.strip("/\\"))[-1].removesuffix(".gguf")
    return re.sub(r"[^\w.]+", "-", stem.lower()).strip("-.") or "model"


def _key(variable: str | None) -> str | None:
    """Read the key from an environment variable. Raises UserError if it is not set."""
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        raise UserError(f"{variable} is not set: put the key of the server into it.")
    return key


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a model's name. Use letters, digits and . _ + @ -, and begin with "
            "a letter or digit."
        )


def _chosen(server: ModelServer, served: str | None) -> ServedModel:
    """Return the named model of a server, or its only model. Raises UserError if it is missing."""
    if served is None and len(server.models) == 1:
        return server.models[0]
    for model in server.models:
        if served is not None and served in (model.model, name_of(model.model)):
            return model
    n_models = len(server.models)
    serves = f"{server.base_url} serves {n_models} {'model' if n_models == 1 else 'models'}"
    names = listed([model.model[:_MOST_CHARACTERS] for model in server.models], _SHOWN_MODELS)
    raise UserError(printable(f"{serves}: {names}. Say which (--model)."))


def _into_profile(
    registry: Registry, name: str, model: ServedModel, server: ModelServer, profile: str | None
) -> int:
    """Add a model that is already in models.yaml to the models that a profile evaluates."""
    existing = registry.models[name]
    if (existing.model, existing.base_url) != (model.model, server.base_url):
        raise UserError(
            f"{registry.file} already has a model '{name}', of another server or model. Give the new "
            "entry another name (--name)."
        )
    if profile is None:
        raise UserError(
            f"{registry.file} already has '{name}', this model of this server. To have it evaluated, "
            "name a profile (--profile); to have it measured again, run vlm-loom model check "
            f"{name}."
        )
    _write(name, None, profile)
    _say_evaluated(profile)
    return 0


def _say_evaluated(profile: str) -> None:
    print(f"The profile {profile} evaluates it: vlm-loom build --profile {profile}")


def _fails(findings: list[ModelCheckResult], what: str) -> bool:
    """Tell whether a check was tried and failed. `images` means the check of many images."""
    return any(
        finding.works is False and (finding.what == what or finding.what.endswith(f" {what}"))
        for finding in findings
    )


def _extended(name: str, entry: dict[str, Any] | None, profile: str | None) -> str:
    return with_model(registry_path().read_bytes().decode(), name, entry, profile)


def _write(name: str, entry: dict[str, Any] | None, profile: str | None) -> None:
    # Writes through a symbolic link. The file is read again, so that edits made during the check stay.
    path = registry_path().resolve()
    mode = path.stat().st_mode
    try:
        write_atomically(path, _extended(name, entry, profile).encode())
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"{path} cannot be written ({reason}). {by_hand(name, entry, profile)}"
        ) from None
    path.chmod(mode)
