"""Evaluation: answers, judgments and scores of models on releases, leaderboard and reports.

There is one module for each asset.
"""

from assets.evaluate.answers import answers
from assets.evaluate.comparisons import comparisons
from assets.evaluate.error_attribution import error_attribution
from assets.evaluate.extraction_quality import extraction_quality
from assets.evaluate.extraction_queue import extraction_queue
from assets.evaluate.flagged_items import flagged_items
from assets.evaluate.human_scores import human_scores
from assets.evaluate.item_decisions import item_decisions
from assets.evaluate.item_queue import item_queue
from assets.evaluate.item_statistics import item_statistics
from assets.evaluate.judge_agreement import judge_agreement
from assets.evaluate.judge_bias_tests import judge_bias_tests
from assets.evaluate.judge_quality import judge_quality
from assets.evaluate.judgments import judgments
from assets.evaluate.language_gaps import language_gaps
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.model_groups import model_groups
from assets.evaluate.observations import observations
from assets.evaluate.pair_ratings import pair_ratings
from assets.evaluate.pairs import pairs
from assets.evaluate.predictions import predictions
from assets.evaluate.prompt_sensitivity import prompt_sensitivity
from assets.evaluate.provenance import provenance
from assets.evaluate.reports import reports
from assets.evaluate.score_queue import score_queue
from assets.evaluate.scores import scores
from assets.evaluate.second_readings import second_readings
from assets.evaluate.site import site
from assets.evaluate.smallest_subsets import smallest_subsets

ASSETS = [
    predictions,
    answers,
    judgments,
    observations,
    scores,
    comparisons,
    language_gaps,
    error_attribution,
    pairs,
    pair_ratings,
    prompt_sensitivity,
    leaderboard,
    model_groups,
    provenance,
    reports,
    site,
    score_queue,
    judge_agreement,
    human_scores,
    judge_quality,
    judge_bias_tests,
    second_readings,
    extraction_queue,
    extraction_quality,
    flagged_items,
    item_statistics,
    smallest_subsets,
    item_queue,
    item_decisions,
]

__all__ = ["ASSETS"]
