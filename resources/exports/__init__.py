"""Releases as folders in the forms of other tools."""
