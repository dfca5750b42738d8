"""Review in a team's own Label Studio: one project an annotator, a kind and a round.

`config.py`: the labelling config of a kind. `tasks.py`: an item as a task. `annotations.py`: what an
annotation says. `client.py`: the server's API. What becomes of what was said is `review/rounds.py`.
"""
