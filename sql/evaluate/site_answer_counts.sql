-- How each model's answers to each item of a release ended, and their characters.
SELECT
    i.ordinal,
    a.model,
    list(DISTINCT a.status) AS statuses,
    coalesce(sum(length(a.answer)), 0)::INTEGER AS n_characters
FROM evaluate.shown_answers AS a
JOIN release.items AS i USING (release_id, item_id)
WHERE a.release_id = $release_id
GROUP BY i.ordinal, a.model;
