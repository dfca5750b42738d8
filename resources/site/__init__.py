"""The static site: every item of a release with its answers and judgments, read in a browser."""
