"""Exact community detection on a Ray cluster: a folder with the job's files, and the job itself.

What belongs here: the code that runs on the cluster. It is uploaded with the job, so that nodes need
Ray, dagster-pipes, NumPy, SciPy and torch, but not the project. `assets/cluster/clusters.py` submits
the job.
"""
