"""Stores on Postgres, in place of SQLite files: what `resources/store_backend.py` opens there.

What belongs here: the dialect, connections, schemas and locks of Postgres. What is in the tables is
their owner's, as with the files.
"""
