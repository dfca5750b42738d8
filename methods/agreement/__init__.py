"""Agreement of people with each other and with a judge: one file for each measure, with its formula.

What belongs here: the measures, their intervals, and which decisions count as ratings. A measure is a
function of a matrix of ratings, items x raters, NaN where a rater gave none. It returns a value or the
reason why there is none, never NaN.
"""
