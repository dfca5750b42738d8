"""Metrics: one small file each, with its formula and its source."""
