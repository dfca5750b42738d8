"""Statistics of evaluation: intervals, comparisons, ranks, power and quality of judges.

For one metric, `values` has the value that each model has for each unit (models x units, float, NaN
where it has none) and `clusters` the cluster of each unit (int: its dialogue, item or group); units of
one cluster are not independent.
"""
