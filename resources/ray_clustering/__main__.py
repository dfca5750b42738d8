"""The Ray job: runs the blocks of a job folder, merges their pairs, writes the communities.

What belongs here: the driver, and its side of Dagster Pipes. The folder and the minimum size of a
community are extras of the Pipes session.
"""

import logging
from pathlib import Path

from dagster_pipes import open_dagster_pipes

from methods.clustering.communities import communities_from_graph
from methods.clustering.neighbours import ThresholdError, merge
from resources.ray_clustering.job_folder import JobFolder
from resources.ray_clustering.scheduler import run_blocks


def main() -> None:
    """Run the job; a ThresholdError is written to the folder, for the asset to raise."""
    import ray

    with open_dagster_pipes() as pipes:
        folder, min_size = JobFolder(Path(pipes.get_extra("folder"))), pipes.get_extra("min_size")
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
        try:
            run_blocks(folder, pipes.log.info)
            neighbours = merge(folder.prepared, folder.pairs())
            folder.write_communities(min_size, communities_from_graph(neighbours, min_size))
        except ThresholdError as error:
            folder.write_error(str(error))


if __name__ == "__main__":
    main()
