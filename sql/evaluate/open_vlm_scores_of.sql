-- Scores on one release by every metric, of everything and of each value of the labels of MMBench's abilities, with the
-- turns that they rest on: models with the best score first.
SELECT
    s.judge,
    s.judge_version,
    s.model,
    s.metric,
    s.aggregation,
    s.form,
    s.subset_label,
    s.subset_value,
    s.value,
    s.n_judged,
    s.n_turns
FROM evaluate.scores AS s
WHERE s.release_id = $release_id AND s.form IN ('floor', 'judged')
    AND s.subset_label IN ('', 'category', 'l2-category')
ORDER BY
    s.judge,
    s.judge_version,
    s.subset_label = '' DESC,
    CASE WHEN s.subset_label = '' THEN s.value END DESC NULLS LAST,
    s.model,
    s.subset_label DESC,
    s.subset_value;
