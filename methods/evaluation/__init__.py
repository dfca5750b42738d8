"""Evaluation: the contract of a benchmark, metrics and their intervals, one small file each."""
