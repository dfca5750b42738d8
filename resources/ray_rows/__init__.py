"""Work by row on a Ray cluster: a folder with blocks of rows, and the job that works on them.

What belongs here: the code that runs on the cluster, whatever is done with the rows. It is uploaded
with the job. `assets/common/ray_jobs.py` submits the job and stores the blocks; what is done with a
block is a function of `resources`, named by the job.
"""
