"""Releases in the forms of other tools: records, pages and metadata, as plain data.

What belongs here: what a form says. Reading a release's rows and pictures, and writing files, is
`resources/exports/`.
"""
