"""What few homes use: a folder each, found by `resources/settings/extras.py`; the core imports none."""
