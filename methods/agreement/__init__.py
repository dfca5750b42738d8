"""Measures of agreement between raters.

A measure is a function of a matrix of ratings, items x raters, NaN where a rater gave none. It returns
a value or the reason why there is none, never NaN.
"""
