-- The score that ranks of each model on one release, under each judge and version of its prompt, and the note on its rank.
SELECT s.model, s.judge, s.judge_version, s.metric, s.aggregation, s.value, s.ci_low, s.ci_high, r.mark
FROM evaluate.scores AS s
LEFT JOIN evaluate.ranks AS r USING (release_id, judge, judge_version, metric, aggregation, model)
WHERE s.release_id = $release_id AND s.place = 0 AND s.form = 'floor' AND s.subset_label = ''
ORDER BY s.value DESC NULLS LAST, s.model, s.judge, s.judge_version;
