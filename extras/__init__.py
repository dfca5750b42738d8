"""What few homes use: a folder each, found by `resources/extras.py`; the core imports none of them."""
