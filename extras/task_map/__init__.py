"""Task maps: how near tasks are to each other, and how hard they are (MMIU, 4.3.2, 4.3.3 and C).

`methods/` makes distances, clusters and picture: of weights, which `resources/` reads, for the
commands, and of scores, for the asset `evaluate/task_map` and its section of the report.
"""

from resources.settings.extras import ExtraPackage

EXTRA = ExtraPackage(
    definitions="extras.task_map.definitions",
    read_by={"evaluate.reports": ("evaluate.task_map", "evaluate.task_clusters")},
    report_section="extras.task_map.resources.section",
    commands="extras.task_map.commands",
)
