"""Agreement of people with each other and with a judge.

What belongs here: measures with their formulas (`labels.py`, `scores.py`), their intervals
(`measured.py`), which decisions count as ratings (`ratings.py`), which measure is taken of which
raters (`table.py`), and agreement with what is known to be right (`gold.py`). A measure is a function
of a matrix of ratings, items x raters, NaN where a rater gave none. It returns a value or the reason
why there is none, never NaN.
"""
