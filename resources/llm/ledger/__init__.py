"""The ledger of model calls, in one SQLite file, behind two classes.

`Ledger` knows what was answered and what it cost, `BatchState` what is on its way through batches. All
others use these two, so that another backend can stand behind them.
"""

from resources.llm.ledger.batch_state import BatchState
from resources.llm.ledger.calls import Call, Charge, now
from resources.llm.ledger.ledger import Ledger

__all__ = ["BatchState", "Call", "Charge", "Ledger", "now"]
