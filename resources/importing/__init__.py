"""Importing: benchmarks, releases, answers and scores from files that other tools or homes wrote."""
