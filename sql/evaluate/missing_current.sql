-- Models whose results on a current release were not taken in the last run of a stage, and why.
SELECT m.release_id, m.model, m.stage, m.asked, m.n_lost, m.n_turns, m.why
FROM evaluate.shown_missing AS m
JOIN release.current AS c USING (release_id)
ORDER BY m.release_id, m.model, m.stage;
