"""Review in a team's own Label Studio: one project for each reviewer, kind and round.

`config.py`: the labelling config of a kind. `tasks.py`: an item as a task. `annotations.py`: an
annotation as a record. `client.py`: the server's API. `files.py`: tasks and annotations in files.
Records are imported by `review/import_export.py`.
"""

from resources.settings.extras import ExtraPackage

EXTRA = ExtraPackage(
    commands="extras.label_studio.commands",
    review_formats={"label-studio": "extras.label_studio.files"},
)
