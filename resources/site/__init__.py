"""The static site: every item of a release with its answers and judgments, read in a browser.

What belongs here: files of the sample browser. What stands in them is gathered by
`assets/evaluate/site_data.py`; leaderboards and the index are `resources/reports`.
"""
