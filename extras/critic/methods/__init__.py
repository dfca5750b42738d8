"""A critic: a small judge that is trained on the scores of people (AlignMMBench, 4)."""
