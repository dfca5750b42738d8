"""Quality of generated question-answer pairs: checks by rule and by a model, and what follows of them.

What belongs here: one module a check, each a pure function from texts to evidence; which checks there
are (`checks.py`), all rules together (`rules.py`) and the outcome of a pair (`outcome.py`). What does
not: reading the tables and asking models (`assets/quality`), what people decide (`methods/review`).
"""
