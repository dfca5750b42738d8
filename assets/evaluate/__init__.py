"""Evaluation: answers, judgments and scores of models on releases, leaderboard and reports."""
