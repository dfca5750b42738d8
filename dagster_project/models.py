"""Commands on models: ask one a question, try what one can do.

What belongs here: arguments, the gateway of a command, and what is printed of an answer. What is tried
of a model is `model_check.py`.
"""

import argparse
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from dagster_project.model_check import PARAMS, Finding, check
from dagster_project.resources import make_gateway
from methods.errors import UserError
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from methods.naming import listed
from methods.prompts.messages import Image, Message, Part, Text
from resources.command_line import CommandParser, require_said
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import ModelCalls
from resources.llm.registry import Profile, load_registry
from resources.llm.request import KEPT_KINDS, ChatRequest, Completion, Outcome
from resources.stores import bring_home_up_to_date

ASK = "ask@1"
"""In place of a prompt's version: the question is the user's own."""
_KEPT_AS_THEY_ARE = "\n\t\u200c\u200d"
"""Controls of a text that change nothing but its look: line breaks, tabs, joiners of letters."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0: answered, or text works; 1: not so; 2: nothing could be asked."""
    arguments = _parser().parse_args(argv)
    try:
        bring_home_up_to_date()
        answered: bool = arguments.command(arguments)
    except (OSError, UserError) as error:
        print(shown(str(error)), file=sys.stderr)
        return 2
    return 0 if answered else 1


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="python -m dagster_project.models", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    asking = commands.add_parser("ask", help="ask a model one question")
    asking.add_argument("model", help="its name in models.yaml")
    asking.add_argument("question")
    asking.add_argument("--image", action="append", default=[], help="a file; may be repeated")
    asking.set_defaults(command=_ask)

    checking = commands.add_parser("check", help="try what a model can do")
    checking.add_argument("model", help="its name in models.yaml")
    checking.set_defaults(command=_check)
    return parser


@contextmanager
def _gateway(model: str) -> Iterator[Gateway]:
    """A gateway for one model, asked at once whatever its mode; paid from LOOM_BUDGET_USD.

    Raises RegistryError where the model is not known or lacks its key.
    """
    registry = load_registry()
    if not model:
        raise UserError(f"Say which model: MODEL=name, one of {listed(registry.models)}.")
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


def _ask(arguments: argparse.Namespace) -> bool:
    require_said({"MODEL=name": arguments.model, 'Q="question"': arguments.question.strip()})
    with _gateway(arguments.model) as gateway:
        images = [Image(_stored(Path(image), gateway.images)) for image in arguments.image]
        parts: tuple[Part, ...] = (*images, Text(arguments.question))
        request = ChatRequest(arguments.model, (Message("user", parts),), ASK, PARAMS)
        (outcome,), _ = gateway.map("ask", [request], ModelCalls.outcome_of)
        print("\n".join(_lines(outcome, gateway.ledger)))
    return isinstance(outcome, Completion)


def _check(arguments: argparse.Namespace) -> bool:
    with _gateway(arguments.model) as gateway:
        spec = gateway.registry.model(arguments.model)
        print(f"{spec.name}: {spec.model} at {spec.endpoint()}", flush=True)
        found = []
        for finding in check(gateway, spec):
            found.append(finding)
            print(_line(finding), flush=True)
        n_tokens = sum(finding.tokens for finding in found)
        cost = sum(finding.cost_usd for finding in found)
        print(f"{n_tokens} tokens in all, ${cost:.6f}.")
    return found[0].works is True


def _stored(path: Path, store: ImageStore) -> str:
    """Take a user's image into the store, as ingestion does. Raises UserError."""
    if not path.is_file():
        raise UserError(f"There is no file {path}: say IMAGE=path of an image.")
    if path.stat().st_size > MAX_BYTES:
        raise UserError(f"{path} has more than {MAX_BYTES} bytes: make it smaller.")
    try:
        return take_in(path.read_bytes(), store).image_id
    except ImageRejected as rejected:
        raise UserError(
            f"{path} cannot be used ({rejected.detail.rstrip('.')}): say IMAGE=path of a JPEG, PNG, "
            "WebP or GIF."
        ) from None


def _lines(outcome: Outcome, ledger: Ledger) -> list[str]:
    """What is printed of an outcome: the answer first, then what became of the request."""
    lines = []
    if isinstance(outcome, Completion):
        how = f"answered, finished by {shown(outcome.finish_reason)}"
        lines += [shown(outcome.text), ""]
    else:
        how = f"{outcome.kind}: {shown(outcome.detail)}"
    if outcome.reasoning:
        lines += [f"reasoning  {shown(outcome.reasoning)}"]
    table = "calls"
    if not isinstance(outcome, Completion) and outcome.kind not in KEPT_KINDS:
        # What was paid for has a reply that ended somehow.
        table = "" if outcome.finish_reason is None else "charges"
    paid = "it was asked before, nothing is paid now" if outcome.cached else "paid now"
    kept = f"table {table} of {ledger.path}, key {outcome.key}" if table else "no row"
    return [
        *lines,
        f"outcome    {how}",
        f"tokens     {outcome.prompt_tokens} of the prompt, {outcome.completion_tokens} of the answer",
        f"cost       ${outcome.cost_usd:.6f} ({paid})",
        f"ledger     {kept}",
    ]


def _line(finding: Finding) -> str:
    works = {True: "works", False: "does not", None: "not tried"}[finding.works]
    return f"{finding.what:<14} {works:<10} {shown(finding.said)}"


def shown(text: str) -> str:
    """A text from outside as a terminal may get it: control characters are spelled out."""
    return "".join(
        f"\\u{ord(each):04x}"
        if each not in _KEPT_AS_THEY_ARE
        and unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else each
        for each in text
    )


if __name__ == "__main__":
    sys.exit(main())
