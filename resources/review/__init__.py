"""The review store: the queue, decisions, locks, drafts and accounts, in one SQLite file.

`store.py` and `accounts.py` are what others use; each of the other modules keeps one kind of row.
"""
