"""A critic: a small judge that is trained on the scores of people (AlignMMBench, 4).

`assets/` makes pairs of scores, and files of them, by `methods/`; `docs/guides/critic` trains on these.
The table of the pairs is declared in the core, which reads their splits (docs/decisions/0057).
"""

from resources.settings.extras import ExtraPackage

EXTRA = ExtraPackage(
    definitions="extras.critic.definitions",
    read_by={"evaluate.judge_quality": ("evaluate.critic_pairs",)},
    commands="extras.critic.commands",
)
