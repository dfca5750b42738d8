"""Task maps: how near tasks are to each other, and how hard they are (MMIU, 4.3.2, 4.3.3 and C).

Distances are of task vectors (`vectors.py`) or, without weights, of how models score (`profiles.py`);
clusters and picture (`clustering.py`) are the same for both.
"""
