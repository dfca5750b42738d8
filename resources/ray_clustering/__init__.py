"""Exact communities made by many machines: the work as files, and the Ray job that does it.

What belongs here: what runs on the cluster. It travels there with the job, so that nodes need Ray,
dagster-pipes, NumPy, SciPy and torch, but not the project. Who sends it is `assets/cluster/on_ray.py`.
"""
