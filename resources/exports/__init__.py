"""Releases as folders in the forms of other tools.

What belongs here: reading a release in batches (`source.py`), writing and checking folders
(`folder.py`), the forms (`forms.py`) and their files. What a form says is `methods/exports/`.
"""
