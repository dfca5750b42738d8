"""The stores of a home, opened together when a command starts.

What belongs here: that every file is of this version before work begins, instead of amid it.
"""

from resources import home
from resources.images.index import ImageIndex
from resources.llm.ledger import Ledger
from resources.review.file import ReviewFile
from resources.warehouse import Warehouse


def bring_home_up_to_date() -> None:
    """Bring every store that the home has to this version; raises StoreError for one that cannot be.

    Those that are not there yet are made when they are first used.
    """
    if home.ledger_path().exists():
        Ledger(home.ledger_path()).close()
    if home.review_path().exists():
        ReviewFile(home.review_path()).close()
    if home.image_index_path().exists():
        ImageIndex(home.image_index_path()).close()
    if home.warehouse_path().exists():
        Warehouse(home.warehouse_path()).check()
