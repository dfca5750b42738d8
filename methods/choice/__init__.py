"""Multiple choice, as several benchmarks have it.

What belongs here: lettered choices and the order they are asked in, reading a letter from an answer,
judging it by rule, and the tables that such benchmarks are published as. What one benchmark asks and
scores is in the folder of its name.
"""
