-- One row for each model on the releases in force: the overall score, micro and macro, best first.
SELECT
    t.release_id AS release,
    t.model,
    t.value,
    t.ci_low,
    t.ci_high,
    d.value AS macro,
    t.n_judged,
    t.n_refused,
    t.n_failed,
    t.judge,
    t.provider
FROM evaluate.scores AS t
JOIN evaluate.scores AS d USING (release_id, model, judge, dimension)
JOIN release.current AS c USING (release_id)
WHERE t.dimension = 'Overall Score'
    AND t.aggregation = 'micro'
    AND d.aggregation = 'macro'
ORDER BY t.benchmark, t.value DESC NULLS LAST, t.n_refused, t.model;
