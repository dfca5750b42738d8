"""Evaluation: answers, judgments and scores of models on releases, leaderboard and reports.

`answers`, `judgments` and `scores` are partitioned by model; one module an asset.
"""

from assets.evaluate.answers import answers
from assets.evaluate.judge_agreement import judge_agreement
from assets.evaluate.judgments import judgments
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.provenance import provenance
from assets.evaluate.reports import reports
from assets.evaluate.score_queue import score_queue
from assets.evaluate.scores import scores

ASSETS = [
    answers,
    judgments,
    scores,
    leaderboard,
    provenance,
    reports,
    score_queue,
    judge_agreement,
]

__all__ = ["ASSETS"]
