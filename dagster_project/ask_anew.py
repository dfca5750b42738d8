"""Asking models anew what they have answered: the command and the job.

What belongs here: arguments and config. What it does is `resources/llm/renewals.py`.
"""

import sys
from collections.abc import Sequence
from contextlib import closing

import dagster as dg

from assets.common.tables import plain_errors
from dagster_project.home import says_yes
from dagster_project.progress import progress_logger
from methods.errors import UserError
from resources import home
from resources.command_line import CommandParser
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.renewals import ask_anew
from resources.stores import bring_home_up_to_date


class AskAnewConfig(dg.Config):
    """What is asked anew: all that fits an entry of models.yaml, an asset, a prompt, where given; with
    `unread` only what could not be read."""

    model: str | None = None
    stage: str | None = None
    prompt: str | None = None
    unread: bool = False


@dg.op(name="renew", description="Forget no answer, and ask anew for those that fit.")
def renew_op(
    context: dg.OpExecutionContext, config: AskAnewConfig, ledger: dg.ResourceParam[Ledger]
) -> None:
    """Writes the decision into the ledger; materializing the assets asks the models."""
    with plain_errors():
        told = ask_anew(
            ledger,
            load_registry(),
            config.model,
            config.stage,
            config.prompt,
            unread=config.unread,
        )
    context.log.info(told)


@dg.job(
    name="ask_anew",
    description="Ask a model, a stage or a prompt anew when its assets are materialized next; the "
    "earlier answers stay in the ledger.",
    config={
        "ops": {
            "renew": {"config": {"model": None, "stage": None, "prompt": None, "unread": False}}
        }
    },
    logger_defs={"console": progress_logger},
)
def ask_anew_job() -> None:
    """One decision a run."""
    renew_op()


def main(argv: Sequence[str] | None = None) -> int:
    """Decide it from a terminal; 0 when it was done, 2 when it could not be."""
    parser = CommandParser(prog="python -m dagster_project.ask_anew", description=__doc__)
    parser.add_argument("--model", help="an entry of models.yaml")
    parser.add_argument("--stage", help="an asset that asks models, such as evaluate/answers")
    parser.add_argument("--prompt", help="a prompt, or one version of it: mmdu/judge@4bf65a46")
    parser.add_argument("--unread", help="yes: only what could not be read")
    given = parser.parse_args(argv)
    try:
        bring_home_up_to_date()
        with closing(Ledger(home.ledger_path())) as ledger:
            told = ask_anew(
                ledger,
                load_registry(),
                given.model,
                given.stage,
                given.prompt,
                unread=says_yes("UNREAD", given.unread),
            )
            print(told)
    except (OSError, UserError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
