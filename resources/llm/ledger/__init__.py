"""The ledger of model calls, in one store, behind three classes.

`Ledger` knows what was answered and what it cost, `BatchState` what is on its way through batches;
`LedgerReader` reads it for people and changes nothing. All others use these.
"""

from resources.llm.ledger.batch_state import BatchState
from resources.llm.ledger.calls import Call, Charge, now
from resources.llm.ledger.ledger import Ledger, ReAskDecision
from resources.llm.ledger.reading import LedgerReader

__all__ = ["BatchState", "Call", "Charge", "Ledger", "LedgerReader", "ReAskDecision", "now"]
