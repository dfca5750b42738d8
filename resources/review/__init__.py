"""The review store: offered items, what people decided, who works on what, in one SQLite file.

`store.py` is the one class that others use; each of the other modules keeps one kind of row.
"""
