"""Measures of agreement between raters.

A measure is a function of a matrix of ratings, items x raters, with NaN for a missing rating. It
returns a value, or the reason why there is none, and never NaN.
"""
