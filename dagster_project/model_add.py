"""`vlm-loom model add`: ask a server what it serves, try its model, write the entry to models.yaml."""

import re
from collections.abc import Mapping
from typing import Any

from dagster_project.model_check import Finding, most_images
from dagster_project.model_measures import room_for_prompt
from dagster_project.models import gateway_for, measured, print_findings
from methods.errors import UserError, printable
from resources.atomic_file import write_atomically
from resources.llm.discovery import ModelServer, ServedModel, discover
from resources.llm.registry import load_registry, registry_of, registry_path
from resources.llm.registry_file import entry_text, with_model

ONE_MACHINE: dict[str, Any] = {"timeouts": {"whole": 600}}
"""Settings for servers that are mostly run on one machine, where an answer takes long."""
SOFTWARE_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "llama.cpp": ONE_MACHINE,
    "LM Studio": ONE_MACHINE,
    "Ollama": ONE_MACHINE,
}


def add_model(url: str, name: str | None, profile: str | None) -> int:
    """Add a server's model to models.yaml.

    Args:
        url: The server's address.
        name: The entry's name; where the server has several models, the one of this name is added. None
            for a name made from the model's.
        profile: A profile in which the model is evaluated, too; None for no profile.

    Returns:
        0 when the entry was written, 1 when the model did not answer and nothing was written.

    Raises:
        UserError: The server does not answer, models.yaml has the name already, or the profile is
            unknown.
    """
    registry = load_registry()
    if profile is not None:
        registry.profile(profile)
    server = discover(url)
    served = _chosen(server, name)
    name = name or name_of(served.model)
    if name in registry.models:
        raise UserError(
            f"{registry.file} already has a model '{name}'. Give the new entry another name (--name)."
        )
    entry = first_entry(server, served)
    print(printable(f"{server.software or 'A server'} at {server.base_url} serves {served.model}."))
    # Before the model is asked: a name or a file that cannot be used is found at once.
    extended = registry_of(_extended(name, entry, profile), registry_path())
    with gateway_for(extended, name) as gateway:
        findings = print_findings(gateway, extended.model(name))
        entry |= measured(findings)
        if _fails(findings, "images") and not _fails(findings, "one image"):
            n_images = most_images(gateway, extended.model(name))
            entry |= {"max_images": n_images, "many_images": "grid"}
    if findings[0].works is not True:
        print(f"Nothing was written to {registry_path()}, as the model does not answer.")
        return 1
    _write(name, entry, profile)
    _say_written(name, entry, profile, findings)
    return 0


def first_entry(server: ModelServer, served: ServedModel) -> dict[str, Any]:
    """The entry of a model, made from what its server says about it."""
    entry: dict[str, Any] = {
        "provider": "openai",
        "model": served.model,
        "base_url": server.base_url,
        **SOFTWARE_SETTINGS.get(server.software, {}),
    }
    if served.slots:
        entry["concurrency"] = served.slots
    if served.context:
        entry["context_tokens"] = room_for_prompt(served.context)
    return entry


def name_of(model: str) -> str:
    """A name for an entry: the model's own without folders, file extension and odd characters."""
    stem = re.split(r"[/\\]", model.strip("/\\"))[-1].removesuffix(".gguf")
    return re.sub(r"[^\w.]+", "-", stem.lower()).strip("-.") or "model"


def _chosen(server: ModelServer, name: str | None) -> ServedModel:
    """The only model of a server, or the one that is named."""
    if len(server.models) == 1:
        return server.models[0]
    for model in server.models:
        if name is not None and name in (model.model, name_of(model.model)):
            return model
    names = ", ".join(name_of(model.model) for model in server.models)
    raise UserError(
        f"{server.base_url} serves {len(server.models)} models: {names}. Name one of them (--name)."
    )


def _fails(findings: list[Finding], what: str) -> bool:
    """Whether a check was tried without success; `images`: that of many images."""
    return any(
        each.works is False and (each.what == what or each.what.endswith(f" {what}"))
        for each in findings
    )


def _extended(name: str, entry: dict[str, Any], profile: str | None) -> str:
    return with_model(registry_path().read_bytes().decode(), name, entry, profile)


def _write(name: str, entry: dict[str, Any], profile: str | None) -> None:
    # A link keeps leading to the file. What was changed meanwhile by hand is kept, too.
    path = registry_path().resolve()
    mode = path.stat().st_mode
    write_atomically(path, _extended(name, entry, profile).encode())
    path.chmod(mode)


def _say_written(
    name: str, entry: dict[str, Any], profile: str | None, findings: list[Finding]
) -> None:
    print(printable(f"\nWritten to {registry_path()}, under models:\n\n{entry_text(name, entry)}"))
    if _fails(findings, "one image"):
        print(
            "It takes no image: requests with images will fail. Start a server that takes images."
        )
    if profile is None:
        print(f"Name {name} in `evaluate` of a profile to have it evaluated.")
    else:
        print(f"The profile {profile} evaluates it: vlm-loom demo --profile {profile}")
