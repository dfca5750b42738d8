"""A critic: a small judge that is trained on the scores of people (AlignMMBench, 4).

What belongs here: training pairs of any benchmark with a judge (`pairs.py`), the sides for training
and testing (`split.py`) and that nothing is on both (`contamination.py`), and the files (`export.py`).
Training itself is `docs/guides/critic`.
"""
