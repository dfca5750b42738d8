"""Pairwise evaluation: which of two models' answers a judge prefers, and the ratings that follow.

What belongs here: battles (`battles.py`), the Bradley-Terry model (`bradley_terry.py`), ratings with
intervals and ranks (`ratings.py`), ratings at equal length and style (`style.py`), which comparisons
are asked (`design.py`) and what a judge is asked (`comparing.py`). No benchmark's own protocol.
"""
