"""Measures of agreement between raters.

What belongs here: measures with their formulas (`labels.py`, `scores.py`), their intervals
(`measured.py`), and which of them labels and scores have (`measures.py`). Which decisions of people
count as ratings is `methods/review/ratings.py`. A measure is a function of a matrix of ratings,
items x raters, NaN where a rater gave none. It returns a value or the reason why there is none, never
NaN.
"""
