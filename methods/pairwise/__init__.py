"""Pairwise evaluation: which of two models' answers a judge prefers, and the ratings that follow."""
