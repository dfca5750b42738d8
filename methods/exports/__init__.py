"""Releases in the forms of other tools: records, pages and metadata, as plain data."""
