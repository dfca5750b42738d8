"""A model whose calls cost dollars that can be worked out by hand, for tests of budgets."""

from pathlib import Path
from typing import Any

from methods.prompts.messages import Message
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from tests.resources.llm.loopback import gateway_of

# A dollar a token, and the stand-in counts characters: 12 asked and 12 + 18 answered are $42. At most a
# call may cost a token a byte, 8 for the message and its 50 answered: 12 + 8 + 50 = $70.
TEXTS = [f"Question {number:02}?" for number in range(40)]
COST, MOST = 42, 70
PRICE = {"prompt": 1_000_000, "completion": 1_000_000}


def priced(
    folder: Path, url: str, run: str = "", budget: float | None = None, **options: Any
) -> Gateway:
    """A gateway as each run makes its own, over one ledger."""
    entry = {"base_url": url, "concurrency": 8, "price": PRICE}
    return gateway_of(folder, {"it": entry}, budget, run=run, **options)


def requests(texts: list[str]) -> list[ChatRequest]:
    return [
        ChatRequest("it", (Message.from_text("user", text),), "test/budget@1", {"max_tokens": 50})
        for text in texts
    ]


def spent(folder: Path) -> dict[str, float]:
    costs: dict[str, float] = {}
    for call in Ledger(folder / "ledger.sqlite"):
        costs[call.run] = costs.get(call.run, 0) + call.cost_usd
    return costs
