"""Evaluation: answers, judgments and scores of models on releases, leaderboard and reports.

One module an asset.
"""

from assets.evaluate.answers import answers
from assets.evaluate.comparisons import comparisons
from assets.evaluate.judge_agreement import judge_agreement
from assets.evaluate.judge_quality import judge_quality
from assets.evaluate.judgments import judgments
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.observations import observations
from assets.evaluate.predictions import predictions
from assets.evaluate.provenance import provenance
from assets.evaluate.reports import reports
from assets.evaluate.score_queue import score_queue
from assets.evaluate.scores import scores

ASSETS = [
    predictions,
    answers,
    judgments,
    observations,
    scores,
    comparisons,
    leaderboard,
    provenance,
    reports,
    score_queue,
    judge_agreement,
    judge_quality,
]

__all__ = ["ASSETS"]
