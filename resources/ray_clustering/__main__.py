"""The Ray job: has the blocks of a work done, merges what was found, leaves communities in its folder.

What belongs here: the driver, and its end of Dagster Pipes. Which folder, and the smallest size of a
community, come as extras of the Pipes session.
"""

import logging
from pathlib import Path

from dagster_pipes import open_dagster_pipes

from methods.clustering.communities import communities_of
from methods.clustering.neighbours import ThresholdError, merge
from resources.ray_clustering.sharing import do_all
from resources.ray_clustering.work import Work


def main() -> None:
    """All of it; what a person can mend is left as a word in the folder."""
    import ray

    with open_dagster_pipes() as pipes:
        work, min_size = Work(Path(pipes.get_extra("folder"))), pipes.get_extra("min_size")
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
        try:
            do_all(work, pipes.log.info)
            neighbours = merge(work.prepared, work.pairs())
            work.finish(min_size, communities_of(neighbours, min_size))
        except ThresholdError as error:
            work.refuse(str(error))


if __name__ == "__main__":
    main()
