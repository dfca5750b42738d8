"""Work by row on a Ray cluster: a folder with blocks of rows, and the job that works on them.

The package is uploaded with the job.
"""
