"""Image sets sampled from clusters (MMDU 2.2, 3.2, Table 1, Figure 4).

There are two kinds of sets: for benchmarks and for training (instruction). `split.py` first divides the
corpus between the two kinds. `sampling.py` samples all sets of a kind and explains missing ones,
`pool.py` chooses the entries of one set in one cluster. `spec.py` has the types and the sampling
specification, and apportions set sizes.
"""
