"""The ledger of model calls: one store behind three classes.

`Ledger` has answers and costs, `BatchState` has requests in batches, and `LedgerReader` reads the
ledger for people without changing it. Other modules only use these classes.
"""

from resources.llm.ledger.batch_state import BatchState
from resources.llm.ledger.calls import Call, Charge, current_time
from resources.llm.ledger.ledger import Ledger, ReAskDecision
from resources.llm.ledger.reading import LedgerReader

__all__ = [
    "BatchState",
    "Call",
    "Charge",
    "Ledger",
    "LedgerReader",
    "ReAskDecision",
    "current_time",
]
