"""Agreement of people with each other and with a judge: one small file a measure, with its formula.

What belongs here: the measures, their intervals, and which decisions they are taken of. A measure is a
function of a matrix of ratings, items x raters, NaN where a rater gave none; it gives a value or the
reason why there is none, never NaN.
"""
