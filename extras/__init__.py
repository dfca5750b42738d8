"""Optional features, one folder each, found by `resources/settings/extras.py`. The core imports none
of them.
"""
