"""Commands on single models: `model ask` and `model check`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from dagster_project.model_check import PARAMS, ModelCheckResult, check
from dagster_project.resources import make_gateway
from methods.errors import UserError, printable
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from methods.prompts.messages import Image, Message, Part, Text
from resources.files.bounded import BoundedReadError, read_file
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Profile, Registry, load_registry
from resources.llm.request import KEPT_KINDS, ChatRequest, Completion, Outcome

ASK = "ask@1"
"""Stands for a prompt version in the ledger: the question is the user's own."""


@contextmanager
def gateway_for(registry: Registry, model: str) -> Iterator[Gateway]:
    """Make a gateway for one model. Its calls are sent live, even if the model is set to batch mode.
    LOOM_BUDGET_USD limits the cost.

    Args:
        registry: The registry.
        model: The name of the model.

    Raises:
        RegistryError: The model is unknown, or its API key is missing.
    """
    live = registry.model(model).model_copy(update={"mode": "live"})
    alone = Profile.model_validate({"writer": model, "judge": model, "evaluate": [model]})
    gateway = make_gateway(
        f"command-{uuid4().hex[:12]}",
        registry=registry.model_copy(
            update={"models": {**registry.models, model: live}, "profiles": {"alone": alone}}
        ),
        profile="alone",
    )
    try:
        yield gateway
    finally:
        gateway.close()


def ask(model: str, question: str, files: Sequence[Path]) -> int:
    """Ask a model one question, with or without images, and print the answer.

    Args:
        model: The entry of models.yaml.
        question: The question.
        files: The images.

    Returns:
        0 if it answered, else 1.

    Raises:
        UserError: The question is empty, or a file cannot be used.
    """
    if not question.strip():
        raise UserError("The question is empty. Pass the question as the argument.")
    with gateway_for(load_registry(), model) as gateway:
        images = [Image(_stored(file, gateway.images)) for file in files]
        parts: tuple[Part, ...] = (*images, Text(question))
        request = ChatRequest(model, (Message("user", parts),), ASK, PARAMS)
        (outcome,), _ = gateway.map("ask", [request], ModelCalls.outcome_of)
        print("\n".join(_lines(outcome, gateway.ledger)))
    return 0 if isinstance(outcome, Completion) else 1


def check_model(model: str) -> int:
    """Check a model's abilities and print settings for its entry.

    Returns 0 if the check of text works, else 1. Raises UserError.
    """
    with gateway_for(load_registry(), model) as gateway:
        findings = print_findings(gateway, gateway.registry.model(model))
        for line in _settings(gateway.registry.model(model), findings):
            print(line)
    return 0 if findings[0].works is True else 1


def print_findings(gateway: Gateway, spec: ModelSpec) -> list[ModelCheckResult]:
    """Check a model's abilities and print each result.

    Args:
        gateway: A gateway for the model.
        spec: The model's entry.

    Returns:
        The results; the first is that of text.
    """
    print(printable(f"{spec.name}: {spec.model} at {spec.endpoint()}"), flush=True)
    findings = []
    for finding in check(gateway, spec):
        findings.append(finding)
        print(_line(finding), flush=True)
    n_tokens = sum(finding.tokens for finding in findings)
    cost = sum(finding.cost_usd for finding in findings)
    print(f"{n_tokens} tokens in all, ${cost:.6f}.")
    return findings


def measured_fields(findings: Sequence[ModelCheckResult]) -> dict[str, Any]:
    """Collect the fields for a model's entry that the checks measured."""
    return {field: value for each in findings for field, value in each.settings.items()}


def _stored(path: Path, store: ImageStore) -> str:
    """Store a user's image, with the same checks as ingestion. Raises UserError."""
    if not path.is_file():
        raise UserError(f"There is no file {path}: give the path of an image.")
    try:
        return take_in(read_file(path, MAX_BYTES), store).image_id
    except BoundedReadError as not_read:
        raise UserError(f"{path} cannot be used: {not_read.detail}.") from None
    except ImageRejected as rejected:
        raise UserError(
            f"{path} cannot be used ({rejected.detail.rstrip('.')}): give the path of a JPEG, PNG, "
            "WebP or GIF."
        ) from None


def _lines(outcome: Outcome, ledger: Ledger) -> list[str]:
    """Format an outcome as lines: the answer, then tokens, cost and the row of the ledger."""
    lines = []
    if isinstance(outcome, Completion):
        how = f"answered, finished by {printable(outcome.finish_reason)}"
        lines += [printable(outcome.text), ""]
    else:
        how = f"{outcome.kind}: {printable(outcome.detail)}"
    if outcome.reasoning:
        lines += [f"reasoning  {printable(outcome.reasoning)}"]
    table = "calls"
    if not isinstance(outcome, Completion) and outcome.kind not in KEPT_KINDS:
        # A call that failed after a reply was paid for is in the table of charges.
        table = "" if outcome.finish_reason is None else "charges"
    paid = "it was asked before, nothing is paid now" if outcome.cached else "paid now"
    location = f"table {table} of {ledger.path}, key {outcome.key}" if table else "no row"
    return [
        *lines,
        f"outcome    {how}",
        f"tokens     {outcome.prompt_tokens} of the prompt, {outcome.completion_tokens} of the answer",
        f"cost       ${outcome.cost_usd:.6f} ({paid})",
        f"ledger     {location}",
    ]


def _settings(spec: ModelSpec, findings: Sequence[ModelCheckResult]) -> list[str]:
    """Format the measured fields that differ from the entry's as lines of YAML."""
    entry = spec.model_dump(mode="json")
    measured = measured_fields(findings)
    settings = {field: value for field, value in measured.items() if value != entry[field]}
    if not settings:
        return []
    lines = yaml.safe_dump(settings, default_flow_style=None, sort_keys=False).splitlines()
    return [
        f"Measured; set in the entry {spec.name} of models.yaml:",
        *(f"    {line}" for line in lines),
    ]


def _line(finding: ModelCheckResult) -> str:
    works = {True: "works", False: "does not", None: "not tried"}[finding.works]
    return f"{finding.what:<14} {works:<10} {printable(finding.message)}"
